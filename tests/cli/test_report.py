"""`coterie report` and what it is told: drift, commands, rows; and decisions by a threshold that it names."""

from pathlib import Path

from tests.helpers.command import done, error_of, flats, json_of, write_csv


def test_a_report_knows_the_rows_of_the_fit_and_how_to_repeat_it(classifier: Path, tmp_path: Path) -> None:
    later = [{**row, "area": 400.0} for row in flats(seed=1)]
    data = write_csv(tmp_path / "later.csv", later)

    found = json_of("report", classifier, data, "--new", "-o", tmp_path / "report.txt")

    drift = next(own for own in found["sections"] if own["key"] == "drift")
    [table] = [block for block in drift["blocks"] if block["kind"] == "table"]
    assert [row[0] for row in table["rows"] if row[3] == "changed"] == ["area"]
    code = found["sections"][-1]["blocks"][-1]
    lines = code["text"].split("\n")
    assert code["language"] == "shell"
    assert lines[0] == f"coterie fit TRAINING_DATA --target dear --repeat {classifier} -o again.coterie"
    assert lines[1] == f"coterie report {classifier} {data} --output {tmp_path / 'report.txt'} --new"
    assert lines[2] == f"coterie predict {classifier} {data} -o predictions.csv"


def test_a_report_without_rows_names_nobody(regressor: Path, data: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.md"
    done("report", regressor, data, "--no-rows", "-o", page)

    assert "Worst rows: single rows are not shown" in page.read_text(encoding="utf-8")


def test_scores_of_a_report_are_those_of_evaluate(
    classifier: Path, regressor: Path, data: Path, tmp_path: Path
) -> None:
    for model in (classifier, regressor):
        evaluated = json_of("evaluate", model, data)
        found = json_of("report", model, data, "-o", tmp_path / "report.txt")

        scores = {name: own["value"] for name, own in found["scores"].items()}
        ends = {name: [own["low"], own["high"]] for name, own in found["scores"].items()}
        assert scores == evaluated["scores"]
        assert ends == evaluated["intervals"]


def test_a_threshold_decides_anew(classifier: Path, data: Path) -> None:
    few, many = (
        done("predict", classifier, data, "--threshold", threshold).split().count("yes")
        for threshold in (0.9, 0.1)
    )
    with_proba = done("predict", classifier, data, "--threshold", 0.3, "--proba").splitlines()
    positive = [line.split(",")[0] == "yes" for line in with_proba[1:]]

    assert few < many
    assert positive == [float(line.split(",")[-1]) >= 0.3 for line in with_proba[1:]]


def test_a_threshold_is_for_probabilities_of_two_classes(
    classifier: Path, regressor: Path, data: Path
) -> None:
    error = error_of(2, "predict", regressor, data, "--threshold", 0.5)
    assert (error.parameter, error.allowed) == ("--threshold", "a model of two classes with probabilities")
    assert error_of(2, "predict", classifier, data, "--threshold", 1.5).allowed == "a number between 0 and 1"
