"""Any table in: what the user has becomes a `Table`, and nobody after this step asks what it was.

`read_table` accepts numpy arrays of any type and layout, lists of rows, pandas, polars, Arrow and
every other data frame that narwhals knows, a dict of columns, and scipy's sparse matrices. It never
changes what it was given, and it does not copy a matrix of numbers that the engine can read in place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from coterie._typing import AnyArray
from coterie.data.column import Column, column_from_array, column_from_labels
from coterie.data.frames import Frame, is_frame, is_series, read_frame, read_series
from coterie.data.numeric import native_numbers
from coterie.errors import InvalidInput, InvalidType

__all__ = ["Table", "read_table"]


@dataclass(frozen=True)
class Table:
    """Named columns, or one matrix of numbers; never modified.

    Attributes
    ----------
    n_rows : int
    names : tuple of str, or None
        The column names, None when the input had none that are text (scikit-learn's rule).
    matrix : array of shape (n_rows, n_columns), or None
        All columns at once, when they are numbers of one type.
    columns : tuple of Column
        The columns one by one, when `matrix` is None.
    by_name : bool
        The columns came as a mapping, so they have names and no order of their own.
    """

    n_rows: int
    names: tuple[str, ...] | None
    matrix: AnyArray | None = None
    columns: tuple[Column, ...] = ()
    by_name: bool = False

    @property
    def n_columns(self) -> int:
        return len(self.columns) if self.matrix is None else int(self.matrix.shape[1])

    def column(self, index: int) -> Column:
        """One column, also of a matrix."""
        if self.matrix is None:
            return self.columns[index]
        values = self.matrix[:, index]
        if values.dtype.kind == "b":
            values = values.view(np.uint8)
        return Column(self.label(index), "numeric", values)

    def label(self, index: int) -> str:
        """How error messages call a column: its name, or x0, x1, ..."""
        return f"x{index}" if self.names is None else self.names[index]

    def select(self, order: Sequence[int]) -> "Table":
        """The same table with these columns, in this order."""
        names = None if self.names is None else tuple(self.names[index] for index in order)
        if self.matrix is not None:
            return Table(self.n_rows, names, matrix=self.matrix[:, list(order)])
        return Table(self.n_rows, names, columns=tuple(self.columns[index] for index in order))


def read_table(X: Any, *, where: str = "X") -> Table:
    """Read the user's table.

    Examples
    --------
    >>> table = read_table({"age": [31, None], "town": ["Oslo", "Rome"]})
    >>> table.names, [column.kind for column in table.columns]
    (('age', 'town'), ['numeric', 'nominal'])
    """
    if isinstance(X, np.ndarray):
        return _from_array(X, where)
    if sparse.issparse(X):  # before mappings: scipy's dictionary of keys is one
        return _from_sparse(X, where)
    if isinstance(X, Mapping):
        return _from_mapping(X, where)
    if is_frame(X):
        return _from_frame(read_frame(X, where=where), where)
    if X is None or isinstance(X, str | bytes) or is_series(X):
        raise _not_a_table(X, where)
    if isinstance(X, Sequence):
        return _from_rows(X, where)
    return _from_array(_as_array(X, where), where)


def _from_frame(frame: Frame, where: str) -> Table:
    if frame.matrix is None:
        _check_size(frame.n_rows, len(frame.columns), where)
    return Table(frame.n_rows, frame.names, matrix=frame.matrix, columns=frame.columns)


def _from_array(array: AnyArray, where: str) -> Table:
    if isinstance(array, np.ma.MaskedArray):
        array = _without_mask(array)
    array = np.asarray(array)
    _check_two_dimensions(array, where)
    n_rows, n_columns = array.shape
    _check_size(n_rows, n_columns, where)
    if array.dtype.kind in "biufmMc":
        return Table(n_rows, None, matrix=native_numbers(array, where=where))
    if array.dtype.kind == "O":
        kinds = set(map(type, array.ravel().tolist()))
        if kinds <= {float, int, bool}:
            return Table(n_rows, None, matrix=_object_numbers(array, where))
    columns = tuple(column_from_array(f"x{index}", array[:, index]) for index in range(n_columns))
    return Table(n_rows, None, columns=columns)


def _object_numbers(array: AnyArray, where: str) -> AnyArray:
    try:
        return array.astype(np.float64)
    except OverflowError as error:
        raise InvalidInput(f"{where} holds a whole number too large for a float: {error}.") from error


def _without_mask(array: Any) -> AnyArray:
    """Masked entries are missing values."""
    if not np.ma.is_masked(array):
        return np.asarray(array.data)
    if array.dtype.kind in "biuf":
        return np.asarray(array.astype(np.float64).filled(np.nan))
    if array.dtype.kind in "mM":
        return np.asarray(array.filled(np.array("NaT", dtype=array.dtype)))
    return np.asarray(array.astype(object).filled(None))


def _from_rows(rows: Sequence[Any], where: str) -> Table:
    """A list of rows. Rows that mix text and numbers keep both, each in its column."""
    if len(rows) and all(isinstance(row, Mapping) for row in rows):
        raise InvalidType(
            f"{where} is a list of dicts; expected rows of equal length, or one dict of columns. "
            "Turn it into a data frame first, for example with pandas.DataFrame(rows)."
        )
    array = _as_array(rows, where)
    if array.dtype.kind in "USV":
        array = _as_array(rows, where, dtype=object)
    return _from_array(array, where)


def _as_array(X: Any, where: str, dtype: Any = None) -> AnyArray:
    try:
        array = np.asarray(X, dtype=dtype)
    except (ValueError, TypeError) as error:
        lengths = [len(row) for row in X if hasattr(row, "__len__")] if isinstance(X, Sequence) else []
        if len(set(lengths)) > 1:
            odd = next(row for row, length in enumerate(lengths) if length != lengths[0])
            raise InvalidInput(
                f"{where} is ragged: row 0 has {lengths[0]} values and row {odd} has {lengths[odd]}. "
                "Every row needs the same number of values; use None for a missing one."
            ) from error
        raise InvalidType(f"{where} of type {type(X).__name__} is not a table: {error}.") from error
    if array.ndim == 0 and array.dtype.kind == "O":
        raise _not_a_table(X, where)
    return array


def _from_mapping(columns: Mapping[Any, Any], where: str) -> Table:
    """A dict of columns. It has no order of its own, so later tables are matched by name."""
    if not all(isinstance(name, str) for name in columns):
        odd = next(name for name in columns if not isinstance(name, str))
        raise InvalidType(
            f"{where} is a dict of columns with the key {odd!r} of type {type(odd).__name__}; "
            "column names must be text."
        )
    read = tuple(_one_of_mapping(name, values, where) for name, values in columns.items())
    lengths = {column.name: len(column.values) for column in read}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name!r}: {length}" for name, length in lengths.items())
        raise InvalidInput(f"The columns of {where} differ in length: {listed}.")
    n_rows = len(read[0].values) if read else 0
    if not read:
        _check_size(1, 0, where)
    _check_size(n_rows, len(read), where)
    return Table(n_rows, tuple(lengths), columns=read, by_name=True)


def _one_of_mapping(name: str, values: Any, where: str) -> Column:
    if is_series(values):
        return read_series(values, name)
    if values is None or isinstance(values, str | bytes | Mapping):
        raise InvalidType(
            f"Column {name!r} of {where} is {values!r:.60}; expected a list or an array of values."
        )
    if isinstance(values, Sequence):
        return column_from_labels(name, values)
    array = _as_array(values, f"Column {name!r} of {where}")
    if isinstance(array, np.ma.MaskedArray):
        array = _without_mask(array)
    if array.ndim != 1:
        raise InvalidInput(
            f"Column {name!r} of {where} has {array.ndim} dimensions (shape={array.shape}); expected one."
        )
    return column_from_array(name, array)


def _from_sparse(X: Any, where: str) -> Table:
    """A sparse matrix: zeros are zeros, and a stored NaN is a missing value."""
    if X.ndim != 2:
        raise InvalidInput(f"Expected 2D array, got a sparse array with {X.ndim} dimension(s) as {where}.")
    n_rows, n_columns = X.shape
    _check_size(n_rows, n_columns, where)
    # Column-major, because the engine bins one feature after the other.
    dense = X.tocoo().toarray(order="F")
    return Table(n_rows, None, matrix=native_numbers(dense, where=where))


def _check_two_dimensions(array: AnyArray, where: str) -> None:
    if array.ndim == 2:
        return
    if array.dtype.names:
        raise InvalidType(
            f"{where} is a structured array; pass its fields as columns: "
            "{name: X[name] for name in X.dtype.names}."
        )
    if array.ndim == 0:
        raise InvalidInput(
            f"Expected 2D array, got scalar array instead:\narray={array!r}.\nReshape your data either using "
            "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it "
            "contains a single sample."
        )
    if array.ndim == 1:
        raise InvalidInput(
            f"Expected 2D array, got 1D array instead: {where} has shape {array.shape}.\nReshape your data "
            "either using array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) "
            "if it contains a single sample."
        )
    raise InvalidInput(
        f"Found array with dim {array.ndim}, while dim <= 2 is required: {where} has shape {array.shape}. "
        "Flatten each row to one list of values, for example with X.reshape(len(X), -1)."
    )


def _check_size(n_rows: int, n_columns: int, where: str) -> None:
    shape = f"(shape=({n_rows}, {n_columns}))"
    if n_rows == 0:
        raise InvalidInput(
            f"Found array with 0 sample(s) {shape} while a minimum of 1 is required. {where} has no rows."
        )
    if n_columns == 0:
        raise InvalidInput(
            f"Found array with 0 feature(s) {shape} while a minimum of 1 is required. {where} has no columns."
        )


def _not_a_table(X: Any, where: str) -> InvalidInput:
    if is_series(X):
        return InvalidInput(
            f"Expected 2D array, got 1D array instead: {where} is a {type(X).__name__} of {len(X)} values.\n"
            "Reshape your data either using array.reshape(-1, 1) if your data has a single feature or "
            "array.reshape(1, -1) if it contains a single sample; a series becomes a table with to_frame()."
        )
    got = "None" if X is None else f"{type(X).__name__} ({X!r:.60})"
    return InvalidType(
        f"Expected a table as {where}: a 2-D array, a data frame, a dict of columns or a sparse matrix; "
        f"got {got}."
    )
