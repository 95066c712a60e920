"""What all forests share: from a table to trees that each saw rows of their own, and from trees to one answer."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, MultiOutputMixin
from sklearn.utils.validation import check_is_fitted

import coterie._engine as _engine
from coterie._params import Params, check_params, is_auto, resolve_n_jobs
from coterie._reported import Reported
from coterie._seeds import root_seed
from coterie._typing import AnyArray, FloatArray, RowArray, Task
from coterie.data.any_table import TakesAnyTable
from coterie.data.encoding import Encoded
from coterie.data.prepare import TrainingData, prepare_prediction, prepare_training
from coterie.errors import InvalidInput, InvalidParameter
from coterie.explain.explained import Explained
from coterie.explain.shap import TreeGame
from coterie.fitting.checkpoint_writer import check_resume, opened_journal
from coterie.fitting.fingerprint import about_data, about_fit
from coterie.fitting.first_rounds import check_n_trees
from coterie.fitting.warm_start import check_same_data, left_as_it_was, trace_of
from coterie.forests._training_rows import RememberedRows
from coterie.forests.checkpoint_trees import KeptTrees
from coterie.forests.growth import grow_trees
from coterie.forests.out_of_bag import OutOfBag, oob_score
from coterie.forests.plan import FOREST_PARAMS, BagPlan, RowWeights, bag_of, check_together, options_of
from coterie.trees.grown_tree import GrownTree
from coterie.trees.growth_rules import (
    classes_per_output,
    features_with_missing,
    refuse_impossible_counts,
    unit_of,
)
from coterie.trees.limits import max_features_of

__all__ = ["ForestBase"]

_BLOCK_VALUES = 2_000_000  # answers of single trees held at a time
_BEGIN_ANEW = "To begin anew, set warm_start=False."

# What a fit leaves behind, and what the next one must not find.
_LEARNED = (
    "forest_",
    "n_estimators_",
    "oob_score_",
    "_oob",
    "_memories",
    "_importance_sum",
    "_oob_importance_sum",
    "_trace",
    "_bag",
    "_leaf_targets",
)


class ForestBase(Reported, Explained, TakesAnyTable, MultiOutputMixin, BaseEstimator):
    """The loop of `fit`, and the walk down the trees."""

    PARAMS: ClassVar[Params] = FOREST_PARAMS
    _task: ClassVar[Task]
    _random_splits: ClassVar[bool]

    forest_: _engine.PackedForest
    _oob: OutOfBag | None
    _importance_sum: FloatArray
    _oob_importance_sum: FloatArray
    n_outputs_: int
    n_features_in_: int

    def _store(self, given: Mapping[str, Any]) -> None:
        """Keep the arguments of a constructor."""
        for name in self.PARAMS:
            setattr(self, name, given[name])

    def _fit(self, X: Any, y: Any, sample_weight: Any, resume: bool) -> Self:
        check_params(self)
        check_resume(self, resume)
        resolve_n_jobs(self.n_jobs)
        if self.warm_start and hasattr(self, "_trace"):
            with left_as_it_was(self) as before:
                return self._fit_from(before, X, y, sample_weight)
        for name in _LEARNED:
            self.__dict__.pop(name, None)
        return self._fit_from(None, X, y, sample_weight, resume=resume)

    def _fit_from(
        self, before: dict[str, Any] | None, X: Any, y: Any, sample_weight: Any, *, resume: bool = False
    ) -> Self:
        """Fit anew, or go on from what the estimator held before, or from a checkpoint."""
        train = prepare_training(self, X, y, sample_weight, task=self._task, multi_output=True)
        if self.criterion == "poisson":
            refuse_impossible_counts(train.target.values)
        self._take_target(train)
        rows = RowWeights.of(sample_weight, train)
        bag = bag_of(self, train, rows)
        check_together(self, bag, train)
        seed = before["_trace"].seed if before else root_seed(self.random_state)
        trace = trace_of(self, train, seed)
        if before:
            check_same_data(before["_trace"], trace, before, self, _BEGIN_ANEW)
            if before["_bag"] != bag:
                raise InvalidParameter(
                    "warm_start=True continues with the bags of the last fit; bootstrap or max_samples was changed. "
                    f"Set it back. {_BEGIN_ANEW}"
                )
            if not self._wants_more_than(before["n_estimators_"]):
                return self
        journal = None
        if self.checkpoint is not None:
            journal = opened_journal(self, about_fit(self) | about_data(train), seed, resume=resume)
            seed = journal.seed
        follow = bool(
            bag.leaves_rows_out
            and (self.oob_score is not False or self.prune is not None or is_auto(self.n_estimators))
        )
        training = self._training(before, train, rows, bag, seed, follow=follow)
        known = before["n_estimators_"] if before else 0
        n_trees = None if is_auto(self.n_estimators) else self.n_estimators - known
        if journal is None:
            grow_trees(training, n_trees, owner=type(self).__name__, verbose=int(self.verbose))
        else:
            kept = KeptTrees(journal, training, self._threads(), follow=follow)
            with journal.keeps(kept.collect):
                grow_trees(training, n_trees, owner=type(self).__name__, verbose=int(self.verbose), kept=kept)
        self._take_trees(before, training, follow=follow)
        self._saw_missing = features_with_missing(train.encoded)
        self._trace, self._bag = replace(trace, seed=seed), bag
        self.__dict__.pop("oob_score_", None)
        if self._oob is not None:
            score = oob_score(self, X, self._users_target(train.target.values), rows.weight, self._oob)
            if score is not None:
                self.oob_score_ = score
        return self

    def _fit_to_bags(
        self,
        known: "ForestBase | None",
        X: Any,
        y: Any,
        sample_weight: Any,
        seed: int,
        plan: BagPlan,
        *,
        follow: bool,
        grow: Callable[[_engine.ForestTraining], None],
    ) -> None:
        """Fit to bags that `grow` draws; `known` is a forest fitted to others of the same rows, to go on from."""
        train = prepare_training(self, X, y, sample_weight, task=self._task, multi_output=True)
        if self.criterion == "poisson":
            refuse_impossible_counts(train.target.values)
        self._take_target(train)
        before = None if known is None else known.__dict__
        training = self._training(
            before, train, RowWeights.of(sample_weight, train), plan, seed, follow=follow
        )
        grow(training)
        self._take_trees(before, training, follow=follow)
        self._saw_missing = features_with_missing(train.encoded)

    def _training(
        self,
        before: dict[str, Any] | None,
        train: TrainingData,
        rows: RowWeights,
        bag: BagPlan,
        seed: int,
        *,
        follow: bool,
    ) -> _engine.ForestTraining:
        """The rows, ranked, and ready to grow trees on; trees that are known count as grown."""
        n_classes = classes_per_output(train)
        y = np.ascontiguousarray(train.target.values, dtype=np.float64).ravel()
        self._unit = 1.0 if len(n_classes) else unit_of(y)
        self.max_features_ = max_features_of(self.max_features, train.encoded.n_features)
        options = options_of(
            self,
            train,
            bag,
            unit=self._unit,
            max_features=self.max_features_,
            follow=follow,
            seed=seed,
            first_tree=before["n_estimators_"] if before else 0,
            n_threads=self._threads(),
        )
        training = _engine.start_forest(
            train.encoded.values,
            train.encoded.n_levels,
            y if self._unit == 1.0 else y / self._unit,
            train.target.n_outputs,
            n_classes,
            np.zeros(0) if rows.weight is None else rows.weight,
            options,
        )
        if rows.factor is not None:
            training.set_factor(rows.factor)
        if before and follow:
            if before["_oob"] is None:
                raise InvalidParameter(
                    "warm_start=True cannot learn anything out of bag: the trees of the last fit were grown without. "
                    "Set oob_score=False, or warm_start=False to begin anew."
                )
            before["_oob"].resume(training, self._unit)
        return training

    def _wants_more_than(self, n_known: int) -> bool:
        if self.n_estimators < n_known:
            raise InvalidParameter(
                f"n_estimators={self.n_estimators} is less than the {n_known} trees of the last fit, which "
                f"warm_start=True continues. Choose more. {_BEGIN_ANEW}"
            )
        if self.n_estimators == n_known:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                UserWarning,
                stacklevel=5,
            )
        return bool(self.n_estimators > n_known)

    def _take_trees(
        self, before: dict[str, Any] | None, training: _engine.ForestTraining, *, follow: bool
    ) -> None:
        forest = training.finish()
        self.forest_ = before["forest_"].joined(forest) if before else forest
        self.n_estimators_ = len(self.forest_)
        known = before["_memories"] if before else []
        self._memories = [*known, training.memory] if self.keep_rows and known is not None else None
        self._oob = OutOfBag.of(training, self._unit) if follow else None
        total = training.importances.sum(axis=1, keepdims=True)
        shares = np.divide(
            training.importances, total, out=np.zeros_like(training.importances), where=total > 0
        )
        with np.errstate(over="ignore"):  # squares of numbers near the largest float
            unbiased = training.oob_importances.sum(axis=0) * self._unit * self._unit
        self._importance_sum = shares.sum(axis=0) + (before["_importance_sum"] if before else 0.0)
        self._oob_importance_sum = unbiased + (before["_oob_importance_sum"] if before else 0.0)
        self.__dict__.pop("_leaf_targets", None)

    def _means_of(self, X: Any, n_trees: int | None = None) -> FloatArray:
        """The mean answer of the trees, or of the first of them, shape (n_rows, n_columns)."""
        encoded = self._encoded(X)
        forest = self.forest_
        if n_trees is not None:
            forest = forest.first(check_n_trees(n_trees, len(forest)))
        sums = np.zeros(encoded.n_rows * forest.n_columns)
        forest.add_answers(encoded.values, encoded.n_levels, sums, self._threads())
        return sums.reshape(encoded.n_rows, -1) / len(forest) * self._unit

    def _answers_of(self, X: Any) -> Iterator[tuple[slice, FloatArray]]:
        """What each tree says of some rows after the other: arrays of shape (rows, n_trees, n_columns)."""
        encoded = self._encoded(X)
        n_trees, n_columns = len(self.forest_), self.forest_.n_columns
        step = max(1, _BLOCK_VALUES // (n_trees * n_columns))
        for first in range(0, encoded.n_rows, step):
            rows = slice(first, min(first + step, encoded.n_rows))
            n_rows = rows.stop - first
            values = encoded.values
            some = [own[rows] for own in values] if isinstance(values, list) else values[rows]
            answers = np.empty(n_rows * n_trees * n_columns)
            self.forest_.list_answers(some, encoded.n_levels, answers, self._threads())
            yield rows, answers.reshape(n_rows, n_trees, n_columns) * self._unit

    def _leaves_of(self, X: Any) -> NDArray[np.uint32]:
        encoded = self._encoded(X)
        leaves = np.empty(encoded.n_rows * len(self.forest_), np.uint32)
        self.forest_.find_leaves(encoded.values, encoded.n_levels, leaves, self._threads())
        return leaves.reshape(encoded.n_rows, -1)

    def _game_of(self, X: Any, background: Any) -> TreeGame:
        encoded = self._encoded(X)
        others = None if background is None else self._encoded(background)
        start, scale = np.zeros(self.forest_.n_columns), self._unit / len(self.forest_)
        return TreeGame(
            self.forest_, encoded, scale, start, self.n_features_in_, self._threads(), background=others
        )

    def _encoded(self, X: Any) -> Encoded:
        if "forest_" not in self.__dict__:
            check_is_fitted(self, "forest_")
        return prepare_prediction(self, X)

    def _threads(self) -> int:
        return _engine.usable_threads(resolve_n_jobs(self.n_jobs))

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
        if self._oob is None:
            raise AttributeError(
                f"{what} is not known: this {type(self).__name__} did not follow rows out of bag. Fit it with "
                "bootstrap=True and oob_score=True."
            )
        return self._oob

    def _remembered(self, what: str, *, needs_bag: bool = False) -> RememberedRows:
        """The training rows, or an error that says how to have them."""
        check_is_fitted(self, "forest_")
        if self._memories is None:
            raise InvalidInput(
                f"{what} needs the training rows, which this {type(self).__name__} did not keep (keep_rows=False, or "
                "not all of them in a warm start). Set keep_rows=True and fit it again."
            )
        kept = RememberedRows(self.forest_, self._memories, self._unit, self._threads())
        if needs_bag and not self._bag.leaves_rows_out:
            raise InvalidInput(
                f"{what} needs rows out of bag, and every tree of this {type(self).__name__} saw every row. Fit it "
                "with bootstrap=True."
            )
        return kept

    def _classes_per_output(self) -> NDArray[np.int32] | None:
        raise AssertionError("forests of classes and of numbers each say what to do")

    def _take_target(self, train: TrainingData) -> None:
        raise AssertionError("forests of classes and of numbers each say what to do")

    def _users_target(self, target: AnyArray) -> AnyArray:
        raise AssertionError("forests of classes and of numbers each say what to do")

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        state.pop("_leaf_targets", None)  # found again when they are needed
        return state
