"""Losses of y minus the raw prediction, which is the prediction itself: what their bound forms share.

They work on (y - baseline) / scale with a power of two as the scale, so that nothing is rounded by it and every target
fits float32. They only depend on y minus the raw prediction, so an offset is taken off the target.
"""

from abc import abstractmethod

import numpy as np

from coterie._typing import FloatArray
from coterie.errors import InvalidInput
from coterie.losses.loss import BoundLoss, Float32Array, InitScore, RowLoss, power_of_two_above

__all__ = ["BoundResiduals", "weighted_quantile", "without_offset"]


class BoundResiduals(BoundLoss):
    """Targets as distances from a constant, in units that fit float32."""

    def __init__(
        self, loss: RowLoss, y: FloatArray, weight: FloatArray | None, n_threads: int, init: InitScore
    ) -> None:
        super().__init__(loss, y, weight, n_threads, init)
        targets = [without_offset(y, init, output) for output in range(self.n_outputs)]
        self.baseline = np.zeros(self.n_outputs)
        if init.add_constant:
            best = [self.best_constant(target, weight, output) for output, target in enumerate(targets)]
            self.baseline[:] = best
        rests = [target - constant for target, constant in zip(targets, self.baseline, strict=True)]
        self.scale = power_of_two_above(max(float(np.abs(rest).max(initial=0.0)) for rest in rests))
        self.scores = np.zeros((self.n_outputs, len(y)), dtype=np.float32)
        self._y = [(rest / self.scale).astype(np.float32) for rest in rests]

    @abstractmethod
    def best_constant(self, y: FloatArray, weight: FloatArray | None, output: int) -> float:
        """The constant that fits these targets best."""

    def residual(self, output: int) -> Float32Array:
        """Target minus score, in the loop's units."""
        return np.asarray(self._y[output] - self.scores[output], dtype=np.float32)


def without_offset(y: FloatArray, init: InitScore, output: int) -> FloatArray:
    """Targets minus the offset of one output."""
    if init.offset is None:
        return y
    with np.errstate(over="ignore"):
        rest = y - init.offset[:, output]
    wrong = np.flatnonzero(~np.isfinite(rest))
    if len(wrong):
        row = int(wrong[0])
        raise InvalidInput(
            f"y minus its start is too large for a float in row {row}: y is {y[row]:g} and the offset "
            f"{init.offset[row, output]:g}.",
            parameter="offset",
            received=float(init.offset[row, output]),
            hint="Divide both by the same number.",
        )
    return rest


def weighted_quantile(y: FloatArray, weight: FloatArray | None, level: float) -> float:
    """The least value with at least `level` of the weight at or below it; met exactly, the middle to the next.

    Examples
    --------
    >>> weighted_quantile(np.array([3.0, 1.0, 2.0, 4.0]), None, 0.5)
    2.5
    >>> weighted_quantile(np.array([1.0, 2.0]), np.array([1.0, 3.0]), 0.5)
    2.0
    """
    counts = np.ones(len(y)) if weight is None else weight
    taking_part = counts > 0
    values, counts = y[taking_part], counts[taking_part]
    order = np.argsort(values, kind="stable")
    values, below = values[order], np.cumsum(counts[order])
    wanted = level * below[-1]
    place = int(np.searchsorted(below, wanted))
    place = min(place, len(values) - 1)
    if below[place] == wanted and place + 1 < len(values):
        return float(values[place] / 2 + values[place + 1] / 2)
    return float(values[place])
