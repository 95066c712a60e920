"""Nearest neighbours for which a weight of 2 is the row twice; scikit-learn's take no weights."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.neighbors import NearestNeighbors

from coterie._storage import Fitted, expect, storable_estimator
from coterie._typing import AnyArray, FloatArray
from coterie._value_types import FLOATS, LABELS, NUMBER, RECOMPUTED, array
from coterie.fitting.fitted_state import forget

_MOST = 20  # neighbours, and at most a fifth of all
_LOOKED_AT = 10  # times as many rows, if some count for less than one


_FITTED: Fitted = {
    "rows_": array("f", 2),
    "weights_": FLOATS,
    "n_neighbors_": NUMBER,
    "targets_": array("f", 2),
    "_index": RECOMPUTED,
}


def _verify_neighbors(model: Any) -> None:
    if "rows_" not in vars(model):
        return
    same = len(model.rows_) == len(model.weights_) == len(model.targets_) > 0
    expect(same, "has neighbours without a target or a weight")
    expect(bool(np.isfinite(model.rows_).all()), "has neighbours that are nowhere")
    expect(bool((model.weights_ > 0).all()), "has neighbours without weight")
    if "classes_" in vars(model):
        expect(model.targets_.shape[1] == len(model.classes_), "has targets of other classes than its own")


class _Neighbors(BaseEstimator):
    """Predicts means over the nearest rows, the nearer the heavier: 1 over the distance.

    Rows are taken until their weights add up to 20, or to a fifth of all rows; of the last only as much as is missing.
    """

    # What those of classes and those of numbers each define.
    _targets: Callable[[AnyArray], FloatArray]

    def fit(self, X: FloatArray, y: AnyArray, sample_weight: FloatArray | None = None) -> Self:
        forget(self)
        self.rows_ = np.asarray(X, dtype=np.float64)
        self.weights_ = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        self.n_neighbors_ = float(np.clip(np.floor(self.weights_.sum() / 5), 1, _MOST))
        self.targets_ = self._targets(np.asarray(y))
        return self

    def _means(self, X: FloatArray) -> FloatArray:
        """The mean of the targets around each row, shape (n_rows, n_columns)."""
        whole = np.ceil(self.n_neighbors_).astype(int)
        n_looked_at = whole if self.weights_.min() >= 1 else _LOOKED_AT * whole
        if "_index" not in self.__dict__:  # a model from a file has none
            self._index = NearestNeighbors().fit(self.rows_)
        distances, rows = self._index.kneighbors(X, min(n_looked_at, len(self.rows_)))
        weights = self.weights_[rows]
        before = np.cumsum(weights, axis=1) - weights
        taken = np.clip(self.n_neighbors_ - before, 0.0, weights)
        same = distances == 0.0
        with np.errstate(divide="ignore"):
            near = np.where(same.any(axis=1, keepdims=True), same, 1.0 / distances)
        # The nearest counts as 1: 1 over a distance may be no float.
        near = np.where(np.isinf(near), 1.0, near / near.max(axis=1, keepdims=True, initial=1e-300))
        shares = taken * near
        shares /= shares.sum(axis=1, keepdims=True)
        return np.asarray(np.einsum("ij,ijk->ik", shares, self.targets_[rows]))


@storable_estimator("committee.NeighborsClassifier", verify=_verify_neighbors)
class NeighborsClassifier(ClassifierMixin, _Neighbors):
    """Shares of the classes among the neighbours."""

    FITTED: ClassVar[Fitted] = {**_FITTED, "classes_": LABELS}

    def predict_proba(self, X: FloatArray) -> FloatArray:
        return self._means(X)

    def predict(self, X: FloatArray) -> AnyArray:
        return np.asarray(self.classes_[self._means(X).argmax(axis=1)])

    def _targets(self, y: AnyArray) -> FloatArray:
        self.classes_, codes = np.unique(y, return_inverse=True)
        return np.asarray(np.eye(len(self.classes_))[codes])


@storable_estimator("committee.NeighborsRegressor", verify=_verify_neighbors)
class NeighborsRegressor(RegressorMixin, _Neighbors):
    """The mean target of the neighbours."""

    FITTED: ClassVar[Fitted] = _FITTED

    def predict(self, X: FloatArray) -> FloatArray:
        return self._means(X)[:, 0]

    def _targets(self, y: AnyArray) -> FloatArray:
        return np.asarray(y, dtype=np.float64)[:, None]
