"""The messy table has everything it promises, and the same for the same seed."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from coterie.data.prepare import read_table
from coterie.data.table import Schema
from coterie.datasets import load_table, make_messy
from coterie.errors import InvalidParameter
from tests.helpers.errors import raised


@pytest.mark.parametrize("as_", ["dict", "pandas", "polars"])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_form_can_be_read(as_: Any, task: Any) -> None:
    X, y = make_messy(200, task=task, as_=as_)
    table = read_table(X)
    condition = "nominal" if as_ == "dict" else "ordered"

    assert table.n_rows == len(y) == 200
    assert Schema.of(table).kinds == (
        "numeric",
        "numeric",
        "numeric",
        "nominal",
        condition,
        "nominal",
        "numeric",
        "numeric",
        "numeric",
    )


def test_the_forms_hold_the_same_values() -> None:
    frame, _ = make_messy(100, as_="pandas")
    polars, _ = make_messy(100, as_="polars")
    columns, _ = make_messy(100)
    for name in columns:
        assert_array_equal(pd.isna(columns[name]), frame[name].isna())
        assert_array_equal(pd.isna(columns[name]), polars[name].is_null().to_numpy())
    assert_array_equal(columns["area"], frame["area"])
    assert [t for t in columns["town"] if t] == polars["town"].drop_nulls().to_list()


def test_the_seed_decides_everything() -> None:
    one, other, third = (make_messy(50, random_state=seed) for seed in (1, 1, 2))

    assert_array_equal(one[1], other[1])
    assert_array_equal(one[0]["income"], other[0]["income"])
    assert one[1].tolist() != third[1].tolist()


def test_the_table_has_about_the_asked_share_of_holes() -> None:
    columns, _ = make_messy(4000, missing=0.25)
    shares = {name: float(np.mean(pd.isna(values))) for name, values in columns.items()}

    assert shares.pop("rooms") == 0
    assert all(abs(share - 0.25) < 0.04 for share in shares.values())


def test_without_holes_nothing_is_missing() -> None:
    columns, _ = make_messy(50, missing=0)

    assert not any(pd.isna(values).any() for values in columns.values())


def test_the_columns_say_something_about_the_target() -> None:
    columns, price = make_messy(4000, task="regression", missing=0, noise=0.1)
    by_town = [price[columns["town"] == town].mean() for town in ("Fano", "Delft")]

    assert by_town[0] > by_town[1] + 100
    assert set(make_messy(500)[1]) == {"cheap", "fair", "dear"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_rows": 0},
        {"task": "ranking"},
        {"missing": 1.0},
        {"missing": -0.1},
        {"as_": "arrow"},
        {"n_streets": 0},
    ],
    ids=str,
)
def test_wrong_wishes_are_named(wrong: dict[str, Any]) -> None:
    [(parameter, received)] = wrong.items()
    with raised(InvalidParameter, parameter=parameter, received=received, about=f"make_messy({parameter}="):
        make_messy(**wrong)


@pytest.mark.parametrize(
    ("name", "rows", "columns", "classes"),
    [
        ("breast_cancer", 569, 30, 2),
        ("diabetes", 442, 10, 0),
        ("digits", 1797, 64, 10),
        ("iris", 150, 4, 3),
        ("wine", 178, 13, 3),
    ],
)
def test_scikit_learns_tables_come_as_named_columns(name: str, rows: int, columns: int, classes: int) -> None:
    X, y = load_table(name)

    assert read_table(X).n_columns == columns
    assert len(y) == read_table(X).n_rows == rows
    assert classes == 0 or len(set(y.tolist())) == classes


def test_another_name_lists_the_tables() -> None:
    with raised(InvalidParameter, parameter="name", received="boston", allowed="'iris'"):
        load_table("boston")


def test_the_formula_stays_the_same() -> None:
    _, y = make_messy(3, task="regression", missing=0, random_state=0)

    assert y.round(4).tolist() == [210.4, 271.6, 325.0]
