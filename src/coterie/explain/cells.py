"""The values of a table as its user had them: dates as dates, flags as flags, labels as labels."""

from datetime import date, datetime, timedelta
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from coterie._params import in_short
from coterie._typing import AnyArray, FloatArray
from coterie.data.inference.levels import object_array
from coterie.data.inference.strings import named_columns
from coterie.data.table import Column, Table

_FLAGS = (bool, np.bool_)
_DAY = timedelta(days=1)
_LONGEST = 60  # letters of a text


def cells_of(X: Any, table: Table) -> AnyArray:
    """The values of all columns, an object array of shape (n_rows, n_columns).

    Parameters
    ----------
    X : the table as the user gave it
    table : the same, read, with its columns in the order of fit
    """
    native = named_columns(X)
    cells = np.empty((table.n_rows, table.n_columns), dtype=object)
    for index in range(table.n_columns):
        values = _of_array(X, index) if native is None else native.get(table.label(index))
        own = _special(values)
        cells[:, index] = _read(table.column(index)) if own is None or len(own) != table.n_rows else own
    return cells


def _of_array(X: Any, index: int) -> Any:
    kind = X.dtype.kind if isinstance(X, np.ndarray) else ""
    return X[:, index] if kind in ("b", "M", "m") else None


def _special(values: Any) -> AnyArray | None:
    """Dates, spans of time and flags, which are read as numbers; None for a column of something else."""
    if isinstance(values, nw.Series):
        if values.dtype not in (nw.Boolean, nw.Date, nw.Datetime, nw.Duration, nw.Time):
            return None
        return object_array(values.to_list())
    if isinstance(values, np.ndarray) and values.dtype.kind in ("M", "m"):
        return object_array(values.astype(f"{values.dtype.kind}8[us]").tolist())
    if isinstance(values, np.ndarray) and values.dtype.kind == "b":
        return object_array(values.tolist())
    if isinstance(values, list | tuple) and any(isinstance(own, bool | date | timedelta) for own in values):
        return object_array(list(values))
    return None


def _read(column: Column) -> AnyArray:
    if column.levels is None:
        return column.values.astype(object)
    levels = np.empty(len(column.levels) + 1, dtype=object)  # the last one is for code -1
    levels[:-1] = column.levels
    return np.asarray(levels[column.values])


def cell_text(value: Any) -> str:
    """A value as text: a date without a time of day that says nothing, "missing" for what is missing.

    Examples
    --------
    >>> cell_text(datetime(2020, 1, 2)), cell_text(True), cell_text(0.1234567), cell_text(None), cell_text("Rome")
    ('2020-01-02', 'True', '0.123457', 'missing', 'Rome')
    """
    if is_missing(value):
        return "missing"
    if isinstance(value, datetime):
        at_midnight = (value.hour, value.minute, value.second, value.microsecond) == (0, 0, 0, 0)
        return (
            value.date().isoformat() if at_midnight else value.isoformat(sep=" ", timespec=_precision(value))
        )
    if isinstance(value, timedelta):
        days = value / _DAY
        return f"{days:.6g} day{'' if abs(days) == 1 else 's'}"
    if isinstance(value, float | np.floating):
        return f"{float(value):.6g}"
    if isinstance(value, str):
        line = " ".join(value.splitlines())
        return "''" if not value else line if len(line) <= _LONGEST else f"{line[: _LONGEST - 2].rstrip()} …"
    return str(value) if isinstance(value, (*_FLAGS, date)) else in_short(value)


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN or of another kind that is not equal to itself."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def ordered_values(values: AnyArray) -> FloatArray:
    """The values of a column as numbers that have their order: dates, spans of time, flags; NaN for anything else.

    Examples
    --------
    >>> ordered_values(np.array([True, 2.5, None, "Rome", timedelta(days=3)], dtype=object)).tolist()
    [1.0, 2.5, nan, nan, 3.0]
    """
    return np.array([_number(value) for value in values.tolist()], dtype=np.float64)


def _number(value: Any) -> float:
    if is_missing(value):
        return float("nan")
    if isinstance(value, datetime):
        value = value.replace(tzinfo=None) - datetime(1970, 1, 1)
    elif isinstance(value, date):
        value = value - date(1970, 1, 1)
    if isinstance(value, timedelta):
        return value / _DAY
    return float(value) if isinstance(value, int | float | np.number | np.bool_) else float("nan")


def _precision(value: datetime) -> str:
    return "minutes" if (value.second, value.microsecond) == (0, 0) else "seconds"
