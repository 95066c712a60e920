"""Labels and their codes: a column of labels becomes small whole numbers and the list of its levels.

Words
  label    what a row holds: text, a number, a date
  level    one of the different labels of a column
  code     the position of a row's label among the levels; -1 where the label is missing
Levels are sorted, so the order of the rows never changes a code.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import isnan
from numbers import Complex, Real
from typing import Any

import numpy as np

from coterie._typing import AnyArray, CodeArray
from coterie.data.place import Place
from coterie.errors import InvalidInput, InvalidType

_LABELS = "a string or a number (or a date, or missing)"


def label_levels(labels: Sequence[Any], *, where: Place) -> tuple[CodeArray, AnyArray]:
    """Codes and levels of a list of labels of any type; None, NaN, NA and NaT are missing.

    Examples
    --------
    >>> label_levels(["red", None, "blue", "red"], where=Place("X", "colour"))
    (array([ 1, -1,  0,  1], dtype=int32), array(['blue', 'red'], dtype=object))
    """
    position: dict[Any, int] = {}
    try:
        firsts = np.array([position.setdefault(label, len(position)) for label in labels], dtype=np.int32)
    except TypeError:
        raise _nested_label(labels, where) from None
    plain = [None if is_missing(label) else plain_label(label, where=where) for label in position]
    levels = sorted_levels({label for label in plain if label is not None})
    rank = {label: code for code, label in enumerate(levels)}
    rank[None] = -1
    lookup = np.array([rank[label] for label in plain] or [-1], dtype=np.int32)
    return lookup[firsts], _object_array(levels)


def _nested_label(labels: Sequence[Any], where: Place) -> InvalidType:
    for row, label in enumerate(labels):
        try:
            hash(label)
        except TypeError:
            return _not_a_label(label, where=replace(where, row=row))
    return InvalidType(f"{where} holds values that cannot be compared.", allowed=_LABELS, **where.fields)


def _not_a_label(label: object, *, where: Place) -> InvalidType:
    return InvalidType(
        f"{where} holds {label!r:.80} of type {type(label).__name__}: the argument must be {_LABELS}.",
        received=label,
        allowed=_LABELS,
        hint="Turn nested values into columns of their own.",
        **where.fields,
    )


def plain_label(label: Any, *, where: Place) -> Any:
    """The label as plain Python: text, bytes, a number or a date; anything else as its text.

    Other types (an interval, an enum member, a path) are accepted when they know how to show themselves.
    """
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, str | bytes | bool | int | float | Decimal | date | time | timedelta):
        return label
    if isinstance(label, Complex) and not isinstance(label, Real):
        raise InvalidInput(
            f"Complex data not supported: {where} holds {label!r}.",
            received=label,
            allowed=_LABELS,
            **where.fields,
        )
    nested = isinstance(label, tuple | frozenset | np.ndarray)
    shows_itself = any(
        "__str__" in vars(kind) or "__repr__" in vars(kind) for kind in type(label).__mro__[:-1]
    )
    if nested or not shows_itself:
        raise _not_a_label(label, where=where)
    return str(label)


def is_missing(label: Any) -> bool:
    """None, NaN of any type, pandas' NA and NaT (by name: pandas need not be there)."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(label, float | np.floating | np.datetime64 | np.timedelta64 | Decimal):
        return bool(np.isnat(label) if isinstance(label, np.datetime64 | np.timedelta64) else isnan(label))
    return False


def is_number(label: object) -> bool:
    return isinstance(label, Real | Decimal | bool | np.bool_)


def sorted_levels(levels: set[Any]) -> list[Any]:
    """The levels in an order that depends on nothing but themselves; mixed types go type by type."""
    try:
        return sorted(levels)
    except TypeError:
        return sorted(levels, key=_rank_of_mixed)


def _rank_of_mixed(label: Any) -> tuple[int, str, float, str]:
    if is_number(label):
        return (0, "", float(label), repr(label))
    kind = datetime if isinstance(label, datetime) else type(label)
    return (1, kind.__name__, 0.0, label if isinstance(label, str) else repr(label))


def _object_array(levels: Sequence[Any]) -> AnyArray:
    array = np.empty(len(levels), dtype=object)
    array[:] = levels
    return array
