"""The members that a committee tries, in the order in which it tries them.

The first is quick and good; then come members of other kinds, because a mean gains most from members that err in
different ways; then more of what is usually best. What a member costs is known roughly beforehand, in seconds of a
small machine: one number, learned from the members that were fitted so far, makes them seconds of this one.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from coterie._params import in_short
from coterie._typing import Task
from coterie.committee._on_matrix import OnMatrixClassifier, OnMatrixRegressor
from coterie.ensembles.adaboost import AdaBoostClassifier
from coterie.ensembles.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from coterie.ensembles.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.ensembles.random_forest import RandomForestClassifier, RandomForestRegressor
from coterie.errors import InvalidParameter

__all__ = ["NAMES", "Entry", "PortfolioLike", "Shape", "portfolio_of"]

_TREE_ROWS = 50_000  # that a tree of a forest sees at most


@dataclass(frozen=True)
class Shape:
    """What a fit of one fold looks like: rows to learn from, rows to answer, columns, and columns of answers."""

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
    """

    name: str
    estimator: Any
    seconds: Callable[[Shape], float] | None = None
    megabytes: Callable[[Shape], float] | None = None
    max_rows: int | None = None


class PortfolioLike:
    """What `portfolio` may be."""

    def accepts(self, value: object) -> bool:
        if isinstance(value, str):
            return value == "auto"
        return isinstance(value, list | tuple) and len(value) > 0 and all(map(_is_entry, value))

    def describe(self) -> str:
        return "'auto' or a non-empty list of names of its members and (string, estimator) tuples"


def _is_entry(item: object) -> bool:
    if isinstance(item, str):
        return True
    return (
        isinstance(item, list | tuple)
        and len(item) == 2
        and isinstance(item[0], str)
        and not isinstance(item[1], type)
        and hasattr(item[1], "fit")
        and hasattr(item[1], "predict")
    )


def portfolio_of(given: Any, task: Task, shape: Shape, *, by_time: bool = False) -> list[Entry]:
    """The entries that `portfolio` stands for; `by_time` says that rows have an order in time.

    Examples
    --------
    >>> [entry.name for entry in portfolio_of(["forest", "linear"], "regression", Shape(80, 20, 3))]
    ['forest', 'linear']
    """
    listed = _classifiers(shape) if task == "classification" else _regressors(shape)
    known = {entry.name: entry for entry in listed}
    entries = listed if isinstance(given, str) else [_entry(item, known, task) for item in given]
    names = [entry.name for entry in entries]
    if len(set(names)) < len(names):
        raise InvalidParameter(f"portfolio={in_short(given)}: expected a name of its own for each member.")
    return [_in_time(entry) for entry in entries] if by_time else entries


def _entry(item: Any, known: dict[str, Entry], task: Task) -> Entry:
    if not isinstance(item, str):
        return Entry(item[0], item[1])
    if item not in known:
        raise InvalidParameter(
            f"portfolio holds the name {item!r}: expected one of {', '.join(map(repr, known))} for {task}, or a tuple "
            "(name, estimator)."
        )
    return known[item]


def _in_time(entry: Entry) -> Entry:
    """Boosting holds out the last rows, and not any, to find out when to stop."""
    if not isinstance(entry.estimator, GradientBoostingClassifier | GradientBoostingRegressor):
        return entry
    return replace(entry, estimator=entry.estimator.set_params(holdout="last_rows"))


NAMES = (
    "boosting",
    "linear",
    "extra_trees",
    "oblivious_boosting",
    "forest",
    "slow_boosting",
    "neighbors",
    "adaboost",
    "shallow_boosting",
    "line_boosting",
)


_STOPS: dict[str, Any] = {"early_stopping": True, "validation_fraction": 0.1}
_CAREFUL: dict[str, Any] = {
    "l2_regularization": 1.0,
    "max_features": 0.5,
    "subsample": 0.8,
    "sampling_method": "uniform",
    "target_statistics": "columns",
}
# Rounds at most, rounds that are typical, and the settings.
_BOOSTERS: dict[str, tuple[int, int, dict[str, Any]]] = {
    "boosting": (500, 120, {"learning_rate": 0.1, "n_iter_no_change": 15, "min_samples_leaf": 10}),
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
    settings = {"n_iter_no_change": 40, **settings, **_STOPS}

    def seconds(shape: Shape) -> float:
        trees = typical * (shape.n_outputs if shape.n_outputs > 2 else 1)
        return trees * (2e-4 + 5e-9 * shape.values) + 5e-8 * shape.n_test * shape.n_columns

    def megabytes(shape: Shape) -> float:
        trees = most * (shape.n_outputs if shape.n_outputs > 2 else 1)
        return trees * 4e-3

    return Entry(name, kind(n_estimators=most, **settings), seconds, megabytes)


def _forest(kind: type[Any], name: str, shape: Shape) -> Entry:
    share = None if shape.n_train <= _TREE_ROWS else _TREE_ROWS / shape.n_train
    # Pure leaves say 0 or 1; three rows say more, and a mean of probabilities is better for it.
    settings = {"min_samples_leaf": 3, "max_samples": share, "oob_score": False, "keep_rows": False}

    def seconds(shape: Shape) -> float:
        rows = min(shape.n_train, _TREE_ROWS)
        return 100 * 7e-9 * rows * math.log2(rows + 2) * math.sqrt(shape.n_columns) + 4e-5 * shape.n_test

    def megabytes(shape: Shape) -> float:
        return 100 * min(shape.n_train, _TREE_ROWS) * 0.5 * 12e-6

    return Entry(name, kind(100, **settings), seconds, megabytes)


def _linear(estimator: Any, n_iter: int) -> Entry:
    def seconds(shape: Shape) -> float:
        n_outputs = shape.n_outputs if shape.n_outputs > 2 else 1
        return 0.01 + 2e-9 * min(shape.n_train, 200_000) * shape.n_columns * n_outputs * n_iter

    return Entry(
        "linear", estimator, seconds, lambda shape: 1e-5 * shape.n_columns * shape.n_outputs, 200_000
    )


def _neighbors(estimator: Any) -> Entry:
    def seconds(shape: Shape) -> float:
        return 0.01 + 5e-10 * shape.n_test * min(shape.n_train, 10_000) * (shape.n_columns + 10)

    def megabytes(shape: Shape) -> float:
        return 16e-6 * min(shape.n_train, 10_000) * shape.n_columns

    return Entry("neighbors", estimator, seconds, megabytes, 10_000)


def _n_neighbors(shape: Shape) -> int:
    return max(1, min(20, shape.n_train // 5))


def _classifiers(shape: Shape) -> list[Entry]:
    def rounds(shape: Shape) -> float:
        return 200 * (2e-4 + 8e-10 * shape.values * max(1, shape.n_outputs - 1))

    neighbors = KNeighborsClassifier(_n_neighbors(shape), weights="distance")
    adaboost = AdaBoostClassifier(n_estimators=200, learning_rate=0.5)
    found = {
        "linear": _linear(OnMatrixClassifier(LogisticRegression(max_iter=200)), 50),
        "extra_trees": _forest(ExtraTreesClassifier, "extra_trees", shape),
        "forest": _forest(RandomForestClassifier, "forest", shape),
        "neighbors": _neighbors(OnMatrixClassifier(neighbors)),
        "adaboost": Entry("adaboost", adaboost, rounds, lambda _: 0.1),
        **{name: _booster(GradientBoostingClassifier, name) for name in _BOOSTERS},
    }
    return [found[name] for name in NAMES]


def _regressors(shape: Shape) -> list[Entry]:
    neighbors = KNeighborsRegressor(_n_neighbors(shape), weights="distance")
    found = {
        "linear": _linear(OnMatrixRegressor(Ridge()), 10 + 10 * shape.n_columns),
        "extra_trees": _forest(ExtraTreesRegressor, "extra_trees", shape),
        "forest": _forest(RandomForestRegressor, "forest", shape),
        "neighbors": _neighbors(OnMatrixRegressor(neighbors)),
        **{name: _booster(GradientBoostingRegressor, name) for name in _BOOSTERS},
    }
    return [found[name] for name in NAMES if name in found]
