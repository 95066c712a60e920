"""`coterie evaluate`: scores that scikit-learn gives too, and gates on them."""

from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics

from coterie.cli.evaluate import MetricInputs, measured
from tests.helpers.command import coterie, done, error_of, failed, flats, json_of, read_csv, write_csv

NEW = flats(60, seed=1)


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "new.csv", NEW)


def test_scores_of_classes_are_those_of_scikit_learn(classifier: Path, new: Path) -> None:
    rows = read_csv(done("predict", classifier, new, "--proba"))
    truth = np.array([row["dear"] for row in NEW])
    predicted = np.array([row["prediction"] for row in rows])
    chance = np.array([float(row["proba_yes"]) for row in rows])
    shown = json_of("evaluate", classifier, new)

    assert shown["target"] == "dear"
    assert shown["n_rows"] == 60
    assert shown["scores"] == pytest.approx(
        {
            "accuracy": metrics.accuracy_score(truth, predicted),
            "balanced_accuracy": metrics.balanced_accuracy_score(truth, predicted),
            "f1": metrics.f1_score(truth, predicted, pos_label="yes"),
            "auc": metrics.roc_auc_score(truth == "yes", chance),
            "average_precision": metrics.average_precision_score(truth == "yes", chance),
            "log_loss": metrics.log_loss(truth == "yes", chance),
            "brier": metrics.brier_score_loss(truth == "yes", chance),
        }
    )


def test_scores_of_numbers_are_those_of_scikit_learn(regressor: Path, new: Path) -> None:
    predicted = [float(row["prediction"]) for row in read_csv(done("predict", regressor, new))]
    truth = [row["rent"] for row in NEW]
    weight = [row["flat"] for row in NEW]
    shown = json_of("evaluate", regressor, new, "--weight", "flat")

    assert shown["scores"]["rmse"] == pytest.approx(
        metrics.root_mean_squared_error(truth, predicted, sample_weight=weight)
    )
    assert shown["scores"]["r2"] == pytest.approx(metrics.r2_score(truth, predicted, sample_weight=weight))
    assert list(shown["scores"]) == ["r2", "rmse", "mae", "median_error"]


def test_many_classes_have_scores_too() -> None:
    proba = np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6], [0.5, 0.3, 0.2]])
    classes = np.array(["a", "b", "c"])
    found = measured(
        MetricInputs(np.array(["a", "b", "c", "b"]), classes[proba.argmax(axis=1)], None, proba, classes)
    )
    truth = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]])

    assert found["accuracy"] == 0.75
    assert found["brier"] == pytest.approx(((proba - truth) ** 2).sum(axis=1).mean())
    assert 0.8 < found["auc"] < 1


def test_scores_are_lines_for_people(regressor: Path, new: Path) -> None:
    result = coterie("evaluate", regressor, new)
    assert result.stdout.splitlines()[1].startswith("r2 ↑  ")
    assert result.stderr.startswith(
        f"60 rows of {new}, target 'rent'; low and high: a 95 % confidence interval"
    )


def test_gates_decide_the_exit_code(regressor: Path, new: Path) -> None:
    rmse = json_of("evaluate", regressor, new)["scores"]["rmse"]
    done("evaluate", regressor, new, "--fail-under", "r2=0.1", "--fail-over", f"rmse={rmse + 0.1}")
    done("evaluate", regressor, new, "--fail-over", f"rmse={rmse}")
    error = error_of(4, "evaluate", regressor, new, "--fail-under", "r2=0.999", "--fail-over", "rmse=0.01")
    assert isinstance(error.received, dict)
    assert list(error.received) == ["r2", "rmse"]
    assert error.received["rmse"] == rmse
    assert "under 0.999; rmse is " in error.message


def test_scores_are_printed_even_if_a_gate_is_closed(classifier: Path, new: Path) -> None:
    result = coterie("evaluate", classifier, new, "--fail-under", "auc=1.1")
    assert result.exit_code == 4
    assert result.stdout.splitlines()[1].startswith("accuracy")


# The exit code, an option and its value; then what the error names, and what it advises.
CASES: dict[str, tuple[int, str, str, object, str]] = {
    "a loss has no lower bound": (2, "--fail-under", "rmse=3", "rmse", "--fail-over"),
    "a score has no upper bound": (2, "--fail-over", "r2=3", "r2", "--fail-under"),
    "a score of classes": (
        2,
        "--fail-under",
        "auc=0.8",
        "auc",
        "It is for classes, and the model predicts numbers.",
    ),
    "a misspelt name": (2, "--fail-over", "rmes=1", "rmes", "Did you mean 'rmse'? Known are r2, rmse"),
    "no number": (2, "--fail-under", "r2", "r2", "a name and a number, such as auc=0.8"),
    "no number after the mark": (2, "--fail-over", "rmse=low", "rmse=low", "such as rmse=10"),
    "a target that is not there": (3, "--target", "rint", "rint", "Did you mean 'rent'?"),
    "a weight that is not there": (3, "--weight", "weights", "weights", "Its columns are 'flat'"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_scored_is_refused_with_advice(case: str, regressor: Path, new: Path) -> None:
    code, option, value, received, advice = CASES[case]
    error = error_of(code, "evaluate", regressor, new, option, value)

    assert (error.parameter, error.received) == (option, received)
    assert advice in f"{error.allowed} {error.hint}"


def test_texts_are_no_truth_of_numbers(regressor: Path, new: Path) -> None:
    error = error_of(3, "evaluate", regressor, new, "--target", "town")

    assert (error.parameter, error.received, error.allowed) == ("town", "Rome", "numbers")
    assert "in line 2" in error.message


def test_classes_that_the_model_never_saw_are_named(classifier: Path, tmp_path: Path) -> None:
    rows = [row | {"dear": "perhaps" if number == 3 else row["dear"]} for number, row in enumerate(NEW)]
    error = error_of(3, "evaluate", classifier, write_csv(tmp_path / "t.csv", rows))

    assert (error.parameter, error.received) == ("--target", ["perhaps"])
    assert "It knows 'no', 'yes'." in error.message


def test_a_truth_with_holes_is_refused(classifier: Path, tmp_path: Path) -> None:
    rows = [row | {"dear": None if number == 3 else row["dear"]} for number, row in enumerate(NEW)]
    error = error_of(3, "evaluate", classifier, write_csv(tmp_path / "t.csv", rows))

    assert (error.parameter, error.received) == ("--target", "dear")
    assert "is missing in 1 of 60 rows" in error.message
    assert "the first is row 4" in error.message


def test_a_gate_on_what_cannot_be_computed_is_an_error(classifier: Path, new: Path) -> None:
    arguments = ("evaluate", classifier, new, "--where", "dear = 'yes'", "--fail-under", "auc=0.5")
    error = error_of(3, *arguments)

    assert (error.parameter, error.received) == ("--fail-under", "auc")
    assert "warning" not in failed(3, *arguments)


def test_a_model_that_notes_no_target_needs_the_option(new: Path, tmp_path: Path) -> None:
    import coterie as library

    library.save(
        library.DecisionTreeRegressor().fit({"flat": np.arange(5)}, np.arange(5.0)), tmp_path / "tree"
    )
    error = error_of(2, "evaluate", tmp_path / "tree", new)
    assert (error.parameter, error.hint) == ("--target", "Name it: --target")
    assert "r2" in done("evaluate", tmp_path / "tree", new, "--target", "rent")
