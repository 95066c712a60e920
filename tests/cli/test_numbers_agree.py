"""One model, one number: the leaderboard, `evaluate --json`, the report and Python."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss, mean_absolute_error, r2_score, roc_auc_score
from sklearn.metrics import root_mean_squared_error as rmse

import coterie as library
from coterie.metrics import METRICS
from tests.helpers.command import QUICK, done, json_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("agree")


def everything(data: Path, folder: Path, target: str, other: str) -> tuple[Any, Any, Any, Any]:
    """The result of `fit --json`, of `evaluate --json` on the rows of the fit, the report, and the model."""
    path, page = folder / f"{target}.coterie", folder / f"{target}.json"
    fitted = json_of("fit", data, "-t", target, "--drop", "flat", "--drop", other, "-o", path, *QUICK)
    evaluated = json_of("evaluate", path, data)
    done("report", path, data, "-o", page)
    return fitted, evaluated, json.loads(page.read_text(encoding="utf-8")), library.load(path)


def in_report(report: Any, section: str, column: str) -> dict[str, float]:
    """A column of the first table of a section, by the cell at the left."""
    [own] = [each for each in report["sections"] if each["key"] == section]
    table = next(block for block in own["blocks"] if "rows" in block)
    place = next(number for number, name in enumerate(table["columns"]) if name.startswith(column))
    return {row[0]: row[place] for row in table["rows"]}


def check_sources(fitted: Any, evaluated: Any, report: Any, model: Any, expected: dict[str, float]) -> None:
    board = model.leaderboard()
    assert [row["score"] for row in fitted["leaderboard"]] == pytest.approx(board.column("score"))
    assert fitted["score"] == board[0]["score"]
    assert fitted["metric"] == board.metric
    assert evaluated["out_of_sample"][fitted["metric"]] == pytest.approx(fitted["score"])
    assert {name: evaluated["out_of_sample"][name] for name in expected} == pytest.approx(expected)
    labels = {METRICS[name].label: value for name, value in expected.items()}
    scores = in_report(report, "scores", "out of fold")
    assert {label: scores[label] for label in labels} == pytest.approx(labels)
    assert list(in_report(report, "leaderboard", board.metric).values()) == pytest.approx(
        board.column("score")
    )


def test_numbers_of_a_regression_agree(data: Path, folder: Path) -> None:
    fitted, evaluated, report, model = everything(data, folder, "rent", "dear")
    truth, predicted = model._truth.truth, model.oof_prediction_

    expected = {
        "rmse": rmse(truth, predicted),
        "mae": mean_absolute_error(truth, predicted),
        "r2": r2_score(truth, predicted),
    }
    assert fitted["score"] == pytest.approx(expected["rmse"])
    assert np.sqrt(-model.oof_score_) == pytest.approx(expected["rmse"])
    check_sources(fitted, evaluated, report, model, expected)


def test_numbers_of_classes_agree(data: Path, folder: Path) -> None:
    fitted, evaluated, report, model = everything(data, folder, "dear", "rent")
    truth, proba = model.classes_[model._truth.truth], model.oof_proba_

    expected = {
        "log_loss": log_loss(truth, proba),
        "auc": roc_auc_score(truth, proba[:, 1]),
        "accuracy": accuracy_score(truth, model.classes_[proba.argmax(axis=1)]),
    }
    assert fitted["score"] == pytest.approx(expected["log_loss"])
    assert -model.oof_score_ == pytest.approx(expected["log_loss"])
    check_sources(fitted, evaluated, report, model, expected)
