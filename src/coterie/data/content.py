"""What rows hold, as one number each: equal rows have equal numbers, wherever they are in the table.

Draws that follow from these numbers do not depend on the order of the rows, and a row that is there twice is drawn as
a row of weight 2 is. Numbers are compared as float64, labels by their text; -0.0 is 0.0, and all NaN are alike.
"""

import hashlib
from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray, SeedArray
from coterie.data.frames import is_series, series_values
from coterie.data.table import Column, Table

_ODD = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio in 64 bits: neighbouring columns become distant seeds


def hashes_of_rows(table: Table) -> SeedArray:
    """One number for each row of a table.

    Examples
    --------
    >>> from coterie.data.prepare import read_table
    >>> first, second, third = hashes_of_rows(read_table({"a": [1, 2, 1], "b": ["x", "y", "x"]}))
    >>> first == third, first == second
    (np.True_, np.False_)
    """
    total = np.zeros(table.n_rows, dtype=np.uint64)
    for index in range(table.n_columns):
        total = _mixed(total * _ODD + _hashes_of_column(table.column(index)))
    return total


def hashes_of_sparse(X: Any) -> SeedArray:
    """One number for each row of a large sparse matrix, from the values that are not zero and their places.

    Examples
    --------
    >>> from scipy import sparse
    >>> first, second, third = hashes_of_sparse(sparse.csr_array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]))
    >>> first == third, first == second
    (np.True_, np.False_)
    """
    entries = X.tocoo()
    kept = entries.data != 0
    rows, columns = entries.row[kept], entries.col[kept].astype(np.uint64)
    bits = _mixed(_bits(entries.data[kept]) + (columns + np.uint64(1)) * _ODD)
    total = np.zeros(X.shape[0], dtype=np.uint64)
    np.add.at(total, rows, bits)  # in any order, since whole numbers are added
    return _mixed(total)


def hashes_of_numbers(values: AnyArray) -> SeedArray:
    """One number for each row of an array of one or two dimensions."""
    columns = values.reshape(len(values), -1)
    total = np.zeros(len(values), dtype=np.uint64)
    for index in range(columns.shape[1]):
        total = _mixed(total * _ODD + _bits(columns[:, index]))
    return total


def hashes_of_objects(X: Any) -> SeedArray:
    """One number for each row of something that is no table: texts, dicts, images."""
    if is_series(X):
        X = series_values(X)
    if isinstance(X, np.ndarray) and X.dtype.kind != "O":
        return np.array([_digest(np.ascontiguousarray(row).tobytes()) for row in X], dtype=np.uint64)
    return np.array([_digest(repr(row).encode()) for row in X], dtype=np.uint64)


def _hashes_of_column(column: Column) -> SeedArray:
    if column.levels is None:
        return _bits(column.values)
    known = np.array(
        [_digest(f"{level} {isinstance(level, str)}".encode()) for level in column.levels], np.uint64
    )
    missing = np.array([_digest(b"")], dtype=np.uint64)
    return np.concatenate([known, missing])[column.values]  # the code of a missing label is -1


def _bits(values: AnyArray) -> SeedArray:
    numbers: FloatArray = values.astype(np.float64) + 0.0
    numbers[np.isnan(numbers)] = np.nan
    return numbers.view(np.uint64)


def _mixed(bits: SeedArray) -> SeedArray:
    """Every bit of the result depends on every bit that is given (Steele, Lea and Flood, 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _digest(text: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")
