"""Any loss of one raw prediction, bound to a training set by its formulas alone.

Steps: the best constant is looked for, and in each round the formulas are evaluated once for all rows, in float64.
"""

import warnings
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from scipy.optimize import brentq

from coterie._typing import AnyArray, FloatArray
from coterie.errors import InvalidParameter
from coterie.losses.derivative_check import Formulas, call, refuse_not_finite
from coterie.losses.loss import (
    BoundLoss,
    Derivatives,
    Float32Array,
    InitScore,
    no_hessian,
    power_of_two_above,
    weighted,
)


class BoundFormulas(BoundLoss):
    """Scores are kept relative to where each row begins."""

    by_row: ClassVar[tuple[str, ...]] = ("scores", "_weight", "_y", "_begin")

    def __init__(
        self, loss: Formulas, y: AnyArray, weight: FloatArray | None, n_threads: int, init: InitScore
    ) -> None:
        super().__init__(loss, y, weight, n_threads, init)
        self._formulas = loss
        self._y = y.astype(np.float64)
        self._warned = loss.may_be_concave
        offset = np.zeros(len(y)) if init.offset is None else init.offset[:, 0]
        counts = np.ones(len(y)) if weight is None else weight
        rows = counts > 0
        constant = _baseline(loss, self._y[rows], offset[rows], counts[rows], init)
        self.baseline = np.array([constant])
        self._begin = offset + constant
        self.scores = np.zeros((1, len(y)), dtype=np.float32)
        gradient = self._finite("gradient", self._begin)
        # A power of two changes no bit, and gradients of any size fit float32.
        self.scale = power_of_two_above(float(np.abs(gradient[rows]).max()))

    def derivatives(self, output: int) -> Derivatives:
        raw = self._begin + self.scale * self.scores[0].astype(np.float64)
        gradient = self._finite("gradient", raw)
        hessian = None if self._formulas.hessian is None else self._safe_hessian(gradient, raw)
        with np.errstate(over="ignore"):
            derivatives = weighted(
                (gradient / self.scale).astype(np.float32),
                no_hessian() if hessian is None else hessian.astype(np.float32),
                self._weight,
            )
        for part, derivative in zip(("gradient", "hessian"), derivatives, strict=True):
            self._refuse_too_large(part, derivative, raw)
        return derivatives

    def mean_value(self, y: AnyArray, raw: FloatArray, weight: FloatArray | None) -> float:
        y = y.astype(np.float64)
        losses = call(self._formulas, "value", y, raw[:, 0])
        if np.isnan(losses).any():
            refuse_not_finite(self._formulas, "value", losses, y, raw[:, 0])
        return float(np.average(losses, weights=weight))

    def _finite(self, part: str, raw: FloatArray) -> FloatArray:
        result = call(self._formulas, part, self._y, raw)
        refuse_not_finite(self._formulas, part, result, self._y, raw)
        return result

    def _refuse_too_large(self, part: str, derivative: Float32Array, raw: FloatArray) -> None:
        wrong = np.flatnonzero(~np.isfinite(derivative))
        if len(wrong):
            row = int(wrong[0])
            raise InvalidParameter(
                f"The {part} of the {self._formulas.title} does not fit float32 at y={self._y[row]:g} and "
                f"score={raw[row]:g}, with the weight of the row.",
                parameter=part,
                received=float(derivative[row]),
                allowed="a number that fits float32",
                hint="Clip the score, or divide the loss by a number.",
            )

    def _safe_hessian(self, gradient: FloatArray, raw: FloatArray) -> FloatArray:
        """Hessians as given; where Newton's step would go up or nowhere, the mean size of all of them."""
        hessian = self._finite("hessian", raw)
        wrong = (hessian <= 0) & (gradient != 0)
        if not self.of_all_workers(np.array([wrong.any()], dtype=np.float64)).any():
            return np.maximum(hessian, 0.0)
        typical = float(self.of_all_workers(np.abs(hessian)).mean()) or 1.0
        if not self._warned and wrong.any():
            self._warned = True
            row = int(np.argmax(wrong))
            warnings.warn(
                f"The hessian of the {self._formulas.title} is {hessian[row]:g} at y={self._y[row]:g} and "
                f"score={raw[row]:g}. Rows whose hessian is not above zero count the mean size of all hessians "
                f"({typical:g} here) instead.",
                UserWarning,
                stacklevel=2,
            )
        return np.where(wrong, typical, np.maximum(hessian, 0.0))


def _baseline(
    loss: Formulas, y: FloatArray, offset: FloatArray, weight: FloatArray, init: InitScore
) -> float:
    """The constant to begin with, once the derivatives are known to be right around it."""
    weight = weight / weight.sum()
    if not init.add_constant or loss.baseline is not None:
        first = 0.0 if loss.baseline is None or not init.add_constant else float(loss.baseline)
        loss.check_formulas(y, offset + first)
        return first
    tried = [0.0, float(weight @ (y - offset)), float(np.median(y - offset))]
    costs = [float(weight @ call(loss, "value", y, offset + constant)) for constant in tried]
    first = tried[int(np.argmin([cost if np.isfinite(cost) else np.inf for cost in costs]))]
    if not np.isfinite(costs).any():
        raise InvalidParameter(
            f"The value of the {loss.title} is not finite at the scores {', '.join(f'{each:g}' for each in tried)}, so "
            "there is no place to begin.",
            parameter="value",
            allowed="a finite number for each row",
            hint="Give baseline= a score at which every row has a finite loss.",
        )
    loss.check_formulas(y, offset + first)
    best = _downhill(lambda constant: call(loss, "gradient", y, offset + constant), weight, first)
    reached = float(weight @ call(loss, "value", y, offset + best))
    return best if reached <= min(cost for cost in costs if np.isfinite(cost)) else first


def _downhill(gradient: Callable[[float], FloatArray], weight: FloatArray, first: float) -> float:
    """Walk against the slope in growing steps until it turns; the best constant is where it is zero in between."""
    here = gradient(first)
    slope, size = float(weight @ here), float(weight @ np.abs(here))
    if slope == 0 or not np.isfinite(slope):
        return first
    sign = -1.0 if slope > 0 else 1.0
    edge, step = float(first), 1e-6 * max(abs(first), size, 1e-100)
    for _ in range(400):
        beyond = edge + sign * step
        there = float(weight @ gradient(beyond))
        if np.isnan(there):
            step /= 8
        elif sign * there >= 0:
            low, high = sorted((edge, beyond))
            return crossing(lambda constant: float(weight @ gradient(constant)), low, high)
        elif abs(there) <= 1e-7 * size:
            return beyond  # the further the better: no constant is the best one
        else:
            edge, step = beyond, 2 * step
    return edge


def crossing(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function meets zero, which lies between `low` and `high` up to rounding.

    Examples
    --------
    >>> round(crossing(lambda x: x**3 - 8, 0.0, 5.0), 9)
    2.0
    """
    if function(low) >= 0:
        return low
    if function(high) <= 0:
        return high
    fine = 4 * float(np.finfo(np.float64).eps)
    least = max(1e-300, 1e-18 * (high - low))
    return float(brentq(function, low, high, xtol=least, rtol=fine, maxiter=2000))
