"""Rows that take some columns from one table and the others from another: for what a model would predict then.

As in `column_from_rows`, values only move within their column, so types, categories and missing values stay what they
are, in every kind of table.
"""

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from coterie._sklearn import safe_indexing
from coterie._typing import AnyArray, BoolArray, RowArray
from coterie.data.frames import eager_frame, is_frame, is_series
from coterie.data.parts import row_indexable
from coterie.errors import InvalidInput


class MixedRows:
    """Two tables with the same columns, whose rows can be mixed.

    Parameters
    ----------
    X, background : tables of the same kind, such as two data frames of pandas

    Examples
    --------
    >>> mixed = MixedRows(np.array([[1, 2]]), np.array([[10, 20], [30, 40]]))
    >>> mixed.of(np.array([0, 0]), np.array([0, 1]), np.array([[True, False], [False, True]]))
    array([[ 1, 20],
           [30,  2]])
    """

    def __init__(self, X: Any, background: Any) -> None:
        X, background = row_indexable(X), row_indexable(background)
        self._n_first = _n_rows(X)
        self._both = _stacked(X, background)

    def of(self, rows: RowArray, others: RowArray, known: BoolArray) -> Any:
        """A table like X whose row i has the known columns of row `rows[i]` of X, and the others of the background.

        Parameters
        ----------
        rows : int array of shape (n,), rows of X
        others : int array of shape (n,), rows of the background
        known : bool array of shape (n, n_columns)
        """
        places = np.where(known, rows[:, None], self._n_first + others[:, None])
        return _gathered(self._both, places)


def _n_rows(X: Any) -> int:
    if isinstance(X, Mapping):
        return len(next(iter(X.values())))
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _stacked(X: Any, background: Any) -> Any:
    if isinstance(X, Mapping) and isinstance(background, Mapping):
        return {name: _joined(own, background[name]) for name, own in X.items()}
    if sparse.issparse(X) and sparse.issparse(background):
        return sparse.vstack([X, background], format="csc")
    if is_frame(X) and type(X) is type(background):
        frames = [eager_frame(nw.to_native(own, pass_through=True)) for own in (X, background)]
        return nw.to_native(nw.concat([frames[0], frames[1].select(frames[0].columns)]))
    if any(isinstance(own, Mapping) or sparse.issparse(own) or is_frame(own) for own in (X, background)):
        raise InvalidInput(
            f"background is a {type(background).__name__}, and X is a {type(X).__name__}.",
            parameter="background",
            received=type(background).__name__,
            allowed=f"a {type(X).__name__}, as X is",
            hint="Pass both tables in the same form.",
        )
    parts = [np.asarray(own) for own in (X, background)]
    if any(part.dtype.kind in "USO" for part in parts):
        parts = [np.asarray(own, dtype=object) for own in (X, background)]
    return np.concatenate(parts)


def _joined(own: Any, others: Any) -> Any:
    """Two columns as one."""
    if is_series(own) and type(own) is type(others):
        series = [nw.from_native(each, series_only=True).alias("joined") for each in (own, others)]
        return nw.to_native(nw.concat([each.to_frame() for each in series])["joined"])
    if isinstance(own, np.ndarray) and isinstance(others, np.ndarray):
        return np.concatenate([own, others])
    return [*own, *others]


def _gathered(X: Any, places: AnyArray) -> Any:
    """Column j of the result holds the rows `places[:, j]` of column j."""
    if isinstance(X, Mapping):
        return {name: safe_indexing(values, places[:, j]) for j, (name, values) in enumerate(X.items())}
    if sparse.issparse(X):
        columns = [X[:, [j]].tocsr()[places[:, j]] for j in range(X.shape[1])]
        return sparse.hstack(columns, format="csr")
    if hasattr(X, "isetitem"):  # pandas, whose names need not be text
        frame = type(X)({j: X.iloc[:, j].array.take(places[:, j]) for j in range(X.shape[1])})
        frame.columns = X.columns
        return frame
    if is_frame(X):
        frame = eager_frame(nw.to_native(X, pass_through=True))
        columns = [series[places[:, j].tolist()] for j, series in enumerate(frame.iter_columns())]
        return nw.to_native(columns[0].to_frame().with_columns(columns[1:]))
    return np.take_along_axis(X, places, axis=0)
