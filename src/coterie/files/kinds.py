"""What an attribute may be: a `Kind` says so in words and in code."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import Bunch

__all__ = [
    "ANY",
    "FLAG",
    "MODEL",
    "NONE",
    "NUMBER",
    "TEXT",
    "WHOLE",
    "Kind",
    "array",
    "dict_of",
    "instance",
    "list_of",
    "one_of",
    "pair_of",
    "tuple_of",
]


@dataclass(frozen=True)
class Kind:
    """Values that are allowed in some place."""

    says: str
    accepts: Callable[[Any], bool]

    def __or__(self, other: "Kind") -> "Kind":
        return Kind(f"{self.says} or {other.says}", lambda value: self.accepts(value) or other.accepts(value))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


ANY = Kind("any value", lambda _: True)
NONE = Kind("None", lambda value: value is None)
FLAG = Kind("True or False", lambda value: isinstance(value, bool | np.bool_))
WHOLE = Kind("a whole number >= 0", lambda value: _is_whole(value) and value >= 0)
NUMBER = Kind("a number", _is_number)
TEXT = Kind("text", lambda value: isinstance(value, str))
MODEL = Kind("a model", lambda value: hasattr(value, "fit") or hasattr(value, "predict"))


def array(kinds: str, *n_axes: int) -> Kind:
    """Arrays of numpy; `kinds` are the letters of `dtype.kind`, no number of axes means any."""

    def accepts(value: Any) -> bool:
        is_array = isinstance(value, np.ndarray) and value.dtype.kind in kinds
        return is_array and (not n_axes or value.ndim in n_axes)

    axes = f" with {' or '.join(map(str, n_axes))} axes" if n_axes else ""
    return Kind(f"an array of kind {kinds}{axes}", accepts)


def one_of(*texts: str) -> Kind:
    return Kind(" or ".join(map(repr, texts)), lambda value: isinstance(value, str) and str(value) in texts)


def instance(*classes: type) -> Kind:
    """Exactly these classes: a file can hold no other."""
    return Kind(" or ".join(cls.__name__ for cls in classes), lambda value: type(value) in classes)


def list_of(kind: Kind) -> Kind:
    return Kind(
        f"a list of: {kind.says}", lambda value: type(value) is list and all(map(kind.accepts, value))
    )


def tuple_of(kind: Kind) -> Kind:
    return Kind(
        f"a tuple of: {kind.says}", lambda value: type(value) is tuple and all(map(kind.accepts, value))
    )


def pair_of(one: Kind, other: Kind) -> Kind:
    return Kind(
        f"a pair of {one.says} and {other.says}",
        lambda value: (
            type(value) is tuple and len(value) == 2 and one.accepts(value[0]) and other.accepts(value[1])
        ),
    )


def dict_of(key: Kind, kind: Kind) -> Kind:
    return Kind(
        f"a dict of: {kind.says}",
        lambda value: (
            type(value) in (dict, Bunch)
            and all(map(key.accepts, value))
            and all(map(kind.accepts, value.values()))
        ),
    )
