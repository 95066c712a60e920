"""Problems of a table are found: constants, ids, duplicates, empty columns, target leakage, and changes since fit."""

from typing import Any

import numpy as np
import pytest

import coterie
from coterie import report
from coterie.data.prepare import read_table
from coterie.data.table import Column
from coterie.report.columns.association import association
from coterie.report.columns.data_quality import _is_id

RNG = np.random.default_rng(0)
N = 200


def made() -> tuple[dict[str, Any], Any]:
    signal = RNG.normal(size=N)
    y = np.where(signal + 0.3 * RNG.normal(size=N) > 0, "yes", "no")
    town = RNG.choice(np.array(["Oslo", "Rome"], dtype=object), N)
    half = RNG.normal(size=N)
    half[: N * 3 // 4] = np.nan
    return {
        "signal": signal,
        "same": np.full(N, 3.0),
        "number": np.arange(N) + 1_000,
        "code": np.array([f"customer {place}" for place in range(N)], dtype=object),
        "town": town,
        "place": np.where(town == "Oslo", "north", "south").astype(object),
        "half": half,
        "nothing": np.full(N, np.nan),
        "leak": np.where(y == "yes", 1.0, 0.0),
    }, y


def remarks_by_column(found: Any) -> dict[str, str]:
    section = next(own for own in found.to_dict()["sections"] if own["key"] == "data_quality")
    table = next(own for own in section["blocks"] if own["kind"] == "table")
    return {row[0]: row[-1] for row in table["rows"]}


def test_remarks_about_columns() -> None:
    X, y = made()
    model = coterie.DecisionTreeClassifier(max_depth=2).fit(X, y)

    remarks = remarks_by_column(report.build(model, X, y))

    assert remarks["signal"] == ""
    assert remarks["same"] == "constant"
    assert remarks["number"] == "looks like an id"
    assert "looks like an id" in remarks["code"]
    assert remarks["town"] == ""
    assert remarks["place"] == "duplicate of town"
    assert remarks["half"] == "mostly missing"
    assert remarks["nothing"] == "empty"
    assert remarks["leak"] == "possible target leakage"


def test_leakage_is_a_warning_and_duplicates_are_counted() -> None:
    X, y = made()
    twice = {name: np.concatenate([column, column[:5]]) for name, column in X.items()}
    model = coterie.DecisionTreeClassifier(max_depth=2).fit(X, y)

    text = report.build(model, twice, np.concatenate([y, y[:5]])).text()

    assert (
        "! Possible target leakage in “leak”: one column alone explains almost all of the target's variance."
        in " ".join(text.split())
    )
    assert "duplicate rows        5 " in text


@pytest.mark.parametrize(("n_columns", "ending"), [(5, "“x4”:"), (6, "“x4” and others:")])
def test_five_leaking_columns_are_named(n_columns: int, ending: str) -> None:
    y = np.arange(60) % 2
    X = {f"x{number}": y + 0.0 for number in range(n_columns)}
    text = report.build(coterie.DecisionTreeClassifier().fit(X, y), X, y).text()
    assert f"Possible target leakage in “x0”, “x1”, “x2”, “x3”, {ending}" in " ".join(text.split())


def test_changes_since_fit_are_remarked() -> None:
    X, y = made()
    model = coterie.RandomForestClassifier(5, random_state=0).fit(
        {"signal": X["signal"], "town": X["town"]}, y
    )
    town, signal = X["town"].copy(), X["signal"].copy()
    town[:20] = "Cork"
    signal[0] = np.nan

    remarks = remarks_by_column(report.build(model, {"signal": signal, "town": town}, y))

    assert remarks["town"] == "10 % of values are unseen categories"
    assert remarks["signal"] == "no missing values in fit"


def test_association_is_the_adjusted_share_of_variance() -> None:
    groups = RNG.integers(0, 4, 500)
    target = groups + RNG.normal(size=500)
    column = Column("g", "nominal", groups, np.array(list("abcd"), dtype=object))
    within = sum(((target[groups == own] - target[groups == own].mean()) ** 2).sum() for own in range(4))
    whole = ((target - target.mean()) ** 2).sum()

    assert association(column, target) == pytest.approx(1 - (within / 496) / (whole / 499))


def test_noise_explains_nothing() -> None:
    explained = [
        association(Column("x", "numeric", RNG.normal(size=400)), RNG.normal(size=400)) for _ in range(50)
    ]

    assert np.mean(explained) < 0.02


@pytest.mark.parametrize(("n_columns", "n_shown"), [(49, 49), (50, 50), (60, 50)])
def test_of_many_columns_those_with_remarks_are_listed_and_the_others_counted(
    n_columns: int, n_shown: int
) -> None:
    rng = np.random.default_rng(1)
    X = {f"column {place}": rng.normal(size=60) for place in range(n_columns)}
    X[f"column {n_columns - 1}"] = np.full(60, 2.0)
    y = X["column 0"] + rng.normal(size=60)
    model = coterie.DecisionTreeRegressor(max_depth=2).fit(X, y)

    section = next(
        own for own in report.build(model, X, y).to_dict()["sections"] if own["key"] == "data_quality"
    )
    table = next(own for own in section["blocks"] if own["kind"] == "table")

    assert len(table["rows"]) == n_shown
    assert table["n_left_out"] == n_columns - n_shown
    assert table["rows"][0][0] == f"column {n_columns - 1}"
    assert table["rows"][0][-1] == "constant"


@pytest.mark.parametrize(("n_rows", "expected"), [(19, False), (20, True)])
def test_few_distinct_values_are_no_ids(n_rows: int, expected: bool) -> None:
    column = read_table({"number": np.arange(n_rows)}).columns[0]

    assert _is_id(column, np.arange(float(n_rows)), n_rows) is expected
