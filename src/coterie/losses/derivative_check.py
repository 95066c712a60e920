"""Are a gradient and a hessian those of a value? Differences of the value tell, on a few rows at a few scores.

Words
  unit    a length along the scores on which the loss changes: Newton's step, 1, or the spread of the scores' targets
  point   a target, a score near where the fit begins, and a unit
A point where the value is not finite, or where rounding drowns the difference, is no evidence. At a corner of the value
every slope between those of its two sides is right, and no curvature is required.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np

from coterie._typing import AnyArray, BoolArray, FloatArray
from coterie.errors import InvalidParameter
from coterie.losses.loss import RowLoss

_EPS = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)
_MOST_ROWS = 8
_SHIFTS = (-0.83, -0.37, 0.29, 0.71)  # in units; not round, so that corners are seldom met


class Formulas(RowLoss, Protocol):
    """A loss of one raw prediction, or score, by its formulas: `coterie.losses.loss.Loss`."""

    @property
    def title(self) -> str: ...

    @property
    def value(self) -> Callable[[FloatArray, FloatArray], Any]: ...

    @property
    def gradient(self) -> Callable[[FloatArray, FloatArray], Any]: ...

    @property
    def hessian(self) -> Callable[[FloatArray, FloatArray], Any] | None: ...

    @property
    def baseline(self) -> float | None: ...

    @property
    def may_be_concave(self) -> bool: ...

    def check_formulas(self, y: FloatArray, raw: FloatArray) -> None: ...


class _Points(NamedTuple):
    y: FloatArray
    score: FloatArray
    unit: FloatArray


def call(loss: Formulas, part: str, y: AnyArray | None, score: FloatArray) -> FloatArray:
    """A function of the loss on some rows: one float64 per row, or an error that tells what came instead."""
    given = [each.view() for each in (y, score) if each is not None]
    for each in given:
        each.flags.writeable = False
    try:
        with np.errstate(all="ignore"):
            result = getattr(loss, part)(*given)
        array = np.asarray(result)
    except Exception as error:
        raise InvalidParameter(
            f"The {part} of the {loss.title} raised {type(error).__name__}: {error}. It is called with float64 arrays "
            "of one entry per row, which it must not change.",
            parameter=part,
        ) from error
    if array.dtype.kind not in "biuf":
        raise _returned(
            loss, part, f"{type(result).__name__} of type {array.dtype}", result, "an array of numbers"
        )
    if part == "value" and array.dtype.kind == "f" and array.dtype.itemsize < 8:
        hint = "Its differences are compared with the gradient, and must be fine. It is called with float64 arrays."
        raise _returned(loss, part, str(array.dtype), result, "float64", hint)
    if array.shape != score.shape:
        shape, allowed = (
            f"shape {array.shape} for {len(score)} rows",
            f"({len(score)},), one number per row",
        )
        raise _returned(loss, part, shape, result, allowed, "Means and sums are taken by the fit.")
    return array.astype(np.float64)


def _returned(
    loss: Formulas, part: str, what: str, result: object, allowed: str, hint: str | None = None
) -> InvalidParameter:
    return InvalidParameter.expecting(
        f"The {part} of the {loss.title} returned {what}", allowed, part, result, hint=hint
    )


def refuse_not_finite(
    loss: Formulas, part: str, result: FloatArray, y: AnyArray | None, score: FloatArray
) -> None:
    wrong = np.flatnonzero(~np.isfinite(result))
    if len(wrong):
        row = int(wrong[0])
        target = "" if y is None else f"y={y[row]:g} and "
        raise InvalidParameter(
            f"The {part} of the {loss.title} is {result[row]} at {target}score={score[row]:g}.",
            parameter=part,
            received=float(result[row]),
            allowed="a finite number for each row",
            hint="Keep it finite there, for example by clipping the score.",
        )


def check_derivatives(loss: Formulas, y: FloatArray, score: FloatArray) -> None:
    """Refuse a gradient or a hessian that is not the value's around these scores."""
    points = _points(loss, y, score)
    checked = _check_gradient(loss, points)
    if not checked.any():
        raise InvalidParameter(
            f"The value of the {loss.title} is not finite around score={float(np.median(score)):g}, where the fit "
            "begins.",
            parameter="value",
            allowed="a finite number for each row",
            hint="Give baseline= a score at which every row has a finite loss.",
        )
    if loss.hessian is not None:
        _check_hessian(loss, points)


def _points(loss: Formulas, y: FloatArray, score: FloatArray) -> _Points:
    """Some rows, from the least target to the largest, each at some scores around its own in three units."""
    rows = np.argsort(y, kind="stable")[np.unique(np.linspace(0, len(y) - 1, _MOST_ROWS).round().astype(int))]
    slope = call(loss, "gradient", y, score)
    refuse_not_finite(loss, "gradient", slope, y, score)
    curvature = np.ones(1)
    if loss.hessian is not None:
        curvature = call(loss, "hessian", y, score)
        refuse_not_finite(loss, "hessian", curvature, y, score)
    with np.errstate(all="ignore"):
        lengths = np.array([np.abs(slope).mean() / np.abs(curvature).mean(), 1.0, np.std(y)])
    units = np.unique(lengths[np.isfinite(lengths) & (lengths > 0)])
    row, shift, unit = (grid.ravel() for grid in np.meshgrid(rows, _SHIFTS, units, indexing="ij"))
    return _Points(y[row], score[row] + shift * unit, unit)


class _Differences(NamedTuple):
    slope: FloatArray
    before: FloatArray  # slopes of the two sides
    after: FloatArray
    curvature: FloatArray
    rounding: FloatArray  # how wrong a difference of two values may be
    step: FloatArray


def _differences(loss: Formulas, points: _Points, share: float) -> _Differences:
    step = np.maximum(share * points.unit, 4e-13 * np.abs(points.score))
    left, right = points.score - step, points.score + step
    low, middle, high = (call(loss, "value", points.y, score) for score in (left, points.score, right))
    with np.errstate(all="ignore"):
        before = (middle - low) / (points.score - left)
        after = (high - middle) / (right - points.score)
        slope = (high - low) / (right - left)
        curvature = (high - 2 * middle + low) / step**2
        sizes = np.abs(low) + np.abs(middle) + np.abs(high)
        rounding = 8 * _EPS * (sizes + np.abs(points.score) * (np.abs(before) + np.abs(after))) + _TINY
    return _Differences(slope, before, after, curvature, rounding, step)


def _check_gradient(loss: Formulas, points: _Points) -> BoolArray:
    found = _differences(loss, points, 6e-6)
    given = call(loss, "gradient", points.y, points.score)
    with np.errstate(all="ignore"):
        slack = 1e-3 * np.maximum(np.abs(found.slope), np.abs(given)) + found.rounding / found.step
        low, high = np.minimum(found.before, found.after), np.maximum(found.before, found.after)
        wrong = (given < low - slack) | (given > high + slack) | np.isnan(given)
    known = np.isfinite(found.before) & np.isfinite(found.after)
    if (wrong & known).any():
        _refuse(loss, "gradient", "slope", points, given, found.slope, int(np.argmax(wrong & known)))
    return known


def _check_hessian(loss: Formulas, points: _Points) -> None:
    assert loss.hessian is not None
    found, finer = (_differences(loss, points, share) for share in (1e-3, 5e-4))
    given = call(loss, "hessian", points.y, points.score)
    with np.errstate(all="ignore"):
        rounding = 4 * finer.rounding / finer.step**2
        largest = np.maximum(np.abs(found.curvature), np.abs(finer.curvature))
        smooth = np.abs(found.curvature - finer.curvature) <= 0.01 * largest + rounding
        slack = 0.02 * np.maximum(np.abs(finer.curvature), np.abs(given)) + rounding
        wrong = (np.abs(given - finer.curvature) > slack) | np.isnan(given)
    known = np.isfinite(found.curvature) & np.isfinite(finer.curvature) & smooth
    if (wrong & known).any():
        _refuse(loss, "hessian", "curvature", points, given, finer.curvature, int(np.argmax(wrong & known)))


def _refuse(
    loss: Formulas, part: str, meaning: str, points: _Points, given: FloatArray, expected: FloatArray, at: int
) -> NoReturn:
    hint = "Both are with respect to the score, and a factor such as 2 counts."
    if np.isclose(given[at], -expected[at], rtol=1e-2, atol=0):
        hint = "Its sign is turned: differentiate with respect to the score."
    elif part == "hessian":
        hint = "Leave hessian=None to count 1 for every row."
    raise InvalidParameter(
        f"The {part} of the {loss.title} is not the {meaning} of its value: at y={points.y[at]:g} and "
        f"score={points.score[at]:g} it is {given[at]:g}, and differences of the value give {expected[at]:.6g}.",
        parameter=part,
        received=float(given[at]),
        allowed=f"{expected[at]:.6g}",
        hint=hint,
    )
