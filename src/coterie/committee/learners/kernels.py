"""Learners with smooth functions for small tables of numbers: kernel logistic and ridge regression.

Rows are compared with some hundred landmarks, which are rows that were drawn: a row becomes its similarities to them,
exp(-gamma distance^2) or, with a peak at the row itself, exp(-sqrt(gamma) distance), in coordinates in which inner
products are similarities (Nystroem). On these a linear model is fitted. How far similarities reach (gamma) and how
strongly weights are shrunk is chosen by rows that are held out.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from coterie._storage import Fitted, expect, storable_estimator
from coterie._typing import AnyArray, FloatArray
from coterie._value_types import FLOAT_VECTOR, LABELS, NUMBER, array
from coterie.committee.learners.linear_outputs import (
    linear_of_classes,
    linear_of_numbers,
    log_losses,
    probabilities_of,
)
from coterie.fitting.estimator import forget

Similarity = Literal["gaussian", "laplace"]

_REACHES = (1.0, 0.25, 4.0)  # factors of gamma; 1 is one over the median squared distance of landmarks
_STRENGTHS = (10.0, 1.0, 100.0, 1000.0)  # how little weights are shrunk
_HELD_OUT = 5  # one in so many rows
_LEAST = 1e-9  # of eigenvalues, as a share of the largest

_FITTED: Fitted = {
    "landmarks_": array("f", 2),
    "coordinates_": array("f", 2),
    "gamma_": NUMBER,
    "strength_": NUMBER,
    "weights_": array("f", 2),
    "intercept_": FLOAT_VECTOR,
}


def _verify(model: Any) -> None:
    if "landmarks_" not in vars(model):
        return
    n_landmarks, n_coordinates = model.coordinates_.shape
    expect(len(model.landmarks_) == n_landmarks, "has coordinates of other landmarks")
    expect(model.weights_.shape == (n_coordinates, len(model.intercept_)), "has weights of other coordinates")
    expect(model.gamma_ > 0, "has similarities that reach nowhere")
    if "classes_" in vars(model):
        expect(len(model.classes_) == len(model.intercept_), "has weights of other classes than its own")


def squared_distances(one: FloatArray, other: FloatArray) -> FloatArray:
    """Of each row of one matrix to each row of the other.

    Examples
    --------
    >>> squared_distances(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 0.0]]))
    array([[ 0.],
           [25.]])
    """
    squares = (one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1) - 2 * one @ other.T
    return np.asarray(np.maximum(squares, 0.0))


def similarities(
    one: FloatArray, other: FloatArray, gamma: float, similarity: Similarity = "gaussian"
) -> FloatArray:
    """Of each row of one matrix to each row of the other: 1 for the same row, next to 0 far away.

    Examples
    --------
    >>> similarities(np.array([[0.0]]), np.array([[0.0], [2.0]]), 0.25, "laplace").round(3)
    array([[1.   , 0.368]])
    """
    scaled = gamma * squared_distances(one, other)
    return np.asarray(np.exp(-scaled if similarity == "gaussian" else -np.sqrt(scaled)))


def coordinates_of(landmarks: FloatArray, gamma: float, similarity: Similarity = "gaussian") -> FloatArray:
    """From similarities to landmarks to coordinates in which inner products are similarities."""
    values, vectors = eigh(similarities(landmarks, landmarks, gamma, similarity))
    kept = values > _LEAST * values[-1]
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


class _KernelModel(BaseEstimator):
    """The path of a fit; what is linear in the coordinates is defined by those of classes and of numbers."""

    # What those of classes and those of numbers each define.
    _target: Callable[[AnyArray], AnyArray]
    _linear: Callable[[FloatArray, AnyArray, FloatArray, float], tuple[FloatArray, FloatArray]]
    _losses: Callable[[FloatArray, AnyArray], FloatArray]

    def __init__(
        self,
        random_state: int | None = None,
        *,
        similarity: Similarity = "gaussian",
        n_landmarks: int = 400,
    ) -> None:
        self.random_state = random_state
        self.similarity = similarity
        self.n_landmarks = n_landmarks

    def fit(self, X: FloatArray, y: AnyArray, sample_weight: FloatArray | None = None) -> Self:
        forget(self)
        X, target = np.asarray(X, dtype=np.float64), self._target(np.asarray(y))
        weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        weight = weight / weight.mean()
        order = np.random.default_rng(self.random_state).permutation(len(X))
        landmarks = X[np.sort(order[: self.n_landmarks])]
        distances = squared_distances(landmarks, landmarks)
        above = distances[distances > _LEAST]
        unit = 1.0 / float(np.median(above)) if len(above) else 1.0
        held_out, learned = np.split(order, [len(X) // _HELD_OUT])

        def attempt(gamma: float, strength: float) -> tuple[float, float, float]:
            if gamma not in features:
                features[gamma] = self._features(X, landmarks, gamma)
            own = features[gamma]
            weights, intercept = self._linear(own[learned], target[learned], weight[learned], strength)
            losses = self._losses(own[held_out] @ weights + intercept, target[held_out])
            return float(np.average(losses, weights=weight[held_out])), gamma, strength

        features: dict[float, FloatArray] = {}
        gamma, strength = unit, _STRENGTHS[0]
        if len(held_out) > 1:
            best = min(attempt(reach * unit, strength) for reach in _REACHES)
            _, gamma, strength = min([best, *(attempt(best[1], other) for other in _STRENGTHS[1:])])
        self.landmarks_, self.coordinates_ = landmarks, coordinates_of(landmarks, gamma, self.similarity)
        self.gamma_, self.strength_ = gamma, strength
        every = similarities(X, landmarks, gamma, self.similarity) @ self.coordinates_
        self.weights_, self.intercept_ = self._linear(every, target, weight, strength)
        return self

    def _features(self, X: FloatArray, landmarks: FloatArray, gamma: float) -> FloatArray:
        similar = similarities(X, landmarks, gamma, self.similarity)
        return np.asarray(similar @ coordinates_of(landmarks, gamma, self.similarity))

    def _outputs(self, X: FloatArray) -> FloatArray:
        rows = np.asarray(X, dtype=np.float64)
        similar = similarities(rows, self.landmarks_, self.gamma_, self.similarity)
        return np.asarray(similar @ self.coordinates_ @ self.weights_ + self.intercept_)


@storable_estimator("committee.KernelClassifier", verify=_verify)
class KernelClassifier(ClassifierMixin, _KernelModel):
    """Logistic regression on similarities to landmarks."""

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


@storable_estimator("committee.KernelRegressor", verify=_verify)
class KernelRegressor(RegressorMixin, _KernelModel):
    """Ridge regression on similarities to landmarks."""

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
