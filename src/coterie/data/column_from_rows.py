"""A table in which a column has the values of other rows: for what a model would predict then.

Values only ever move within their column. So types, categories and missing values stay what they are, in every kind of
table.
"""

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from coterie._sklearn import safe_indexing
from coterie._typing import AnyArray
from coterie.data.frames import eager_frame, is_frame


def with_column_from_rows(X: Any, place: int, rows: AnyArray) -> Any:
    """The same table, but in row i the column at `place` holds what row `rows[i]` holds.

    Examples
    --------
    >>> with_column_from_rows(np.array([[1, 10], [2, 20], [3, 30]]), 1, np.array([2, 2, 0]))
    array([[ 1, 30],
           [ 2, 30],
           [ 3, 10]])
    """
    if isinstance(X, Mapping):
        return {
            name: safe_indexing(column, rows) if number == place else column
            for number, (name, column) in enumerate(X.items())
        }
    if sparse.issparse(X):
        columns = X.tocsc()
        parts = [columns[:, :place], columns[rows][:, [place]], columns[:, place + 1 :]]
        return sparse.hstack(parts, format="csr")
    if hasattr(X, "isetitem"):  # pandas, whose names need not be text
        table = X.copy(deep=False)
        table.isetitem(place, X.iloc[:, place].array.take(rows))
        return table
    if is_frame(X):
        frame = eager_frame(nw.to_native(X, pass_through=True))
        name = frame.columns[place]
        return nw.to_native(frame.with_columns(frame[name][rows.tolist()].alias(name)))
    array = np.asarray(X)
    if array.dtype.kind in "US":
        array = np.asarray(X, dtype=object)
    moved = array.copy()
    moved[:, place] = array[rows, place]
    return moved
