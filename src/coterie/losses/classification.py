"""Losses for classes: the log of the probability given to the true one."""

import numpy as np

import coterie._engine as _engine
from coterie._typing import AnyArray, CodeArray, FloatArray, RowArray
from coterie.losses.base import Derivatives, NewtonLoss, float32_weight

__all__ = ["BinaryLogLoss", "MultinomialLogLoss", "class_shares"]

_LEAST_SHARE = 1e-7


class BinaryLogLoss(NewtonLoss):
    """Two classes, one score: the log of the odds of the second class."""

    n_outputs = 1
    scale = 1.0

    def __init__(self, codes: CodeArray, weight: FloatArray | None, n_threads: int) -> None:
        share = np.clip(class_shares(codes, 2, weight)[1], _LEAST_SHARE, 1 - _LEAST_SHARE)
        self.start = np.array([np.log(share / (1 - share))])
        self.scores = np.full((1, len(codes)), self.start[0], dtype=np.float32)
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


class MultinomialLogLoss(NewtonLoss):
    """K classes, K scores; probabilities are their exponentials divided by the sum."""

    scale = 1.0

    def __init__(self, codes: CodeArray, n_classes: int, weight: FloatArray | None, n_threads: int) -> None:
        self.n_outputs = n_classes
        shares = np.clip(class_shares(codes, n_classes, weight), _LEAST_SHARE, 1.0)
        self.start = np.log(shares) - np.log(shares).mean()
        self.scores = np.repeat(self.start.astype(np.float32)[:, None], len(codes), axis=1)
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
