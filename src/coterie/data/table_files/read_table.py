"""A table of strings, from a file or a frame, as columns that models can learn from."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from coterie._optional import need
from coterie._user_warnings import warn_user
from coterie.data.inference.infer import infer_table
from coterie.data.inference.reading import ColumnKind, ColumnReading, ReadingOptions, TableReading
from coterie.data.inference.strings import named_columns, native_column, strings_of
from coterie.data.readers import read_other_table
from coterie.data.table_files.suggestions import guessed, listed
from coterie.errors import InvalidInput, InvalidType

_SOURCES = "the path of a file, a list of paths, a data frame or a dict of columns"


class TypedColumns(dict[str, Any]):
    """Columns by name, as models take them, and how they were read.

    Attributes
    ----------
    reading : the kind of each column and the format of its values; shown, it is a table
    """

    reading: TableReading

    def __init__(self, columns: Mapping[str, Any], reading: TableReading) -> None:
        super().__init__(columns)
        self.reading = reading


def read_table(
    source: Any,
    *,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    na: Sequence[str] = (),
    kinds: Mapping[str, ColumnKind] | None = None,
    date_format: str | None = None,
    reading: TableReading | None = None,
) -> TypedColumns:
    """Read a table in which numbers and dates may be strings, as people write them.

    Decimal commas, thousands marks, currency and percent signs, marks of missing values among numbers, dates with the
    day or the month first, times, words for yes and no, and codes that only look like numbers are recognised; what was
    inferred is in `reading` of the result.

    Parameters
    ----------
    source : path, list of paths, data frame or dict of columns
        A file is CSV, TSV, Parquet, JSON or Excel, also compressed; files need the extra `cli`. Of a frame, columns of
        strings are read, and all others stay as they are.
    decimal : "." or ","; by default what the columns show
        Default None: the columns of a file usually show it.
    thousands : the mark between thousands; by default any but the decimal mark, "" for none
        Default None: the columns of a file usually show it.
    encoding : of CSV and JSON files; by default what their bytes show
        Default None: the bytes of a file usually show it.
    na : further texts that are missing values
        Default (): the usual marks are known already.
    kinds : by the name of the column: number, date, time, flag, category or text
        Default None: what the columns show.
    date_format : a format of strptime that dates have, such as "%d/%m/%Y"
        Default None: what the columns show.
    reading : that of another table, `X.reading`: this one is read in the same way
        Default None: a first table has nothing to follow.

    Returns
    -------
    columns : dict of arrays, which is a table for every `fit` and `predict`
        Its attribute `reading` says how each column was read.

    Examples
    --------
    >>> X = read_table({"price": ["1.234,50 €", "99,90 €", "-"], "lift": ["ja", "nein", None]})
    >>> X["price"], X["lift"]
    (array([1234.5,   99.9,    nan]), array([True, False, None], dtype=object))
    >>> X.reading
    column  kind    example     missing  note
    price   number  1.234,50 €        1  decimal commas, thousands marks, currency signs
    lift    flag    ja                1
    >>> read_table({"price": ["1.000"], "lift": ["nein"]}, reading=X.reading)["price"]
    array([1000.])
    """
    options = ReadingOptions(decimal, thousands, tuple(na), dict(kinds or {}), date_format)
    if isinstance(source, str | os.PathLike) or _are_paths(source):
        return _from_files(source, options, encoding, reading)
    columns = named_columns(source)
    if columns is not None:
        return _from_columns(columns, options, reading)
    raise InvalidType.expecting(
        f"source is of type {type(source).__name__}", _SOURCES, "source", type(source).__name__
    )


def _are_paths(source: Any) -> bool:
    return (
        isinstance(source, list | tuple)
        and len(source) > 0
        and all(isinstance(each, str | os.PathLike) for each in source)
    )


def _from_files(
    source: Any, options: ReadingOptions, encoding: str | None, reading: TableReading | None
) -> TypedColumns:
    need("duckdb", purpose="Reading tables from files", extra="cli")
    from coterie.data.table_files.data_table import open_table

    paths = [source] if isinstance(source, str | os.PathLike) else source
    with open_table([os.fspath(path) for path in paths], options=options, encoding=encoding) as table:
        known = table.reading() if reading is None else _checked(reading, table.types)
        columns = table.columns(list(known), known)
        nested = [name for name in table.types if name not in known] if reading is None else []
        notes = [*table.files.notes, *([] if reading is None else table.odd.warnings())]
        if nested:
            notes.append(f"{table.name} has columns of nested values, which are left out: {listed(nested)}")
        for note in notes:
            warn_user(note)
        return TypedColumns(columns, known.seen_in(columns))


def _checked(reading: TableReading, names: Mapping[str, Any]) -> TableReading:
    """The readings of columns that are there; a column that is not there may be the target."""
    known = TableReading({name: own for name, own in reading.items() if name in names})
    if not known:
        raise InvalidInput(
            f"The table has none of the columns {listed(reading)}.",
            parameter="reading",
            received=list(names),
            allowed=f"the columns {listed(reading)}",
        )
    return known


def _from_columns(
    columns: Mapping[str, Any], options: ReadingOptions, reading: TableReading | None
) -> TypedColumns:
    for name in options.kinds:
        if name not in columns:
            raise InvalidInput(
                f"There is no column {name!r} (kinds).",
                parameter="kinds",
                received=name,
                hint=guessed(name, columns) or f"The columns are {listed(columns)}.",
            )
    texts = {name: strings_of(values, whatever=name in options.kinds) for name, values in columns.items()}
    strings = {name: held for name, held in texts.items() if held is not None}
    known = infer_table(strings, options) if reading is None else _checked(reading, columns)
    read = {
        name: _parsed(known[name], strings[name], is_known=reading is not None)
        if name in strings and name in known
        else native_column(values)
        for name, values in columns.items()
    }
    readings = {
        name: known[name] if name in known else ColumnReading(name, _kind(values), native=True)
        for name, values in columns.items()
    }
    return TypedColumns(read, TableReading(readings) if reading is None else known)


def _parsed(reading: ColumnReading, texts: Any, *, is_known: bool) -> Any:
    """The values of a column; `is_known`: by the reading of another table, whose notes are not about this one."""
    values, others = reading.parse_with_others(texts)
    if others is not None and is_known:
        warn_user(others.in_words(reading, "X", f"row {others.row + 1:,}"))
    return values


def _kind(values: Any) -> ColumnKind:
    """The kind of a column that holds no strings."""
    column = read_other_table({"x": native_column(values)}).columns[0]
    if column.kind != "numeric":
        return "category"
    dtype = values.dtype if hasattr(values, "dtype") else np.asarray(values).dtype
    moments = (nw.Date, nw.Datetime) if isinstance(values, nw.Series) else ()
    if dtype in moments or getattr(dtype, "kind", "") == "M":
        return "date"
    return "flag" if dtype in (nw.Boolean, np.dtype(bool)) else "number"
