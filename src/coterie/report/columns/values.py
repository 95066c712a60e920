"""What a column holds, as text: numbers, labels, and dates, which tables hold as days since 1970."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.data.frames import eager_frame, is_frame
from coterie.data.table import Column
from coterie.report.forms.number_format import format_number

MISSING = "missing"
_MOST_LETTERS = 60
_FEW_LABELS = 20
_FEWEST_WORDS = 3  # on average; ids and names of people have fewer
FEW_ROWS = 5  # a label of fewer rows might tell who somebody is


def date_columns(X: Any) -> frozenset[int]:
    """The positions of the columns of a table, as the user gave it, that hold dates.

    Examples
    --------
    >>> date_columns({"age": np.array([3.0]), "day": np.array(["2024-02-29"], dtype="M8[D]")})
    frozenset({1})
    """
    return _columns_of(X, "M", (nw.Date, nw.Datetime), (date, datetime, np.datetime64))


def flag_columns(X: Any) -> frozenset[int]:
    """The positions of the columns that hold True and False.

    Examples
    --------
    >>> flag_columns({"age": np.array([3.0]), "lift": [True, None], "sold": np.array([False])})
    frozenset({1, 2})
    """
    return _columns_of(X, "b", (nw.Boolean,), (bool, np.bool_))


def _columns_of(X: Any, letter: str, kinds: tuple[Any, ...], types: tuple[type[Any], ...]) -> frozenset[int]:
    """The columns of one kind: by the letter of numpy's, by those of frames, or by the types of objects."""
    if isinstance(X, Mapping):
        return _where(_holds(column, letter, types) for column in X.values())
    if isinstance(X, np.ndarray):
        return _where([X.dtype.kind == letter] * (X.shape[1] if X.ndim == 2 else 0))
    if is_frame(X):
        frame = eager_frame(nw.to_native(X, pass_through=True))
        columns = (frame[name] for name in frame.columns)
        return _where(
            own.dtype in kinds or (own.dtype == nw.Object and _holds(own.to_numpy(), letter, types))
            for own in columns
        )
    return frozenset()


def _where(found: Iterable[bool]) -> frozenset[int]:
    return frozenset(place for place, own in enumerate(found) if own)


def _holds(column: Any, letter: str, types: tuple[type[Any], ...]) -> bool:
    values = column if hasattr(column, "dtype") else np.asarray(column)
    kind = getattr(values.dtype, "kind", "O")
    if kind != "O":
        return bool(kind == letter)
    known = [value for value in list(values)[:1000] if value is not None and value == value]
    return bool(known) and all(isinstance(value, types) for value in known)


def is_text(column: Column) -> bool:
    """Whether a column holds free text: labels of several words that hardly repeat.

    Examples
    --------
    >>> notes = np.array([f"a quiet flat, number {place}" for place in range(30)], dtype=object)
    >>> is_text(Column("notes", "nominal", np.arange(30), notes))
    True
    >>> is_text(Column("notes", "nominal", np.arange(30) % 9, notes[:9]))
    False
    """
    if column.levels is None or not hardly_repeats(column):
        return False
    some = column.levels[np.unique(column.values[column.values >= 0])[:200]].tolist()
    return float(np.mean([len(str(own).split()) for own in some])) >= _FEWEST_WORDS


def hardly_repeats(column: Column) -> bool:
    """Whether most rows have a label of their own, as in texts, names and ids."""
    if column.levels is None:
        return False
    known = column.values[column.values >= 0]
    n_distinct = len(np.unique(known))
    return n_distinct > _FEW_LABELS and 2 * n_distinct > len(known)


def day_text(days: float) -> str:
    """A date from days since 1970, with the time if it has one.

    Examples
    --------
    >>> day_text(19782.0), day_text(0.5), day_text(float("nan"))
    ('2024-02-29', '1970-01-01 12:00', 'missing')
    """
    if not np.isfinite(days):
        return MISSING
    moment = np.datetime64("1970-01-01", "m") + np.timedelta64(round(days * 1440), "m")
    text = str(moment).replace("T", " ")
    return text.removesuffix(" 00:00")


def number_text(number: float, *, is_date: bool, is_flag: bool = False) -> str:
    if is_flag and number in (0.0, 1.0):
        return str(bool(number))
    return day_text(number) if is_date else format_number(number)


def short_text(text: str) -> str:
    """On one line, and not too long for a cell."""
    text = " ".join(text.split())
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1].rstrip()}…"


def cell_text(column: Column, row: int, *, is_date: bool = False, is_flag: bool = False) -> str:
    """What one row holds.

    Examples
    --------
    >>> town = Column("town", "nominal", np.array([1, -1]), np.array(["Oslo", "Rome"], dtype=object))
    >>> cell_text(town, 0), cell_text(town, 1)
    ('Rome', 'missing')
    """
    value = column.values[row]
    if column.levels is not None:
        return MISSING if value < 0 else short_text(str(column.levels[value]))
    return MISSING if value != value else number_text(float(value), is_date=is_date, is_flag=is_flag)


def missing_rows(column: Column) -> AnyArray:
    """Which rows are missing."""
    if column.levels is not None:
        return np.asarray(column.values < 0)
    if column.values.dtype.kind == "f":
        return np.isnan(column.values)
    return np.zeros(len(column.values), dtype=bool)


def column_part(column: Column, rows: AnyArray) -> Column:
    return Column(column.name, column.kind, column.values[rows], column.levels)


def coarse(values: FloatArray) -> FloatArray:
    """Rounded to about a hundredth of their range: near enough for a picture, and not the numbers of single rows.

    Examples
    --------
    >>> coarse(np.array([18.2731, 40.0049, 93.5])).tolist()
    [18.0, 40.0, 94.0]
    """
    spread = float(np.ptp(values)) if len(values) else 0.0
    if spread == 0:
        return np.asarray(values)
    step = 10.0 ** np.floor(np.log10(spread / 50))
    return np.asarray(np.round(np.round(values / step) * step, 12))
