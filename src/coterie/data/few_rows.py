"""A few rows, encoded value by value: for one row this is many times as fast as reading a table.

`encode_few` gives what the encoder makes of the table, or None where only the encoder knows what to do:
other columns than in fit, dates, categories that fit did not see, numbers that a float cannot hold.
"""

from collections.abc import Sequence
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from coterie._typing import CodeArray
from coterie.data.encoding import Encoded, Lookup
from coterie.data.table import Schema

if TYPE_CHECKING:  # it is encoded here before the table would be read
    from coterie.data.prepare import Encoder

MOST_ROWS = 32
_EXACT = 2**53  # whole numbers up to here are floats
_PLAIN = frozenset((str, int, float, bool))
_BLANK = frozenset(("NoneType", "NAType", "NaTType"))


def encode_few(encoder: "Encoder", schema: Schema, X: Any) -> Encoded | None:
    """The features of up to MOST_ROWS rows, or None.

    Examples
    --------
    >>> from coterie.data.prepare import Encoder, read_table
    >>> table = read_table({"size": [1.5, 2.0, 2.5], "town": ["Oslo", "Rome", "Oslo"]})
    >>> encoder, schema = Encoder().fit(table), Schema.of(table)
    >>> encode_few(encoder, schema, {"town": ["Rome", None], "size": [3, 4]}).values
    array([[ 3.,  1.],
           [ 4., -1.]])
    """
    rows = _rows_of(X, schema)
    if rows is None:
        return None
    lookups = encoder.lookups()
    encoded: list[list[float]] = []
    fine: dict[int, list[int]] = {}
    for row in rows:
        numbers = _numbers_of(row, lookups, fine)
        if numbers is None:
            return None
        encoded.append(numbers)
    places: dict[int, CodeArray] = {feature: np.array(own, np.int32) for feature, own in fine.items()}
    return Encoded(np.array(encoded, np.float64), len(rows), schema.n_features, encoder.n_levels, places)


def _numbers_of(
    row: Sequence[Any], lookups: Sequence[Lookup | None], fine: dict[int, list[int]]
) -> list[float] | None:
    """The values of a row as numbers; where levels share codes, `fine` is given the places of the levels too."""
    numbers: list[float] = []
    for value, lookup in zip(row, lookups, strict=True):
        kind = type(value)
        if issubclass(kind, np.generic):
            value = value.item()
            kind = type(value)
        if lookup is None:
            if kind is float:
                numbers.append(value)
            elif (kind is int and -_EXACT <= value <= _EXACT) or kind is bool:
                numbers.append(float(value))
            elif kind.__name__ in _BLANK:
                numbers.append(nan)
            else:
                return None
            continue
        place = -1
        if kind in _PLAIN:
            place = lookup.places.get(value, -1)
            if place < 0 and (kind is not float or value == value):
                return None
        elif kind.__name__ not in _BLANK:
            return None
        if lookup.codes is not None:
            fine.setdefault(len(numbers), []).append(place)
        numbers.append(
            lookup.missing if place < 0 else place if lookup.codes is None else lookup.codes[place]
        )
    return numbers


def _rows_of(X: Any, schema: Schema) -> Sequence[Sequence[Any]] | None:
    """The rows of a small table whose columns are those of fit, as lists of Python's own objects."""
    kind = type(X)
    if kind is np.ndarray:
        return _rows_of_array(X, schema)
    if kind is dict:
        return _rows_of_dict(X, schema)
    if kind.__name__ != "DataFrame":
        return None
    library = kind.__module__.partition(".")[0]
    if library not in ("pandas", "polars"):
        return None
    n_rows, n_columns = X.shape
    if not 0 < n_rows <= MOST_ROWS or n_columns != schema.n_features or not _has_names(X.columns, schema):
        return None
    rows: Sequence[Sequence[Any]]
    if library == "polars":
        rows = X.rows()
    elif n_rows == 1:
        rows = [X.iloc[0].tolist()]  # whole numbers beside floats become floats
        if any(isinstance(value, float) and abs(value) >= _EXACT for value in rows[0]):
            return None
    else:
        rows = X.to_numpy(dtype=object).tolist()
    return rows


def _has_names(columns: Any, schema: Schema) -> bool:
    names = tuple(columns if isinstance(columns, list) else columns.tolist())
    if schema.names is not None:
        return names == schema.names
    return all(type(name) is int for name in names) and len(set(names)) == len(names)


def _rows_of_array(X: Any, schema: Schema) -> Sequence[Sequence[Any]] | None:
    if X.ndim != 2 or not 0 < len(X) <= MOST_ROWS or X.shape[1] != schema.n_features:
        return None
    if schema.names is not None or X.dtype.kind not in "biufO" or X.dtype.itemsize > 8:
        return None
    rows: list[list[Any]] = X.tolist()
    return rows


def _rows_of_dict(X: dict[Any, Any], schema: Schema) -> Sequence[Sequence[Any]] | None:
    if schema.names is None or len(X) != len(schema.names):
        return None
    columns = []
    for name in schema.names:
        column = X.get(name)
        if type(column) is np.ndarray and column.ndim == 1 and column.dtype.kind in "biufOU":
            column = column.tolist() if column.dtype.itemsize <= 8 or column.dtype.kind == "U" else None
        if type(column) is not list or not 0 < len(column) <= MOST_ROWS:
            return None
        columns.append(column)
    if len({len(column) for column in columns}) != 1:
        return None
    return list(zip(*columns, strict=True))
