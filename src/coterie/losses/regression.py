"""Losses for numbers."""

import math

import numpy as np

import coterie._engine as _engine
from coterie._typing import FloatArray
from coterie.losses.base import Derivatives, Float32Array, float32_weight, no_hessian

__all__ = ["SquaredError", "power_of_two_above", "safe_mean"]


class SquaredError:
    """Half the squared difference; its best constant is the mean.

    The loop works on (y - mean) / scale, with a power of two as the scale, so that nothing is rounded by it.
    """

    n_outputs = 1

    def __init__(self, y: FloatArray, weight: FloatArray | None, n_threads: int) -> None:
        mean = safe_mean(y, weight)
        rest = y - mean
        self.start = np.array([mean])
        self.scale = power_of_two_above(float(np.abs(rest).max(initial=0.0)))
        self.scores: Float32Array = np.zeros((1, len(y)), dtype=np.float32)
        self._y = (rest / self.scale).astype(np.float32)
        self._weight = float32_weight(weight)
        self._gradient = np.empty(len(y), dtype=np.float32)
        self._n_threads = n_threads

    def begin_round(self) -> None:
        pass

    def derivatives(self, output: int) -> Derivatives:
        _engine.squared_error_derivatives(
            self.scores[0], self._y, self._weight, self._gradient, self._n_threads
        )
        return self._gradient, self._weight if len(self._weight) else no_hessian()

    def value(self, scores: FloatArray, y: FloatArray, weight: FloatArray | None) -> float:
        with np.errstate(over="ignore"):
            return float(np.average((scores[:, 0] - y) ** 2, weights=weight)) / 2


def safe_mean(y: FloatArray, weight: FloatArray | None) -> float:
    """The weighted mean, also of numbers whose sum is too large for a float."""
    largest = float(np.abs(y).max(initial=0.0))
    if not 1e-200 < largest < 1e200:
        scale = power_of_two_above(largest)
        return float(np.average(y / scale, weights=weight)) * scale
    return float(np.average(y, weights=weight))


def power_of_two_above(value: float) -> float:
    """The least power of two above a number, kept inside the range of floats.

    Examples
    --------
    >>> power_of_two_above(5.0), power_of_two_above(0.0)
    (8.0, 1.0)
    """
    exponent = math.frexp(value)[1] if value > 0 else 0
    return 2.0 ** min(max(exponent, -1021), 1023)
