"""A loss of the user's own: plain numpy functions of targets and scores.

Steps of a fit: the derivatives are compared with differences of the value on a few rows (`derivative_check.py`), the
best constant is looked for, and in each round the functions are asked once for all rows.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from coterie._params import Real, in_short
from coterie._typing import AnyArray, FloatArray
from coterie.errors import InvalidParameter
from coterie.losses.base import (
    BEST_CONSTANT,
    Derivatives,
    Float32Array,
    NewtonLoss,
    Origin,
    float32_weight,
    no_hessian,
    power_of_two_above,
    weighted,
)
from coterie.losses.choices import LossChoice
from coterie.losses.derivative_check import call, check_derivatives, refuse_not_finite
from coterie.losses.optimum import crossing

__all__ = ["CustomLoss"]

RowFunction = Callable[[FloatArray, FloatArray], Any]


@dataclass(frozen=True, repr=False)
class CustomLoss(LossChoice):
    """A loss made of functions of (y, score), each with one number per row as its answer.

    Parameters
    ----------
    value : function
        The loss of each row.
    gradient : function
        Its slope with respect to the score.
    hessian : function, optional
        Its curvature with respect to the score; 1 if there is none. A row whose hessian is not above zero while its
        gradient is not zero counts the mean size of all hessians instead, and a warning says so.
    start : float, optional
        The score before the first tree; by default the constant that fits best.
    link : function, optional
        From score to answer. By default a regressor answers with the score and a classifier, whose y is 0 and 1,
        takes the score as log odds.

    `fit` compares gradient and hessian with differences of the value, and refuses those that do not agree.

    Examples
    --------
    The log of the hyperbolic cosine: a parabola near zero, straight far away.

    >>> log_cosh = CustomLoss(
    ...     value=lambda y, score: np.logaddexp(score - y, y - score),
    ...     gradient=lambda y, score: np.tanh(score - y),
    ...     hessian=lambda y, score: 1 - np.tanh(score - y) ** 2,
    ... )
    >>> loss = log_cosh.begin(np.array([1.0, 2.0, 3.0]), None, n_threads=1)
    >>> loss.start.round(6)
    array([2.])
    """

    value: RowFunction
    gradient: RowFunction
    hessian: RowFunction | None = None
    start: float | None = None
    link: Callable[[FloatArray], Any] | None = None
    name: ClassVar[str] = "custom"

    def __post_init__(self) -> None:
        for part in ("value", "gradient", "hessian", "link"):
            given = getattr(self, part)
            if not callable(given) and (given is not None or part in ("value", "gradient")):
                of = "(score)" if part == "link" else "(y, score)"
                raise InvalidParameter(
                    f"CustomLoss({part}={in_short(given)}): {part} must be a function of {of}."
                )
        if self.start is not None and not Real().accepts(self.start):
            raise InvalidParameter(
                f"CustomLoss(start={in_short(self.start)}): start must be a finite number."
            )

    def __repr__(self) -> str:
        parts = ("value", "gradient", "hessian", "start", "link")
        given = [(part, getattr(self, part)) for part in parts]
        shown = [f"{part}={_name_of(value)}" for part, value in given if value is not None]
        return f"CustomLoss({', '.join(shown)})"

    def begin(
        self, y: FloatArray, weight: FloatArray | None, n_threads: int, origin: Origin = BEST_CONSTANT
    ) -> "CustomError":
        return CustomError(self, y, weight, origin)

    def answers(self, scores: FloatArray) -> FloatArray:
        if self.link is None:
            return scores[:, 0]
        link, score = self.link, scores[:, 0]
        answers = call("link", lambda _, score: link(score), score, score)
        known = ~np.isnan(score)  # rows without a weight have no score from a booster that left them out
        refuse_not_finite("link", answers[known], None, score[known])
        return np.where(known, answers, np.nan)


class CustomError(NewtonLoss):
    """A custom loss on one training set; scores are kept relative to where each row begins."""

    n_outputs = 1

    def __init__(
        self, choice: CustomLoss, y: AnyArray, weight: FloatArray | None, origin: Origin = BEST_CONSTANT
    ) -> None:
        self._choice = choice
        self._y = y.astype(np.float64)
        self._weight = float32_weight(weight)
        self._warned = False
        offset = np.zeros(len(y)) if origin.offset is None else origin.offset[:, 0]
        part = np.ones(len(y)) if weight is None else weight
        rows = part > 0
        self.start = np.array([_start(choice, self._y[rows], offset[rows], part[rows], origin)])
        self._begin = offset + self.start[0]
        self.offset = origin.offset
        self.scores = np.zeros((1, len(y)), dtype=np.float32)
        gradient = self._of_user("gradient", choice.gradient, self._begin)
        # A power of two changes no bit, and gradients of any size fit float32.
        self.scale = power_of_two_above(float(np.abs(gradient[rows]).max()))

    def derivatives(self, output: int) -> Derivatives:
        score = self._begin + self.scale * self.scores[0].astype(np.float64)
        slope = self._of_user("gradient", self._choice.gradient, score)
        curvature = None if self._choice.hessian is None else self._safe_hessian(slope, score)
        with np.errstate(over="ignore"):
            derivatives = weighted(
                (slope / self.scale).astype(np.float32),
                no_hessian() if curvature is None else curvature.astype(np.float32),
                self._weight,
            )
        for part, derivative in zip(("gradient", "hessian"), derivatives, strict=True):
            self._refuse_too_large(part, derivative, score)
        return derivatives

    def value(self, scores: FloatArray, y: AnyArray, weight: FloatArray | None) -> float:
        y = y.astype(np.float64)
        losses = call("value", self._choice.value, y, scores[:, 0])
        if np.isnan(losses).any():
            refuse_not_finite("value", losses, y, scores[:, 0])
        return float(np.average(losses, weights=weight))

    def _of_user(self, part: str, function: RowFunction, score: FloatArray) -> FloatArray:
        result = call(part, function, self._y, score)
        refuse_not_finite(part, result, self._y, score)
        return result

    def _refuse_too_large(self, part: str, derivative: Float32Array, score: FloatArray) -> None:
        wrong = np.flatnonzero(~np.isfinite(derivative))
        if len(wrong):
            row = int(wrong[0])
            raise InvalidParameter(
                f"The {part} of the CustomLoss does not fit float32 at y={self._y[row]:g} and score={score[row]:g}, "
                "with the weight of the row. Clip the score, or divide the loss by a number."
            )

    def _safe_hessian(self, gradient: FloatArray, score: FloatArray) -> FloatArray:
        """Hessians as given; where Newton's step would go up or nowhere, the mean size of all of them."""
        assert self._choice.hessian is not None
        hessian = self._of_user("hessian", self._choice.hessian, score)
        wrong = (hessian <= 0) & (gradient != 0)
        if not wrong.any():
            return np.maximum(hessian, 0.0)
        typical = float(np.abs(hessian).mean()) or 1.0
        if not self._warned:
            self._warned = True
            row = int(np.argmax(wrong))
            warnings.warn(
                f"The hessian of the CustomLoss is {hessian[row]:g} at y={self._y[row]:g} and score={score[row]:g}. "
                f"Rows whose hessian is not above zero count the mean size of all hessians ({typical:g} here) instead.",
                UserWarning,
                stacklevel=2,
            )
        return np.where(wrong, typical, np.maximum(hessian, 0.0))


def _name_of(value: object) -> str:
    return getattr(value, "__qualname__", None) or repr(value)


def _start(
    choice: CustomLoss, y: FloatArray, offset: FloatArray, weight: FloatArray, origin: Origin
) -> float:
    """The constant to begin with, once the derivatives are known to be right around it."""
    weight = weight / weight.sum()
    if not origin.add_constant or choice.start is not None:
        first = 0.0 if choice.start is None or not origin.add_constant else float(choice.start)
        check_derivatives(choice, y, offset + first)
        return first
    tried = [0.0, float(weight @ (y - offset)), float(np.median(y - offset))]
    costs = [float(weight @ call("value", choice.value, y, offset + constant)) for constant in tried]
    first = tried[int(np.argmin([cost if np.isfinite(cost) else np.inf for cost in costs]))]
    if not np.isfinite(costs).any():
        raise InvalidParameter(
            f"The value of the CustomLoss is not finite at the scores {', '.join(f'{each:g}' for each in tried)}, so "
            "there is no place to begin. Give start= a score at which every row has a finite loss."
        )
    check_derivatives(choice, y, offset + first)
    best = _downhill(lambda constant: call("gradient", choice.gradient, y, offset + constant), weight, first)
    reached = float(weight @ call("value", choice.value, y, offset + best))
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
