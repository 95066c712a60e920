"""Squared error, of one target or of several."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import coterie._engine as _engine
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.losses.loss import (
    BoundLoss,
    BoundResiduals,
    Derivatives,
    InitScore,
    RowLoss,
    no_hessian,
    power_of_two_above,
    safe_mean,
    without_offset,
)
from coterie.losses.tasks import RegressionLoss


class BoundSquared(BoundResiduals):
    """Its best constant is the mean."""

    by_row: ClassVar[tuple[str, ...]] = ("scores", "_weight", "_y", "_gradient")

    def __init__(
        self, loss: RowLoss, y: FloatArray, weight: FloatArray | None, n_threads: int, init: InitScore
    ) -> None:
        super().__init__(loss, y, weight, n_threads, init)
        self._gradient = np.empty(len(y), dtype=np.float32)

    def best_constant(self, y: FloatArray, weight: FloatArray | None, output: int) -> float:
        return safe_mean(y, weight)

    def derivatives(self, output: int) -> Derivatives:
        _engine.squared_error_derivatives(
            self.scores[0], self._y[0], self._weight, self._gradient, self._n_threads
        )
        return self._gradient, self._weight if len(self._weight) else no_hessian()


class BoundSquaredOfSeveral(BoundLoss):
    """Half the squared differences of several targets, whose trees are shared.

    Each target counts in units of its own spread, so that none dominates the splits because its numbers are large.
    """

    by_row: ClassVar[tuple[str, ...]] = ("scores", "_weight", "_y", "_gradients")
    scale = 1.0
    joint_units: FloatArray

    def __init__(
        self, loss: RowLoss, y: FloatArray, weight: FloatArray | None, n_threads: int, init: InitScore
    ) -> None:
        super().__init__(loss, y, weight, n_threads, init)
        self.n_outputs = y.shape[1]
        targets = [without_offset(y[:, output], init, output) for output in range(self.n_outputs)]
        self.baseline = np.zeros(self.n_outputs)
        if init.add_constant:
            self.baseline[:] = [safe_mean(target, weight) for target in targets]
        rests = [target - constant for target, constant in zip(targets, self.baseline, strict=True)]
        self.joint_units = np.array([_spread(rest, weight) for rest in rests])
        self.scores = np.zeros((self.n_outputs, len(y)), dtype=np.float32)
        # Rows without weight may be anywhere, and float32 ends at 3e38.
        self._y = np.stack(
            [
                np.clip(rest / unit, -1e30, 1e30).astype(np.float32)
                for rest, unit in zip(rests, self.joint_units, strict=True)
            ]
        )
        self._gradients = np.empty_like(self._y)

    def joint_derivatives(self) -> Derivatives:
        for score, y, gradient in zip(self.scores, self._y, self._gradients, strict=True):
            _engine.squared_error_derivatives(score, y, self._weight, gradient, self._n_threads)
        return self._gradients, self._weight if len(self._weight) else no_hessian()

    def derivatives(self, output: int) -> Derivatives:
        gradients, hessian = self.joint_derivatives()
        return gradients[output], hessian

    def raw_predictions(self, rows: RowArray) -> FloatArray:
        added = self.scores[:, rows].T.astype(np.float64) * self.joint_units
        return np.asarray(self.init_scores(rows) + added)

    def mean_value(self, y: AnyArray, raw: FloatArray, weight: FloatArray | None) -> float:
        """The mean over rows and targets, in units of their spread."""
        with np.errstate(over="ignore"):
            squares = ((raw - y) / self.joint_units) ** 2
            return float(np.average(squares.mean(axis=1), weights=weight)) / 2


@dataclass(frozen=True)
class Squared(RegressionLoss, name="squared_error"):
    """Half the squared difference: predicts the mean."""

    is_in_units_of_the_target = True
    linear_leaves = True
    bound: ClassVar[type[BoundLoss]] = BoundSquared

    def value(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        return np.asarray((raw - y) ** 2 / 2)

    def gradient(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        return np.asarray(raw - y)

    def hessian(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        return np.ones_like(raw)

    def joint(self, n_targets: int) -> RegressionLoss:
        return SquaredOfSeveral(n_targets)


@dataclass(frozen=True)
class SquaredOfSeveral(Squared):
    """Squared error of several targets, each in units of its spread: predicts the mean of each."""

    n_targets: int

    bound = BoundSquaredOfSeveral

    @property
    def n_outputs(self) -> int:
        return self.n_targets

    @property
    def export_link(self) -> str:
        return "identity"

    def predictions(self, raw: FloatArray) -> FloatArray:
        return raw

    def values(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        return np.asarray(((raw - y) ** 2 / 2).mean(axis=1))

    def gradients(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        return np.asarray((raw - y) / self.n_targets)

    def curvatures(self, y: AnyArray, raw: FloatArray, direction: FloatArray) -> FloatArray:
        return np.asarray((direction**2).mean(axis=1))


def _spread(rest: FloatArray, weight: FloatArray | None) -> float:
    """The root of the mean square, also of numbers whose squares are too large for a float; 1 if all are zero.

    It has the digits of a float32, so that a float32 can be multiplied by it and divided again without a trace.
    """
    taking_part = rest if weight is None else rest[weight > 0]
    scale = power_of_two_above(float(np.abs(taking_part).max(initial=0.0)))
    counts = None if weight is None else weight[weight > 0]
    spread = float(np.sqrt(np.average((taking_part / scale) ** 2, weights=counts)))
    return scale * float(np.float32(spread)) or 1.0
