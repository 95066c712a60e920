"""What all forests share: from a table to trees that each saw rows of their own, and from trees to one prediction."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import MultiOutputMixin, clone
from sklearn.utils.validation import check_is_fitted

import coterie._engine as _engine
from coterie._optional import need
from coterie._params import Params, check_first, is_auto
from coterie._storage import Fitted
from coterie._typing import AnyArray, FloatArray, RowArray, Task
from coterie.data.encoding import Encoded
from coterie.data.prepare import TrainingData, prepare_prediction, prepare_training
from coterie.errors import InvalidInput, InvalidParameter
from coterie.fitting.checkpoint_writer import CheckpointWriter
from coterie.fitting.estimator import Estimator, FitRun, FitSignature, signature_of
from coterie.fitting.fingerprint import data_fingerprint
from coterie.fitting.warm_start import BEGIN_ANEW, PreviousFit, check_continues, check_no_fewer
from coterie.forests._fitted import FOREST_FITTED
from coterie.forests._training_rows import TrainingRows
from coterie.forests.growth import CheckpointedTrees, grow_trees
from coterie.forests.out_of_bag import OutOfBag, oob_score, required_oob
from coterie.forests.plan import FOREST_PARAMS, BagPlan, RowWeights, bag_of, check_together, options_of
from coterie.forests.tree_ranges import CollectedTrees, ForestTask, GrowingForest
from coterie.trees.grown_tree import GrownTree
from coterie.trees.growth_rules import (
    classes_per_output,
    features_with_missing,
    max_features_of,
    refuse_impossible_counts,
    unit_of,
)

_BLOCK_VALUES = 2_000_000  # predictions of single trees held at a time


@dataclass(frozen=True)
class ForestState:
    """What a fit that continues another one needs of it.

    Attributes
    ----------
    forest : the trees
    bag : how their rows were drawn
    memories : what the engine kept of the training rows; None if it did not
    out_of_bag : what is known out of bag; None if rows were not followed
    importance_sum, oob_importance_sum : sums over trees, for each feature; the latter None if it is not known
    """

    forest: _engine.PackedForest
    bag: BagPlan | None
    memories: list[_engine.ForestMemory] | None
    out_of_bag: OutOfBag | None
    importance_sum: FloatArray
    oob_importance_sum: FloatArray | None


def _cluster_of(X: Any) -> Any:
    """What gathers a collection of Dask and has its workers grow trees; None for tables in this process."""
    if not type(X).__module__.startswith("dask."):
        return None
    for package in ("dask", "distributed"):
        need(package, purpose="Training on collections of Dask", extra="dask")
    # Above this package: it trains with what is here.
    return import_module("coterie.distributed.on_dask.forest")


class BaseForest(MultiOutputMixin, Estimator):
    """The path of a fit, from a table to trees, and the mean prediction of the trees."""

    PARAMS: ClassVar[Params] = FOREST_PARAMS
    _takes_any_table = True
    FITTED: ClassVar[Fitted] = FOREST_FITTED
    _task: ClassVar[Task]
    _random_splits: ClassVar[bool]

    forest_: _engine.PackedForest
    _oob: OutOfBag | None
    _importance_sum: FloatArray
    _oob_importance_sum: FloatArray | None
    n_outputs_: int
    n_features_in_: int

    # What those of classes and those of numbers each define.
    _classes_per_output: Callable[[], NDArray[np.int32] | None]
    _set_target: Callable[[TrainingData], None]
    _decoded: Callable[[AnyArray], AnyArray]

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, resume: bool = False) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : data frame, Arrow table, array, sparse matrix or dict of columns
            Or a collection of Dask, as y and sample_weight are then: the workers of its cluster grow the trees, each
            with a copy of the table.
        y : labels of any type, or numbers, of shape (n_rows,) or (n_rows, n_outputs)
        sample_weight : array of shape (n_rows,), default=None
            How often each row counts: a row of weight 2 is drawn as two rows are, and rows of weight 0 are left out.
        resume : bool, default=False
            Go on from `checkpoint`, or begin anew if there is nothing yet.
        """
        with self._fitting(X, y, resume=resume) as run:
            cluster = _cluster_of(X)
            if cluster is None:
                train = self._prepare(X, y, sample_weight)
            else:
                train = self._checked(cluster.gathered_table(self, X, y, sample_weight))
                X = None  # the collections have been read
            rows = RowWeights.of(train)
            bag = bag_of(self, train, rows)
            check_together(self, bag)
            signature = signature_of(self, train, run.seed)
            state = None if run.previous is None else self._check_continued(run.previous, signature, bag)
            track_oob = bag.leaves_rows_out and (
                self.oob_score is not False or self.prune is not None or is_auto(self.n_estimators)
            )
            if state is not None and track_oob and state.out_of_bag is None:
                state = self._with_out_of_bag(state)
            if state is not None and not self._wants_more_than(len(state.forest)):
                self._oob, self._oob_importance_sum = state.out_of_bag, state.oob_importance_sum
                self._score_out_of_bag(X, train, rows)
                return self
            checkpoint = run.open_checkpoint(lambda: data_fingerprint(train))
            training = self._training(state, train, rows, bag, run.seed, track_oob=track_oob, cluster=cluster)
            self._grow(run, training, state, checkpoint, track_oob=track_oob)
            self._conclude(state, training, train, track_oob=track_oob)
            self._trace, self._bag = replace(signature, seed=run.seed), bag
            self._score_out_of_bag(X, train, rows)
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> TrainingData:
        """Read and check what was given."""
        return self._checked(prepare_training(self, X, y, sample_weight, task=self._task, multi_output=True))

    def _checked(self, train: TrainingData) -> TrainingData:
        """The same, if the criterion can be about its target, which is set."""
        if self.criterion == "poisson":
            refuse_impossible_counts(train.target.values)
        self._set_target(train)
        return train

    def _previous_fit(self) -> PreviousFit[ForestState] | None:
        if not hasattr(self, "_trace"):
            return None
        return PreviousFit(self._trace, self.schema_, getattr(self, "classes_", None), self._state())

    def _state(self) -> ForestState:
        return ForestState(
            self.forest_,
            getattr(self, "_bag", None),
            self._memories,
            self._oob,
            self._importance_sum,
            self._oob_importance_sum,
        )

    def _check_continued(
        self, previous: PreviousFit[ForestState], signature: FitSignature, bag: BagPlan
    ) -> ForestState:
        """The state of the last fit, if this one continues it."""
        classes = getattr(self, "classes_", None)
        check_continues(previous, signature, schema=self.schema_, classes=classes, hint=BEGIN_ANEW)
        if previous.state.bag != bag:
            raise InvalidParameter(
                "warm_start=True continues with the bags of the last fit; bootstrap or max_samples was changed.",
                parameter="bootstrap",
                received=self.bootstrap,
                hint=f"Set it back. {BEGIN_ANEW}",
            )
        return previous.state

    def _grow(
        self,
        run: FitRun,
        training: GrowingForest,
        state: ForestState | None,
        checkpoint: CheckpointWriter | None,
        *,
        track_oob: bool,
    ) -> None:
        n_known = 0 if state is None else len(state.forest)
        n_trees = None if is_auto(self.n_estimators) else self.n_estimators - n_known
        if checkpoint is None:
            grow_trees(training, n_trees, owner=type(self).__name__, verbose=int(self.verbose))
            return
        kept = CheckpointedTrees(checkpoint, training, run.n_threads, track_oob=track_oob)
        with checkpoint.recording(kept.collect):
            grow_trees(training, n_trees, owner=type(self).__name__, verbose=int(self.verbose), kept=kept)

    def _score_out_of_bag(self, X: Any, train: TrainingData, rows: RowWeights) -> None:
        if self._oob is None:
            return
        score = oob_score(self, X, self._decoded(train.target.values), rows.weight, self._oob)
        if score is not None:
            self.oob_score_ = score

    def _fit_to_bags(
        self,
        known: "BaseForest | None",
        X: Any,
        y: Any,
        sample_weight: Any,
        seed: int,
        plan: BagPlan,
        *,
        track_oob: bool,
        grow: Callable[[_engine.ForestTraining], None],
    ) -> None:
        """Fit to bags that `grow` draws; `known` is a forest fitted to others of the same rows, to go on from."""
        train = self._prepare(X, y, sample_weight)
        state = None if known is None else known._state()
        training = self._training(state, train, RowWeights.of(train), plan, seed, track_oob=track_oob)
        assert isinstance(training, _engine.ForestTraining), "bags are given to trees that grow here"
        grow(training)
        self._conclude(state, training, train, track_oob=track_oob)

    def _training(
        self,
        state: ForestState | None,
        train: TrainingData,
        rows: RowWeights,
        bag: BagPlan,
        seed: int,
        *,
        track_oob: bool,
        cluster: Any = None,
    ) -> GrowingForest:
        """The rows, ranked, and ready to grow trees on; trees of the last fit count as grown."""
        n_classes = classes_per_output(train)
        y = np.ascontiguousarray(train.target.values, dtype=np.float64).ravel()
        self._unit = 1.0 if len(n_classes) else unit_of(y)
        self.max_features_ = max_features_of(self.max_features, train.encoded.n_features)
        # What is sent to workers holds neither rows nor trees.
        estimator, about = (self, train) if cluster is None else (clone(self), train.without_rows())
        options = partial(
            options_of,
            estimator,
            about,
            bag,
            unit=self._unit,
            max_features=self.max_features_,
            track_oob=track_oob,
            seed=seed,
        )
        task = ForestTask(
            train.encoded,
            y if self._unit == 1.0 else y / self._unit,
            train.target.n_outputs,
            n_classes,
            np.zeros(0) if rows.weight is None else rows.weight,
            rows.factor,
            options,
            first_tree=0 if state is None else len(state.forest),
            lists_left_out=track_oob and self.prune is not None,
        )
        n_threads = self._n_threads()
        training: GrowingForest
        if cluster is None:
            training = task.start(n_threads)
        else:
            source = cluster.range_source(task, None if is_auto(self.n_estimators) else self.n_estimators)
            training = CollectedTrees(task, source, n_threads, track_oob=track_oob)
        if state is not None and track_oob and state.out_of_bag is not None:
            state.out_of_bag.resume(training, self._unit)
        return training

    def _with_out_of_bag(self, state: ForestState) -> ForestState:
        """The same state with what its trees predict out of bag, from the rows that the last fit kept."""
        if state.memories is None:
            raise InvalidParameter(
                "warm_start=True cannot learn anything out of bag: the trees of the last fit were grown without, and "
                "its rows were not kept.",
                parameter="oob_score",
                received=self.oob_score,
                allowed="False",
                hint="Set oob_score=False, or warm_start=False to begin anew.",
            )
        kept = TrainingRows(state.forest, state.memories, self._unit, self._n_threads())
        return replace(state, out_of_bag=kept.out_of_bag(self._classes_per_output()), oob_importance_sum=None)

    def _wants_more_than(self, n_known: int) -> bool:
        check_no_fewer(self.n_estimators, n_known, "trees")
        if self.n_estimators == n_known:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                UserWarning,
                stacklevel=4,
            )
        return bool(self.n_estimators > n_known)

    def _conclude(
        self,
        state: ForestState | None,
        training: GrowingForest,
        train: TrainingData,
        *,
        track_oob: bool,
    ) -> None:
        """Set the fitted attributes: the trees of the last fit, if this one continues it, and the new ones."""
        forest = training.finish()
        self.forest_ = forest if state is None else state.forest.joined(forest)
        self.n_estimators_ = len(self.forest_)
        known = [] if state is None else state.memories
        self._memories = [*known, training.memory] if self.keep_rows and known is not None else None
        self._oob = OutOfBag.of(training, self._unit) if track_oob else None
        total = training.importances.sum(axis=1, keepdims=True)
        shares = np.divide(
            training.importances, total, out=np.zeros_like(training.importances), where=total > 0
        )
        with np.errstate(over="ignore"):  # squares of numbers near the largest float
            unbiased = training.oob_importances.sum(axis=0) * self._unit * self._unit
        self._importance_sum = shares.sum(axis=0) + (0.0 if state is None else state.importance_sum)
        known_sum = np.zeros_like(unbiased) if state is None else state.oob_importance_sum
        self._oob_importance_sum = None if known_sum is None else unbiased + known_sum
        self._saw_missing = features_with_missing(train.encoded)

    def _mean_predictions(self, X: Any, n_trees: int | None = None) -> FloatArray:
        """The mean prediction of the trees, or of the first of them, shape (n_rows, n_columns)."""
        encoded = self._encoded(X)
        forest = self.forest_
        if n_trees is not None:
            forest = forest.first(check_first("n_trees", n_trees, len(forest)))
        sums = np.zeros(encoded.n_rows * forest.n_columns)
        forest.add_predictions(encoded.values, encoded.n_levels, sums, self._n_threads())
        return sums.reshape(encoded.n_rows, -1) / len(forest) * self._unit

    def _tree_predictions(self, X: Any) -> Iterator[tuple[slice, FloatArray]]:
        """What each tree predicts, some rows after the other: arrays of shape (rows, n_trees, n_columns)."""
        encoded = self._encoded(X)
        n_trees, n_columns = len(self.forest_), self.forest_.n_columns
        step = max(1, _BLOCK_VALUES // (n_trees * n_columns))
        for first in range(0, encoded.n_rows, step):
            rows = slice(first, min(first + step, encoded.n_rows))
            n_rows = rows.stop - first
            values = encoded.values
            some = [own[rows] for own in values] if isinstance(values, list) else values[rows]
            predictions = np.empty(n_rows * n_trees * n_columns)
            self.forest_.list_predictions(some, encoded.n_levels, predictions, self._n_threads())
            yield rows, predictions.reshape(n_rows, n_trees, n_columns) * self._unit

    def _leaves_of(self, X: Any) -> NDArray[np.uint32]:
        encoded = self._encoded(X)
        leaves = np.empty(encoded.n_rows * len(self.forest_), np.uint32)
        self.forest_.find_leaves(encoded.values, encoded.n_levels, leaves, self._n_threads())
        return leaves.reshape(encoded.n_rows, -1)

    def _encoded(self, X: Any) -> Encoded:
        if "forest_" not in self.__dict__:
            check_is_fitted(self, "forest_")
        return prepare_prediction(self, X)

    def apply(self, X: Any) -> RowArray:
        """The number of the leaf that each row ends in, for each tree: shape (n_rows, n_trees)."""
        return self._leaves_of(X).astype(np.int64)

    def decision_path(self, X: Any) -> tuple[Any, RowArray]:
        """The nodes that each row passes in each tree.

        Returns
        -------
        A CSR matrix of shape (n_rows, nodes of all trees) with ones on the way, and where the nodes of each tree begin:
        those of tree i are the columns from the i-th of these numbers to the next.
        """
        leaves = self.apply(X)
        paths = [
            GrownTree(self.forest_.tree(tree), self.n_features_in_, None).paths(leaves[:, tree])
            for tree in range(len(self.forest_))
        ]
        ends = np.cumsum([0, *self.forest_.n_nodes.tolist()])
        return sparse.hstack(paths, format="csr"), ends

    def _known_oob(self, what: str) -> OutOfBag:
        check_is_fitted(self, "forest_")
        return required_oob(self, self._oob, what)

    def _training_rows(self, what: str, *, needs_bag: bool = False) -> TrainingRows:
        """The training rows, or an error with a hint how to have them."""
        check_is_fitted(self, "forest_")
        if self._memories is None:
            raise InvalidInput(
                f"{what} needs the training rows, which this {type(self).__name__} did not keep (keep_rows=False, or "
                "not all of them in a warm start). Set keep_rows=True and fit it again."
            )
        kept = TrainingRows(self.forest_, self._memories, self._unit, self._n_threads())
        if needs_bag and not self._bag.leaves_rows_out:
            raise InvalidInput(
                f"{what} needs rows out of bag, and every tree of this {type(self).__name__} saw every row. Fit it "
                "with bootstrap=True."
            )
        return kept

    def _refuse_several(self, what: str) -> None:
        if getattr(self, "n_outputs_", 1) > 1:
            raise InvalidInput(
                f"{what} is for one output, and this {type(self).__name__} was fitted to {self.n_outputs_}. Fit one "
                "forest for each."
            )

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        state.pop("_leaf_targets", None)  # found again when they are needed
        return state
