"""Data frames and series of any library, read column by column through narwhals.

Text and categories go through the library that holds them (it already has codes, or a fast hash);
numbers are views of its memory where it allows that. Neither pandas nor pyarrow is imported here: an
input of theirs brings them along.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np

from coterie._typing import AnyArray, CodeArray
from coterie.data.column import column_from_labels, labelled_column, numeric_column
from coterie.data.levels import label_levels
from coterie.data.place import Place
from coterie.data.table import Column, is_read_in_place
from coterie.errors import InvalidInput, InvalidType

_Series: TypeAlias = Any
_TEXT = (nw.String, nw.Categorical, nw.Enum)
_FLOATS = (np.dtype("f4"), np.dtype("f8"), nw.Float32(), nw.Float64())
_SMALL = 1_000_000
_DATES = (nw.Date, nw.Datetime, nw.Duration, nw.Time)


def is_frame(X: Any) -> bool:
    """Whether this is a data frame, eager or lazy, or a stream of Arrow tables."""
    if isinstance(X, np.ndarray | list | tuple):
        return False
    if is_series(X):
        return False
    return (
        hasattr(X, "__arrow_c_stream__")
        or nw.dependencies.is_into_dataframe(X)
        or isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame | nw.DataFrame)
    )


def is_series(values: Any) -> bool:
    """Whether this is one column of a data frame library, or an Arrow array."""
    if isinstance(values, np.ndarray | list | tuple):
        return False
    return bool(nw.dependencies.is_into_series(values)) or _is_arrow_array(values)


@dataclass(frozen=True)
class Frame:
    """A data frame taken apart: names (None unless all are text), and a matrix or columns."""

    n_rows: int
    names: tuple[str, ...] | None
    matrix: AnyArray | None
    columns: tuple[Column, ...]


def read_frame(X: Any) -> Frame:
    """Take a data frame apart, without copying its columns of numbers."""
    X = nw.to_native(X, pass_through=True)
    refuse_duplicates(X)
    frame = eager_frame(X)
    names = _text_names(list(frame.columns))
    matrix = _small_float_matrix(frame)
    if matrix is not None:
        return Frame(len(frame), names, matrix, ())
    columns = tuple(
        _read_column(series, f"x{index}" if names is None else names[index])
        for index, series in enumerate(frame.iter_columns())
    )
    return Frame(len(frame), names, None, columns)


def _small_float_matrix(frame: Any) -> AnyArray | None:
    """A frame of nothing but floats as one array, if it is small: going column by column costs more then.

    A large one is not copied; its columns are read where they are.
    """
    n_rows, n_columns = frame.shape
    if not 0 < n_rows * n_columns <= _SMALL:
        return None
    native = nw.to_native(frame)
    dtypes = set(native.dtypes if nw.dependencies.is_pandas_dataframe(native) else frame.schema.dtypes())
    if len(dtypes) != 1 or dtypes.pop() not in _FLOATS:
        return None
    matrix = np.asarray(frame.to_numpy())
    return matrix if is_read_in_place(matrix) else None


def read_series(values: Any, name: str) -> Column:
    """One column from a series or an Arrow array."""
    return _read_column(_as_series(values), name)


def series_values(values: Any) -> AnyArray:
    """A series as a plain array for a target: categories as their labels, missing as None or NaN."""
    series = _as_series(values)
    if series.dtype in _TEXT or series.dtype.is_nested() or series.dtype == nw.Object:
        array = np.empty(len(series), dtype=object)
        array[:] = series.to_list()
        return array
    if series.dtype == nw.Unknown:
        return np.asarray(values)
    return np.asarray(series.to_numpy())


def _as_series(values: Any) -> _Series:
    if _is_arrow_array(values):
        import pyarrow as pa

        values = pa.chunked_array([values])
    return nw.from_native(values, series_only=True)


def _is_arrow_array(values: Any) -> bool:
    return (
        type(values).__module__ == "pyarrow.lib"
        and hasattr(values, "dictionary_encode")
        and not (hasattr(values, "chunks"))
    )


def eager_frame(X: Any) -> "nw.DataFrame[Any]":
    """A data frame of any library, or a stream of Arrow tables, read and wrapped by narwhals."""
    if type(X).__module__ == "pyarrow.lib" and type(X).__name__ == "RecordBatch":
        import pyarrow as pa

        X = pa.Table.from_batches([X])
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, nw.DataFrame):
        return frame
    for backend in ("pyarrow", "polars", "pandas"):
        try:
            return nw.from_arrow(X, backend=backend)
        except ImportError:
            continue
        except Exception as error:
            raise InvalidType(
                f"X of type {type(X).__name__} cannot be read: {error}.",
                parameter="X",
                received=type(X).__name__,
                allowed="a data frame or a stream of Arrow tables",
            ) from error
    raise InvalidType(
        f"X of type {type(X).__name__} is a stream of Arrow data, and reading it needs pyarrow or polars.",
        parameter="X",
        received=type(X).__name__,
        allowed="a table that can be read without pyarrow or polars",
        hint="Install one of them, or pass a dict of numpy arrays.",
    )


def refuse_duplicates(X: Any) -> None:
    """An error if columns share a name, which only pandas and Arrow allow."""
    if nw.dependencies.is_pandas_like_dataframe(X):
        names = list(X.columns)
    elif type(X).__module__ == "pyarrow.lib":
        names = list(X.schema.names)
    else:
        return
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        listed = ", ".join(repr(name) for name in twice[:5])
        raise InvalidInput(
            f"X has duplicate column names: {listed}. Every column needs a name of its own.",
            parameter="X",
            received=twice,
            allowed="a name of its own for every column",
            hint="Rename or drop the copies.",
            column=str(twice[0]),
        )


def _text_names(names: list[Any]) -> tuple[str, ...] | None:
    types = sorted({type(name).__qualname__ for name in names})
    if len(types) > 1 and "str" in types:
        raise InvalidType(
            "Feature names are only supported if all input features have string names, "
            f"but your input has {types} as feature name / column name types.",
            parameter="X",
            received=types,
            allowed="column names that are all text",
            hint="If you want feature names to be stored and validated, you must convert "
            "them all to strings, by using X.columns = X.columns.astype(str) for "
            "example. Otherwise you can remove feature / column names from your input "
            "data, or convert them all to a non-string data type.",
        )
    return tuple(names) if types == ["str"] else None


def _read_column(series: _Series, name: str) -> Column:
    dtype = series.dtype
    if dtype.is_numeric() and dtype != nw.Decimal:
        values = series.to_numpy()
        if values.dtype == object:  # pandas before 2.2: an Arrow column with missing values
            values = nw.to_native(series).to_numpy(dtype=np.float64, na_value=np.nan)
        return numeric_column(name, values)
    if dtype == nw.Boolean:
        return _read_flags(series, name)
    if dtype in _DATES:
        return _read_dates(series, name)
    if dtype in _TEXT:
        return _read_text(series, name)
    if dtype.is_nested() or dtype == nw.Binary:
        raise InvalidType(
            f"Column {name!r} holds values of type {dtype}: the argument must be a string or a number in each row.",
            parameter="X",
            received=str(dtype),
            allowed="a string or a number in each row",
            hint="Turn nested values into columns of their own.",
            column=name,
        )
    native = nw.to_native(series)
    if str(getattr(native, "dtype", "")).startswith("Sparse"):
        return _read_column(nw.from_native(native.sparse.to_dense(), series_only=True), name)
    if str(getattr(native, "dtype", "")).startswith("period"):
        return numeric_column(name, native.dt.to_timestamp().to_numpy())
    if type(native).__module__.startswith("pyarrow") and str(native.type).startswith("dictionary"):
        return _read_arrow(native, name)
    return column_from_labels(name, series.to_list())


def _read_flags(series: _Series, name: str) -> Column:
    values = series.to_numpy()
    if values.dtype.kind == "b":
        return numeric_column(name, values)
    return column_from_labels(name, series.to_list())


def _read_dates(series: _Series, name: str) -> Column:
    """Dates as days since 1970-01-01 (UTC), durations and times of day as days."""
    if series.dtype == nw.Time:
        return column_from_labels(name, series.to_list())
    values = series.to_numpy()
    if values.dtype.kind in "mM":
        return numeric_column(name, values)
    return column_from_labels(name, series.to_list())


def _read_text(series: _Series, name: str) -> Column:
    native = nw.to_native(series)
    library = type(native).__module__.split(".")[0]
    read = _READERS.get(library)
    if read is not None:
        return read(native, name)
    codes, levels = label_levels(series.to_list(), where=Place("X", name))
    return Column(name, "nominal", codes, levels)


def _read_pandas(native: Any, name: str) -> Column:
    if str(native.dtype) == "category":
        codes = native.cat.codes.to_numpy()
        return labelled_column(name, codes, list(native.cat.categories), ordered=bool(native.cat.ordered))
    if str(native.dtype).startswith("dictionary"):
        import pyarrow as pa

        return _read_arrow(pa.array(native), name)
    codes, levels = native.factorize(use_na_sentinel=True)
    return _sorted_column(name, codes, list(levels))


def _read_polars(native: Any, name: str) -> Column:
    import polars as pl

    if native.dtype == pl.Enum:
        codes = native.to_physical().cast(pl.Int32).fill_null(-1).to_numpy()
        return labelled_column(name, codes, native.dtype.categories.to_list(), ordered=True)
    text = native.cast(pl.String)
    levels = text.drop_nulls().unique().sort()
    codes = text.cast(pl.Enum(levels)).to_physical().cast(pl.Int32).fill_null(-1).to_numpy()
    return labelled_column(name, codes, levels.to_list(), ordered=False)


def _read_arrow(native: Any, name: str) -> Column:
    import pyarrow as pa

    was_dictionary = pa.types.is_dictionary(native.type)
    coded = native if was_dictionary else native.dictionary_encode()
    coded = coded.combine_chunks() if hasattr(coded, "chunks") else coded
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.chunk(0) if coded.num_chunks else pa.array([], type=coded.type)
    codes = coded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    levels = coded.dictionary.to_pylist()
    if was_dictionary and native.type.ordered:
        return labelled_column(name, codes, levels, ordered=True)
    return _sorted_column(name, codes, levels)


_READERS: dict[str, Callable[[Any, str], Column]] = {
    "pandas": _read_pandas,
    "polars": _read_polars,
    "pyarrow": _read_arrow,
}


def _sorted_column(name: str, codes: AnyArray, levels: list[Any]) -> Column:
    """A nominal column whose levels came in order of appearance."""
    ranks, ordered = label_levels(levels, where=Place("X", name))
    lookup: CodeArray = np.append(ranks, np.int32(-1))
    return Column(name, "nominal", lookup[codes], ordered)
