"""Nearest neighbours by what a forest finds alike: rows are near if many trees put them into the same leaf."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from coterie._storage import Fitted, expect, storable_estimator
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie._value_types import FLOATS, LABELS, MODEL, array
from coterie.fitting.estimator import forget, set_any_table
from coterie.forests.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor

_ROWS_AT_ONCE = 1_000
_LEAST = 1e-12  # so that rows whom no row is near have a mean of all

_FITTED: Fitted = {"forest_": MODEL, "leaves_": array("i", 2), "weights_": FLOATS, "targets_": array("f", 2)}


def _verify(model: Any) -> None:
    if "leaves_" not in vars(model):
        return
    n_rows = len(model.leaves_)
    expect(n_rows == len(model.weights_) == len(model.targets_) > 0, "has neighbours without a target")
    expect(bool((model.leaves_ >= 0).all()), "has neighbours in no leaf")
    if "classes_" in vars(model):
        expect(model.targets_.shape[1] == len(model.classes_), "has targets of other classes than its own")


def shared_leaves(new: RowArray, known: RowArray) -> FloatArray:
    """The share of the trees in which two rows are in the same leaf, shape (n_new, n_known).

    Examples
    --------
    >>> shared_leaves(np.array([[0, 1]]), np.array([[0, 1], [0, 2], [1, 2]]))
    array([[1. , 0.5, 0. ]])
    """
    n_trees = known.shape[1]
    n_leaves = 1 + int(max(new.max(initial=0), known.max(initial=0)))

    def indicators(leaves: RowArray) -> Any:
        columns = (leaves + n_leaves * np.arange(n_trees)).ravel()
        ends = n_trees * np.arange(len(leaves) + 1)
        return sparse.csr_array(
            (np.ones(len(columns)), columns, ends), shape=(len(leaves), n_leaves * n_trees)
        )

    return np.asarray((indicators(new) @ indicators(known).T).toarray() / n_trees)


class _LeafNeighbors(BaseEstimator):
    """Means over the nearest rows; a row counts as the power of the share of trees that put it into the same leaf."""

    # What those of classes and those of numbers each define.
    _forest: Callable[[], Any]
    _targets: Callable[[AnyArray], FloatArray]

    def __init__(
        self,
        n_neighbors: int = 20,
        *,
        power: float = 2.0,
        n_jobs: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.power = power
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        forget(self)
        y = np.asarray(y)
        self.targets_ = self._targets(y)
        self.forest_ = self._forest().fit(X, y, sample_weight)
        self.leaves_ = np.asarray(self.forest_.apply(X))
        self.weights_ = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        return self

    def _means(self, X: Any) -> FloatArray:
        check_is_fitted(self, "leaves_")
        leaves = np.asarray(self.forest_.apply(X))
        parts = [leaves[begin : begin + _ROWS_AT_ONCE] for begin in range(0, len(leaves), _ROWS_AT_ONCE)]
        return np.vstack([self._means_of(part) for part in parts])

    def _means_of(self, leaves: RowArray) -> FloatArray:
        shares = shared_leaves(leaves, self.leaves_)
        if self.n_neighbors < shares.shape[1]:
            least = np.partition(shares, -self.n_neighbors, axis=1)[:, -self.n_neighbors]
            shares = np.where(shares >= least[:, None], shares, 0.0)
        near = (shares**self.power + _LEAST) * self.weights_
        return np.asarray(near @ self.targets_ / near.sum(axis=1, keepdims=True))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        set_any_table(tags)
        return tags


@storable_estimator("committee.LeafNeighborsClassifier", verify=_verify)
class LeafNeighborsClassifier(ClassifierMixin, _LeafNeighbors):
    """Shares of the classes among the rows that are nearest by leaves."""

    FITTED: ClassVar[Fitted] = {**_FITTED, "classes_": LABELS}

    def predict_proba(self, X: Any) -> FloatArray:
        return self._means(X)

    def predict(self, X: Any) -> AnyArray:
        return np.asarray(self.classes_[self._means(X).argmax(axis=1)])

    def _forest(self) -> Any:
        return ExtraTreesClassifier(
            100,
            min_samples_leaf=5,
            keep_rows=False,
            oob_score=False,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )

    def _targets(self, y: AnyArray) -> FloatArray:
        self.classes_, codes = np.unique(y, return_inverse=True)
        return np.asarray(np.eye(len(self.classes_))[codes])


@storable_estimator("committee.LeafNeighborsRegressor", verify=_verify)
class LeafNeighborsRegressor(RegressorMixin, _LeafNeighbors):
    """The mean target of the rows that are nearest by leaves."""

    FITTED: ClassVar[Fitted] = _FITTED

    def predict(self, X: Any) -> FloatArray:
        return self._means(X)[:, 0]

    def _forest(self) -> Any:
        return ExtraTreesRegressor(
            100,
            min_samples_leaf=5,
            keep_rows=False,
            oob_score=False,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )

    def _targets(self, y: AnyArray) -> FloatArray:
        return np.asarray(y, dtype=np.float64)[:, None]
