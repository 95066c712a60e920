"""Thresholds of libraries that round values to single precision before they compare them.

Rounding keeps the order of numbers. So "the rounded value is at most t" is "the value is at most T" for another T, the
largest double that rounds to at most t. With such thresholds the engine compares values as they are, without a
rounded copy of the table, and sends every row where the other library sends it.
"""

import numpy as np
from numpy.typing import NDArray

from coterie._typing import FloatArray

_BEYOND = 2.0**128 - 2.0**103  # from here on numbers round to infinity


def at_most(threshold: FloatArray) -> FloatArray:
    """The largest doubles that, rounded to single precision, are at most the threshold.

    Examples
    --------
    The single above 1 is 1 + 2**-23; what is up to half way there rounds to 1.

    >>> bool(at_most(np.array([1.0]))[0] == 1 + 2**-24)
    True
    """
    with np.errstate(all="ignore"):  # numbers beyond the largest single are infinity, as they should be
        rounded = threshold.astype(np.float32)
        above = rounded > threshold  # as doubles: numpy compares in the wider type
        return _last_that_rounds_to(np.where(above, np.nextafter(rounded, np.float32(-np.inf)), rounded))


def less_than(condition: NDArray[np.float32]) -> FloatArray:
    """The largest doubles that, rounded to single precision, are less than the condition.

    Examples
    --------
    >>> last = less_than(np.array([1.0], dtype=np.float32))
    >>> bool(np.float32(last[0]) < 1), bool(np.float32(np.nextafter(last[0], 2)) < 1)
    (True, False)
    """
    with np.errstate(all="ignore"):
        return _last_that_rounds_to(np.nextafter(condition, np.float32(-np.inf)))


def _last_that_rounds_to(single: NDArray[np.float32]) -> FloatArray:
    """The largest double that rounds to each single; half way between two, the one with an even last bit wins."""
    low = np.where(np.isneginf(single), -_BEYOND, single.astype(np.float64))
    high = np.nextafter(single, np.float32(np.inf)).astype(np.float64)
    half = np.where(np.isinf(high), _BEYOND, (low + np.where(np.isinf(high), 0.0, high)) / 2)
    even = single.view(np.uint32) & 1 == 0
    last = np.where(even, half, np.nextafter(half, -np.inf))
    last = np.where(np.isneginf(single), -_BEYOND, last)  # which rounds to -infinity
    return np.where(np.isposinf(single), np.inf, last)
