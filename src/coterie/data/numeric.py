"""Numbers in arrays: which of numpy's types the engine reads as they are, and what becomes of the rest.

The engine reads float32, float64, int32, int64, uint8 and bool (as uint8) in place, with any strides.
Everything else is cast once: float16 to float32, long double to float64, small integers to int32,
uint32 to int64, foreign byte order to the machine's own. Dates and durations become days.
"""

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.data.place import Place
from coterie.errors import InvalidInput

__all__ = ["days_of", "is_read_in_place", "native_numbers"]

_IN_PLACE = frozenset(np.dtype(name) for name in ("f4", "f8", "i4", "i8", "u1", "?"))
_CAST_TO = {"f2": "f4", "i1": "i4", "i2": "i4", "u2": "i4", "u4": "i8"}


def is_read_in_place(array: AnyArray) -> bool:
    """Whether the engine can read this memory without a copy."""
    return array.dtype in _IN_PLACE and array.flags.aligned


def native_numbers(array: AnyArray, *, where: Place) -> AnyArray:
    """The same numbers in a type that the engine reads; the array itself when it already is one.

    Examples
    --------
    >>> native_numbers(np.array([1, 2], dtype=">i2"), where=Place("X")).dtype
    dtype('int32')
    """
    if is_read_in_place(array):
        return array
    dtype = array.dtype
    if dtype.kind == "c":
        raise InvalidInput(
            f"Complex data not supported: {where} holds {dtype} numbers. Trees order values, and complex "
            "numbers have no order.",
            received=dtype,
            allowed="real numbers",
            hint="Pass the real and the imaginary part as two columns.",
            **where.fields,
        )
    if dtype.kind in "mM":
        return days_of(array)
    if dtype.kind == "u" and dtype.itemsize == 8:
        fits = array.size == 0 or int(array.max()) <= np.iinfo(np.int64).max
        return array.astype(np.int64 if fits else np.float64)
    if dtype.newbyteorder("=") in _IN_PLACE:
        return array.astype(dtype.newbyteorder("="))
    with np.errstate(over="ignore"):  # a long double too large for float64 is infinity
        return array.astype(_CAST_TO.get(dtype.kind + str(dtype.itemsize), "f8"))


def days_of(array: AnyArray) -> FloatArray:
    """Dates as days since 1970-01-01, durations as days; with fractions, NaT becomes NaN.

    Examples
    --------
    >>> days_of(np.array(["1970-01-02T12:00", "NaT"], dtype="datetime64[m]"))
    array([1.5, nan])
    """
    unit, _ = np.datetime_data(array.dtype)
    if unit == "generic":
        return np.full(array.shape, np.nan)
    missing = np.isnat(array)
    if unit in ("Y", "M") and array.dtype.kind == "M":
        array = array.astype("datetime64[D]")
    elif unit in ("Y", "M"):
        array = array.astype("timedelta64[M]")
        return np.where(missing, np.nan, array.astype(np.int64) * (365.2425 / 12))
    unit, step = np.datetime_data(array.dtype)
    days = array.astype(np.int64) * (step / _PER_DAY[unit])
    return np.where(missing, np.nan, days)


_PER_DAY = {
    "W": 1 / 7,
    "D": 1.0,
    "h": 24.0,
    "m": 1440.0,
    "s": 86400.0,
    "ms": 86400e3,
    "us": 86400e6,
    "ns": 86400e9,
    "ps": 86400e12,
    "fs": 86400e15,
    "as": 86400e18,
}
