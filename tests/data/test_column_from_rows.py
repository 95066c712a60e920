"""A column takes its values from other rows; everything else, types above all, stays as it was."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from coterie.data.column_from_rows import with_column_from_rows
from coterie.data.prepare import read_table

COLUMNS = {"a": [1, 2, 3], "word": ["x", None, "z"], "b": [0.5, float("nan"), 1.5]}
ROWS = np.array([2, 2, 1])


@pytest.mark.parametrize(
    "make",
    [
        dict,
        pd.DataFrame,
        pl.DataFrame,
        pa.table,
        lambda columns: pd.DataFrame(columns, index=[7, 7, 1]),
        lambda columns: pd.DataFrame(columns).rename(columns={"a": 0, "word": 1, "b": 2}),
        lambda columns: [list(row) for row in zip(*columns.values(), strict=True)],
    ],
    ids=["dict", "pandas", "polars", "arrow", "index", "numbers as names", "rows"],
)
def test_any_table(make: Any) -> None:
    table = make(COLUMNS)
    before = read_table(table)
    for place in range(3):
        after = read_table(with_column_from_rows(table, place, ROWS))
        for number in range(3):
            old, new = before.column(number), after.column(number)
            moved = ROWS if number == place else np.arange(3)
            assert old.kind == new.kind
            if old.levels is None:
                np.testing.assert_array_equal(new.values, old.values[moved])
            else:
                labels = [None if code < 0 else new.levels[code] for code in new.values]
                assert labels == [None if code < 0 else old.levels[code] for code in old.values[moved]]
    np.testing.assert_array_equal(read_table(table).column(0).values, [1, 2, 3])


def test_categories_stay_categories() -> None:
    frame = pd.DataFrame({"c": pd.Categorical(["u", "v", "u"], categories=["v", "u", "w"], ordered=True)})
    moved = with_column_from_rows(frame, 0, np.array([1, 1, 0]))

    assert moved["c"].dtype == frame["c"].dtype
    assert moved["c"].tolist() == ["v", "v", "u"]


def test_a_sparse_matrix_stays_sparse() -> None:
    dense = np.array([[1.0, 0, 3], [0, 5, 0], [7, 0, 9]])
    moved = with_column_from_rows(sparse.csr_matrix(dense), 1, np.array([1, 0, 1]))

    assert sparse.issparse(moved)
    np.testing.assert_array_equal(moved.toarray(), with_column_from_rows(dense, 1, np.array([1, 0, 1])))
