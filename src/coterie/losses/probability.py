"""The loss for targets that are shares: log loss with y anywhere between 0 and 1."""

import numpy as np

from coterie._typing import FloatArray, RowArray
from coterie.losses.base import (
    BEST_CONSTANT,
    Derivatives,
    NewtonLoss,
    Origin,
    float32_scores,
    float32_weight,
    weighted,
)
from coterie.losses.optimum import best_log_odds

__all__ = ["CrossEntropyOfShares"]


class CrossEntropyOfShares(NewtonLoss):
    """One score, the log odds of the share; its best constant is the log odds of the mean."""

    n_outputs = 1
    scale = 1.0

    def __init__(self, y: FloatArray, weight: FloatArray | None, origin: Origin = BEST_CONSTANT) -> None:
        self.start = np.zeros(1)
        if origin.add_constant:
            offset = None if origin.offset is None else origin.offset[:, 0]
            self.start[:] = best_log_odds(float(np.average(y, weights=weight)), offset, weight)
        self.offset = origin.offset
        self.scores = float32_scores(self.start, origin.offset, len(y))
        self._y = y.astype(np.float32)
        self._weight = float32_weight(weight)

    def derivatives(self, output: int) -> Derivatives:
        small = np.exp(-np.abs(self.scores[0]))
        likely = 1 / (1 + small)
        unlikely = small * likely
        gradient = np.where(self.scores[0] > 0, likely, unlikely) - self._y
        hessian = likely * unlikely
        return weighted(gradient, hessian, self._weight)

    def users_scores(self, rows: RowArray) -> FloatArray:
        return self.scores[:, rows].T.astype(np.float64)

    def value(self, scores: FloatArray, y: FloatArray, weight: FloatArray | None) -> float:
        score = scores[:, 0]
        return float(np.average(np.logaddexp(0, score) - y * score, weights=weight))
