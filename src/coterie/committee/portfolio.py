"""The members that a committee tries, in the order in which it tries them.

The first is quick; then come the best and members of other kinds, because a mean gains most from members that err in
different ways; then more of what is usually good. What a member costs is known roughly beforehand, in seconds of a
small machine: one number, learned from the members that were fitted so far, makes them seconds of this one.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.linear_model import LogisticRegression, Ridge

from coterie._params import EstimatorLike, unexpected
from coterie._typing import Task
from coterie.adaboost.adaboost_classifier import AdaBoostClassifier
from coterie.boosting.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.boosting.plan import automatic_folds
from coterie.committee.discriminant import DiscriminantClassifier
from coterie.committee.features.members import GeneratedFeaturesClassifier, GeneratedFeaturesRegressor
from coterie.committee.gaussian_process import SmallGaussianProcess
from coterie.committee.kernels import KernelClassifier, KernelRegressor
from coterie.committee.libraries import LIBRARIES, library_member
from coterie.committee.numeric_pipeline import (
    NeighborsClassifier,
    NeighborsRegressor,
    NumericPipelineClassifier,
    NumericPipelineRegressor,
)
from coterie.errors import InvalidParameter
from coterie.forests.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from coterie.forests.random_forest import RandomForestClassifier, RandomForestRegressor
from coterie.networks.neural_network import (
    NeuralNetworkClassifier,
    NeuralNetworkRegressor,
    automatic_epochs,
)

_TREE_ROWS = 50_000  # that a tree of a forest sees at most


@dataclass(frozen=True)
class Shape:
    """The size of a fit of one fold: rows to learn from, rows to predict, columns, and columns of predictions."""

    n_train: int
    n_test: int
    n_columns: int
    n_outputs: int = 1

    @property
    def values(self) -> float:
        """Values in the rows to learn from."""
        return float(self.n_train) * self.n_columns


@dataclass(frozen=True)
class Entry:
    """A learner by name, and what is known of it before it is fitted.

    Attributes
    ----------
    seconds : what one fold may take on a small machine; None: nobody knows
    megabytes : what one fitted model may take
    max_rows : of more rows a sample is drawn; None: never
    single_fit : the learner in a form that leaves rows out by itself and predicts them: one fit, on one binned matrix,
        takes the place of one for each fold; None: it has no such form
    single_fit_folds : how many folds' time `single_fit` takes
    single_fit_models : how many folds' models `single_fit` is as large as
    informs_forecast : whether its time is used to forecast that of others: those on a matrix do other work than trees
    """

    name: str
    estimator: Any
    seconds: Callable[[Shape], float] | None = None
    megabytes: Callable[[Shape], float] | None = None
    max_rows: int | None = None
    single_fit: Any = None
    single_fit_folds: float = 1.0
    single_fit_models: float = 1.0
    informs_forecast: bool = True


class PortfolioLike:
    """What `portfolio` may be."""

    def accepts(self, value: object) -> bool:
        if isinstance(value, str):
            return value == "auto"
        return isinstance(value, list | tuple) and len(value) > 0 and all(map(_is_entry, value))

    def describe(self) -> str:
        return "'auto' or a non-empty list of names of its members and (string, estimator) tuples"


def _is_entry(item: Any) -> bool:
    if isinstance(item, str):
        return True
    if not isinstance(item, list | tuple) or len(item) != 2:
        return False
    return isinstance(item[0], str) and EstimatorLike().accepts(item[1])


def portfolio_of(given: Any, task: Task, shape: Shape, *, by_time: bool = False) -> list[Entry]:
    """The entries that `portfolio` stands for; `by_time` says that rows have an order in time.

    Examples
    --------
    >>> [entry.name for entry in portfolio_of(["forest", "linear"], "regression", Shape(80, 20, 3))]
    ['forest', 'linear']
    """
    listed = _classifiers(shape) if task == "classification" else _regressors(shape)
    known = {entry.name: entry for entry in listed}
    if isinstance(given, str):
        entries = [entry for entry in listed if _is_for(entry.name, shape)]
    else:
        entries = [_entry(item, known, task) for item in given]
    names = [entry.name for entry in entries]
    if len(set(names)) < len(names):
        raise unexpected("portfolio", given, "a name of its own for each member")
    return [_in_time(entry) for entry in entries] if by_time else entries


def _is_for(name: str, shape: Shape) -> bool:
    """Whether a member is tried on tables of this size without being named."""
    if shape.n_train < _FEW_ROWS:
        return name in _OF_FEW_ROWS
    return shape.n_train <= _MOST_ROWS.get(name, math.inf) and shape.n_columns <= _MOST_COLUMNS.get(
        name, math.inf
    )


def prior_member(names: Sequence[str], given: Any) -> int | None:
    """The place of the member that weights are shrunk to, if it is there: the one that is best on most tables.

    Examples
    --------
    >>> prior_member(["linear", "boosting"], "auto"), prior_member(["linear"], "auto")
    (1, None)
    """
    is_ours = isinstance(given, str) or _PRIOR in [item for item in given if isinstance(item, str)]
    return names.index(_PRIOR) if is_ours and _PRIOR in names else None


def _entry(item: Any, known: dict[str, Entry], task: Task) -> Entry:
    if not isinstance(item, str):
        return Entry(item[0], item[1])
    if item in LIBRARIES:
        return Entry(item, library_member(item, task), informs_forecast=False)
    if item not in known:
        named = ", ".join(map(repr, [*known, *LIBRARIES]))
        allowed = f"one of {named} for {task}, or a tuple (name, estimator)"
        raise InvalidParameter.expecting(f"portfolio holds the name {item!r}", allowed, "portfolio", item)
    return known[item]


def _in_time(entry: Entry) -> Entry:
    """Boosting holds out the last rows, and not any, to find out when to stop."""
    if not isinstance(entry.estimator, GradientBoostingClassifier | GradientBoostingRegressor):
        return entry
    return replace(entry, estimator=entry.estimator.set_params(holdout="last_rows"))


NAMES = (
    "quick_boosting",
    "linear",
    "boosting",
    "kernel",
    "gaussian_process",
    "extra_trees",
    "forest",
    "discriminant",
    "boosting_features",
    "oblivious_boosting",
    "neighbors",
    "slow_boosting",
    "adaboost",
    "line_boosting",
    "shallow_boosting",
    "network",
    "wide_network",
)
_PRIOR = "boosting"  # what is best on most tables: weights are shrunk to it

_FEW_ROWS = 50  # too few for boosting to hold some out and learn from them when to stop
_OF_FEW_ROWS = ("linear", "kernel", "gaussian_process", "extra_trees", "forest", "neighbors", "adaboost")
# Rows and columns beyond which a member is dear and brings little.
_MOST_ROWS = {
    "kernel": 20_000,
    "gaussian_process": 1_500,
    "discriminant": 50_000,
    "boosting_features": 200_000,
    "network": 100_000,
    "wide_network": 100_000,
}
_MOST_COLUMNS = {"gaussian_process": 200, "discriminant": 200, "network": 500, "wide_network": 500}
_WIDTHS = {"network": 128, "wide_network": 256}  # units of a hidden layer
_SINGLE_FIT_FOLDS = 5  # boosters of a member that leaves rows out by itself, each without a fifth of them
_SINGLE_FIT_TREES = 200  # of a forest: a row is out of the bag of a third of them
_CAREFUL: dict[str, Any] = {
    "l2_regularization": 1.0,
    "max_features": 0.5,
    "subsample": 0.8,
    "sampling_method": "uniform",
    "target_statistics": "columns",
}
_FEATURES_FOLDS = 4  # boosters within each fold of the member with generated features
_LOOKED_AT_ROWS = 20_000  # that generated features are chosen by at most
_OF_FEATURES: dict[str, Any] = {
    "n_estimators": 1000,
    "learning_rate": 0.05,
    "min_samples_leaf": 5,
    "n_iter_no_change": 40,
}
# Rounds at most, rounds that are typical, and the settings.
_BOOSTERS: dict[str, tuple[int, int, dict[str, Any]]] = {
    "quick_boosting": (500, 120, {"learning_rate": 0.1, "n_iter_no_change": 15, "min_samples_leaf": 10}),
    "oblivious_boosting": (
        1000,
        300,
        {
            **_CAREFUL,
            "growth": "oblivious",
            "learning_rate": 0.08,
            "max_leaf_nodes": 64,
            "min_samples_leaf": 1,
        },
    ),
    "slow_boosting": (2000, 500, {**_CAREFUL, "learning_rate": 0.03, "min_samples_leaf": 5}),
    "shallow_boosting": (
        1000,
        300,
        {"learning_rate": 0.1, "max_leaf_nodes": 6, "min_samples_leaf": 5, "subsample": 0.8},
    ),
    "line_boosting": (
        1000,
        250,
        {**_CAREFUL, "learning_rate": 0.05, "min_samples_leaf": 5, "linear_leaves": True},
    ),
}


def _booster(kind: type[Any], name: str) -> Entry:
    most, typical, settings = _BOOSTERS[name]
    settings = {"n_iter_no_change": 40, **settings, "n_estimators": most, "early_stopping": True}

    return Entry(
        name,
        kind(**settings, validation_fraction=0.1),
        lambda shape: typical * _round_seconds(shape),
        lambda shape: most * _trees_in_round(shape) * 4e-3,
        single_fit=kind(**settings, n_folds=_SINGLE_FIT_FOLDS),
        single_fit_folds=_SINGLE_FIT_FOLDS,
        single_fit_models=_SINGLE_FIT_FOLDS,
    )


def _recipe(kind: type[Any], shape: Shape) -> Entry:
    """What the class does by default; it leaves rows out by itself, and so do its boosters within a fold."""
    n_folds = max(_SINGLE_FIT_FOLDS, automatic_folds(shape.n_train * _trees_in_round(shape)))
    return Entry(
        "boosting",
        kind(),
        lambda shape: 160 * n_folds * _round_seconds(shape),
        lambda shape: 300 * n_folds * _trees_in_round(shape) * 4e-3,
        single_fit=kind(n_folds=n_folds),
    )


def _boosting_features(wrapper: type[Any], kind: type[Any]) -> Entry:
    """Generated features are learned inside each fold, so that nothing can be fitted once for all of them."""

    def seconds(shape: Shape) -> float:
        looked_at = replace(shape, n_train=min(shape.n_train, _LOOKED_AT_ROWS))
        return 600 * _round_seconds(looked_at) + _FEATURES_FOLDS * 250 * _round_seconds(shape) + 0.1

    booster = kind(**_CAREFUL, **_OF_FEATURES, n_folds=_FEATURES_FOLDS, early_stopping=True)
    return Entry(
        "boosting_features",
        wrapper(booster),
        seconds,
        lambda shape: 300 * _FEATURES_FOLDS * _trees_in_round(shape) * 4e-3,
        informs_forecast=False,
    )


def _trees_in_round(shape: Shape) -> int:
    return shape.n_outputs if shape.n_outputs > 2 else 1


def _round_seconds(shape: Shape) -> float:
    return _trees_in_round(shape) * (2e-4 + 5e-9 * shape.values)


def _forest(kind: type[Any], name: str, shape: Shape) -> Entry:
    share = None if shape.n_train <= _TREE_ROWS else _TREE_ROWS / shape.n_train
    # Pure leaves predict 0 or 1; leaves of three rows are finer, and a mean of probabilities is better for it.
    settings = {
        "min_samples_leaf": 1 if shape.n_train < _FEW_ROWS else 3,
        "max_samples": share,
        "keep_rows": False,
    }

    def growing(shape: Shape) -> float:
        rows = min(shape.n_train, _TREE_ROWS)
        return 7e-9 * rows * math.log2(rows + 2) * math.sqrt(shape.n_columns)

    def seconds(shape: Shape) -> float:
        return 100 * growing(shape) + 8e-6 * shape.n_test

    def single_fit_seconds(shape: Shape) -> float:
        n_out = max(0, shape.n_train + shape.n_test - _TREE_ROWS)  # rows that follow a tree they did not grow
        return _SINGLE_FIT_TREES * (growing(shape) + 1.5e-7 * n_out)

    def megabytes(shape: Shape) -> float:
        return 100 * min(shape.n_train, _TREE_ROWS) * 0.5 * 12e-6

    return Entry(
        name,
        kind(100, oob_score=False, **settings),
        seconds,
        megabytes,
        single_fit=kind(_SINGLE_FIT_TREES, **settings) if kind().bootstrap else None,
        single_fit_folds=single_fit_seconds(shape) / seconds(shape),
        single_fit_models=_SINGLE_FIT_TREES / 100,
    )


def _linear(estimator: Any, n_iter: int) -> Entry:
    def seconds(shape: Shape) -> float:
        n_outputs = shape.n_outputs if shape.n_outputs > 2 else 1
        return 0.01 + 2e-9 * min(shape.n_train, 200_000) * shape.n_columns * n_outputs * n_iter

    return Entry(
        "linear",
        estimator,
        seconds,
        lambda shape: 1e-5 * shape.n_columns * shape.n_outputs,
        200_000,
        informs_forecast=False,
    )


def _kernel(estimator: Any) -> Entry:
    def seconds(shape: Shape) -> float:
        n_outputs = shape.n_outputs if shape.n_outputs > 2 else 1
        return 0.1 + 3e-5 * shape.n_train * (1 + 2 * n_outputs) + 1e-7 * shape.n_train * shape.n_columns

    def megabytes(shape: Shape) -> float:
        return 16e-6 * 400 * (400 + shape.n_columns) + 8e-6 * 5 * 400 * shape.n_train

    return Entry("kernel", estimator, seconds, megabytes, informs_forecast=False)


def _gaussian_process(estimator: Any) -> Entry:
    def seconds(shape: Shape) -> float:
        return 0.05 + 40 * (1e-10 * shape.n_train**3 + 1e-7 * shape.n_train**2)

    return Entry(
        "gaussian_process",
        estimator,
        seconds,
        lambda shape: 64e-6 * shape.n_train**2,
        2 * _MOST_ROWS["gaussian_process"],
        informs_forecast=False,
    )


def _discriminant(estimator: Any) -> Entry:
    def seconds(shape: Shape) -> float:
        n_columns = 1.5 * shape.n_columns
        return 0.02 + shape.n_outputs * (1e-7 * n_columns**3 + 1e-9 * shape.n_train * n_columns**2)

    def megabytes(shape: Shape) -> float:
        return 40e-6 * shape.n_outputs * shape.n_columns**2

    return Entry("discriminant", estimator, seconds, megabytes, informs_forecast=False)


def _network(kind: type[Any], name: str) -> Entry:
    width = _WIDTHS[name]

    def n_weights(shape: Shape) -> int:
        return width * (4 * shape.n_columns + 2 * width + shape.n_outputs)

    def seconds(shape: Shape) -> float:
        n_rows = 0.8 * shape.n_train
        rows_of_step = min(256.0, n_rows)
        step = 5e-4 + rows_of_step * (6e-11 * n_weights(shape) + 1.2e-8 * width + 1.6e-7 * shape.n_columns)
        return 0.7 * automatic_epochs(int(n_rows), 256) * max(1.0, n_rows / 256) * step

    settings: dict[str, Any] = {"hidden_sizes": (width,) * 3}
    return Entry(
        name,
        kind(n_estimators=1, **settings),
        seconds,
        lambda shape: 24e-6 * n_weights(shape),
        single_fit=kind(n_estimators=_SINGLE_FIT_FOLDS, **settings),
        single_fit_folds=_SINGLE_FIT_FOLDS,
        single_fit_models=_SINGLE_FIT_FOLDS,
        informs_forecast=False,
    )


def _neighbors(estimator: Any) -> Entry:
    def seconds(shape: Shape) -> float:
        return 0.01 + 5e-10 * shape.n_test * min(shape.n_train, 10_000) * (shape.n_columns + 10)

    def megabytes(shape: Shape) -> float:
        return 16e-6 * min(shape.n_train, 10_000) * shape.n_columns

    return Entry("neighbors", estimator, seconds, megabytes, 10_000, informs_forecast=False)


def _classifiers(shape: Shape) -> list[Entry]:
    def rounds(shape: Shape) -> float:
        return 200 * (2e-4 + 8e-10 * shape.values * max(1, shape.n_outputs - 1))

    adaboost = AdaBoostClassifier(n_estimators=200, learning_rate=0.5)
    found = {
        "linear": _linear(NumericPipelineClassifier(LogisticRegression(max_iter=200)), 50),
        "extra_trees": _forest(ExtraTreesClassifier, "extra_trees", shape),
        "forest": _forest(RandomForestClassifier, "forest", shape),
        "neighbors": _neighbors(NumericPipelineClassifier(NeighborsClassifier())),
        "adaboost": Entry("adaboost", adaboost, rounds, lambda _: 0.1),
        "kernel": _kernel(NumericPipelineClassifier(KernelClassifier())),
        "discriminant": _discriminant(NumericPipelineClassifier(DiscriminantClassifier())),
        **{name: _network(NeuralNetworkClassifier, name) for name in _WIDTHS},
        "boosting_features": _boosting_features(GeneratedFeaturesClassifier, GradientBoostingClassifier),
        "boosting": _recipe(GradientBoostingClassifier, shape),
        **{name: _booster(GradientBoostingClassifier, name) for name in _BOOSTERS},
    }
    return [found[name] for name in NAMES if name in found]


def _regressors(shape: Shape) -> list[Entry]:
    found = {
        "linear": _linear(NumericPipelineRegressor(Ridge()), 10 + 10 * shape.n_columns),
        "extra_trees": _forest(ExtraTreesRegressor, "extra_trees", shape),
        "forest": _forest(RandomForestRegressor, "forest", shape),
        "neighbors": _neighbors(NumericPipelineRegressor(NeighborsRegressor())),
        "kernel": _kernel(NumericPipelineRegressor(KernelRegressor())),
        "gaussian_process": _gaussian_process(NumericPipelineRegressor(SmallGaussianProcess())),
        **{name: _network(NeuralNetworkRegressor, name) for name in _WIDTHS},
        "boosting_features": _boosting_features(GeneratedFeaturesRegressor, GradientBoostingRegressor),
        "boosting": _recipe(GradientBoostingRegressor, shape),
        **{name: _booster(GradientBoostingRegressor, name) for name in _BOOSTERS},
    }
    return [found[name] for name in NAMES if name in found]
