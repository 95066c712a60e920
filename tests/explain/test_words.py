"""Explanations in words: probabilities beside log-odds, and values as the table has them."""

from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_classification

from coterie import DecisionTreeRegressor, GradientBoostingClassifier
from coterie.data.prepare import read_table
from coterie.explain.cells import cell_text, cells_of
from coterie.explain.row_explanation import RowExplanation

TWO = make_classification(200, 5, random_state=1)
THREE = make_classification(200, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
COLUMNS = {
    "when": [datetime(2020, 1, 2), None, datetime(2021, 3, 4, 5, 6)],
    "flag": [True, False, True],
    "town": ["Oslo", "Rome", None],
    "size": [1.5, float("nan"), 3.0],
    "lasts": [timedelta(days=2), timedelta(hours=12), None],
}
SHOWN = [
    ["2020-01-02", "True", "Oslo", "1.5", "2 days"],
    ["missing", "False", "Rome", "missing", "0.5 days"],
    ["2021-03-04 05:06", "True", "missing", "3", "missing"],
]


def arrays(columns: Any) -> Any:
    return {
        "when": np.array(columns["when"], dtype="M8[us]"),
        "flag": np.array(columns["flag"]),
        "town": columns["town"],
        "size": np.array(columns["size"]),
        "lasts": np.array(columns["lasts"], dtype="m8[us]"),
    }


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, arrays])
def test_dates_flags_and_labels_are_shown_as_the_table_has_them(kind: Any) -> None:
    X = kind(COLUMNS)
    found = cells_of(X, read_table(X))
    assert [[cell_text(value) for value in row] for row in found] == SHOWN


def test_a_matrix_of_dates_and_one_of_flags() -> None:
    dates = np.array([["2020-01-02", "NaT"]], dtype="M8[D]")
    assert [cell_text(value) for value in cells_of(dates, read_table(dates))[0]] == ["2020-01-02", "missing"]
    flags = np.array([[True, False]])
    assert [cell_text(value) for value in cells_of(flags, read_table(flags))[0]] == ["True", "False"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (date(2020, 1, 2), "2020-01-02"),
        (datetime(2020, 1, 2, 3, 4, 5), "2020-01-02 03:04:05"),
        (np.float32(0.5), "0.5"),
        (np.True_, "True"),
        (pd.NA, "missing"),
        (pd.NaT, "missing"),
        (12, "12"),
        ("", "''"),
        ("two\nlines", "two lines"),
        ("a" * 70, "a" * 58 + " …"),
        (timedelta(days=1), "1 day"),
    ],
)
def test_values_as_text(value: Any, text: str) -> None:
    assert cell_text(value) == text


def test_columns_of_a_dictionary_in_another_order_keep_their_values() -> None:
    X = {"flag": [True, False] * 20, "when": np.arange(40).astype("M8[D]")}
    model = DecisionTreeRegressor(max_depth=3).fit(X, np.arange(40.0))
    other = {"when": X["when"][:1], "flag": [True]}
    explained = model.explain(other)
    assert explained.column_names == ("flag", "when")
    assert [cell_text(value) for value in explained.data[0]] == ["True", "1970-01-01"]


def test_log_odds_are_also_probabilities() -> None:
    X, y = TWO
    model = GradientBoostingClassifier(n_estimators=5).fit(X, y)
    explained = model.explain(X[:4])

    assert explained.unit == "log-odds"
    assert_allclose(explained.probabilities, model.predict_proba(X[:4])[:, 1], atol=1e-9)
    assert_allclose(explained.base_probabilities, 1 / (1 + np.exp(-explained.base_values)), atol=1e-12)
    log_odds, base = explained.predictions[0], explained.base_values[0]
    assert explained.to_text(0).splitlines()[:2] == [
        f"The probability of 1 is {explained.probabilities[0]:.4g} (log-odds {log_odds:.4g}); at the average "
        f"log-odds, {base:.4g}, it would be {explained.base_probabilities[0]:.4g}.",
        "Contributions to the log-odds:",
    ]
    np.testing.assert_array_equal(explained[2].probabilities, explained.probabilities[2:3])


def test_raw_predictions_of_several_classes_are_also_probabilities() -> None:
    X, y = THREE
    model = GradientBoostingClassifier(n_estimators=5).fit(X, y)
    explained = model.explain(X[:4])
    assert_allclose(explained.probabilities, model.predict_proba(X[:4]), atol=1e-9)
    assert f"{explained.probabilities[0].max():.4g} (raw prediction " in explained.to_text(0)


def test_one_output_of_several() -> None:
    X, y = THREE
    explained = GradientBoostingClassifier(n_estimators=5).fit(X, y).explain(X[:4], interactions=True)
    one = explained.of_output(1)
    assert one.outputs == (1,)
    np.testing.assert_array_equal(one.values, explained.values[:, :, 1])
    np.testing.assert_array_equal(one.interactions, explained.interactions[:, :, :, 1])
    np.testing.assert_array_equal(one.probabilities, explained.probabilities[:, 1])
    assert explained.of_output().outputs == (2,)
    assert one.to_text(3) == explained.to_text(3, 1)


def test_estimated_contributions_say_how_sure_they_are() -> None:
    row = RowExplanation(0.8, 0.5, "probability", "yes", [("age = 3", 0.3)], standard_error=0.0123)
    assert row.to_text().splitlines() == [
        "The probability of yes is 0.8; on average it is 0.5.",
        "Contributions are estimates, with standard errors up to 0.01.",
        "+0.300  age = 3",
    ]


@pytest.mark.parametrize("error", [None, 0.0, 1e-15])
def test_exact_contributions_are_not_called_estimates(error: float | None) -> None:
    row = RowExplanation(0.8, 0.5, "probability", "yes", [("age = 3", 0.3)], standard_error=error)
    assert row.notes == []


def test_the_signs_have_colours_in_notebooks() -> None:
    html = RowExplanation(0.8, 0.5, "probability", "<i>", [("a", 0.4), ("b", -0.1)]).to_html()
    rows = html.split("<tr>")[1:]
    assert "color: #0072b2" in rows[0]
    assert "color: #a84700" in rows[1]
    assert "<i>" not in html
