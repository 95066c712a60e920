"""Columns from arrays and lists of any type: numbers, dates or labels."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.data.levels import is_missing, label_levels, plain_label
from coterie.data.place import Place
from coterie.data.table import Column, days_of, native_numbers
from coterie.errors import InvalidInput


def numeric_column(name: str, values: AnyArray) -> Column:
    values = native_numbers(values, where=Place("X", name))
    return Column(name, "numeric", values.view(np.uint8) if values.dtype.kind == "b" else values)


def labelled_column(name: str, codes: AnyArray, levels: Sequence[Any], *, ordered: bool) -> Column:
    """A column that came with its codes and levels; levels keep the order they came in."""
    where = Place("X", name)
    array = np.empty(len(levels), dtype=object)
    array[:] = [None if is_missing(level) else plain_label(level, where=where) for level in levels]
    codes = codes.astype(np.int32)
    blank = np.array([level is None for level in array], dtype=bool)
    if blank.any():
        codes[np.isin(codes, np.flatnonzero(blank))] = -1
    return Column(name, "ordered" if ordered else "nominal", codes, array)


def column_from_array(name: str, values: AnyArray) -> Column:
    """A column from a one-dimensional array of any type."""
    if values.dtype.kind in "biufmMc":
        return numeric_column(name, values)
    if values.dtype.kind == "V":
        raise InvalidInput(
            f"Column {name!r} is a structured array.",
            parameter="X",
            received=values.dtype,
            allowed="plain values",
            hint="Pass each field as a column of its own.",
            column=name,
        )
    return column_from_labels(name, values.tolist())


def column_from_labels(name: str, labels: Sequence[Any]) -> Column:
    """A column from a list of Python objects: all numbers, all dates, or labels.

    Text stays text, also when it looks like a number: a postal code has no order.
    """
    kinds = {kind for kind in set(map(type, labels)) if not _means_missing(kind)}
    if kinds and all(issubclass(kind, _NUMBERS) for kind in kinds):
        return numeric_column(name, _float_array(labels, name))
    if kinds and all(issubclass(kind, _DATES) for kind in kinds):
        return numeric_column(name, _days_from_objects(labels))
    codes, levels = label_levels(labels, where=Place("X", name))
    return Column(name, "nominal", codes, levels)


_NUMBERS = (Real, Decimal, np.bool_)
_DATES = (date, timedelta, time, np.datetime64, np.timedelta64)


def _means_missing(kind: type) -> bool:
    return kind is type(None) or kind.__name__ in ("NAType", "NaTType")


def _float_array(labels: Sequence[Any], name: str) -> FloatArray:
    numbers = [np.nan if is_missing(label) else label for label in labels]
    try:
        return np.array(numbers, dtype=np.float64)
    except OverflowError as error:
        raise InvalidInput(
            f"Column {name!r} holds a whole number too large for a float: {error}.",
            parameter="X",
            received=max((label for label in labels if isinstance(label, int)), key=abs),
            allowed="numbers that a float can hold",
            column=name,
        ) from error


def _days_from_objects(labels: Sequence[Any]) -> FloatArray:
    return np.array([np.nan if is_missing(label) else _days(label) for label in labels])


def _days(label: Any) -> float:
    """Days since 1970-01-01 of a date, days of a duration, the share of a day of a time."""
    if isinstance(label, np.datetime64 | np.timedelta64):
        return float(days_of(np.asarray(label).reshape(1))[0])
    if isinstance(label, timedelta):
        return label / timedelta(days=1)
    if isinstance(label, datetime):
        moment = label if label.tzinfo is not None else label.replace(tzinfo=UTC)
        return (moment - _EPOCH) / timedelta(days=1)
    if isinstance(label, time):
        return (label.hour + (label.minute + (label.second + label.microsecond / 1e6) / 60) / 60) / 24
    return float(label.toordinal() - _EPOCH.toordinal())


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
