"""Rows mixed from two tables, in every kind of table."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from coterie.data.mixed_rows import MixedRows
from coterie.errors import InvalidInput

FIRST = {"size": [1.0, 2.0], "town": ["Oslo", None], "flag": [True, False]}
SECOND = {"size": [10.0, np.nan, 30.0], "town": ["Rome", "Cork", "Oslo"], "flag": [False, True, True]}
ROWS, OTHERS = np.array([0, 1, 1]), np.array([2, 0, 1])
KNOWN = np.array([[True, False, True], [False, True, False], [False, False, True]])
MIXED = {"size": [1.0, 10.0, np.nan], "town": ["Oslo", None, "Cork"], "flag": [True, False, False]}


def arrow(columns: Any) -> Any:
    return pa.table({"size": columns["size"], "town": columns["town"], "flag": columns["flag"]})


def categories(columns: Any) -> Any:
    return pd.DataFrame(columns).astype({"town": "category"})


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pl.DataFrame, arrow, categories])
def test_columns_come_from_one_table_or_the_other(kind: Any) -> None:
    found = MixedRows(kind(FIRST), kind(SECOND)).of(ROWS, OTHERS, KNOWN)

    assert type(found) is type(kind(FIRST))
    columns = found if isinstance(found, dict) else found.to_pydict() if kind is arrow else found
    for name, expected in MIXED.items():
        own = pd.Series(list(columns[name]), dtype=object)
        theirs = pd.Series(expected, dtype=object)
        assert (own.isna() == theirs.isna()).all()
        assert own.dropna().tolist() == theirs.dropna().tolist()


@pytest.mark.parametrize("kind", [np.array, sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix, list])
def test_arrays_sparse_matrices_and_lists_of_rows(kind: Any) -> None:
    first, second = kind([[1, 2, 3], [4, 5, 6]]), kind([[10, 20, 30], [40, 50, 60], [70, 80, 90]])
    found = MixedRows(first, second).of(ROWS, OTHERS, KNOWN)
    dense = found.toarray() if sparse.issparse(found) else np.asarray(found)
    assert dense.tolist() == [[1, 80, 3], [10, 5, 30], [40, 50, 6]]


def test_dictionaries_of_series_and_of_arrays() -> None:
    first = {"a": pd.Series([1, 2]), "b": np.array(["x", "y"]), "c": [1.5, 2.5]}
    second = {"c": [3.5, 4.5], "b": np.array(["long"] * 2), "a": pd.Series([3, 4])}
    found = MixedRows(first, second).of(np.array([0]), np.array([1]), np.array([[False, False, True]]))
    assert [list(values) for values in found.values()] == [[4], ["long"], [1.5]]


def test_the_columns_of_a_background_are_found_by_name() -> None:
    first, second = pd.DataFrame(FIRST), pd.DataFrame(SECOND)[["flag", "town", "size"]]
    found = MixedRows(first, second).of(np.array([0]), np.array([1]), np.zeros((1, 3), dtype=bool))
    assert found.columns.tolist() == ["size", "town", "flag"]
    assert found["town"].tolist() == ["Cork"]


@pytest.mark.parametrize(
    ("first", "second"),
    [(np.ones((1, 3)), pd.DataFrame(SECOND)), (pl.DataFrame(FIRST), pd.DataFrame(SECOND))],
)
def test_tables_of_different_kinds_are_refused(first: Any, second: Any) -> None:
    with pytest.raises(InvalidInput, match="background is a DataFrame, and X is a") as raised:
        MixedRows(first, second)
    assert raised.value.parameter == "background"
