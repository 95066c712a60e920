"""A Gaussian process for small tables of numbers, which learns how far each column reaches.

Rows that are close together have similar targets: their covariance is height * exp(-distance^2 / 2), with a reach of
its own for each column, plus a linear trend; and targets have noise. All of these are what makes the targets
most likely. The gradient for the reaches of all columns takes two matrix products.
"""

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, RegressorMixin

from coterie._storage import Fitted, expect, storable_estimator
from coterie._typing import AnyArray, FloatArray
from coterie._value_types import FLOAT_VECTOR, NUMBER, array
from coterie.committee.learners.kernels import squared_distances
from coterie.fitting.estimator import forget

_MOST_EVALUATIONS = 40
_FARTHEST = 8.0  # logarithms of what is learned stay between minus and plus this
_JITTER = 1e-8


class Likelihood(NamedTuple):
    """Minus the log likelihood of the targets, up to a constant, and its derivatives by the logarithms."""

    value: float
    slopes: FloatArray


def covariance(logs: FloatArray, one: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The smooth part, and the linear part, of the covariance of rows with rows.

    `logs` are the logarithms of: the height, the trend, the noise, the reach of each column.
    """
    reach = np.exp(logs[3:])
    smooth = np.exp(logs[0] - 0.5 * squared_distances(one * reach, other * reach))
    return smooth, np.exp(logs[1]) * (one @ other.T) / max(1, one.shape[1])


def likelihood(logs: FloatArray, X: FloatArray, y: FloatArray, weight: FloatArray) -> Likelihood:
    """How unlikely the targets are; rows of weight 2 have half the noise."""
    smooth, trend = covariance(logs, X, X)
    noise = np.exp(logs[2]) / weight
    total = smooth + trend
    total[np.diag_indices_from(total)] += noise + _JITTER
    try:
        root = cholesky(total, lower=True, check_finite=False)
    except LinAlgError:
        return Likelihood(1e25, np.zeros_like(logs))
    alpha = cho_solve((root, True), y, check_finite=False)
    inverse = cho_solve((root, True), np.eye(len(y)), check_finite=False)
    value = 0.5 * float(y @ alpha) + float(np.log(np.diag(root)).sum())
    # The derivative by a number is half the sum of (inverse - alpha alpha') times the derivative of the covariance.
    inner = inverse - np.outer(alpha, alpha)
    of_smooth = inner * smooth
    by_reach = X * (of_smooth @ X) - X**2 * of_smooth.sum(axis=1)[:, None]
    slopes = np.concatenate(
        [
            [of_smooth.sum(), (inner * trend).sum(), float(np.diag(inner) @ noise)],
            2 * by_reach.sum(axis=0) * np.exp(2 * logs[3:]),
        ]
    )
    return Likelihood(value, 0.5 * slopes)


_FITTED: Fitted = {
    "rows_": array("f", 2),
    "alpha_": FLOAT_VECTOR,
    "logs_": FLOAT_VECTOR,
    "centre_": NUMBER,
    "spread_": NUMBER,
}


def _verify(model: Any) -> None:
    if "rows_" in vars(model):
        expect(len(model.rows_) == len(model.alpha_), "has rows without a part in the prediction")
        expect(len(model.logs_) == 3 + model.rows_.shape[1], "has a reach of other columns than its own")


@storable_estimator("committee.GaussianProcess", verify=_verify)
class SmallGaussianProcess(RegressorMixin, BaseEstimator):
    """The mean of a Gaussian process given some rows; the work grows with the third power of their number."""

    FITTED: ClassVar[Fitted] = _FITTED

    def fit(self, X: FloatArray, y: AnyArray, sample_weight: FloatArray | None = None) -> Self:
        forget(self)
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        weight = weight / weight.mean()
        self.centre_ = float(np.average(y, weights=weight))
        self.spread_ = float(np.sqrt(np.average((y - self.centre_) ** 2, weights=weight))) or 1.0
        target = (y - self.centre_) / self.spread_
        n_columns = X.shape[1]
        first = np.concatenate([[0.0, -2.0, -2.0], np.full(n_columns, -0.5 * np.log(max(1, n_columns)))])
        found = minimize(
            lambda logs: tuple(likelihood(logs, X, target, weight)),
            first,
            jac=True,
            method="L-BFGS-B",
            bounds=[(-_FARTHEST, _FARTHEST)] * len(first),
            options={"maxfun": _MOST_EVALUATIONS},
        )
        self.logs_, self.rows_ = np.asarray(found.x), X
        smooth, trend = covariance(self.logs_, X, X)
        total = smooth + trend
        total[np.diag_indices_from(total)] += np.exp(self.logs_[2]) / weight + _JITTER
        self.alpha_ = np.linalg.solve(total, target)
        return self

    def predict(self, X: FloatArray) -> FloatArray:
        smooth, trend = covariance(self.logs_, np.asarray(X, dtype=np.float64), self.rows_)
        return np.asarray(self.centre_ + self.spread_ * ((smooth + trend) @ self.alpha_))
