"""From a configuration to an entry: the learner of a family with its settings, and what it costs by the size of a fit.

What a member costs is known roughly beforehand, in seconds of a small machine: one number, learned from the members
that were fitted so far, makes them seconds of this one.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sklearn.linear_model import LogisticRegression, Ridge

from coterie._typing import Task
from coterie.adaboost.adaboost_classifier import AdaBoostClassifier
from coterie.adaboost.adaboost_regressor import AdaBoostRegressor
from coterie.boosting.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.boosting.plan import automatic_folds
from coterie.committee.candidates.configurations import Configuration, Settings
from coterie.committee.candidates.entry import Entry, Shape
from coterie.committee.features.members import GeneratedFeaturesClassifier, GeneratedFeaturesRegressor
from coterie.committee.learners.additive import AdditiveClassifier, AdditiveRegressor
from coterie.committee.learners.discriminant import DiscriminantClassifier
from coterie.committee.learners.gaussian_process import SmallGaussianProcess
from coterie.committee.learners.kernels import KernelClassifier, KernelRegressor
from coterie.committee.learners.leaf_neighbors import LeafNeighborsClassifier, LeafNeighborsRegressor
from coterie.committee.numeric_pipeline import (
    NeighborsClassifier,
    NeighborsRegressor,
    NumericPipelineClassifier,
    NumericPipelineRegressor,
)
from coterie.forests.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from coterie.forests.random_forest import RandomForestClassifier, RandomForestRegressor
from coterie.networks.neural_network import (
    NeuralNetworkClassifier,
    NeuralNetworkRegressor,
    automatic_epochs,
)
from coterie.trees.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor

FEW_ROWS = 50  # too few for boosting to hold some out and learn from them when to stop
_TREE_ROWS = 50_000  # that a tree of a forest sees at most
_SINGLE_FIT_FOLDS = 5  # boosters of a member that leaves rows out by itself, each without a fifth of them
_SINGLE_FIT_TREES = 200  # of a forest: a row is out of the bag of a third of them
_ROUNDS = 1000  # of boosting at most
_PATIENCE = 40
_BEST_FOLDS = 16  # of the recipe with effort="best"
_FEATURES_FOLDS = 4  # boosters within each fold of the member with generated features
_LOOKED_AT_ROWS = 20_000  # that generated features are chosen by at most
_GAUSSIAN_ROWS = 3_000  # to which a Gaussian process is fitted at most
_EPOCHS = 256


def entry_of(name: str, configuration: Configuration, task: Task, shape: Shape) -> Entry:
    """The member of a table of this size.

    Examples
    --------
    >>> shape = Shape(80, 20, 3)
    >>> entry_of("wide", Configuration("forest", {"max_features": 0.7}), "regression", shape).estimator.max_features
    0.7
    """
    build = _FAMILIES[configuration.family]
    return replace(build(configuration.settings, task, shape), name=name, family=configuration.family)


def _on_matrix(estimator: Any, task: Task) -> Any:
    return (NumericPipelineClassifier if task == "classification" else NumericPipelineRegressor)(estimator)


def _of_task(task: Task, of_classes: Any, of_numbers: Any) -> Any:
    return of_classes if task == "classification" else of_numbers


def _booster(settings: Settings, task: Task, _: Shape) -> Entry:
    kind = _of_task(task, GradientBoostingClassifier, GradientBoostingRegressor)
    settings = {"n_iter_no_change": _PATIENCE, "n_estimators": _ROUNDS, **settings, "early_stopping": True}
    most, step = int(settings["n_estimators"]), float(settings["learning_rate"])
    typical = min(most, 15 / step)
    shares_trees = settings.get("multi_strategy") == "shared_trees"
    leaves = settings.get("max_leaf_nodes") or 32
    share_of_round = 1.3 if leaves > 32 else 1.0

    return Entry(
        "",
        kind(**settings, validation_fraction=0.1),
        lambda shape: typical * share_of_round * _round_seconds(shape),
        lambda shape: most * (2 if shares_trees else _trees_in_round(shape)) * leaves * 1.3e-4,
        single_fit=kind(**settings, n_folds=_SINGLE_FIT_FOLDS),
        single_fit_folds=_SINGLE_FIT_FOLDS,
        single_fit_models=_SINGLE_FIT_FOLDS,
    )


def _recipe(settings: Settings, task: Task, shape: Shape) -> Entry:
    """What the class does by default; it leaves rows out by itself, and so do its boosters within a fold."""
    kind = _of_task(task, GradientBoostingClassifier, GradientBoostingRegressor)
    n_scores = shape.n_train * _trees_in_round(shape)
    is_best = settings.get("effort") == "best"
    n_folds = max(
        _SINGLE_FIT_FOLDS, automatic_folds(n_scores, _BEST_FOLDS) if is_best else automatic_folds(n_scores)
    )
    n_rounds = 240 if is_best else 160
    return Entry(
        "",
        kind(**settings),
        lambda shape: n_rounds * n_folds * _round_seconds(shape),
        lambda shape: 300 * n_folds * _trees_in_round(shape) * 4e-3,
        single_fit=kind(**settings, n_folds=n_folds),
        trial=kind(**settings, n_folds=2),
    )


def _boosting_features(settings: Settings, task: Task, _: Shape) -> Entry:
    """Generated features are learned inside each fold, so that nothing can be fitted once for all of them."""
    wrapper = _of_task(task, GeneratedFeaturesClassifier, GeneratedFeaturesRegressor)
    kind = _of_task(task, GradientBoostingClassifier, GradientBoostingRegressor)
    settings = {"n_iter_no_change": _PATIENCE, "n_estimators": _ROUNDS, **settings, "early_stopping": True}

    def seconds(shape: Shape) -> float:
        looked_at = replace(shape, n_train=min(shape.n_train, _LOOKED_AT_ROWS))
        return 600 * _round_seconds(looked_at) + _FEATURES_FOLDS * 250 * _round_seconds(shape) + 0.1

    return Entry(
        "",
        wrapper(kind(**settings, n_folds=_FEATURES_FOLDS)),
        seconds,
        lambda shape: 300 * _FEATURES_FOLDS * _trees_in_round(shape) * 4e-3,
        informs_forecast=False,
    )


def _trees_in_round(shape: Shape) -> int:
    return shape.n_outputs if shape.n_outputs > 2 else 1


def _round_seconds(shape: Shape) -> float:
    return _trees_in_round(shape) * (2e-4 + 5e-9 * shape.values)


def _forest(settings: Settings, task: Task, shape: Shape) -> Entry:
    return _trees(_of_task(task, RandomForestClassifier, RandomForestRegressor), settings, shape)


def _extra_trees(settings: Settings, task: Task, shape: Shape) -> Entry:
    return _trees(_of_task(task, ExtraTreesClassifier, ExtraTreesRegressor), settings, shape)


def _trees(kind: type[Any], given: Settings, shape: Shape) -> Entry:
    share = None if shape.n_train <= _TREE_ROWS else _TREE_ROWS / shape.n_train
    # Pure leaves predict 0 or 1; leaves of three rows are finer, and a mean of probabilities is better for it.
    settings: dict[str, Any] = {
        "min_samples_leaf": 1 if shape.n_train < FEW_ROWS else 3,
        "max_samples": share,
        "keep_rows": False,
        **given,
    }
    tried = settings.get("max_features")

    def growing(shape: Shape) -> float:
        rows = min(shape.n_train, _TREE_ROWS)
        n_tried = math.sqrt(shape.n_columns) if tried is None else max(1.0, tried * shape.n_columns)
        return 7e-9 * rows * math.log2(rows + 2) * n_tried

    def seconds(shape: Shape) -> float:
        return 100 * growing(shape) + 8e-6 * shape.n_test

    def single_fit_seconds(shape: Shape) -> float:
        n_out = max(0, shape.n_train + shape.n_test - _TREE_ROWS)  # rows that follow a tree they did not grow
        return _SINGLE_FIT_TREES * (growing(shape) + 1.5e-7 * n_out)

    def megabytes(shape: Shape) -> float:
        return 100 * min(shape.n_train, _TREE_ROWS) * 0.5 * 12e-6

    return Entry(
        "",
        kind(100, oob_score=False, **settings),
        seconds,
        megabytes,
        single_fit=kind(_SINGLE_FIT_TREES, **settings) if kind().bootstrap else None,
        single_fit_folds=single_fit_seconds(shape) / seconds(shape),
        single_fit_models=_SINGLE_FIT_TREES / 100,
    )


def _linear(settings: Settings, task: Task, _: Shape) -> Entry:
    strength = float(settings.get("strength", 1.0))
    estimator = _of_task(task, LogisticRegression(C=strength, max_iter=200), Ridge(alpha=1 / strength))

    def seconds(shape: Shape) -> float:
        n_iter = 50 if task == "classification" else 10 + 10 * shape.n_columns
        n_outputs = shape.n_outputs if shape.n_outputs > 2 else 1
        return 0.01 + 2e-9 * min(shape.n_train, 200_000) * shape.n_columns * n_outputs * n_iter

    return Entry(
        "",
        _on_matrix(estimator, task),
        seconds,
        lambda shape: 1e-5 * shape.n_columns * shape.n_outputs,
        200_000,
        informs_forecast=False,
    )


def _additive(settings: Settings, task: Task, _: Shape) -> Entry:
    kind = _of_task(task, AdditiveClassifier, AdditiveRegressor)
    n_knots, n_pairs = int(settings.get("n_knots", 6)), int(settings.get("n_pairs", 0))

    def n_features(shape: Shape) -> float:
        return min(1_000.0, (1.0 + n_knots) * shape.n_columns) + n_pairs

    def seconds(shape: Shape) -> float:
        n_fits = 10 if n_pairs else 5
        n_iter = 60 * _trees_in_round(shape) if task == "classification" else n_features(shape) / 4
        return 0.03 + n_fits * 2e-9 * shape.n_train * n_features(shape) * n_iter

    def megabytes(shape: Shape) -> float:
        return 8e-6 * n_features(shape) * (shape.n_outputs + 4)

    return Entry("", _on_matrix(kind(**settings), task), seconds, megabytes, 50_000, informs_forecast=False)


def _kernel(settings: Settings, task: Task, _: Shape) -> Entry:
    kind = _of_task(task, KernelClassifier, KernelRegressor)
    n_landmarks = int(settings.get("n_landmarks", 400))

    def seconds(shape: Shape) -> float:
        relative = float(min(n_landmarks, shape.n_train)) / 400
        work = (
            3e-5 * shape.n_train * (1 + 2 * _trees_in_round(shape)) + 1e-7 * shape.n_train * shape.n_columns
        )
        return 0.1 * relative**2 + relative * math.sqrt(relative) * work

    def megabytes(shape: Shape) -> float:
        n_columns = n_landmarks + shape.n_columns
        return 16e-6 * n_landmarks * n_columns + 8e-6 * 5 * n_landmarks * shape.n_train

    return Entry("", _on_matrix(kind(**settings), task), seconds, megabytes, informs_forecast=False)


def _gaussian_process(_settings: Settings, task: Task, _shape: Shape) -> Entry:
    def seconds(shape: Shape) -> float:
        return 0.05 + 40 * (1e-10 * shape.n_train**3 + 1e-7 * shape.n_train**2)

    return Entry(
        "",
        _on_matrix(SmallGaussianProcess(), task),
        seconds,
        lambda shape: 64e-6 * shape.n_train**2,
        _GAUSSIAN_ROWS,
        informs_forecast=False,
    )


def _discriminant(_settings: Settings, task: Task, _shape: Shape) -> Entry:
    def seconds(shape: Shape) -> float:
        n_columns = 1.5 * shape.n_columns
        return 0.02 + shape.n_outputs * (1e-7 * n_columns**3 + 1e-9 * shape.n_train * n_columns**2)

    def megabytes(shape: Shape) -> float:
        return 40e-6 * shape.n_outputs * shape.n_columns**2

    return Entry("", _on_matrix(DiscriminantClassifier(), task), seconds, megabytes, informs_forecast=False)


def _network(settings: Settings, task: Task, _: Shape) -> Entry:
    kind = _of_task(task, NeuralNetworkClassifier, NeuralNetworkRegressor)
    given = dict(settings)
    width, depth = int(given.pop("width", 256)), int(given.pop("depth", 3))
    factor = float(given.pop("learning_rate_factor", 1.0))
    given["hidden_sizes"] = (width,) * depth
    if factor != 1.0:
        given["learning_rate"] = factor * kind().learning_rate
    most_epochs = int(given.get("max_epochs", _EPOCHS))

    def n_weights(shape: Shape) -> int:
        return width * (4 * shape.n_columns + (depth - 1) * width + shape.n_outputs)

    def seconds(shape: Shape) -> float:
        n_rows = 0.8 * shape.n_train
        rows_of_step = min(256.0, n_rows)
        elementwise = 4e-9 * width * depth
        step = 5e-4 + rows_of_step * (6e-11 * n_weights(shape) + elementwise + 1.6e-7 * shape.n_columns)
        n_epochs = min(most_epochs, automatic_epochs(int(n_rows), 256))
        return 0.7 * n_epochs * max(1.0, n_rows / 256) * step

    return Entry(
        "",
        kind(n_estimators=1, **given),
        seconds,
        lambda shape: 24e-6 * n_weights(shape),
        single_fit=kind(n_estimators=_SINGLE_FIT_FOLDS, **given),
        single_fit_folds=_SINGLE_FIT_FOLDS,
        single_fit_models=_SINGLE_FIT_FOLDS,
        informs_forecast=False,
    )


def _neighbors(settings: Settings, task: Task, _: Shape) -> Entry:
    kind = _of_task(task, NeighborsClassifier, NeighborsRegressor)

    def seconds(shape: Shape) -> float:
        return 0.01 + 5e-10 * shape.n_test * min(shape.n_train, 10_000) * (shape.n_columns + 10)

    def megabytes(shape: Shape) -> float:
        return 16e-6 * min(shape.n_train, 10_000) * shape.n_columns

    return Entry("", _on_matrix(kind(**settings), task), seconds, megabytes, 10_000, informs_forecast=False)


def _leaf_neighbors(settings: Settings, task: Task, _: Shape) -> Entry:
    kind = _of_task(task, LeafNeighborsClassifier, LeafNeighborsRegressor)

    def seconds(shape: Shape) -> float:
        rows = min(shape.n_train, 10_000)
        growing = 100 * 7e-9 * rows * math.log2(rows + 2) * math.sqrt(shape.n_columns)
        return 0.02 + growing + 3e-7 * shape.n_test * rows

    def megabytes(shape: Shape) -> float:
        return 2e-3 * min(shape.n_train, 10_000)

    return Entry("", kind(**settings), seconds, megabytes, 10_000, informs_forecast=False)


def _adaboost(settings: Settings, task: Task, _: Shape) -> Entry:
    depth = int(settings.get("depth", 1))
    n_estimators = int(settings.get("n_estimators", 200 if depth == 1 else 100))
    tree = _of_task(task, DecisionTreeClassifier, DecisionTreeRegressor)
    learner = None if depth == 1 and task == "classification" else tree(max_depth=depth, min_samples_leaf=3)
    estimator = _of_task(
        task,
        AdaBoostClassifier(learner, n_estimators=n_estimators, learning_rate=0.5),
        AdaBoostRegressor(learner, n_estimators=n_estimators),
    )

    def seconds(shape: Shape) -> float:
        if depth == 1:
            return n_estimators * (2e-4 + 8e-10 * shape.values * max(1, shape.n_outputs - 1))
        return n_estimators * (2e-3 + 1e-8 * depth * shape.values * math.log2(shape.n_train + 2))

    return Entry("", estimator, seconds, lambda _: n_estimators * 2**depth * 5e-4)


_FAMILIES: dict[str, Callable[[Settings, Task, Shape], Entry]] = {
    "recipe": _recipe,
    "boosting": _booster,
    "boosting_features": _boosting_features,
    "forest": _forest,
    "extra_trees": _extra_trees,
    "linear": _linear,
    "additive": _additive,
    "kernel": _kernel,
    "gaussian_process": _gaussian_process,
    "discriminant": _discriminant,
    "network": _network,
    "neighbors": _neighbors,
    "leaf_neighbors": _leaf_neighbors,
    "adaboost": _adaboost,
}
