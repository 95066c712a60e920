"""Any table for learners that take a numeric matrix: scaled, without gaps, levels as columns of zeros and ones.

Among these learners are nearest neighbours for which a weight of 2 is the row twice; scikit-learn's take no weights.
"""

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted

from coterie._storage import Fitted, expect, storable, storable_estimator, stored_as
from coterie._typing import AnyArray, BoolArray, FloatArray
from coterie._value_types import (
    BOOL,
    FLOATS,
    INTEGERS,
    LABELS,
    MODEL,
    NUMBER,
    RECOMPUTED,
    array,
    instance,
    list_of,
)
from coterie.data.encoding import Encoded
from coterie.data.parts import row_indexable, rows_of
from coterie.data.prepare import Encoder, read_table
from coterie.data.table import Schema, Table
from coterie.fitting.estimator import forget, set_any_table

_MOST_LEVELS = 20
_FURTHEST = 8.0  # standard deviations; further out, values count as if they were there


def _verify_matrix(matrix: Any) -> None:
    expect(len(matrix._parts) == matrix._schema.n_features, "has parts of other columns than its schema")


@storable(
    "committee.DesignMatrix",
    {
        "_schema": instance(Schema),
        "_encoder": instance(Encoder),
        "_parts": list_of(stored_as("committee.Numbers", "committee.Levels")),
    },
    verify=_verify_matrix,
)
class DesignMatrix:
    """Learns from a table how its rows become rows of a matrix.

    | column | becomes |
    |---|---|
    | numbers, positions of ordered levels | mean 0 and variance 1, at most 8 away from 0; 0 where missing |
    | the same, with missing values in fit | one column more: 1 where missing |
    | levels without order | a column of zeros and ones for each of the 20 levels that are seen most |

    A level that fit did not see, or that is missing, is zeros alone.

    Examples
    --------
    >>> table = read_table({"size": [1.0, 3.0, float("nan")], "town": ["Oslo", "Rome", "Oslo"]})
    >>> DesignMatrix().fit(table).transform(table)
    array([[-1.,  0.,  1.,  0.],
           [ 1.,  0.,  0.,  1.],
           [ 0.,  1.,  1.,  0.]])
    """

    def fit(self, table: Table, weight: FloatArray | None = None) -> Self:
        """Learn means, spreads and levels; a weight of 2 is the row twice."""
        weights = np.ones(table.n_rows) if weight is None else weight
        self._schema = Schema.of(table)
        self._encoder = Encoder()
        encoded = self._encoder.fit_transform(table)
        self._parts = [
            IndicatorColumns(values, n_levels, weights) if n_levels else ScaledColumn(values, weights)
            for values, n_levels in zip(_columns(encoded), encoded.n_levels.tolist(), strict=True)
        ]
        return self

    def transform(self, table: Table, owner: str = "DesignMatrix") -> FloatArray:
        encoded = self._encoder.transform(self._schema.check(table, owner))
        return np.hstack(
            [part.of(values) for part, values in zip(self._parts, _columns(encoded), strict=True)]
        )


def _columns(encoded: Encoded) -> list[AnyArray]:
    values = encoded.values
    return list(values.T) if isinstance(values, np.ndarray) else values


@storable(
    "committee.Numbers", {"_largest": NUMBER, "_centre": NUMBER, "_spread": NUMBER, "_shows_gaps": BOOL}
)
class ScaledColumn:
    """A numeric column, standardised. Division by the largest first: squares of large floats are not finite."""

    def __init__(self, values: AnyArray, weights: FloatArray) -> None:
        numbers = np.asarray(values, dtype=np.float64)
        known = np.isfinite(numbers)
        finite, weights = numbers[known], weights[known]
        self._largest = float(np.abs(finite).max(initial=0.0)) or 1.0
        shares = finite / self._largest
        self._centre = float(np.average(shares, weights=weights)) if len(shares) else 0.0
        variance = np.average((shares - self._centre) ** 2, weights=weights) if len(shares) else 1.0
        self._spread = float(np.sqrt(variance))
        if self._spread <= 1e-12:
            self._spread = 1.0
        self._shows_gaps = bool(np.isnan(numbers).any())

    def of(self, values: AnyArray) -> FloatArray:
        numbers = np.asarray(values, dtype=np.float64)
        with np.errstate(over="ignore"):
            scaled = (numbers / self._largest - self._centre) / self._spread
        gaps: BoolArray = np.isnan(numbers)
        scaled = np.where(gaps, 0.0, np.clip(scaled, -_FURTHEST, _FURTHEST))
        return np.asarray(np.column_stack([scaled, gaps]) if self._shows_gaps else scaled[:, None])


@storable("committee.Levels", {"_shown": INTEGERS})
class IndicatorColumns:
    """A column of codes, one-hot encoded: the levels that are seen most, each as a column."""

    def __init__(self, codes: AnyArray, n_levels: int, weights: FloatArray) -> None:
        counts = np.bincount(codes[codes >= 0], weights[codes >= 0], minlength=n_levels)
        self._shown = np.sort(np.argsort(-counts, kind="stable")[:_MOST_LEVELS])

    def of(self, codes: AnyArray) -> FloatArray:
        return np.asarray(np.asarray(codes)[:, None] == self._shown, dtype=np.float64)


class _NumericPipeline(BaseEstimator):
    """A learner of scikit-learn on the design matrix of a table; rows without weight are left out."""

    FITTED: ClassVar[Fitted] = {"matrix_": instance(DesignMatrix), "model_": MODEL}

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        y = np.asarray(y)
        sample_weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if sample_weight is not None and not sample_weight.all():
            kept = np.flatnonzero(sample_weight)
            X, y, sample_weight = rows_of(row_indexable(X), kept), y[kept], sample_weight[kept]
        table = read_table(X)
        self.matrix_ = DesignMatrix().fit(table, sample_weight)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        with warnings.catch_warnings():
            # As good as it got: the weights of the committee say whether that is good enough.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.model_ = clone(self.estimator).fit(self.matrix_.transform(table), y, **weights)
        return self

    def predict(self, X: Any) -> AnyArray:
        return np.asarray(self.model_.predict(self._rows(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        set_any_table(tags)
        return tags

    def _rows(self, X: Any) -> FloatArray:
        check_is_fitted(self, "model_")
        return self.matrix_.transform(read_table(X), type(self.model_).__name__)


@storable_estimator("committee.OnMatrixClassifier")
class NumericPipelineClassifier(ClassifierMixin, _NumericPipeline):
    """A classifier of scikit-learn on any table."""

    @property
    def classes_(self) -> AnyArray:
        return np.asarray(self.model_.classes_)

    def predict_proba(self, X: Any) -> FloatArray:
        return np.asarray(self.model_.predict_proba(self._rows(X)))


@storable_estimator("committee.OnMatrixRegressor")
class NumericPipelineRegressor(RegressorMixin, _NumericPipeline):
    """A regressor of scikit-learn on any table."""


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

    Rows are taken until their weights add up to `n_neighbors`, or to a fifth of all rows; of the last only as much as
    is missing.
    """

    # What those of classes and those of numbers each define.
    _targets: Callable[[AnyArray], FloatArray]

    def __init__(self, n_neighbors: int = 20) -> None:
        self.n_neighbors = n_neighbors

    def fit(self, X: FloatArray, y: AnyArray, sample_weight: FloatArray | None = None) -> Self:
        forget(self)
        self.rows_ = np.asarray(X, dtype=np.float64)
        self.weights_ = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        self.n_neighbors_ = float(np.clip(np.floor(self.weights_.sum() / 5), 1, self.n_neighbors))
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
