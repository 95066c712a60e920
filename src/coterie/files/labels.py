"""Single values that JSON does not know: labels, dates, numbers of numpy. Each is a dict with one name, its kind.

`packed` gives the JSON of a value, or None if it is no such value; `unpacked` makes the value again, or raises
ValueError, TypeError, OverflowError or ArithmeticError.
"""

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any

import numpy as np

_SCALARS = {
    name: np.dtype(name)
    for name in (
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
    )
}
_FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}
_MOST_BITS = 256
_MOST_DIGITS = 200


def is_plain(value: Any) -> bool:
    """Whether JSON has the value as it is."""
    if value is None or type(value) in (bool, str):
        return True
    if type(value) is int:
        return value.bit_length() <= _MOST_BITS
    return type(value) is float and isfinite(value)


def packed(value: Any) -> dict[str, Any] | None:
    """The JSON of a single value.

    Examples
    --------
    >>> packed(np.float32(0.1)), packed(float("inf")), packed(b"ab")
    ({'scalar': ['float32', 0.10000000149011612]}, {'float': 'inf'}, {'bytes': '6162'})
    """
    if type(value) is float:
        return {"float": "nan" if value != value else "inf" if value > 0 else "-inf"}
    if isinstance(value, np.str_):
        return {"text": str(value)}
    if isinstance(value, np.bytes_):
        return {"scalar_bytes": bytes(value).hex()}
    if isinstance(value, np.generic) and value.dtype.name in _SCALARS:
        item = value.item()
        return {"scalar": [value.dtype.name, item if is_plain(item) else packed(item)]}
    pack = _PACKED.get(type(value))
    return None if pack is None else pack(value)


def _packed_datetime(value: datetime) -> dict[str, Any] | None:
    offset = value.utcoffset()
    # A zone by name is more than its offset: such a label could not be made again as it was.
    if offset is not None and type(value.tzinfo).__name__ != "timezone":
        return None
    return {"datetime": value.isoformat()}


_PACKED: dict[type, Callable[[Any], dict[str, Any] | None]] = {
    bytes: lambda value: {"bytes": value.hex()},
    date: lambda value: {"date": value.isoformat()},
    datetime: _packed_datetime,
    time: lambda value: {"time": value.isoformat()} if value.tzinfo is None else None,
    timedelta: lambda value: {"timedelta": [value.days, value.seconds, value.microseconds]},
    Decimal: lambda value: {"decimal": str(value)},
    slice: lambda value: (
        {"slice": [value.start, value.stop, value.step]}
        if all(part is None or type(part) in (int, str) for part in (value.start, value.stop, value.step))
        else None
    ),
}


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError(f"expected text, not {value!r:.40}")
    return value


def _short_text(value: Any) -> str:
    if len(_text(value)) > _MOST_DIGITS:
        raise ValueError(f"expected at most {_MOST_DIGITS} characters, not {len(value)}")
    return _text(value)


def _wholes(value: Any, n: int) -> list[int]:
    if not isinstance(value, list) or len(value) != n or not all(type(part) is int for part in value):
        raise TypeError(f"expected {n} whole numbers, not {value!r:.40}")
    return value


def _unpacked_scalar(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str):
        raise TypeError("expected a type and a number")
    dtype = _SCALARS[value[0]]
    held = value[1]
    if isinstance(held, dict):
        if dtype.kind != "f" or set(held) != {"float"}:
            raise TypeError("expected a number")
        held = _FLOATS[_text(held["float"])]
    wanted = {"b": bool, "f": float}.get(dtype.kind, int)
    if type(held) is not wanted:
        raise TypeError(f"expected a value of the type {dtype.name}, not {held!r:.40}")
    return dtype.type(held)


def _unpacked_slice(value: Any) -> slice:
    if not isinstance(value, list) or len(value) != 3:
        raise TypeError("expected start, stop and step")
    if not all(part is None or type(part) in (int, str) for part in value):
        raise TypeError("expected whole numbers or names")
    return slice(*value)


UNPACKED: dict[str, Callable[[Any], Any]] = {
    "float": lambda value: _FLOATS[_text(value)],
    "text": lambda value: np.str_(_text(value)),
    "scalar_bytes": lambda value: np.bytes_(bytes.fromhex(_text(value))),
    "scalar": _unpacked_scalar,
    "bytes": lambda value: bytes.fromhex(_text(value)),
    "date": lambda value: date.fromisoformat(_short_text(value)),
    "datetime": lambda value: datetime.fromisoformat(_short_text(value)),
    "time": lambda value: time.fromisoformat(_short_text(value)),
    "timedelta": lambda value: timedelta(*_wholes(value, 3)),
    "decimal": lambda value: Decimal(_short_text(value)),
    "slice": _unpacked_slice,
}
