"""Losses for numbers whose score is the answer itself: squared, absolute, Huber's, quantiles and expectiles.

They all work on (y - start) / scale with a power of two as the scale, so that nothing is rounded by it and every
target fits float32. They only look at y minus the score, so an offset is taken off the target.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

import coterie._engine as _engine
from coterie._typing import FloatArray, RowArray
from coterie.errors import InvalidInput
from coterie.losses.base import (
    BEST_CONSTANT,
    Derivatives,
    Float32Array,
    LeafQuantile,
    NewtonLoss,
    Origin,
    float32_weight,
    no_hessian,
    power_of_two_above,
    safe_mean,
    weighted,
)

__all__ = [
    "ExpectileError",
    "HuberError",
    "QuantileError",
    "SquaredError",
    "SquaredErrors",
    "weighted_quantile",
]


class _Residuals(NewtonLoss):
    """Targets as distances from a constant, in units that fit float32."""

    def __init__(
        self,
        y: FloatArray,
        weight: FloatArray | None,
        origin: Origin,
        best_constants: Sequence[Callable[[FloatArray], float]],
    ) -> None:
        self.n_outputs = len(best_constants)
        targets = [_without_offset(y, origin, output) for output in range(self.n_outputs)]
        self.start = np.zeros(self.n_outputs)
        if origin.add_constant:
            self.start[:] = [best(target) for best, target in zip(best_constants, targets, strict=True)]
        rests = [target - constant for target, constant in zip(targets, self.start, strict=True)]
        self.scale = power_of_two_above(max(float(np.abs(rest).max(initial=0.0)) for rest in rests))
        self.offset = origin.offset
        self.scores = np.zeros((self.n_outputs, len(y)), dtype=np.float32)
        self._y = [(rest / self.scale).astype(np.float32) for rest in rests]
        self._weight = float32_weight(weight)

    def residual(self, output: int) -> Float32Array:
        """Target minus score, in the loop's units."""
        return np.asarray(self._y[output] - self.scores[output], dtype=np.float32)


class SquaredError(_Residuals):
    """Half the squared difference; its best constant is the mean."""

    def __init__(
        self, y: FloatArray, weight: FloatArray | None, n_threads: int, origin: Origin = BEST_CONSTANT
    ) -> None:
        super().__init__(y, weight, origin, [lambda rest: safe_mean(rest, weight)])
        self._gradient = np.empty(len(y), dtype=np.float32)
        self._n_threads = n_threads

    def derivatives(self, output: int) -> Derivatives:
        _engine.squared_error_derivatives(
            self.scores[0], self._y[0], self._weight, self._gradient, self._n_threads
        )
        return self._gradient, self._weight if len(self._weight) else no_hessian()

    def value(self, scores: FloatArray, y: FloatArray, weight: FloatArray | None) -> float:
        with np.errstate(over="ignore"):
            return float(np.average((scores[:, 0] - y) ** 2, weights=weight)) / 2


class SquaredErrors(NewtonLoss):
    """Half the squared differences of several targets, whose trees are shared.

    Each target counts in units of its own spread, so that none dominates the splits because its numbers are large.
    """

    scale = 1.0

    def __init__(
        self, y: FloatArray, weight: FloatArray | None, n_threads: int, origin: Origin = BEST_CONSTANT
    ) -> None:
        self.n_outputs = y.shape[1]
        targets = [_without_offset(y[:, output], origin, output) for output in range(self.n_outputs)]
        self.start = np.zeros(self.n_outputs)
        if origin.add_constant:
            self.start[:] = [safe_mean(target, weight) for target in targets]
        rests = [target - constant for target, constant in zip(targets, self.start, strict=True)]
        self.joint_units: FloatArray = np.array([_spread(rest, weight) for rest in rests])
        self.offset = origin.offset
        self.scores = np.zeros((self.n_outputs, len(y)), dtype=np.float32)
        # Rows without weight may be anywhere, and float32 ends at 3e38.
        self._y = np.stack(
            [
                np.clip(rest / unit, -1e30, 1e30).astype(np.float32)
                for rest, unit in zip(rests, self.joint_units, strict=True)
            ]
        )
        self._weight = float32_weight(weight)
        self._gradients = np.empty_like(self._y)
        self._n_threads = n_threads

    def joint_derivatives(self) -> Derivatives:
        for score, y, gradient in zip(self.scores, self._y, self._gradients, strict=True):
            _engine.squared_error_derivatives(score, y, self._weight, gradient, self._n_threads)
        return self._gradients, self._weight if len(self._weight) else no_hessian()

    def derivatives(self, output: int) -> Derivatives:
        gradients, hessian = self.joint_derivatives()
        return gradients[output], hessian

    def users_scores(self, rows: RowArray) -> FloatArray:
        added = self.scores[:, rows].T.astype(np.float64) * self.joint_units
        return np.asarray(self.first_scores(rows) + added)

    def value(self, scores: FloatArray, y: FloatArray, weight: FloatArray | None) -> float:
        """The mean over rows and targets, in units of their spread."""
        with np.errstate(over="ignore"):
            squares = ((scores - y) / self.joint_units) ** 2
            return float(np.average(squares.mean(axis=1), weights=weight)) / 2


class QuantileError(_Residuals):
    """The pinball loss of one level or several; the level 1/2 is half the absolute error.

    Its slope is the same near and far, so a tree's splits follow the slopes, and its leaves answer with the quantile
    of their residuals.
    """

    def __init__(
        self,
        y: FloatArray,
        weight: FloatArray | None,
        levels: tuple[float, ...],
        origin: Origin = BEST_CONSTANT,
    ) -> None:
        quantiles = [partial(weighted_quantile, weight=weight, level=level) for level in levels]
        super().__init__(y, weight, origin, quantiles)
        self._levels = levels

    def derivatives(self, output: int) -> Derivatives:
        level = np.float32(self._levels[output])
        residual = self.residual(output)
        gradient = np.where(residual > 0, -level, np.where(residual < 0, 1 - level, np.float32(0)))
        return weighted(gradient, no_hessian(), self._weight)

    def leaf_quantile(self, output: int) -> LeafQuantile | None:
        return LeafQuantile(self._levels[output], self.residual(output), self._weight)

    def value(self, scores: FloatArray, y: FloatArray, weight: FloatArray | None) -> float:
        losses = [
            np.average(np.maximum(level * (y - score), (level - 1) * (y - score)), weights=weight)
            for level, score in zip(self._levels, scores.T, strict=True)
        ]
        return float(np.mean(losses))


class HuberError(_Residuals):
    """Squared for small residuals, straight for large ones.

    The turn is at the quantile `share` of the sizes of the residuals, measured anew in each round, so it needs no
    unit. The hessian is that of the parabola that touches the loss from above: a leaf's answer is a weighted mean, and
    every step goes down.
    """

    def __init__(
        self, y: FloatArray, weight: FloatArray | None, share: float, origin: Origin = BEST_CONSTANT
    ) -> None:
        super().__init__(y, weight, origin, [lambda rest: weighted_quantile(rest, weight, 0.5)])
        self._share = share
        self.begin_round()
        self._turn_of_value = float(self._turn) * self.scale  # does not move, so that rounds can be compared

    def begin_round(self) -> None:
        size = np.abs(self.residual(0))
        if len(self._weight):
            size = size[self._weight > 0]
        least = np.finfo(np.float32).tiny
        self._turn = (
            np.float32(max(np.quantile(size, self._share), least)) if len(size) else np.float32(least)
        )

    def derivatives(self, output: int) -> Derivatives:
        residual = self.residual(0)
        size = np.maximum(np.abs(residual), self._turn)
        hessian = np.asarray(self._turn / size, dtype=np.float32)
        return weighted(np.asarray(-residual * hessian, dtype=np.float32), hessian, self._weight)

    def value(self, scores: FloatArray, y: FloatArray, weight: FloatArray | None) -> float:
        turn = self._turn_of_value
        size = np.abs(scores[:, 0] - y)
        return float(
            np.average(np.where(size <= turn, size**2 / 2, turn * (size - turn / 2)), weights=weight)
        )


class ExpectileError(_Residuals):
    """Squared error that weighs residuals above the answer by `level` and those below by 1 - level."""

    def __init__(
        self, y: FloatArray, weight: FloatArray | None, level: float, origin: Origin = BEST_CONSTANT
    ) -> None:
        super().__init__(y, weight, origin, [lambda rest: _expectile(rest, weight, level)])
        self._level = level

    def derivatives(self, output: int) -> Derivatives:
        residual = self.residual(0)
        hessian = np.where(residual > 0, np.float32(2 * self._level), np.float32(2 - 2 * self._level))
        return weighted(-residual * hessian, hessian, self._weight)

    def value(self, scores: FloatArray, y: FloatArray, weight: FloatArray | None) -> float:
        residual = y - scores[:, 0]
        asymmetry = np.where(residual > 0, self._level, 1 - self._level)
        return float(np.average(asymmetry * residual**2, weights=weight))


def _spread(rest: FloatArray, weight: FloatArray | None) -> float:
    """The root of the mean square, also of numbers whose squares are too large for a float; 1 if all are zero.

    It has the digits of a float32, so that a float32 can be multiplied by it and divided again without a trace.
    """
    taking_part = rest if weight is None else rest[weight > 0]
    scale = power_of_two_above(float(np.abs(taking_part).max(initial=0.0)))
    counts = None if weight is None else weight[weight > 0]
    spread = float(np.sqrt(np.average((taking_part / scale) ** 2, weights=counts)))
    return scale * float(np.float32(spread)) or 1.0


def _without_offset(y: FloatArray, origin: Origin, output: int) -> FloatArray:
    if origin.offset is None:
        return y
    with np.errstate(over="ignore"):
        rest = y - origin.offset[:, output]
    wrong = np.flatnonzero(~np.isfinite(rest))
    if len(wrong):
        row = int(wrong[0])
        raise InvalidInput(
            f"y minus its start is too large for a float in row {row}: y is {y[row]:g} and the offset "
            f"{origin.offset[row, output]:g}. Divide both by the same number."
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


def _expectile(y: FloatArray, weight: FloatArray | None, level: float) -> float:
    """Where the weighted residuals above and below balance; a few Newton steps, each exact between two targets."""
    counts = np.ones(len(y)) if weight is None else weight
    answer = safe_mean(y, weight)
    for _ in range(100):
        pull = counts * np.where(y > answer, level, 1 - level)
        better = safe_mean(y, pull)
        if better == answer:
            break
        answer = better
    return answer
