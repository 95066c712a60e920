"""Huber's loss: squared for small residuals, straight for large ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.losses.loss import BoundResiduals, Derivatives, InitScore, check_between, weighted
from coterie.losses.quantile import weighted_quantile
from coterie.losses.tasks import RegressionLoss


@dataclass(frozen=True)
class HuberWithDelta(RegressionLoss):
    """Half the square up to `delta`, straight beyond."""

    delta: float

    def value(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        size = np.abs(raw - y)
        return np.where(size <= self.delta, size**2 / 2, self.delta * (size - self.delta / 2))

    def gradient(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        return np.clip(raw - y, -self.delta, self.delta)

    def hessian(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        return np.where(np.abs(raw - y) <= self.delta, 1.0, 0.0)


class BoundHuber(BoundResiduals):
    """Delta is the quantile `alpha` of the sizes of the residuals, measured anew in each round, so it needs no unit.

    The hessian is that of the parabola that touches the loss from above: a leaf's value is a weighted mean, and every
    step goes down.
    """

    def __init__(
        self, loss: "Huber", y: FloatArray, weight: FloatArray | None, n_threads: int, init: InitScore
    ) -> None:
        super().__init__(loss, y, weight, n_threads, init)
        self._alpha = float(loss.alpha)
        self.begin_round()
        # The delta of the mean value does not move, so that rounds can be compared.
        self.loss = HuberWithDelta(float(self._delta) * self.scale)

    def best_constant(self, y: FloatArray, weight: FloatArray | None, output: int) -> float:
        return weighted_quantile(y, weight, 0.5)

    def begin_round(self) -> None:
        size = np.abs(self.residual(0))
        if len(self._weight):
            size = size[self._weight > 0]
        size = self.of_all_workers(size)
        least = np.finfo(np.float32).tiny
        self._delta = (
            np.float32(max(np.quantile(size, self._alpha), least)) if len(size) else np.float32(least)
        )

    def derivatives(self, output: int) -> Derivatives:
        residual = self.residual(0)
        size = np.maximum(np.abs(residual), self._delta)
        hessian = np.asarray(self._delta / size, dtype=np.float32)
        return weighted(np.asarray(-residual * hessian, dtype=np.float32), hessian, self._weight)


@dataclass(frozen=True)
class Huber(RegressionLoss, name="huber"):
    """Squared up to the quantile `alpha` of the residuals' sizes, absolute beyond.

    Trees measure the quantile anew in each round. Any other learner goes down one loss, with the quantile of the
    distances from the median.

    Parameters
    ----------
    alpha : float
        Between 0 and 1. Default 0.9: the largest tenth of the residuals counts as outliers, as in scikit-learn.
    """

    alpha: float = 0.9

    is_in_units_of_the_target = True
    bound = BoundHuber
    renamed_settings: ClassVar[Mapping[str, str]] = {"share": "alpha"}

    def __post_init__(self) -> None:
        check_between(self, "alpha", self.alpha)

    def on_rows(self, y: AnyArray, weight: FloatArray | None) -> HuberWithDelta:
        distances = np.abs(y - weighted_quantile(y, weight, 0.5))
        return HuberWithDelta(
            max(weighted_quantile(distances, weight, self.alpha), np.finfo(np.float64).tiny)
        )
