"""Asymmetric squared error, whose constant is an expectile."""

from dataclasses import dataclass

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.losses.loss import BoundResiduals, Derivatives, InitScore, check_between, safe_mean, weighted
from coterie.losses.tasks import RegressionLoss


class BoundExpectile(BoundResiduals):
    """Its best constant is the expectile of the targets."""

    def __init__(
        self, loss: "Expectile", y: FloatArray, weight: FloatArray | None, n_threads: int, init: InitScore
    ) -> None:
        self._level = float(loss.level)
        super().__init__(loss, y, weight, n_threads, init)

    def best_constant(self, y: FloatArray, weight: FloatArray | None, output: int) -> float:
        return _expectile(y, weight, self._level)

    def derivatives(self, output: int) -> Derivatives:
        residual = self.residual(0)
        hessian = np.where(residual > 0, np.float32(2 * self._level), np.float32(2 - 2 * self._level))
        return weighted(-residual * hessian, hessian, self._weight)


@dataclass(frozen=True)
class Expectile(RegressionLoss, name="expectile"):
    """Squares, weighted by `level` above the prediction and by 1 - level below; the level 1/2 predicts the mean.

    Parameters
    ----------
    level : float
        Between 0 and 1. Default 0.5: the mean.
    """

    level: float = 0.5

    is_in_units_of_the_target = True
    bound = BoundExpectile

    def __post_init__(self) -> None:
        check_between(self, "level", self.level)

    def value(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        return np.asarray(self._asymmetry(y, raw) * (y - raw) ** 2)

    def gradient(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        return np.asarray(2 * self._asymmetry(y, raw) * (raw - y))

    def hessian(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        return np.asarray(2 * self._asymmetry(y, raw))

    def _asymmetry(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        return np.where(y > raw, self.level, 1 - self.level)


def _expectile(y: FloatArray, weight: FloatArray | None, level: float) -> float:
    """Where the weighted residuals above and below balance; a few Newton steps, each exact between two targets."""
    counts = np.ones(len(y)) if weight is None else weight
    expectile = safe_mean(y, weight)
    for _ in range(100):
        pull = counts * np.where(y > expectile, level, 1 - level)
        better = safe_mean(y, pull)
        if better == expectile:
            break
        expectile = better
    return expectile
