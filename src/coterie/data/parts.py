"""Parts of a table as the user gave it: some of its rows, some of its columns, in the type it came in.

Ensembles of any learners hand the user's table on to their members, each of which reads it in its own way. So it is cut
and never converted: a data frame stays a data frame and keeps its names.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from coterie._params import in_short
from coterie._sklearn import safe_indexing
from coterie._storage import expect, storable
from coterie._typing import AnyArray, Kind
from coterie._value_types import COUNT, NONE, TEXT, tuple_of
from coterie.data.frames import eager_frame, is_frame, is_series, series_values
from coterie.data.prepare import read_table
from coterie.data.table import Schema, Table, sparse_shape
from coterie.errors import CoterieError, InvalidParameter, SchemaMismatch

_NAMES = tuple_of(TEXT) | NONE
_INDEXABLE = ("csr", "csc")  # formats of sparse matrices that members are given as they are


@storable("Outline", {"n_rows": COUNT, "n_columns": COUNT | NONE, "names": _NAMES, "table": NONE})
@dataclass(frozen=True)
class TableShape:
    """How large a table is, and what its columns are called.

    Attributes
    ----------
    n_rows : int
    n_columns : int, or None for rows that are no lists of values (documents, images)
    names : tuple of str, or None
    table : the table as our own learners read it, or None
    """

    n_rows: int
    n_columns: int | None
    names: tuple[str, ...] | None
    table: Table | None = None


def table_shape(X: Any) -> TableShape:
    """How large a table is, or an error that says why it is none.

    Rows of another kind are left to the members: a list of texts, of dicts, an array of images. The values of a sparse
    matrix are left to them as well, since a table of all its zeros may be too large.

    Examples
    --------
    >>> table_shape({"age": [31, 45], "town": ["Oslo", "Rome"]}).names
    ('age', 'town')
    >>> table_shape(["a text", "another text"]).n_columns is None
    True
    """
    if sparse.issparse(X):
        return TableShape(*sparse_shape(X), None)
    try:
        table = read_table(X)
    except CoterieError:
        if _holds_other_things(X):
            return TableShape(len(X), None, None)
        raise
    return TableShape(table.n_rows, table.n_columns, table.names, table)


def schema_of(shape: TableShape) -> Schema | None:
    """Names and kinds of the columns; None if there are none."""
    if shape.table is not None:
        return Schema.of(shape.table)
    if shape.n_columns is None:
        return None
    kinds: list[Kind] = ["numeric"] * shape.n_columns
    return Schema(shape.names, tuple(kinds))


def check_columns(schema: Schema, X: Any, owner: str) -> int:
    """The number of rows, if the table has the columns of the schema; a sparse matrix is not made dense for that."""
    if not sparse.issparse(X):
        return schema.check(read_table(X), owner).n_rows
    n_rows, n_columns = sparse_shape(X)
    schema.check_number(n_columns, owner)
    return n_rows


def flat_rows(X: Any) -> Any:
    """An array of several dimensions, such as images, as a table with a column for each of its values."""
    return X.reshape(len(X), -1) if isinstance(X, np.ndarray) and X.ndim > 2 and len(X) else X


def _holds_other_things(X: Any) -> bool:
    if isinstance(X, np.ndarray) and X.ndim > 2:
        return len(X) > 0
    if is_series(X):
        X = series_values(X)
    if isinstance(X, str | bytes) or (isinstance(X, np.ndarray) and X.ndim != 1):
        return False
    return isinstance(X, Sequence | np.ndarray) and len(X) > 0 and isinstance(X[0], str | bytes | Mapping)


def row_indexable(X: Any) -> Any:
    """The same table in a form that rows can be taken of again and again: a lazy frame is read, COO becomes CSR."""
    if sparse.issparse(X):
        return X if X.format in _INDEXABLE else X.tocsr()
    if isinstance(X, Mapping | Sequence | np.ndarray) or is_series(X):
        return X
    if not is_frame(X):
        return X if hasattr(X, "shape") else np.asarray(X)
    return nw.to_native(eager_frame(nw.to_native(X, pass_through=True)))


def rows_of(X: Any, rows: AnyArray) -> Any:
    """Some rows of a table as the user gave it."""
    if isinstance(X, Mapping):
        return {name: safe_indexing(column, rows) for name, column in X.items()}
    return safe_indexing(row_indexable(X) if sparse.issparse(X) else X, rows)


def _verify_columns(columns: Any) -> None:
    inside = all(0 <= place < columns.n_columns for place in columns.places)
    expect(inside, "names a column that does not exist")


@storable("Columns", {"places": tuple_of(COUNT), "names": _NAMES, "n_columns": COUNT}, verify=_verify_columns)
@dataclass(frozen=True)
class Columns:
    """Certain columns, by place and, where the table had names, by name."""

    places: tuple[int, ...]
    names: tuple[str, ...] | None
    n_columns: int

    def of(self, X: Any) -> Any:
        """These columns of a table, in its own type."""
        if isinstance(X, Mapping):
            return {name: _named(X, name) for name in self.names or tuple(X)}
        if self.names is not None and is_frame(X):
            frame = eager_frame(nw.to_native(X, pass_through=True))
            known = set(frame.columns)
            for name in self.names:
                if name not in known:
                    raise _no_such_column(name, list(known))
            return nw.to_native(frame.select(list(self.names)))
        if not hasattr(X, "shape"):
            array = np.asarray(X)
            X = np.asarray(X, dtype=object) if array.dtype.kind in "US" else array
        if len(X.shape) != 2 or X.shape[1] != self.n_columns:
            raise SchemaMismatch(
                f"X has the shape {tuple(X.shape)}, and members were given columns of a table with {self.n_columns} "
                "columns.",
                parameter="X",
                received=tuple(X.shape),
                allowed=f"{self.n_columns} columns",
                hint="Pass the columns that fit saw, in the same order.",
            )
        return safe_indexing(X, list(self.places), axis=1)


def _named(X: Mapping[Any, Any], name: str) -> Any:
    if name not in X:
        raise _no_such_column(name, list(X))
    return X[name]


def _no_such_column(name: str, known: list[Any]) -> SchemaMismatch:
    names = sorted(map(str, known))
    return SchemaMismatch(
        f"The column {name!r} is missing: fit saw it, and X has {in_short(names)}.",
        parameter="X",
        received=names,
        allowed="the columns that fit saw",
        hint="Pass the columns that fit saw; a column whose values are unknown can be all missing.",
        column=name,
    )


def chosen_columns(choice: Any, X: Any, shape: TableShape, where: str) -> Columns:
    """The columns that a user names, as scikit-learn's ColumnTransformer takes them.

    `choice` is a name, a place, a list of either, a slice, a mask of booleans, or a function of X that returns one of
    these. `where` says in errors whose columns they are.
    """
    if shape.n_columns is None:
        raise InvalidParameter(
            f"{where}: X has no columns to choose from.",
            parameter="columns",
            received=choice,
            allowed="no choice of columns",
        )
    if isinstance(choice, Callable) and not isinstance(choice, type):  # type: ignore[arg-type]
        choice = choice(X)
    places = _places(choice, shape, where)
    if not places:
        raise InvalidParameter(
            f"{where}: columns={in_short(choice)} chooses no column; expected at least one.",
            parameter="columns",
            received=choice,
            allowed="at least one column",
        )
    names = None if shape.names is None else tuple(shape.names[place] for place in places)
    return Columns(places, names, shape.n_columns)


def _places(choice: Any, shape: TableShape, where: str) -> tuple[int, ...]:
    n_columns = shape.n_columns or 0
    if isinstance(choice, slice):
        start, stop = (
            end if not isinstance(end, str) else _place(end, shape, where)
            for end in (choice.start, choice.stop)
        )
        last = 1 if isinstance(choice.stop, str) else 0  # a slice of names holds its end
        stop = stop if stop is None else stop + last
        return tuple(range(*slice(start, stop, choice.step).indices(n_columns)))
    if isinstance(choice, str | int | np.integer):
        choice = [choice]
    try:
        chosen = np.asarray(choice).tolist()
    except ValueError:
        chosen = None
    if not isinstance(chosen, list) or any(isinstance(one, list) for one in chosen):
        allowed = "names, places, a slice, a mask of booleans, or a function"
        raise InvalidParameter.expecting(f"{where}: columns={in_short(choice)}", allowed, "columns", choice)
    if chosen and all(isinstance(one, bool) for one in chosen):
        if len(chosen) != n_columns:
            raise InvalidParameter(
                f"{where}: a mask of {len(chosen)} booleans for a table of {n_columns} columns.",
                parameter="columns",
                received=chosen,
                allowed=f"{n_columns} booleans, one for each column",
            )
        return tuple(np.flatnonzero(chosen).tolist())
    return tuple(_place(one, shape, where) for one in chosen)


def _place(one: Any, shape: TableShape, where: str) -> int:
    n_columns = shape.n_columns or 0
    if isinstance(one, str):
        if shape.names is None or one not in shape.names:
            known = "the table has no names" if shape.names is None else in_short(list(shape.names))
            raise InvalidParameter(
                f"{where}: there is no column {one!r}; {known}.",
                parameter="columns",
                received=one,
                allowed=known,
            )
        return shape.names.index(one)
    if isinstance(one, bool) or not isinstance(one, int) or not -n_columns <= one < n_columns:
        allowed = f"names, or places from 0 to {n_columns - 1}"
        raise InvalidParameter.expecting(f"{where}: columns hold {one!r}", allowed, "columns", one)
    return one % n_columns
