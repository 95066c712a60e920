"""Learners with smooth functions for small tables of numbers: kernel logistic and ridge regression.

Rows are compared with some hundred landmarks, which are rows that were drawn: a row becomes its similarities to them,
exp(-gamma distance^2), in coordinates in which inner products are similarities (Nystroem). On these a linear model is
fitted. How far similarities reach (gamma) and how strongly weights are shrunk is chosen by rows that are held out.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LogisticRegression, Ridge

from coterie._storage import Fitted, expect, storable_estimator
from coterie._typing import AnyArray, FloatArray
from coterie._value_types import FLOAT_VECTOR, LABELS, NUMBER, array
from coterie.fitting.estimator import forget

_N_LANDMARKS = 400
_REACHES = (1.0, 0.25, 4.0)  # factors of gamma; 1 is one over the median squared distance of landmarks
_STRENGTHS = (10.0, 1.0, 100.0, 1000.0)  # how little weights are shrunk
_HELD_OUT = 5  # one in so many rows
_LEAST = 1e-9  # of eigenvalues, as a share of the largest
_NO_CHANCE = -30.0  # the logit of a class that no row has

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


def coordinates_of(landmarks: FloatArray, gamma: float) -> FloatArray:
    """From similarities to landmarks to coordinates in which inner products are similarities."""
    values, vectors = eigh(np.exp(-gamma * squared_distances(landmarks, landmarks)))
    kept = values > _LEAST * values[-1]
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def _similar(X: FloatArray, landmarks: FloatArray, coordinates: FloatArray, gamma: float) -> FloatArray:
    return np.asarray(np.exp(-gamma * squared_distances(X, landmarks)) @ coordinates)


class _KernelModel(BaseEstimator):
    """The path of a fit; what is linear in the coordinates is defined by those of classes and of numbers."""

    # What those of classes and those of numbers each define.
    _target: Callable[[AnyArray], AnyArray]
    _linear: Callable[[FloatArray, AnyArray, FloatArray, float], tuple[FloatArray, FloatArray]]
    _losses: Callable[[FloatArray, AnyArray], FloatArray]

    def __init__(self, random_state: int | None = None) -> None:
        self.random_state = random_state

    def fit(self, X: FloatArray, y: AnyArray, sample_weight: FloatArray | None = None) -> Self:
        forget(self)
        X, target = np.asarray(X, dtype=np.float64), self._target(np.asarray(y))
        weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        weight = weight / weight.mean()
        order = np.random.default_rng(self.random_state).permutation(len(X))
        landmarks = X[np.sort(order[:_N_LANDMARKS])]
        distances = squared_distances(landmarks, landmarks)
        above = distances[distances > _LEAST]
        unit = 1.0 / float(np.median(above)) if len(above) else 1.0
        held_out, learned = np.split(order, [len(X) // _HELD_OUT])

        def attempt(gamma: float, strength: float) -> tuple[float, float, float]:
            if gamma not in features:
                features[gamma] = _similar(X, landmarks, coordinates_of(landmarks, gamma), gamma)
            own = features[gamma]
            weights, intercept = self._linear(own[learned], target[learned], weight[learned], strength)
            losses = self._losses(own[held_out] @ weights + intercept, target[held_out])
            return float(np.average(losses, weights=weight[held_out])), gamma, strength

        features: dict[float, FloatArray] = {}
        gamma, strength = unit, _STRENGTHS[0]
        if len(held_out) > 1:
            best = min(attempt(reach * unit, strength) for reach in _REACHES)
            _, gamma, strength = min([best, *(attempt(best[1], other) for other in _STRENGTHS[1:])])
        self.landmarks_, self.coordinates_ = landmarks, coordinates_of(landmarks, gamma)
        self.gamma_, self.strength_ = gamma, strength
        every = _similar(X, landmarks, self.coordinates_, gamma)
        self.weights_, self.intercept_ = self._linear(every, target, weight, strength)
        return self

    def _outputs(self, X: FloatArray) -> FloatArray:
        features = _similar(np.asarray(X, dtype=np.float64), self.landmarks_, self.coordinates_, self.gamma_)
        return np.asarray(features @ self.weights_ + self.intercept_)


@storable_estimator("committee.KernelClassifier", verify=_verify)
class KernelClassifier(ClassifierMixin, _KernelModel):
    """Logistic regression on similarities to landmarks."""

    FITTED: ClassVar[Fitted] = {**_FITTED, "classes_": LABELS}

    def predict_proba(self, X: FloatArray) -> FloatArray:
        outputs = self._outputs(X)
        powers = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    def predict(self, X: FloatArray) -> AnyArray:
        return np.asarray(self.classes_[self._outputs(X).argmax(axis=1)])

    def _target(self, y: AnyArray) -> AnyArray:
        self.classes_, codes = np.unique(y, return_inverse=True)
        return np.asarray(codes)

    def _linear(
        self, features: FloatArray, codes: AnyArray, weight: FloatArray, strength: float
    ) -> tuple[FloatArray, FloatArray]:
        """Weights and intercepts of all classes; a class that no row has keeps a chance of next to nothing."""
        n_classes, present = len(self.classes_), np.unique(codes)
        weights, intercept = np.zeros((features.shape[1], n_classes)), np.full(n_classes, _NO_CHANCE)
        if len(present) == 1:
            intercept[present] = 0.0
            return weights, intercept
        model = LogisticRegression(C=strength, max_iter=200, tol=1e-3).fit(features, codes, weight)
        if len(present) == 2:
            weights[:, present[1]], intercept[present] = model.coef_[0], [0.0, model.intercept_[0]]
        else:
            weights[:, present], intercept[present] = model.coef_.T, model.intercept_
        return weights, intercept

    def _losses(self, outputs: FloatArray, codes: AnyArray) -> FloatArray:
        highest = outputs.max(axis=1)
        logs = highest + np.log(np.exp(outputs - highest[:, None]).sum(axis=1))
        return np.asarray(logs - outputs[np.arange(len(codes)), codes])


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
        model = Ridge(alpha=1.0 / strength).fit(features, y, weight)
        return model.coef_[:, None], np.array([float(model.intercept_)])

    def _losses(self, outputs: FloatArray, y: AnyArray) -> FloatArray:
        return np.asarray((outputs[:, 0] - y) ** 2)
