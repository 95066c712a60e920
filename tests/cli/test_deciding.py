"""Decisions at the command line: thresholds, costs, fits that are repeated, and scores with intervals."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coterie as library
from coterie.cli.evaluate import MetricInputs, baseline_of, intervals
from tests.helpers.command import QUICK, coterie, done, error_of, failed, flats, json_of, read_csv, write_csv

FEATURES = ("--drop", "flat", "--drop", "rent")


def fit(data: Path, path: Path, *options: object) -> Any:
    return json_of("fit", data, "-t", "dear", *FEATURES, "-o", path, *QUICK, *options)


def test_the_same_command_gives_the_same_model(data: Path, tmp_path: Path) -> None:
    settings = ("--members", "linear,quick_boosting", "--cv", "2", "--time-limit", "0", *FEATURES)
    for name in ("a", "b"):
        done("fit", data, "-t", "dear", "-o", tmp_path / name, *settings)

    one, other = (done("predict", tmp_path / name, data, "--proba") for name in ("a", "b"))
    assert one == other
    assert library.load(tmp_path / "a").random_state == 0
    done("fit", data, "-t", "dear", "-o", tmp_path / "c", *settings, "--seed", "5")
    assert done("predict", tmp_path / "c", data, "--proba") != one


def test_a_threshold_is_stored_shown_and_used(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.coterie"
    shown = fit(data, path, "--threshold", "0.9")
    assert shown["threshold"] == 0.9
    rows = read_csv(done("predict", path, data, "--proba"))
    assert [row["prediction"] for row in rows] == [
        "yes" if float(row["proba_yes"]) >= 0.9 else "no" for row in rows
    ]
    plain = read_csv(done("predict", path, data))
    assert [row["prediction"] for row in plain] == [row["prediction"] for row in rows]

    text = done("fit", data, "-t", "dear", *FEATURES, "-o", path, *QUICK, "--threshold", "f1")
    assert "threshold: 'yes' from a probability of" in text
    report = tmp_path / "report.txt"
    done("report", path, data, "-o", report)
    assert "Threshold: 'yes' from a probability of" in report.read_text()


def test_evaluate_decides_as_predict_does(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.coterie"
    fit(data, path, "--threshold", "0.97")
    rows = read_csv(done("predict", path, data))
    right = np.mean([row["prediction"] == own["dear"] for row, own in zip(rows, flats(), strict=True)])
    assert json_of("evaluate", path, data)["scores"]["accuracy"] == pytest.approx(right)


def test_costs_the_positive_class_and_weights_of_classes(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.coterie"
    careful = fit(data, path, "--cost", "yes=50")["threshold"]
    assert careful < fit(data, path, "--cost", "no=50", "--cost", "yes=1")["threshold"]
    fit(data, path, "--threshold", "f1", "--positive", "no")
    assert library.load(path).decision_.positive == 0
    fit(data, path, "--class-weight", "balanced")
    assert library.load(path).class_weight == "balanced"
    fit(data, path, "--class-weight", "yes=3,no=1")
    assert library.load(path).class_weight == {"yes": 3.0, "no": 1.0}


@pytest.mark.parametrize(
    ("options", "parameter", "message"),
    [
        (("--threshold", "f3"), "--threshold", "expected one of f1, balanced_accuracy"),
        (("--threshold", "2"), "--threshold", "a number between 0 and 1"),
        (("--cost", "yes"), "--cost", "expected CLASS=NUMBER"),
        (("--cost", "maybe=2"), "--cost", "the target has no such class"),
        (("--cost", "yes=2", "--threshold", "f1"), "--cost", "choose one"),
        (("--positive", "ye"), "--positive", "Did you mean 'yes'?"),
        (("--class-weight", "yes=-1"), "--class-weight", "at least 0"),
    ],
)
def test_wrong_options_say_what_is_right(
    data: Path, tmp_path: Path, options: tuple[str, ...], parameter: str, message: str
) -> None:
    error = error_of(2, "fit", data, "-t", "dear", "-o", tmp_path / "m", *FEATURES, *QUICK, *options)
    assert error.parameter == parameter
    assert message in str(error)


def test_numbers_have_no_thresholds(data: Path, tmp_path: Path) -> None:
    text = failed(2, "fit", data, "-t", "rent", "-o", tmp_path / "m", *QUICK, "--threshold", "f1")
    assert "--task classification" in text


def test_a_fit_is_repeated_from_its_file(data: Path, tmp_path: Path) -> None:
    first, again = tmp_path / "a.coterie", tmp_path / "b.coterie"
    limited = ("--members", "quick_boosting,linear", "--cv", "3", "--time-limit", "30", "--seed", "7")
    done("fit", data, "-t", "dear", *FEATURES, "--where", "area > 30", "-o", first, *limited)

    done("fit", data, "-t", "dear", "--repeat", first, "-o", again)

    assert done("predict", first, data, "--proba") == done("predict", again, data, "--proba")
    assert library.inspect_file(again).notes == library.inspect_file(first).notes
    held = json.loads(library.inspect_file(first).notes["roles"])
    assert held == {
        "groups": None,
        "time": None,
        "weight": None,
        "drop": ["flat", "rent"],
        "where": "area > 30",
    }
    done("fit", data, "-t", "dear", "--repeat", again, "-o", first)  # and so can the repeated one


@pytest.mark.parametrize(
    "options",
    [("--seed", "1"), ("--cv", "3"), ("--drop", "town"), ("--threshold", "f1"), ("--time-limit", "5")],
)
def test_a_repeated_fit_has_its_own_settings(
    classifier: Path, data: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    error = error_of(2, "fit", data, "-t", "dear", "--repeat", classifier, "-o", tmp_path / "m", *options)
    assert error.parameter == options[0]
    assert f"Leave {options[0]} out." in str(error)


def test_what_cannot_be_repeated(classifier: Path, data: Path, tmp_path: Path) -> None:
    forest = library.RandomForestClassifier(2, random_state=0).fit({"a": [1.0, 2.0, 3.0]}, ["x", "y", "x"])
    library.save(forest, tmp_path / "f.coterie", notes={"target": "dear"})
    assert "holds no fit that can be repeated" in failed(
        5, "fit", data, "-t", "dear", "--repeat", tmp_path / "f.coterie", "-o", tmp_path / "m"
    )
    text = failed(2, "fit", data, "-t", "rent", "--repeat", classifier, "-o", tmp_path / "m")
    assert "was fitted to 'dear'" in text
    library.save(library.load(classifier), tmp_path / "g.coterie", notes={"target": "dear", "roles": "[]"})
    assert "cannot be read" in failed(
        5, "fit", data, "-t", "dear", "--repeat", tmp_path / "g.coterie", "-o", tmp_path / "m"
    )


def test_training_rows_are_noticed(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.coterie"
    settings = ("--members", "quick_boosting", "--cv", "3", "--time-limit", "0")
    done("fit", data, "-t", "dear", *FEATURES, "-o", path, *settings)
    seen = coterie("evaluate", path, data)
    new = coterie("evaluate", path, write_csv(tmp_path / "new.csv", flats(80, seed=1)))

    assert "fitted to these very rows" in seen.stderr
    assert seen.stdout.splitlines()[0].split()[-1] == "out_of_fold"
    assert "very rows" not in new.stderr
    assert json_of("evaluate", path, data)["training_rows"] is True
    assert json_of("evaluate", path, data)["out_of_sample"]["accuracy"] < 1


def test_scores_have_intervals_and_a_baseline(classifier: Path, regressor: Path, tmp_path: Path) -> None:
    new = write_csv(tmp_path / "new.csv", flats(60, seed=1))
    for model in (classifier, regressor):
        shown = json_of("evaluate", model, new)
        for name, value in shown["scores"].items():
            low, high = shown["intervals"][name]
            assert low <= value <= high
            assert low < high
        assert set(shown["baseline"]) == set(shown["scores"])
    assert shown["baseline"]["r2"] == pytest.approx(0.0)
    assert done("evaluate", classifier, new).splitlines()[0].split() == [
        "metric",
        "value",
        "low",
        "high",
        "baseline",
    ]


def test_a_baseline_knows_no_column() -> None:
    truth = np.array(["a"] * 6 + ["b"] * 4)
    proba = np.column_stack([np.linspace(0.9, 0.1, 10), np.linspace(0.1, 0.9, 10)])
    inputs = MetricInputs(truth, truth, None, proba, np.array(["a", "b"]))
    found = baseline_of(inputs)

    assert found["accuracy"] == 0.6
    assert found["auc"] == 0.5
    assert found["log_loss"] == pytest.approx(-0.6 * np.log(0.6) - 0.4 * np.log(0.4))
    numbers = baseline_of(MetricInputs(np.array([0.0, 0.0, 9.0]), np.zeros(3)))
    assert (numbers["rmse"], numbers["mae"]) == (pytest.approx(np.sqrt(18)), 3.0)


def test_intervals_of_many_rows_are_narrow() -> None:
    rng = np.random.default_rng(0)
    widths = []
    for n_rows in (400, 25_000):
        truth = rng.normal(size=n_rows)
        inputs = MetricInputs(truth, truth + rng.normal(size=n_rows))
        low, high = intervals(inputs)["rmse"]
        assert low < 1 < high or n_rows > 400
        widths.append(high - low)
    assert widths[0] / widths[1] == pytest.approx(np.sqrt(62.5), rel=0.4)


def test_an_export_says_how_the_committee_decides(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.coterie"
    fit(data, path, "--threshold", "0.3")
    shown = coterie("export", path, "--to", "onnx", "-o", tmp_path / "m.onnx", "--distil", data)
    assert shown.exit_code == 0, shown.stderr
    assert (
        "Decide as the committee does by: threshold: 'yes' from a probability of 0.3, as given"
        in shown.stderr
    )
