"""Losses for numbers that are not negative: the answer is the exponential of the score.

All are deviances of Tweedie's family, whose variance is a power of the mean: 1 for counts (Poisson), 2 for amounts
(gamma), between them for amounts that are often zero (Tweedie).
"""

import numpy as np

from coterie._typing import FloatArray
from coterie.losses.base import Derivatives, NewtonLoss, float32_weight, safe_mean, weighted

__all__ = ["TweedieDeviance"]

_MOST = 40.0  # a score beyond e^40 above the mean is a step too far, not an answer


class TweedieDeviance(NewtonLoss):
    """Half the deviance with variance mean ** power, for 1 <= power <= 2; its best constant is the log of the mean."""

    n_outputs = 1
    scale = 1.0

    def __init__(self, y: FloatArray, weight: FloatArray | None, power: float) -> None:
        mean = safe_mean(y, weight)
        self.start = np.array([np.log(mean)])
        self.scores = np.zeros((1, len(y)), dtype=np.float32)
        self._y = (y / mean).astype(np.float32)
        self._weight = float32_weight(weight)
        self._power = power

    def begin_round(self) -> None:
        np.clip(self.scores, -_MOST, _MOST, out=self.scores)

    def derivatives(self, output: int) -> Derivatives:
        # In units of the mean: the deviance only changes by a factor, which no split and no answer depends on.
        power, score = np.float32(self._power), self.scores[0]
        predicted = np.exp((2 - power) * score)
        observed = self._y * np.exp((1 - power) * score)
        gradient = predicted - observed
        hessian = (2 - power) * predicted + (power - 1) * observed
        np.maximum(hessian, np.float32(1e-12), out=hessian)
        return weighted(gradient, hessian, self._weight)

    def value(self, scores: FloatArray, y: FloatArray, weight: FloatArray | None) -> float:
        score, power = scores[:, 0], self._power
        with np.errstate(over="ignore"):
            if power == 1:
                losses = np.exp(score) - y * score
            elif power == 2:
                losses = score + y * np.exp(-score)
            else:
                losses = np.exp((2 - power) * score) / (2 - power) - y * np.exp((1 - power) * score) / (
                    1 - power
                )
        return float(np.average(losses, weights=weight))
