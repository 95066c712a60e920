"""`coterie evaluate`: scores that scikit-learn gives too, and gates on them."""

from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics

from coterie.cli.metrics import Answers, measured
from tests.helpers.command import answer, coterie, done, failed, flats, read_csv, write_csv

NEW = flats(60, seed=1)


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "new.csv", NEW)


def test_scores_of_classes_are_those_of_scikit_learn(classifier: Path, new: Path) -> None:
    rows = read_csv(done("predict", classifier, new, "--proba"))
    truth = np.array([row["dear"] for row in NEW])
    said = np.array([row["prediction"] for row in rows])
    chance = np.array([float(row["proba_yes"]) for row in rows])
    shown = answer("evaluate", classifier, new)

    assert shown["target"] == "dear"
    assert shown["n_rows"] == 60
    assert shown["scores"] == pytest.approx(
        {
            "accuracy": metrics.accuracy_score(truth, said),
            "balanced_accuracy": metrics.balanced_accuracy_score(truth, said),
            "f1": metrics.f1_score(truth, said, pos_label="yes"),
            "auc": metrics.roc_auc_score(truth == "yes", chance),
            "log_loss": metrics.log_loss(truth == "yes", chance),
            "brier": metrics.brier_score_loss(truth == "yes", chance),
        }
    )


def test_scores_of_numbers_are_those_of_scikit_learn(regressor: Path, new: Path) -> None:
    said = [float(row["prediction"]) for row in read_csv(done("predict", regressor, new))]
    truth = [row["rent"] for row in NEW]
    weight = [row["flat"] for row in NEW]
    shown = answer("evaluate", regressor, new, "--weight", "flat")

    assert shown["scores"]["rmse"] == pytest.approx(
        metrics.root_mean_squared_error(truth, said, sample_weight=weight)
    )
    assert shown["scores"]["r2"] == pytest.approx(metrics.r2_score(truth, said, sample_weight=weight))
    assert list(shown["scores"]) == ["r2", "rmse", "mae", "median_error"]


def test_many_classes_have_scores_too() -> None:
    proba = np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6], [0.5, 0.3, 0.2]])
    classes = np.array(["a", "b", "c"])
    found = measured(
        Answers(np.array(["a", "b", "c", "b"]), classes[proba.argmax(axis=1)], None, proba, classes)
    )
    truth = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]])

    assert found["accuracy"] == 0.75
    assert found["brier"] == pytest.approx(((proba - truth) ** 2).sum(axis=1).mean())
    assert 0.8 < found["auc"] < 1


def test_scores_are_lines_for_people(regressor: Path, new: Path) -> None:
    result = coterie("evaluate", regressor, new)
    assert result.stdout.splitlines()[0].startswith("r2            0.")
    assert result.stderr == f"60 rows of {new}, target 'rent'\n"


def test_gates_decide_the_exit_code(regressor: Path, new: Path) -> None:
    rmse = answer("evaluate", regressor, new)["scores"]["rmse"]
    done("evaluate", regressor, new, "--fail-under", "r2=0.1", "--fail-over", f"rmse={rmse + 0.1}")
    done("evaluate", regressor, new, "--fail-over", f"rmse={rmse}")
    said = failed(4, "evaluate", regressor, new, "--fail-under", "r2=0.999", "--fail-over", "rmse=0.01")
    assert "The model is not good enough: r2 is 0." in said
    assert "under 0.999; rmse is " in said
    assert "over 0.01." in said


def test_scores_are_printed_even_if_a_gate_is_closed(classifier: Path, new: Path) -> None:
    result = coterie("evaluate", classifier, new, "--fail-under", "auc=1.1")
    assert result.exit_code == 4
    assert result.stdout.startswith("accuracy")


CASES = {
    "a loss has no lower bound": (
        2,
        "--fail-under",
        "rmse=3",
        "of rmse less is better, so its gate is --fail-over rmse=3",
    ),
    "a score has no upper bound": (
        2,
        "--fail-over",
        "r2=3",
        "of r2 more is better, so its gate is --fail-under r2=3",
    ),
    "a score of classes": (
        2,
        "--fail-under",
        "auc=0.8",
        "It is for classes, and the model predicts numbers.",
    ),
    "a misspelt name": (
        2,
        "--fail-over",
        "rmes=1",
        "Did you mean 'rmse'? Known are r2, rmse, mae, median_error.",
    ),
    "no number": (2, "--fail-under", "r2", "expected a name and a number, such as auc=0.8."),
    "no number after the mark": (2, "--fail-over", "rmse=low", "such as rmse=10."),
    "a target that is not there": (3, "--target", "rint", "(--target). Did you mean 'rent'?"),
    "a weight that is not there": (3, "--weight", "weights", "has no column 'weights' (--weight)."),
    "texts as truth": (3, "--target", "town", "holds 'Rome' in line 2; it held numbers"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_scored_is_refused_with_advice(case: str, regressor: Path, new: Path) -> None:
    code, option, value, words = CASES[case]
    assert words in failed(code, "evaluate", regressor, new, option, value)


def test_classes_that_the_model_never_saw_are_named(classifier: Path, tmp_path: Path) -> None:
    rows = [row | {"dear": "perhaps" if number == 3 else row["dear"]} for number, row in enumerate(NEW)]
    said = failed(3, "evaluate", classifier, write_csv(tmp_path / "t.csv", rows))
    assert "holds classes that" in said
    assert "never saw: 'perhaps'. It knows 'no', 'yes'." in said


def test_a_truth_with_holes_is_refused(classifier: Path, tmp_path: Path) -> None:
    rows = [row | {"dear": None if number == 3 else row["dear"]} for number, row in enumerate(NEW)]
    said = failed(3, "evaluate", classifier, write_csv(tmp_path / "t.csv", rows))
    assert "is missing in 1 of 60 rows" in said
    assert "the first is row 4" in said


def test_a_gate_on_what_cannot_be_found_is_an_error(classifier: Path, new: Path) -> None:
    said = failed(3, "evaluate", classifier, new, "--where", "dear = 'yes'", "--fail-under", "auc=0.5")
    assert "auc cannot be found from these rows" in said
    assert "warning" not in said


def test_a_model_that_names_no_target_asks_for_it(new: Path, tmp_path: Path) -> None:
    import coterie as library

    library.save(
        library.DecisionTreeRegressor().fit({"flat": np.arange(5)}, np.arange(5.0)), tmp_path / "tree"
    )
    assert "Name it: --target" in failed(2, "evaluate", tmp_path / "tree", new)
    assert "r2" in done("evaluate", tmp_path / "tree", new, "--target", "rent")
