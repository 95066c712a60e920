"""Tables that are no plain arrays of numbers: text, lists of rows, data frames, dicts of columns, sparse matrices."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from coterie._typing import AnyArray
from coterie.data.column import column_from_array, column_from_labels
from coterie.data.frames import Frame, is_frame, is_series, read_frame, read_series
from coterie.data.table import (
    NUMBER_KINDS,
    RESHAPE,
    TABLES,
    Column,
    Table,
    check_size,
    check_two_dimensions,
    sparse_shape,
    table_of_numbers,
)
from coterie.errors import InvalidInput, InvalidType


def read_other_table(X: Any) -> Table:
    """A table that is no plain array of numbers."""
    if isinstance(X, np.ndarray):
        return _from_array(X)
    if type(X).__module__.startswith("dask."):
        raise _on_a_cluster(X)
    if sparse.issparse(X):  # before mappings: scipy's dictionary of keys is one
        return _from_sparse(X)
    if isinstance(X, Mapping):
        return _from_mapping(X)
    if is_frame(X):
        return _from_frame(read_frame(X))
    if X is None or isinstance(X, str | bytes) or is_series(X):
        raise _not_a_table(X)
    if isinstance(X, Sequence):
        return _from_rows(X)
    return _from_array(_as_array(X))


def _on_a_cluster(X: Any) -> InvalidType:
    return InvalidType(
        f"X is a {type(X).__name__} of Dask, and this needs all rows in one place; only gradient boosting is trained "
        "on the workers of a cluster.",
        parameter="X",
        received=type(X).__name__,
        allowed=TABLES,
        hint="If the rows fit into memory, compute them first: X.compute(). If not, train on some of them: "
        "X.sample(frac=0.01).compute().",
    )


def _from_frame(frame: Frame) -> Table:
    if frame.matrix is None:
        check_size(frame.n_rows, len(frame.columns))
    return Table(frame.n_rows, frame.names, matrix=frame.matrix, columns=frame.columns)


def _from_array(array: AnyArray) -> Table:
    if isinstance(array, np.ma.MaskedArray):
        array = _without_mask(array)
    array = np.asarray(array)
    if array.dtype.kind in NUMBER_KINDS:
        return table_of_numbers(array)
    check_two_dimensions(array)
    n_rows, n_columns = array.shape
    check_size(n_rows, n_columns)
    if array.dtype.kind == "O":
        kinds = set(map(type, array.ravel().tolist()))
        if kinds <= {float, int, bool}:
            return Table(n_rows, None, matrix=_object_numbers(array))
    columns = tuple(column_from_array(f"x{index}", array[:, index]) for index in range(n_columns))
    return Table(n_rows, None, columns=columns)


def _object_numbers(array: AnyArray) -> AnyArray:
    try:
        return array.astype(np.float64)
    except OverflowError as error:
        raise InvalidInput(
            f"X holds a whole number too large for a float: {error}.",
            parameter="X",
            received=max((value for value in array.flat if isinstance(value, int)), key=abs),
            allowed="numbers that a float can hold",
        ) from error


def _without_mask(array: Any) -> AnyArray:
    """Masked entries are missing values."""
    if not np.ma.is_masked(array):
        return np.asarray(array.data)
    if array.dtype.kind in "biuf":
        return np.asarray(array.astype(np.float64).filled(np.nan))
    if array.dtype.kind in "mM":
        return np.asarray(array.filled(np.array("NaT", dtype=array.dtype)))
    return np.asarray(array.astype(object).filled(None))


def _from_rows(rows: Sequence[Any]) -> Table:
    """A list of rows. Rows that mix text and numbers keep both, each in its column."""
    if len(rows) and all(isinstance(row, Mapping) for row in rows):
        allowed = "rows of equal length, or one dict of columns"
        raise InvalidType.expecting(
            "X is a list of dicts",
            allowed,
            "X",
            type(rows[0]).__name__,
            hint="Turn it into a data frame first, for example with pandas.DataFrame(rows).",
        )
    array = _as_array(rows)
    if array.dtype.kind in "USV":
        array = _as_array(rows, dtype=object)
    return _from_array(array)


def _as_array(X: Any, dtype: Any = None, column: str | None = None) -> AnyArray:
    try:
        array = np.asarray(X, dtype=dtype)
    except (ValueError, TypeError) as error:
        lengths = [len(row) for row in X if hasattr(row, "__len__")] if isinstance(X, Sequence) else []
        if len(set(lengths)) > 1:
            odd = next(row for row, length in enumerate(lengths) if length != lengths[0])
            raise InvalidInput(
                f"X is ragged: row 0 has {lengths[0]} values and row {odd} has {lengths[odd]}.",
                parameter="X",
                received=lengths[odd],
                allowed=f"{lengths[0]} values in every row",
                hint="Every row needs the same number of values; use None for a missing one.",
                row=odd,
            ) from error
        title = "X" if column is None else f"Column {column!r} of X"
        raise InvalidType(
            f"{title} of type {type(X).__name__} cannot be read: {error}.",
            parameter="X",
            received=type(X).__name__,
            allowed=TABLES if column is None else "a list or an array of values",
            column=column,
        ) from error
    if column is None and array.ndim == 0 and array.dtype.kind == "O":
        raise _not_a_table(X)
    return array


def _from_mapping(columns: Mapping[Any, Any]) -> Table:
    """A dict of columns. It has no order of its own, so later tables are matched by name."""
    if not all(isinstance(name, str) for name in columns):
        odd = next(name for name in columns if not isinstance(name, str))
        raise InvalidType(
            f"X is a dict of columns with the key {odd!r} of type {type(odd).__name__}; column names must be text.",
            parameter="X",
            received=odd,
            allowed="column names that are text",
        )
    read = tuple(_one_of_mapping(name, values) for name, values in columns.items())
    lengths = {column.name: len(column.values) for column in read}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name!r}: {length}" for name, length in lengths.items())
        raise InvalidInput(
            f"The columns of X differ in length: {listed}.",
            parameter="X",
            received=lengths,
            allowed="columns of the same length",
        )
    n_rows = len(read[0].values) if read else 0
    if not read:
        check_size(1, 0)
    check_size(n_rows, len(read))
    return Table(n_rows, tuple(lengths), columns=read, by_name=True)


def _one_of_mapping(name: str, values: Any) -> Column:
    if is_series(values):
        return read_series(values, name)
    if values is None or isinstance(values, str | bytes | Mapping):
        allowed = "a list or an array of values"
        raise InvalidType.expecting(
            f"Column {name!r} of X is {values!r:.60}", allowed, "X", values, column=name
        )
    if isinstance(values, Sequence):
        return column_from_labels(name, values)
    array = _as_array(values, column=name)
    if isinstance(array, np.ma.MaskedArray):
        array = _without_mask(array)
    if array.ndim != 1:
        raise InvalidInput(
            f"Column {name!r} of X has {array.ndim} dimensions (shape={array.shape}); expected one.",
            parameter="X",
            received=array.shape,
            allowed="one dimension",
            column=name,
        )
    return column_from_array(name, array)


def _from_sparse(X: Any) -> Table:
    """A sparse matrix: zeros are zeros, and a stored NaN is a missing value."""
    sparse_shape(X)
    # Column-major, because the engine bins one feature after the other.
    return table_of_numbers(X.tocoo().toarray(order="F"))


def _not_a_table(X: Any) -> InvalidInput:
    if getattr(X, "is_scan", False):
        return InvalidType(
            "X is a scan, and this model reads its table whole.",
            parameter="X",
            received=X,
            allowed=TABLES,
            hint="Gradient boosting, and AdaBoost on stumps, take scans. For other models, fit on a part that fits in "
            "memory, "
            "X, y = scan.sample(n_rows), and predict with: for frame in scan: model.predict(frame).",
        )
    if is_series(X):
        return InvalidInput(
            f"Expected 2D array, got 1D array instead: X is a {type(X).__name__} of {len(X)} values.",
            parameter="X",
            received=(len(X),),
            allowed="two dimensions",
            hint=f"{RESHAPE}; a series becomes a table with to_frame().",
        )
    got = "None" if X is None else f"{type(X).__name__} ({X!r:.60})"
    return InvalidType(
        f"Expected a table as X: {TABLES}; got {got}.", parameter="X", received=X, allowed=TABLES
    )
