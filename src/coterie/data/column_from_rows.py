"""A table in which a column has the values of other rows: for what a model would predict then.

Values move within their column, so types, categories and missing values stay what they are, in every kind of table;
or a column of numbers gets others.
"""

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from coterie._sklearn import safe_indexing
from coterie._typing import AnyArray, FloatArray
from coterie.data.frames import eager_frame, is_frame


def with_column_from_rows(X: Any, place: int, rows: AnyArray, source: Any = None) -> Any:
    """The same table, but in row i the column at `place` holds what row `rows[i]` of the source holds.

    The source is a table with the same columns; None is X itself.

    Examples
    --------
    >>> with_column_from_rows(np.array([[1, 10], [2, 20], [3, 30]]), 1, np.array([2, 2, 0]))
    array([[ 1, 30],
           [ 2, 30],
           [ 3, 10]])
    """
    source = X if source is None else source
    if isinstance(X, Mapping):
        return {
            name: safe_indexing(source[name], rows) if number == place else column
            for number, (name, column) in enumerate(X.items())
        }
    if sparse.issparse(X):
        columns = X.tocsc()
        parts = [columns[:, :place], source.tocsr()[rows].tocsc()[:, [place]], columns[:, place + 1 :]]
        return sparse.hstack(parts, format="csr")
    if hasattr(X, "isetitem"):  # pandas, whose names need not be text
        table = X.copy(deep=False)
        table.isetitem(place, source.iloc[:, place].array.take(rows))
        return table
    if is_frame(X):
        frame = eager_frame(nw.to_native(X, pass_through=True))
        name = frame.columns[place]
        held = eager_frame(nw.to_native(source, pass_through=True))[name]
        return nw.to_native(frame.with_columns(held[rows.tolist()].alias(name)))
    moved = _as_array(X).copy()
    moved[:, place] = _as_array(source)[rows, place]
    return moved


def with_numbers(X: Any, place: int, values: FloatArray) -> Any:
    """The same table with other numbers in one column.

    Examples
    --------
    >>> with_numbers(np.array([[1, 10], [2, 20]]), 1, np.array([0.5, 1.5]))
    array([[1. , 0.5],
           [2. , 1.5]])
    """
    if isinstance(X, Mapping):
        return {name: values if at == place else column for at, (name, column) in enumerate(X.items())}
    if sparse.issparse(X):
        columns = X.tocsc()
        parts = [columns[:, :place], sparse.csc_array(values[:, None]), columns[:, place + 1 :]]
        return sparse.hstack(parts, format="csr")
    if hasattr(X, "isetitem"):
        table = X.copy(deep=False)
        table.isetitem(place, values)
        return table
    if is_frame(X):
        frame = eager_frame(nw.to_native(X, pass_through=True))
        own = nw.new_series(frame.columns[place], values, backend=frame.implementation)
        return nw.to_native(frame.with_columns(own))
    array = _as_array(X)
    changed = array.astype(array.dtype if array.dtype.kind in "Of" else np.float64)
    changed[:, place] = values
    return changed


def _as_array(X: Any) -> AnyArray:
    array = np.asarray(X)
    return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array
