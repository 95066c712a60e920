"""Additive models: a curve for each column, and products of the pairs of columns that explain what curves do not.

A curve is a line that bends at quantiles of the column: x, and max(0, x - q) for each knot q. A linear model on these
and on products is shrunk as strongly as rows that are held out say.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from coterie._storage import Fitted, expect, storable_estimator
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie._value_types import FLOAT_VECTOR, INTEGERS, LABELS, NUMBER, array
from coterie.committee.learners.linear_outputs import (
    linear_of_classes,
    linear_of_numbers,
    log_losses,
    probabilities_of,
)
from coterie.fitting.estimator import forget

_STRENGTHS = (0.1, 0.01, 1.0, 10.0)  # how little weights are shrunk
_HELD_OUT = 5  # one in so many rows
_MOST_COLUMNS_OF_PAIRS = 60  # pairs are looked for among so many columns
_MOST_FEATURES = 1_000

_FITTED: Fitted = {
    "bent_": INTEGERS,
    "knots_": array("f", 1),
    "pairs_": array("i", 2),
    "centre_": FLOAT_VECTOR,
    "spread_": FLOAT_VECTOR,
    "strength_": NUMBER,
    "weights_": array("f", 2),
    "intercept_": FLOAT_VECTOR,
}


def _verify(model: Any) -> None:
    if "weights_" not in vars(model):
        return
    expect(len(model.bent_) == len(model.knots_), "has knots of other columns than its own")
    expect(model.pairs_.shape[1] == 2, "has products of other than two columns")
    n_features = len(model.centre_)
    expect(n_features == len(model.spread_) == len(model.weights_), "has weights of other features")
    expect(bool((model.spread_ > 0).all()), "has features without a spread")
    expect(model.weights_.shape[1] == len(model.intercept_), "has weights of other outputs")
    if "classes_" in vars(model):
        expect(len(model.classes_) == len(model.intercept_), "has weights of other classes than its own")


def knots_of(X: FloatArray, n_knots: int) -> tuple[RowArray, FloatArray]:
    """Where curves bend: columns, and a place in each; only columns with more than two values bend.

    Examples
    --------
    >>> knots_of(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]]), 1)
    (array([0]), array([1.]))
    """
    shares = np.arange(1, n_knots + 1) / (n_knots + 1)
    columns, places = [], []
    for column, values in enumerate(X.T):
        if len(np.unique(values)) <= 2:
            continue
        inner = np.unique(np.quantile(values, shares))
        inner = inner[(inner > values.min()) & (inner < values.max())]
        columns.extend([column] * len(inner))
        places.extend(inner.tolist())
    most = max(0, _MOST_FEATURES - X.shape[1])
    return np.array(columns[:most], dtype=np.int64), np.array(places[:most])


def telling_pairs(X: FloatArray, residuals: FloatArray, n_pairs: int) -> RowArray:
    """The pairs of columns whose products are most correlated with what is left to explain, shape (n, 2)."""
    by_column = np.abs(X).sum(axis=0)
    columns = np.sort(np.argsort(-by_column, kind="stable")[:_MOST_COLUMNS_OF_PAIRS])
    first, second = np.triu_indices(len(columns), 1)
    if not len(first) or not n_pairs:
        return np.zeros((0, 2), dtype=np.int64)
    values = X[:, columns]
    strength = np.zeros((len(columns), len(columns)))
    squares = (values**2).T @ values**2
    for residual in residuals.T:
        found = (values * residual[:, None]).T @ values
        strength = np.maximum(strength, np.abs(found) / np.sqrt(np.maximum(squares, 1e-12)))
    best = np.argsort(-strength[first, second], kind="stable")[:n_pairs]
    return np.asarray(columns[np.column_stack([first[best], second[best]])])


class _AdditiveModel(BaseEstimator):
    """The path of a fit; what is linear in the features is defined by those of classes and of numbers."""

    # What those of classes and those of numbers each define.
    _target: Callable[[AnyArray], AnyArray]
    _linear: Callable[[FloatArray, AnyArray, FloatArray, float], tuple[FloatArray, FloatArray]]
    _losses: Callable[[FloatArray, AnyArray], FloatArray]
    _residuals: Callable[[FloatArray, AnyArray], FloatArray]

    def __init__(self, random_state: int | None = None, *, n_knots: int = 6, n_pairs: int = 0) -> None:
        self.random_state = random_state
        self.n_knots = n_knots
        self.n_pairs = n_pairs

    def fit(self, X: FloatArray, y: AnyArray, sample_weight: FloatArray | None = None) -> Self:
        forget(self)
        X, target = np.asarray(X, dtype=np.float64), self._target(np.asarray(y))
        weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        weight = weight / weight.mean()
        self.bent_, self.knots_ = knots_of(X, self.n_knots)
        self.pairs_ = np.zeros((0, 2), dtype=np.int64)
        order = np.random.default_rng(self.random_state).permutation(len(X))
        held_out, learned = np.split(order, [len(X) // _HELD_OUT])
        self._fit_curves(X, target, weight, held_out, learned)
        if self.n_pairs:
            residuals = self._residuals(self._outputs(X), target) * weight[:, None]
            self.pairs_ = telling_pairs(X, residuals, self.n_pairs)
            self._fit_curves(X, target, weight, held_out, learned)
        return self

    def _fit_curves(
        self, X: FloatArray, target: AnyArray, weight: FloatArray, held_out: RowArray, learned: RowArray
    ) -> None:
        features = self._raw_features(X)
        self.centre_ = np.average(features, axis=0, weights=weight)
        spread = np.sqrt(np.average((features - self.centre_) ** 2, axis=0, weights=weight))
        self.spread_ = np.where(spread > 1e-9, spread, 1.0)
        features = (features - self.centre_) / self.spread_

        def attempt(strength: float) -> tuple[float, float]:
            weights, intercept = self._linear(features[learned], target[learned], weight[learned], strength)
            losses = self._losses(features[held_out] @ weights + intercept, target[held_out])
            return float(np.average(losses, weights=weight[held_out])), strength

        self.strength_ = min(map(attempt, _STRENGTHS))[1] if len(held_out) > 1 else _STRENGTHS[0]
        self.weights_, self.intercept_ = self._linear(features, target, weight, self.strength_)

    def _raw_features(self, X: FloatArray) -> FloatArray:
        curves = np.maximum(0.0, X[:, self.bent_] - self.knots_)
        products = X[:, self.pairs_[:, 0]] * X[:, self.pairs_[:, 1]]
        return np.hstack([X, curves, products])

    def _outputs(self, X: FloatArray) -> FloatArray:
        features = (self._raw_features(np.asarray(X, dtype=np.float64)) - self.centre_) / self.spread_
        return np.asarray(features @ self.weights_ + self.intercept_)


@storable_estimator("committee.AdditiveClassifier", verify=_verify)
class AdditiveClassifier(ClassifierMixin, _AdditiveModel):
    """Logistic regression on curves and products."""

    FITTED: ClassVar[Fitted] = {**_FITTED, "classes_": LABELS}

    def predict_proba(self, X: FloatArray) -> FloatArray:
        return probabilities_of(self._outputs(X))

    def predict(self, X: FloatArray) -> AnyArray:
        return np.asarray(self.classes_[self._outputs(X).argmax(axis=1)])

    def _target(self, y: AnyArray) -> AnyArray:
        self.classes_, codes = np.unique(y, return_inverse=True)
        return np.asarray(codes)

    def _linear(
        self, features: FloatArray, codes: AnyArray, weight: FloatArray, strength: float
    ) -> tuple[FloatArray, FloatArray]:
        return linear_of_classes(features, codes, weight, strength, len(self.classes_))

    def _losses(self, outputs: FloatArray, codes: AnyArray) -> FloatArray:
        return log_losses(outputs, codes)

    def _residuals(self, outputs: FloatArray, codes: AnyArray) -> FloatArray:
        return np.asarray(np.eye(len(self.classes_))[codes] - probabilities_of(outputs))


@storable_estimator("committee.AdditiveRegressor", verify=_verify)
class AdditiveRegressor(RegressorMixin, _AdditiveModel):
    """Ridge regression on curves and products."""

    FITTED: ClassVar[Fitted] = _FITTED

    def predict(self, X: FloatArray) -> FloatArray:
        return np.asarray(self._outputs(X)[:, 0])

    def _target(self, y: AnyArray) -> AnyArray:
        return np.asarray(y, dtype=np.float64)

    def _linear(
        self, features: FloatArray, y: AnyArray, weight: FloatArray, strength: float
    ) -> tuple[FloatArray, FloatArray]:
        return linear_of_numbers(features, y, weight, strength)

    def _losses(self, outputs: FloatArray, y: AnyArray) -> FloatArray:
        return np.asarray((outputs[:, 0] - y) ** 2)

    def _residuals(self, outputs: FloatArray, y: AnyArray) -> FloatArray:
        return np.asarray(y[:, None] - outputs)
