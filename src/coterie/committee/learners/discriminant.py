"""Quadratic discriminant analysis that cannot overfit small tables: each class is a normal distribution.

The covariance of a class is mixed with that of all classes together, and with the identity; the shares, and a
temperature that makes probabilities less certain, are those with the least log loss for rows held out.
"""

from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, ClassifierMixin

from coterie._storage import Fitted, expect, storable_estimator
from coterie._typing import AnyArray, FloatArray
from coterie._value_types import FLOAT_VECTOR, LABELS, NUMBER, array
from coterie.fitting.estimator import forget

_OWN_SHARES = (0.0, 0.3, 0.7, 0.95)  # of the covariance of a class, in place of that of all
_ROUND_SHARES = (0.02, 0.2)  # of the identity
_TEMPERATURES = (1.0, 1.5, 2.5, 5.0, 10.0)
_N_PARTS = 4

_FITTED: Fitted = {
    "classes_": LABELS,
    "means_": array("f", 2),
    "roots_": array("f", 3),
    "constants_": FLOAT_VECTOR,
    "temperature_": NUMBER,
}


def _verify(model: Any) -> None:
    if "means_" not in vars(model):
        return
    n_classes, n_columns = model.means_.shape
    expect(
        n_classes == len(model.classes_) == len(model.constants_), "has means of other classes than its own"
    )
    expect(
        model.roots_.shape == (n_classes, n_columns, n_columns), "has spreads of other columns than its own"
    )
    expect(model.temperature_ > 0, "has a temperature that is not above 0")


class _Moments:
    """Means, covariances and weights of the classes of some rows."""

    def __init__(self, X: FloatArray, codes: AnyArray, weight: FloatArray, n_classes: int) -> None:
        n_columns = X.shape[1]
        self.mass = np.bincount(codes, weight, n_classes)
        self.means = np.zeros((n_classes, n_columns))
        self.spreads = np.zeros((n_classes, n_columns, n_columns))
        self.n_rows = np.bincount(codes, minlength=n_classes)
        for code in np.unique(codes):
            rows = codes == code
            self.means[code] = np.average(X[rows], axis=0, weights=weight[rows])
            from_mean = X[rows] - self.means[code]
            self.spreads[code] = (from_mean * weight[rows, None]).T @ from_mean / self.mass[code]
        self.pooled = np.tensordot(self.mass / self.mass.sum(), self.spreads, axes=1)

    def model(self, own: float, round_share: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means, roots of the inverses of covariances, and the logarithms of what does not depend on the row."""
        n_columns = self.means.shape[1]
        unit = float(np.trace(self.pooled)) / n_columns or 1.0
        roots, constants = np.zeros_like(self.spreads), np.zeros(len(self.means))
        shares = (self.mass + 0.5) / (self.mass + 0.5).sum()
        for code in range(len(self.means)):
            # Of few rows the covariance is known badly.
            share = own * self.n_rows[code] / (self.n_rows[code] + n_columns)
            mixed = share * self.spreads[code] + (1 - share) * self.pooled
            values, vectors = eigh((1 - round_share) * mixed + round_share * unit * np.eye(n_columns))
            values = np.maximum(values, 1e-12 * unit)
            roots[code] = vectors / np.sqrt(values)
            constants[code] = np.log(shares[code]) - 0.5 * np.log(values).sum()
        return self.means, roots, constants


def _scores(X: FloatArray, means: FloatArray, roots: FloatArray, constants: FloatArray) -> FloatArray:
    """Logarithms of densities times shares, shape (n_rows, n_classes)."""
    distances = [(((X - mean) @ root) ** 2).sum(axis=1) for mean, root in zip(means, roots, strict=True)]
    return np.asarray(constants - 0.5 * np.stack(distances, axis=1))


def _log_shares(scores: FloatArray) -> FloatArray:
    above = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(above - np.log(np.exp(above).sum(axis=1, keepdims=True)))


@storable_estimator("committee.Discriminant", verify=_verify)
class DiscriminantClassifier(ClassifierMixin, BaseEstimator):
    """Classes as normal distributions, with shrunk covariances."""

    FITTED: ClassVar[Fitted] = _FITTED

    def __init__(self, random_state: int | None = None) -> None:
        self.random_state = random_state

    def fit(self, X: FloatArray, y: AnyArray, sample_weight: FloatArray | None = None) -> Self:
        forget(self)
        X = np.asarray(X, dtype=np.float64)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        weight = weight / weight.mean()
        own, round_share, self.temperature_ = self._chosen(X, codes, weight)
        moments = _Moments(X, codes, weight, len(self.classes_))
        self.means_, self.roots_, self.constants_ = moments.model(own, round_share)
        return self

    def _chosen(self, X: FloatArray, codes: AnyArray, weight: FloatArray) -> tuple[float, float, float]:
        """Shares and a temperature with the least log loss for parts held out, one after the other."""
        part = np.random.default_rng(self.random_state).permutation(len(X)) % _N_PARTS
        losses: dict[tuple[float, float, float], float] = {}
        for number in range(_N_PARTS):
            out = part == number
            if not out.any() or out.all():
                continue
            moments = _Moments(X[~out], codes[~out], weight[~out], len(self.classes_))
            for own in _OWN_SHARES:
                for round_share in _ROUND_SHARES:
                    scores = _scores(X[out], *moments.model(own, round_share))
                    for temperature in _TEMPERATURES:
                        logs = _log_shares(scores / temperature)[np.arange(len(scores)), codes[out]]
                        key = (own, round_share, temperature)
                        losses[key] = losses.get(key, 0.0) - float(weight[out] @ logs)
        return min(losses, key=losses.__getitem__) if losses else (0.0, _ROUND_SHARES[-1], 1.0)

    def predict_proba(self, X: FloatArray) -> FloatArray:
        scores = _scores(np.asarray(X, dtype=np.float64), self.means_, self.roots_, self.constants_)
        return np.asarray(np.exp(_log_shares(scores / self.temperature_)))

    def predict(self, X: FloatArray) -> AnyArray:
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
