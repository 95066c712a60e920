"""The pinball loss, whose constant is a quantile, and the absolute error, whose constant is the median."""

from dataclasses import dataclass

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.errors import InvalidParameter
from coterie.losses.loss import (
    BoundResiduals,
    Derivatives,
    InitScore,
    LeafQuantile,
    check_between,
    no_hessian,
    weighted,
)
from coterie.losses.tasks import RegressionLoss


class BoundPinball(BoundResiduals):
    """The pinball loss of one level or several.

    Its slope is the same near and far, so a tree's splits follow the slopes, and its leaves hold the quantile of their
    residuals.
    """

    def __init__(
        self, loss: "Pinball", y: FloatArray, weight: FloatArray | None, n_threads: int, init: InitScore
    ) -> None:
        self._levels = tuple(float(level) for level in loss.levels)
        self.n_outputs = len(self._levels)
        super().__init__(loss, y, weight, n_threads, init)

    def best_constant(self, y: FloatArray, weight: FloatArray | None, output: int) -> float:
        return weighted_quantile(y, weight, self._levels[output])

    def derivatives(self, output: int) -> Derivatives:
        level = np.float32(self._levels[output])
        residual = self.residual(output)
        gradient = np.where(residual > 0, -level, np.where(residual < 0, 1 - level, np.float32(0)))
        return weighted(gradient, no_hessian(), self._weight)

    def leaf_quantile(self, output: int) -> LeafQuantile | None:
        return LeafQuantile(self._levels[output], self.residual(output), self._weight)

    def mean_value(self, y: AnyArray, raw: FloatArray, weight: FloatArray | None) -> float:
        """The mean over rows and levels."""
        losses = [
            np.average(np.maximum(level * (y - own), (level - 1) * (y - own)), weights=weight)
            for level, own in zip(self._levels, raw.T, strict=True)
        ]
        return float(np.mean(losses))


class Pinball(RegressionLoss):
    """The sum over levels; the level 1/2 costs half the absolute difference."""

    is_in_units_of_the_target = True
    bound = BoundPinball

    @property
    def levels(self) -> tuple[float, ...]:
        return (0.5,)

    @property
    def n_outputs(self) -> int:
        return len(self.levels)

    def values(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        rest, level = y[:, None] - raw, np.array(self.levels)
        return np.asarray(np.maximum(level * rest, (level - 1) * rest).sum(axis=1))

    def gradients(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        rest, level = y[:, None] - raw, np.array(self.levels)
        return np.where(rest > 0, -level, np.where(rest < 0, 1 - level, 0.0))


@dataclass(frozen=True)
class Absolute(Pinball, name="absolute_error"):
    """Absolute error: predicts the median, and outliers do not pull."""


@dataclass(frozen=True)
class Quantile(Pinball, name="quantile"):
    """The pinball loss: predicts a quantile, or several at once, which never cross.

    Parameters
    ----------
    level : float or tuple of float
        Between 0 and 1, ascending if there are several; 0.9 is exceeded by one row in ten. Default 0.5: the median.
    """

    level: float | tuple[float, ...] = 0.5

    def __post_init__(self) -> None:
        levels = self.levels
        if not levels or list(levels) != sorted(set(levels)):
            raise InvalidParameter(
                f"Quantile(level={self.level!r}): levels must ascend, each given once.",
                parameter="level",
                received=self.level,
                allowed="levels that ascend",
            )
        for level in levels:
            check_between(self, "level", level)

    @property
    def levels(self) -> tuple[float, ...]:
        return tuple(self.level) if isinstance(self.level, tuple | list) else (self.level,)

    @property
    def export_link(self) -> str:
        return "identity" if self.n_outputs == 1 else "ascending"

    def predictions(self, raw: FloatArray) -> FloatArray:
        # Sorting quantiles that cross never makes the pinball loss larger.
        ordered = np.sort(raw, axis=1)
        return ordered if isinstance(self.level, tuple | list) else ordered[:, 0]


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
