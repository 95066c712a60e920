"""Any table in: every input that we promise to read, read to the values we expect."""

from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from scipy import sparse

from coterie.data.prepare import read_table
from coterie.data.table import Column, Table
from coterie.errors import CoterieError

NUMBERS = np.arange(12.0).reshape(4, 3)


def labels_of(column: Column) -> list[Any]:
    """The labels of a nominal or ordered column, None where missing."""
    assert column.levels is not None
    return [None if code < 0 else column.levels[code] for code in column.values]


def values_of(table: Table) -> list[list[Any]]:
    return [table.column(index).values.tolist() for index in range(table.n_columns)]


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u1", "?"])
def test_a_matrix_that_the_engine_reads_is_not_copied(dtype: str) -> None:
    X = NUMBERS.astype(dtype)

    assert read_table(X).matrix is X


@pytest.mark.parametrize(
    "view",
    [
        lambda X: np.asfortranarray(X),
        lambda X: X[::2],
        lambda X: X[:, ::-1],
        lambda X: X.T,
        lambda X: np.broadcast_to(X[:1], (5, 3)),
    ],
    ids=["fortran", "strided", "reversed", "transposed", "stride 0"],
)
def test_no_layout_is_copied(view: Callable[[Any], Any]) -> None:
    X = view(NUMBERS)

    assert read_table(X).matrix is X


@pytest.mark.parametrize(
    ("dtype", "becomes"),
    [
        ("f2", "float32"),
        ("g", "float64"),
        (">f4", "float32"),
        (">f8", "float64"),
        (">i4", "int32"),
        ("i1", "int32"),
        ("i2", "int32"),
        ("u2", "int32"),
        ("u4", "int64"),
        ("u8", "int64"),
    ],
)
def test_other_number_types_are_cast_once(dtype: str, becomes: str) -> None:
    table = read_table(NUMBERS.astype(dtype))

    assert table.matrix is not None
    assert table.matrix.dtype == becomes
    assert table.matrix.dtype.isnative
    assert_array_equal(table.matrix, NUMBERS)


def test_uint64_beyond_int64_becomes_float() -> None:
    table = read_table(np.array([[2**64 - 1], [0]], dtype=np.uint64))

    assert values_of(table) == [[float(2**64), 0.0]]


def test_int64_extremes_survive() -> None:
    X = np.array([[np.iinfo(np.int64).min], [np.iinfo(np.int64).max]])

    assert values_of(read_table(X)) == [[-(2**63), 2**63 - 1]]


def test_a_memory_that_is_not_aligned_is_copied() -> None:
    records = np.zeros(3, dtype=[("flag", "u1"), ("pair", "f8", (2,))])
    records["pair"] = [[1, 2], [3, 4], [5, 6]]
    table = read_table(records["pair"])

    assert table.matrix is not None
    assert table.matrix.flags.aligned
    assert values_of(table) == [[1, 3, 5], [2, 4, 6]]


def test_a_read_only_memory_map_is_read_in_place(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", NUMBERS)
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    table = read_table(X)

    assert table.matrix is not None
    assert np.shares_memory(table.matrix, X)
    assert_array_equal(table.matrix, NUMBERS)


def test_infinity_is_a_number_like_any_other() -> None:
    assert values_of(read_table(np.array([[np.inf], [-np.inf]]))) == [[np.inf, -np.inf]]


def test_masked_entries_are_missing() -> None:
    X = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])

    assert_array_equal(read_table(X).matrix, [[1, np.nan], [3, 4]])


def test_objects_that_are_all_numbers_are_numbers() -> None:
    table = read_table(np.array([[1, 2.5], [True, -3]], dtype=object))

    assert_array_equal(table.matrix, [[1, 2.5], [1, -3]])


@pytest.mark.parametrize(
    "missing", [None, np.nan, pd.NA, pd.NaT, float("nan"), np.float32("nan"), Decimal("nan")]
)
def test_every_kind_of_missing_is_missing_among_objects(missing: Any) -> None:
    rows = [[1.0, "a"], [missing, missing], [3.0, "b"]]
    number, text = read_table(np.array(rows, dtype=object)).columns

    assert (number.kind, text.kind) == ("numeric", "nominal")
    assert_array_equal(number.values, [1, np.nan, 3])
    assert labels_of(text) == ["a", None, "b"]


def test_a_list_of_rows_keeps_numbers_and_text_apart() -> None:
    number, text = read_table([[1, "a"], [2, "b"], [3, None]]).columns

    assert number.values.tolist() == [1, 2, 3]
    assert labels_of(text) == ["a", "b", None]


def test_text_that_looks_like_numbers_stays_text() -> None:
    (column,) = read_table(np.array([["10"], ["9"]])).columns

    assert column.kind == "nominal"
    assert labels_of(column) == ["10", "9"]


def test_levels_are_sorted_so_the_row_order_does_not_matter() -> None:
    up = read_table({"c": ["a", "b", "c"]}).columns[0]
    down = read_table({"c": ["c", "b", "a"]}).columns[0]

    assert up.levels is not None
    assert down.levels is not None
    assert up.levels.tolist() == down.levels.tolist() == ["a", "b", "c"]


def test_mixed_labels_have_an_order_of_their_own() -> None:
    first = read_table({"c": ["b", 2, b"x", 1.5, date(2020, 1, 1)]}).columns[0]
    second = read_table({"c": [date(2020, 1, 1), 1.5, b"x", 2, "b"]}).columns[0]

    assert first.levels is not None
    assert second.levels is not None
    assert first.levels.tolist() == second.levels.tolist()
    assert labels_of(first) == ["b", 2, b"x", 1.5, date(2020, 1, 1)]


@pytest.mark.parametrize(
    ("values", "days"),
    [
        (np.array(["1970-01-02", "NaT"], dtype="M8[D]"), [1, np.nan]),
        (np.array(["1970-01-01T12", "1969-12-31"], dtype="M8[ns]"), [0.5, -1]),
        (np.array(["1971", "NaT"], dtype="M8[Y]"), [365, np.nan]),
        (np.array([36, "NaT"], dtype="m8[h]"), [1.5, np.nan]),
        (np.array([2, 0], dtype="m8[W]"), [14, 0]),
        ([date(1970, 1, 3), None], [2, np.nan]),
        ([datetime(1970, 1, 1, 6), pd.NaT], [0.25, np.nan]),
        ([datetime(1970, 1, 2, tzinfo=timezone(timedelta(hours=12))), None], [0.5, np.nan]),
        ([timedelta(hours=12), np.timedelta64(1, "D")], [0.5, 1]),
        ([time(6), time(18, 0)], [0.25, 0.75]),
    ],
)
def test_dates_durations_and_times_become_days(values: Any, days: list[float]) -> None:
    (column,) = read_table({"when": values}).columns

    assert column.kind == "numeric"
    assert_array_equal(column.values, days)


def test_decimals_and_fractions_are_numbers() -> None:
    (column,) = read_table({"n": [Decimal("1.5"), Fraction(1, 4), None]}).columns

    assert_array_equal(column.values, [1.5, 0.25, np.nan])


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix], ids=["array", "matrix"])
def test_sparse_tables_of_every_form_are_read(form: str, make: Callable[[Any], Any]) -> None:
    dense = np.array([[0, 1.5, 0], [np.nan, 0, 2]])
    table = read_table(make(dense).asformat(form))

    assert_array_equal(table.matrix, dense)


def test_sparse_tables_with_large_indices_are_read() -> None:
    X = sparse.csr_array(np.eye(3))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)

    assert_array_equal(read_table(X).matrix, np.eye(3))


def test_sparse_integers_keep_their_type() -> None:
    matrix = read_table(sparse.csc_array(np.eye(3, dtype=np.int32))).matrix

    assert matrix is not None
    assert matrix.dtype == np.int32


class WithArray:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return NUMBERS


def test_anything_that_can_become_an_array_is_read() -> None:
    assert_array_equal(read_table(WithArray()).matrix, NUMBERS)


def test_selecting_columns_keeps_names_with_values() -> None:
    table = read_table({"a": [1], "b": ["x"]}).select([1, 0])
    matrix = read_table(pd.DataFrame({"a": [1.0], "b": [2.0]})).select([1, 0])

    assert table.names == ("b", "a")
    assert labels_of(table.columns[0]) == ["x"]
    assert matrix.names == ("b", "a")
    assert values_of(matrix) == [[2.0], [1.0]]


def test_values_that_show_themselves_are_labels() -> None:
    (column,) = read_table({"c": [Path("b"), Path("a")]}).columns

    assert labels_of(column) == ["b", "a"]


any_dtype = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
    hnp.complex_number_dtypes(),
    hnp.datetime64_dtypes(max_period="h", min_period="ns"),
    hnp.timedelta64_dtypes(max_period="h", min_period="ns"),
    hnp.unicode_string_dtypes(max_len=3),
)
any_array = any_dtype.flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=50))
)
any_step = st.sampled_from([1, 2, -1, 3])


@settings(deadline=None, max_examples=200)
@given(array=any_array, step=any_step, fortran=st.booleans())
def test_any_array_gives_a_table_or_our_error_and_stays_as_it_was(
    array: Any, step: int, fortran: bool
) -> None:
    array = (np.asfortranarray(array) if fortran else array)[::step]
    before = array.tobytes()
    try:
        table = read_table(array)
    except CoterieError:
        assert array.ndim != 2 or 0 in array.shape or array.dtype.kind == "c"
    else:
        assert (table.n_rows, table.n_columns) == array.shape
        assert table.matrix is None or table.matrix.dtype in ("f4", "f8", "i4", "i8", "u1", "?")
    assert array.tobytes() == before


any_label = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.binary(max_size=2),
    st.dates(),
    st.datetimes(),
    st.timedeltas(),
    st.just(pd.NA),
    st.just(1j),
    st.just({"nested": 1}),
    st.just((1, 2)),
    st.just(object()),
)


@settings(deadline=None, max_examples=200)
@given(labels=st.lists(any_label, max_size=8), twice=st.booleans())
def test_any_list_of_objects_gives_a_column_or_our_error(labels: list[Any], twice: bool) -> None:
    try:
        table = read_table({"a": labels, **({"b": labels} if twice else {})})
    except CoterieError:
        nested = any(isinstance(label, dict | tuple | complex) or type(label) is object for label in labels)
        too_large = any(isinstance(label, int) and abs(label) > 1e300 for label in labels)
        assert nested or too_large or not labels
    else:
        column = table.columns[0]
        assert len(column.values) == len(labels)
        assert column.levels is None or column.values.max(initial=-1) < len(column.levels)
