"""Losses for numbers that are not negative: the answer is the exponential of the score.

All are deviances of Tweedie's family, whose variance is a power of the mean: 1 for counts (Poisson), 2 for amounts
(gamma), between them for amounts that are often zero (Tweedie).

An offset multiplies the mean of a row by its exponential. For the derivatives that is the same as dividing the target
by it and weighting the row by its power `2 - power`: counts with the log of their exposure as the offset are rates
weighted by exposure.
"""

import numpy as np
from scipy.special import logsumexp

from coterie._typing import FloatArray
from coterie.losses.base import (
    BEST_CONSTANT,
    Derivatives,
    NewtonLoss,
    Origin,
    float32_weight,
    safe_mean,
)

__all__ = ["TweedieDeviance"]

_MOST = 40.0  # a score beyond e^40 above the mean is a step too far, not an answer


class TweedieDeviance(NewtonLoss):
    """Half the deviance with variance mean ** power, for 1 <= power <= 2; its best constant is the log of the mean."""

    n_outputs = 1
    scale = 1.0

    def __init__(
        self, y: FloatArray, weight: FloatArray | None, power: float, origin: Origin = BEST_CONSTANT
    ) -> None:
        self.offset = origin.offset
        self.scores = np.zeros((1, len(y)), dtype=np.float32)
        self._power = power
        if origin.offset is None and origin.add_constant:
            mean = safe_mean(y, weight)
            self.start = np.array([np.log(mean)])
            self._rise = float32_weight(weight)
            self._fall = (y / mean if weight is None else y / mean * weight).astype(np.float32)
        else:
            self._begin_at(origin, y, weight)

    def _begin_at(self, origin: Origin, y: FloatArray, weight: FloatArray | None) -> None:
        """The same with an offset, in logarithms, because its exponential may be any number."""
        offset = np.zeros(len(y)) if origin.offset is None else origin.offset[:, 0]
        with np.errstate(divide="ignore"):
            log_weight = np.zeros(len(y)) if weight is None else np.log(weight)
            rise = log_weight + (2 - self._power) * offset
            fall = log_weight + np.log(y) + (1 - self._power) * offset
        self.start = np.zeros(1)
        if origin.add_constant:
            self.start[:] = logsumexp(fall) - logsumexp(rise)
            fall -= self.start[0]
        # A common factor changes no split and no answer; it is left alone where numbers are ordinary.
        largest = max(rise.max(), fall.max())
        unit = largest if abs(largest) > _MOST else 0.0
        self._rise = np.exp(rise - unit).astype(np.float32)
        self._fall = np.exp(fall - unit).astype(np.float32)

    def begin_round(self) -> None:
        np.clip(self.scores, -_MOST, _MOST, out=self.scores)

    def derivatives(self, output: int) -> Derivatives:
        # In units of the mean: the deviance only changes by a factor, which no split and no answer depends on.
        power, score = np.float32(self._power), self.scores[0]
        rise = self._rise if len(self._rise) else np.float32(1)
        predicted = rise * np.exp((2 - power) * score)
        observed = self._fall * np.exp((1 - power) * score)
        gradient = predicted - observed
        hessian = (2 - power) * predicted + (power - 1) * observed
        np.maximum(hessian, np.float32(1e-12) * rise, out=hessian)
        return gradient, hessian

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
