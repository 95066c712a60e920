"""With rows=False nothing that a single row holds is in any form of the report."""

from typing import Any

import numpy as np
import pytest

import coterie
from coterie import report

N_ROWS = 300


@pytest.fixture(scope="module")
def secrets() -> tuple[dict[str, Any], np.ndarray]:
    rng = np.random.default_rng(0)
    X = {
        "name": np.array([f"Person{number:04d}" for number in range(N_ROWS)], dtype=object),
        "town": rng.choice(["Oslo", "Rome"], N_ROWS).astype(object),
        "salary": rng.integers(2_000_000, 9_000_000, N_ROWS) / 100,
        "age": rng.uniform(18, 90, N_ROWS),
    }
    X["town"][0] = "Hamlet7"
    return X, X["age"] * 1000.0 + X["salary"] / 7


FORMS = ("html", "text", "markdown", "to_dict")


def everything(found: Any) -> str:
    return "".join(str(getattr(found, form)()) for form in FORMS)


@pytest.mark.parametrize("kind", ["regression", "classification"])
def test_no_value_of_a_row_appears(secrets: tuple[dict[str, Any], np.ndarray], kind: str) -> None:
    X, target = secrets
    y = target if kind == "regression" else np.where(target > np.median(target), "high", "low")
    family = "Regressor" if kind == "regression" else "Classifier"
    model = getattr(coterie, f"RandomForest{family}")(20, random_state=0).fit(X, y)

    hidden = everything(report.build(model, X, y, seen=False, rows=False))
    shown = everything(report.build(model, X, y, seen=False))

    assert "Person0" in shown
    assert "Person0" not in hidden
    assert "Hamlet7" not in hidden
    ends = [f"{value:,.0f}" for value in (X["salary"].max(), X["salary"].min())]
    assert any(end in shown for end in ends)
    assert not any(end in hidden for end in ends)


def test_sections_about_single_rows_are_left_out_and_say_why(
    secrets: tuple[dict[str, Any], np.ndarray],
) -> None:
    X, y = secrets
    model = coterie.RandomForestRegressor(20, random_state=0).fit(X, y)

    found = report.build(model, X, y, seen=False, rows=False)

    reasons = {section.key: section.reason for section in found.left_out}
    assert "rows=False" in reasons["worst_rows"]
    assert "rows=False" in reasons["trees"]
    charts = [
        block
        for section in found.to_dict()["sections"]
        for block in section["blocks"]
        if block["kind"] == "chart"
    ]
    assert all(len(points["x"]) < 100 for chart in charts for points in chart.get("points", []))
