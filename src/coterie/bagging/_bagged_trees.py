"""Bagging of coterie's own trees: members that the engine grows together, as it grows a forest.

The trees are those that would grow one by one, but for where a threshold lies between two neighbouring values of a
member's rows: a forest sorts each column once, for all trees, and takes a middle among the values of all rows.
"""

from collections.abc import Callable, Iterator
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from coterie import _engine
from coterie._params import check_params, is_auto
from coterie._storage import storable
from coterie._typing import AnyArray, FloatArray, SeedArray
from coterie._value_types import instance
from coterie.bagging._bags import Bags
from coterie.bagging._plan import BaggingData
from coterie.data.table import Table
from coterie.errors import CoterieError
from coterie.fitting.checkpoint_writer import CheckpointWriter
from coterie.forests.base import BaseForest
from coterie.forests.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from coterie.forests.growth import STEP, CheckpointedTrees, has_settled
from coterie.forests.out_of_bag import OutOfBag
from coterie.forests.plan import BagPlan
from coterie.forests.random_forest import RandomForestClassifier, RandomForestRegressor
from coterie.trees.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor

_FORESTS = {
    (DecisionTreeClassifier, "best"): RandomForestClassifier,
    (DecisionTreeClassifier, "random"): ExtraTreesClassifier,
    (DecisionTreeRegressor, "best"): RandomForestRegressor,
    (DecisionTreeRegressor, "random"): ExtraTreesRegressor,
}
_SHARED = (
    "criterion",
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "max_features",
    "min_impurity_decrease",
    "categorical_features",
    "unknown_category",
)


@storable("KnownOob", {"known": instance(OutOfBag)})
class KnownOob:
    """What the forest learned out of bag, in the shape that other members give it."""

    def __init__(self, known: OutOfBag) -> None:
        self.known = known

    @property
    def errors(self) -> FloatArray:
        return self.known.errors


def is_grown_together(learner: Any) -> bool:
    """Whether the engine may grow copies of it together: it is one of our decision trees."""
    return type(learner) in (DecisionTreeClassifier, DecisionTreeRegressor)


def grow_together(ensemble: Any, learner: Any, data: BaggingData, plan: BagPlan) -> bool:
    """Whether a forest can do the work: plain trees on numbers, whose bags are drawn from all columns."""
    if not is_grown_together(learner):
        return False
    try:
        check_params(learner)
    except CoterieError:  # the first member reports it
        return False
    table = data.outline.table
    return (
        plan.kind in ("all", "bootstrap", "subsample", "partition")
        and not data.params
        and table is not None
        and _holds_numbers(table)
        and (learner.categorical_features is None or is_auto(learner.categorical_features))
        and data.target.n_outputs == 1
        and getattr(learner, "class_weight", None) is None
        and getattr(ensemble, "voting", "auto") != "hard"
        and learner.criterion != "absolute_error"
        and learner.max_leaf_nodes is None
        and learner.monotonic_cst is None
        and learner.ccp_alpha == 0
        and learner.min_weight_fraction_leaf == 0
        and isinstance(learner.min_samples_split, Integral)
        and isinstance(learner.min_samples_leaf, Integral)
        and not ensemble.verbose
    )


def _holds_numbers(table: Table) -> bool:
    return table.matrix is not None or all(column.kind == "numeric" for column in table.columns)


def forest_on_bags(
    ensemble: Any,
    learner: Any,
    data: BaggingData,
    bags: Bags,
    *,
    known: BaseForest | None,
    track_oob: bool,
    at_once: int,
    checkpoint: CheckpointWriter | None = None,
) -> BaseForest:
    """A forest with a tree for each bag; `known` is the forest of the members that are fitted already."""
    make: Callable[..., BaseForest] = _FORESTS[type(learner), learner.splitter]
    forest = make(
        keep_rows=False, n_jobs=ensemble.n_jobs, **{name: getattr(learner, name) for name in _SHARED}
    )

    n_known = 0 if known is None else len(known.forest_)

    def grow_some(training: _engine.ForestTraining, n_trees: int) -> None:
        first = n_known + len(training)
        numbers = range(first, first + n_trees)
        counts = np.zeros((n_trees, data.n_rows), dtype=np.uint16)
        for own, number in zip(counts, numbers, strict=True):
            bag = bags.draw(number, ensemble._seeds)
            own[bag.rows] = np.minimum(bag.counts, np.iinfo(np.uint16).max)
        training.grow_given(counts.reshape(-1))

    def grow(training: _engine.ForestTraining, kept: CheckpointedTrees | None = None) -> None:
        most = len(ensemble._seeds)
        while (first := n_known + len(training)) < most and not _is_enough(ensemble, training, first):
            step = STEP - first % STEP if is_auto(ensemble.n_estimators) else most
            wanted = min(step, at_once, most - first)
            if kept is None:
                grow_some(training, wanted)
            else:
                kept.grow(wanted, partial(grow_some, training))

    def grow_and_keep(training: _engine.ForestTraining) -> None:
        if checkpoint is None:
            grow(training)
            return
        kept = CheckpointedTrees(checkpoint, training, forest._n_threads(), track_oob=track_oob)
        with checkpoint.recording(kept.collect):
            grow(training, kept)

    plan = BagPlan("all", bags.plan.n_draws, bags.plan.weight)
    forest._fit_to_bags(
        known,
        data.X,
        data.labels,
        data.weight,
        ensemble._trace.seed,
        plan,
        track_oob=track_oob,
        grow=grow_and_keep,
    )
    return forest


def _is_enough(ensemble: Any, training: _engine.ForestTraining, n_trees: int) -> bool:
    return is_auto(ensemble.n_estimators) and n_trees % STEP == 0 and has_settled(training.oob_errors)


def oob_errors_of_trees(
    forest: BaseForest, X: Any, bags: Bags, seeds: SeedArray, truth: AnyArray, weight: FloatArray
) -> FloatArray:
    """The error of each tree on the rows that its bag left out: a share of wrong classes, or a mean squared error."""
    n_rows, n_trees = len(truth), len(forest.forest_)
    left_out = np.zeros((n_trees, -(-n_rows // 8)), dtype=np.uint8)  # a bit for each row
    for number in range(n_trees):
        out = weight > 0
        out[bags.draw(number, seeds).rows] = False
        left_out[number] = np.packbits(out)
    losses, weights = np.zeros(n_trees), np.zeros(n_trees)
    for rows, predictions in forest._tree_predictions(X):
        first = rows.start // 8
        bits = np.unpackbits(left_out[:, first : -(-rows.stop // 8)], axis=1)
        out_weight = bits[:, rows.start - 8 * first :][:, : rows.stop - rows.start] * weight[rows]
        if forest._task == "classification":
            own = (predictions.argmax(axis=2) != truth[rows, None]).astype(np.float64)
        else:
            with np.errstate(over="ignore"):
                own = (predictions[:, :, 0] - truth[rows].reshape(-1, 1)) ** 2
        losses += np.einsum("ij,ji->i", out_weight, own)
        weights += out_weight.sum(axis=1)
    return np.asarray(np.divide(losses, weights, out=np.full(n_trees, np.nan), where=weights > 0))


def tree_predictions(forest: BaseForest, X: Any) -> Iterator[FloatArray]:
    """What one tree after the other predicts, arrays of shape (n_rows, n_columns)."""
    predictions = np.concatenate([some for _, some in forest._tree_predictions(X)])
    return iter(predictions.swapaxes(0, 1))
