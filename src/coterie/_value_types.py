"""What the value of an attribute may be: a `ValueType` says so in words and in code."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import Bunch


@dataclass(frozen=True)
class ValueType:
    """Values that are allowed in some place.

    Examples
    --------
    >>> (TEXT | NONE).accepts(None), (TEXT | NONE).description
    (True, 'text or None')
    """

    description: str
    accepts: Callable[[Any], bool]

    def __or__(self, other: "ValueType") -> "ValueType":
        return ValueType(
            f"{self.description} or {other.description}",
            lambda value: self.accepts(value) or other.accepts(value),
        )


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def array(kinds: str, *n_axes: int) -> ValueType:
    """Arrays of numpy; `kinds` are the letters of `dtype.kind`, no number of axes means any."""

    def accepts(value: Any) -> bool:
        is_array = isinstance(value, np.ndarray) and value.dtype.kind in kinds
        return is_array and (not n_axes or value.ndim in n_axes)

    axes = f" with {' or '.join(map(str, n_axes))} axes" if n_axes else ""
    return ValueType(f"an array of kind {kinds}{axes}", accepts)


ANY = ValueType("any value", lambda _: True)
NONE = ValueType("None", lambda value: value is None)
BOOL = ValueType("True or False", lambda value: isinstance(value, bool | np.bool_))
COUNT = ValueType("a whole number >= 0", lambda value: _is_integer(value) and value >= 0)
INTEGER = ValueType("a whole number", lambda value: type(value) is int)
NUMBER = ValueType("a number", _is_number)
TEXT = ValueType("text", lambda value: isinstance(value, str))
MODEL = ValueType("a model", lambda value: hasattr(value, "fit") or hasattr(value, "predict"))
FLOATS = array("f")
FLOAT_VECTOR = array("f", 1)
INTEGERS = array("iu", 1)
LABELS = array("OUSiufbmM", 1)
# Of attributes that are found again when they are needed: no file holds them.
RECOMPUTED = ValueType("nothing: it is recomputed", lambda _: False)


def one_of(*texts: str) -> ValueType:
    return ValueType(
        " or ".join(map(repr, texts)), lambda value: isinstance(value, str) and str(value) in texts
    )


def instance(*classes: type) -> ValueType:
    """Exactly these classes, and no class derived from them: a file can hold no other."""
    return ValueType(" or ".join(cls.__name__ for cls in classes), lambda value: type(value) in classes)


def list_of(item: ValueType) -> ValueType:
    return ValueType(
        f"a list of: {item.description}",
        lambda value: type(value) is list and all(map(item.accepts, value)),
    )


def tuple_of(item: ValueType) -> ValueType:
    return ValueType(
        f"a tuple of: {item.description}",
        lambda value: type(value) is tuple and all(map(item.accepts, value)),
    )


def pair_of(one: ValueType, other: ValueType) -> ValueType:
    return ValueType(
        f"a pair of {one.description} and {other.description}",
        lambda value: (
            type(value) is tuple and len(value) == 2 and one.accepts(value[0]) and other.accepts(value[1])
        ),
    )


def dict_of(key: ValueType, item: ValueType) -> ValueType:
    return ValueType(
        f"a dict of: {item.description}",
        lambda value: (
            type(value) in (dict, Bunch)
            and all(map(key.accepts, value))
            and all(map(item.accepts, value.values()))
        ),
    )
