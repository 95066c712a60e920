"""How far to go along a direction in which a loss falls.

Words
  slope    the derivative of the loss by the length of the step; it is negative at zero and rises on the way
  bend     its second derivative, NaN where nobody knows it
  bracket  a step at which the loss still falls, and a longer one at which it does not
Steps: a first guess by Newton; twice as far until the slope is no longer negative; then Newton's steps inside the
bracket, which is halved whenever they leave it or get nowhere. A slope that is not a number counts as rising, so a
loss that overflows far away does no harm.

A loss may fall without end: a member without errors deserves every vote. There is no best step then, and the one that
is taken goes to where 99 of 100 parts of the slope are gone.
"""

import math
from collections.abc import Callable

_NOTHING_LEFT = 1e-12  # of the slope: it will not rise above zero any more
_ENOUGH = 0.01
_FINE = 4e-16
_MOST_DOUBLINGS = 2100  # from the smallest float to the largest


def best_step(derivatives: Callable[[float], tuple[float, float]], unit: float) -> float:
    """The step at which the slope is zero; 0 if the loss does not fall at all.

    Parameters
    ----------
    derivatives : function from a step to (slope, bend)
    unit : the first guess where there is no bend

    Examples
    --------
    Down the parabola (step - 3)**2, whose slope is 2 * (step - 3):

    >>> best_step(lambda step: (2 * (step - 3), 2.0), unit=1.0)
    3.0
    """
    slope, bend = derivatives(0.0)
    if not slope < 0:
        return 0.0
    nothing = -_NOTHING_LEFT * slope
    guess = -slope / bend if bend > 0 else math.inf
    step, low = guess if 0 < guess < math.inf else unit, 0.0
    for _ in range(_MOST_DOUBLINGS):
        here, bend = derivatives(step)
        if (
            abs(here) <= nothing
        ):  # at the bottom, or far out where the loss only just falls: look twice as far
            if abs(derivatives(2 * step)[0]) <= nothing:
                return _where_enough_is_gone(derivatives, slope, step)
            return step - here / bend if bend > 0 else step
        if not here < 0 or not math.isfinite(2 * step):
            break
        low, step = step, 2 * step
    return _zero_between(derivatives, low, step)


def _where_enough_is_gone(
    derivatives: Callable[[float], tuple[float, float]], first: float, step: float
) -> float:
    def beyond(at: float) -> tuple[float, float]:
        slope, bend = derivatives(at)
        return slope - _ENOUGH * first, bend

    return _zero_between(beyond, 0.0, step)


def _zero_between(derivatives: Callable[[float], tuple[float, float]], low: float, high: float) -> float:
    """Newton's steps from the middle, kept inside a bracket that shrinks; at a corner, the last step that falls."""
    at, before, last = low + (high - low) / 2, high - low, high - low
    for _ in range(400):
        slope, bend = derivatives(at)
        if slope == 0:
            return at
        low, high = (at, high) if slope < 0 else (low, at)
        newton = at - slope / bend if bend > 0 else math.nan
        # A step that is not half of the last but one gets nowhere.
        if not (low < newton < high and abs(newton - at) <= before / 2):
            newton = low + (high - low) / 2
        before, last, at = last, abs(newton - at), newton
        if last <= _FINE * at:
            break
    return low if high - low <= 4 * _FINE * high else at
