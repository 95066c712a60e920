"""Data frames of any library are read to the same table."""

from collections.abc import Callable
from datetime import date
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from coterie.data.prepare import read_table
from coterie.data.table import Column


def labels_of(column: Column) -> list[Any]:
    """The labels of a nominal or ordered column, None where missing."""
    assert column.levels is not None
    return [None if code < 0 else column.levels[code] for code in column.values]


def mixed_pandas() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "number": [1.5, np.nan, 2.0],
            "nullable": pd.array([1, None, 3], dtype="Int64"),
            "flag": pd.array([True, None, False], dtype="boolean"),
            "text": ["b", None, "a"],
            "town": pd.Categorical(["Rome", None, "Oslo"], categories=["Rome", "Oslo", "Cork"]),
            "size": pd.Categorical(["big", "small", None], categories=["small", "big"], ordered=True),
            "day": pd.to_datetime(["1970-01-02", None, "1970-01-03"]),
        }
    )


def mixed_polars() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "number": [1.5, None, 2.0],
            "nullable": [1, None, 3],
            "flag": [True, None, False],
            "text": ["b", None, "a"],
            "town": pl.Series(["Rome", None, "Oslo"], dtype=pl.Categorical),
            "size": pl.Series(["big", "small", None], dtype=pl.Enum(["small", "big"])),
            "day": [date(1970, 1, 2), None, date(1970, 1, 3)],
        }
    )


def mixed_arrow() -> pa.Table:
    town = pa.DictionaryArray.from_arrays(pa.array([0, None, 1]), pa.array(["Rome", "Oslo"]))
    size = pa.DictionaryArray.from_arrays(pa.array([1, 0, None]), pa.array(["small", "big"]), ordered=True)
    return pa.table(
        {
            "number": [1.5, None, 2.0],
            "nullable": [1, None, 3],
            "flag": [True, None, False],
            "text": ["b", None, "a"],
            "town": town,
            "size": size,
            "day": pa.array([1, None, 2], pa.date32()),
        }
    )


def mixed_dict() -> dict[str, Any]:
    frame = mixed_polars()
    size = frame["size"]
    return {name: frame[name].to_list() for name in frame.columns} | {"size": size}


class OnlyAStream:
    """What any other library offers: Arrow's stream and nothing else."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


FRAMES: dict[str, Callable[[], Any]] = {
    "pandas": mixed_pandas,
    "pandas on Arrow": lambda: mixed_arrow().to_pandas(types_mapper=pd.ArrowDtype),
    "polars": mixed_polars,
    "polars lazy": lambda: mixed_polars().lazy(),
    "arrow table": mixed_arrow,
    "arrow batch": lambda: mixed_arrow().to_batches()[0],
    "arrow stream": lambda: OnlyAStream(mixed_arrow()),
    "narwhals": lambda: nw.from_native(mixed_polars()),
    "dict": mixed_dict,
    "dict of pandas series": lambda: dict(mixed_pandas().items()),
    "dict of arrow arrays": lambda: {
        n: mixed_arrow()[n].combine_chunks() for n in mixed_arrow().column_names
    },
}


@pytest.mark.parametrize("library", FRAMES)
def test_the_same_table_from_any_library_is_the_same_table(library: str) -> None:
    table = read_table(FRAMES[library]())

    number, nullable, flag, text, town, size, day = table.columns
    assert table.n_rows == 3
    assert table.names == ("number", "nullable", "flag", "text", "town", "size", "day")
    assert_array_equal(number.values, [1.5, np.nan, 2.0])
    assert_array_equal(nullable.values, [1, np.nan, 3])
    assert_array_equal(flag.values, [1, np.nan, 0])
    assert labels_of(text) == ["b", None, "a"]
    assert labels_of(town) == ["Rome", None, "Oslo"]
    assert (text.kind, town.kind, size.kind) == ("nominal", "nominal", "ordered")
    assert labels_of(size) == ["big", "small", None]
    assert size.values.tolist() == [1, 0, -1]
    assert_array_equal(day.values, [1, np.nan, 2])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_a_small_frame_of_floats_becomes_one_matrix(make: Callable[[Any], Any]) -> None:
    table = read_table(make({"a": [1.0, 2.0], "b": [3.0, np.nan]}))

    assert table.names == ("a", "b")
    assert_array_equal(table.matrix, [[1, 3], [2, np.nan]])


def test_the_numbers_of_a_large_frame_are_not_copied() -> None:
    X = np.zeros((600_000, 2))
    table = read_table(pd.DataFrame(X, columns=["a", "b"], copy=False))

    assert all(np.shares_memory(column.values, X) for column in table.columns)


def test_chunks_of_arrow_with_different_dictionaries_agree() -> None:
    first = pa.table({"c": pa.array(["b", "a"]).dictionary_encode()})
    second = pa.table({"c": pa.array(["c", "b"]).dictionary_encode()})
    (column,) = read_table(pa.concat_tables([first, second])).columns

    assert labels_of(column) == ["b", "a", "c", "b"]


@pytest.mark.parametrize("ordered", [False, True])
def test_a_missing_level_of_a_dictionary_is_a_missing_value(ordered: bool) -> None:
    coded = pa.DictionaryArray.from_arrays(
        pa.array([1, 0, 1, 2]), pa.array(["a", None, "b"]), ordered=ordered
    )
    (column,) = read_table(pa.table({"c": coded})).columns

    assert labels_of(column) == [None, "a", None, "b"]
    assert column.values.tolist()[0] == -1


@pytest.mark.parametrize("dtype", ["str", "string[python]", "string[pyarrow]", "object"])
def test_text_of_every_pandas_type_is_the_same(dtype: str) -> None:
    (column,) = read_table(pd.DataFrame({"c": pd.Series(["b", None, "a"], dtype=dtype)})).columns

    assert labels_of(column) == ["b", None, "a"]


def test_pandas_sparse_columns_keep_their_zeros() -> None:
    (column,) = read_table(pd.DataFrame({"c": pd.arrays.SparseArray([0, 0, 1.5])})).columns

    assert column.values.tolist() == [0, 0, 1.5]


def test_pandas_dates_with_a_time_zone_are_moments() -> None:
    days = pd.to_datetime(["1970-01-02", None]).tz_localize("Etc/GMT-12")
    (column,) = read_table(pd.DataFrame({"c": days})).columns

    assert_array_equal(column.values, [0.5, np.nan])


def test_pandas_periods_and_intervals_are_read() -> None:
    frame = pd.DataFrame(
        {"p": pd.period_range("1970-01", periods=2, freq="M"), "i": pd.cut([1, 2], [0, 1, 2])}
    )
    period, interval = read_table(frame).columns

    assert period.values.tolist() == [0, 31]
    assert interval.kind == "ordered"
    assert labels_of(interval) == ["(0, 1]", "(1, 2]"]


def test_categories_of_numbers_keep_their_numbers() -> None:
    (column,) = read_table(pd.DataFrame({"c": pd.Categorical([3, 1, None])})).columns

    assert column.kind == "nominal"
    assert labels_of(column) == [3, 1, None]


@pytest.mark.parametrize(
    "X",
    [{"c": [None, None]}, pd.DataFrame({"c": [None, None]}), pl.DataFrame({"c": [None, None]})],
    ids=["dict", "pandas", "polars"],
)
def test_a_column_without_any_value_is_empty_and_of_no_type(X: Any) -> None:
    (column,) = read_table(X).columns

    assert column.kind == "nominal"
    assert column.is_empty()


@pytest.mark.parametrize("columns", [[0, 1], [("a", 1), ("a", 2)], [1.5, 2.5]])
def test_names_that_are_not_text_count_as_no_names(columns: list[Any]) -> None:
    assert read_table(pd.DataFrame([[1, 2]], columns=columns)).names is None
