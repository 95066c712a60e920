"""Losses for classes: the log of the probability given to the true one, and the exponential of its margin."""

import numpy as np
from scipy.special import logsumexp

import coterie._engine as _engine
from coterie._typing import AnyArray, CodeArray, FloatArray, RowArray
from coterie.losses.base import (
    BEST_CONSTANT,
    Derivatives,
    NewtonLoss,
    Origin,
    float32_scores,
    float32_weight,
    weighted,
)
from coterie.losses.optimum import best_log_odds, best_log_shares

__all__ = ["BinaryLogLoss", "ExponentialLoss", "MultinomialLogLoss", "class_shares"]

_MOST = 40.0  # a margin of -40 pulls no harder than it must: its exponential times a weight fits float32


class BinaryLogLoss(NewtonLoss):
    """Two classes, one score: the log of the odds of the second class."""

    n_outputs = 1
    scale = 1.0

    def __init__(
        self, codes: CodeArray, weight: FloatArray | None, n_threads: int, origin: Origin = BEST_CONSTANT
    ) -> None:
        self.start = np.zeros(1)
        if origin.add_constant:
            offset = None if origin.offset is None else origin.offset[:, 0]
            self.start[:] = best_log_odds(class_shares(codes, 2, weight)[1], offset, weight)
        self.offset = origin.offset
        self.scores = float32_scores(self.start, origin.offset, len(codes))
        self._y = codes.astype(np.float32)
        self._weight = float32_weight(weight)
        self._gradient = np.empty(len(codes), dtype=np.float32)
        self._hessian = np.empty(len(codes), dtype=np.float32)
        self._n_threads = n_threads

    def derivatives(self, output: int) -> Derivatives:
        _engine.log_loss_derivatives(
            self.scores[0], self._y, self._weight, self._gradient, self._hessian, self._n_threads
        )
        return self._gradient, self._hessian

    def users_scores(self, rows: RowArray) -> FloatArray:
        return self.scores[:, rows].T.astype(np.float64)

    def value(self, scores: FloatArray, y: AnyArray, weight: FloatArray | None) -> float:
        score = scores[:, 0]
        return float(np.average(np.logaddexp(0, score) - y * score, weights=weight))


class ExponentialLoss(NewtonLoss):
    """Two classes, one score, half the log odds of the second: AdaBoost's loss, exp(-margin).

    The margin is the score of a row of the second class, and minus the score of a row of the first.
    """

    n_outputs = 1
    scale = 1.0

    def __init__(self, codes: CodeArray, weight: FloatArray | None, origin: Origin = BEST_CONSTANT) -> None:
        self.start = np.zeros(1)
        if origin.add_constant:
            self.start[:] = _best_half_log_odds(codes, origin.offset, weight)
        self.offset = origin.offset
        self.scores = float32_scores(self.start, origin.offset, len(codes))
        self._sign = (2 * codes - 1).astype(np.float32)
        self._weight = float32_weight(weight)

    def derivatives(self, output: int) -> Derivatives:
        hessian = np.exp(np.minimum(-self._sign * self.scores[0], np.float32(_MOST)))
        return weighted(-self._sign * hessian, hessian, self._weight)

    def users_scores(self, rows: RowArray) -> FloatArray:
        return self.scores[:, rows].T.astype(np.float64)

    def value(self, scores: FloatArray, y: AnyArray, weight: FloatArray | None) -> float:
        with np.errstate(over="ignore"):
            return float(np.average(np.exp(np.where(y == 1, -scores[:, 0], scores[:, 0])), weights=weight))


class MultinomialLogLoss(NewtonLoss):
    """K classes, K scores; probabilities are their exponentials divided by the sum."""

    scale = 1.0

    def __init__(
        self,
        codes: CodeArray,
        n_classes: int,
        weight: FloatArray | None,
        n_threads: int,
        origin: Origin = BEST_CONSTANT,
    ) -> None:
        self.n_outputs = n_classes
        self.start = np.zeros(n_classes)
        if origin.add_constant:
            self.start[:] = best_log_shares(class_shares(codes, n_classes, weight), origin.offset, weight)
        self.offset = origin.offset
        self.scores = float32_scores(self.start, origin.offset, len(codes))
        self._codes = np.ascontiguousarray(codes, dtype=np.int32)
        self._weight = float32_weight(weight)
        self._log_sum = np.empty(len(codes), dtype=np.float32)
        self._gradient = np.empty(len(codes), dtype=np.float32)
        self._hessian = np.empty(len(codes), dtype=np.float32)
        self._n_threads = n_threads

    def begin_round(self) -> None:
        _engine.log_sum_exp(self.scores.reshape(-1), self.n_outputs, self._log_sum, self._n_threads)

    def derivatives(self, output: int) -> Derivatives:
        _engine.softmax_derivatives(
            self.scores[output],
            self._log_sum,
            self._codes,
            output,
            self._weight,
            self._gradient,
            self._hessian,
            self._n_threads,
        )
        return self._gradient, self._hessian

    def users_scores(self, rows: RowArray) -> FloatArray:
        return self.scores[:, rows].T.astype(np.float64)

    def value(self, scores: FloatArray, y: AnyArray, weight: FloatArray | None) -> float:
        highest = scores.max(axis=1)
        log_sum = highest + np.log(np.exp(scores - highest[:, None]).sum(axis=1))
        return float(np.average(log_sum - scores[np.arange(len(scores)), y], weights=weight))


def class_shares(codes: CodeArray, n_classes: int, weight: FloatArray | None) -> FloatArray:
    """The weighted share of each class."""
    counts = np.bincount(codes, weights=weight, minlength=n_classes).astype(np.float64)
    return np.asarray(counts / counts.sum())


def _best_half_log_odds(codes: CodeArray, offset: FloatArray | None, weight: FloatArray | None) -> float:
    """Where the pulls of both classes balance, each row's being the exponential of minus its margin so far."""
    if offset is None:
        return best_log_odds(class_shares(codes, 2, weight)[1], None, None) / 2
    with np.errstate(divide="ignore"):
        pull = np.zeros(len(codes)) if weight is None else np.log(weight)
    up = logsumexp(np.where(codes == 1, pull - offset[:, 0], -np.inf))
    down = logsumexp(np.where(codes == 0, pull + offset[:, 0], -np.inf))
    if np.isinf(up) or np.isinf(down):  # a class without weight
        return best_log_odds(float(up > down), None, None) / 2
    return float(up - down) / 2
