"""`coterie predict`: predictions in the order of the rows, in every format, and what differs from the fit."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import coterie as library
from tests.helpers.command import coterie, done, error_of, failed, flats, read_csv, write_csv

NEW = flats(30, seed=1)


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "new.csv", NEW)


def changed(path: Path, **values: Any) -> Path:
    """The new flats with other values: of all rows, or of the one that a pair names."""
    rows = [dict(row) for row in NEW]
    for name, value in values.items():
        for number, row in enumerate(rows):
            if not isinstance(value, tuple):
                row[name] = value
            elif value[0] == number:
                row[name] = value[1]
    return write_csv(path, rows)


def test_predictions_are_those_of_the_model(classifier: Path, new: Path) -> None:
    rows = read_csv(done("predict", classifier, new, "--id", "flat", "--proba"))
    model = library.load(classifier)
    table = {
        "area": np.array([row["area"] if row["area"] is not None else np.nan for row in NEW]),
        "town": np.array([row["town"] for row in NEW], dtype=object),
        "let": np.array([row["let"] for row in NEW], dtype="M8[D]"),
        "lift": np.array([row["lift"] == "true" for row in NEW]),
    }

    assert [row["flat"] for row in rows] == [str(row["flat"]) for row in NEW]
    assert [row["prediction"] for row in rows] == model.predict(table).tolist()
    chances = [[float(row["proba_no"]), float(row["proba_yes"])] for row in rows]
    assert np.array_equal(chances, model.predict_proba(table))


def test_labels_are_written_as_in_the_table(classifier: Path, new: Path) -> None:
    assert {row["prediction"] for row in read_csv(done("predict", classifier, new))} == {"yes", "no"}


def test_intervals_hold_the_prediction(regressor: Path, new: Path) -> None:
    rows = read_csv(done("predict", regressor, new, "--interval", "0.9"))
    assert all(float(row["low"]) < float(row["prediction"]) < float(row["high"]) for row in rows)


def test_every_format_of_the_table_gives_the_same(classifier: Path, new: Path, tmp_path: Path) -> None:
    expected = done("predict", classifier, new)
    with duckdb.connect() as connection:
        for ending, form in (("parquet", "parquet"), ("json", "json, array true"), ("ndjson", "json")):
            connection.execute(f"COPY (FROM '{new}') TO '{tmp_path}/new.{ending}' (FORMAT {form})")
    write_csv(tmp_path / "new.tsv", NEW, delimiter="\t")
    write_csv(tmp_path / "semicolons.csv", NEW, delimiter=";")
    write_csv(tmp_path / "odd [1].csv", NEW)
    names = ("new.parquet", "new.json", "new.ndjson", "new.tsv", "semicolons.csv", "odd [1].csv")
    for name in names:
        assert done("predict", classifier, tmp_path / name) == expected, name
    assert done("predict", classifier, "-", given=new.read_text()) == expected
    assert done("predict", classifier, "-", given=(tmp_path / "new.ndjson").read_text()) == expected


def test_patterns_and_several_files_are_one_table(classifier: Path, new: Path, tmp_path: Path) -> None:
    expected = done("predict", classifier, new)
    folder = tmp_path / "parts"
    folder.mkdir()
    write_csv(folder / "a.csv", NEW[:10])
    # Columns in another order: they are known by name.
    write_csv(folder / "b.csv", [dict(reversed(row.items())) for row in NEW[10:]])
    assert done("predict", classifier, folder / "*.csv") == expected
    assert done("predict", classifier, folder / "a.csv", folder / "b.csv") == expected


def predictions_in(path: Path) -> list[list[Any]]:
    """Rows of a file: the id, the date and the label as text, then probabilities."""
    kinds = ", all_varchar = true" if path.suffix in (".csv", ".tsv") else ""
    reader = {"csv": "read_csv", "tsv": "read_csv", "parquet": "read_parquet"}.get(
        path.suffix[1:], "read_json"
    )
    with duckdb.connect() as connection:
        rows = connection.sql(f"FROM {reader}('{path}'{kinds})").fetchall()
    return [[int(row[0]), str(row[1]), row[2], *map(float, row[3:])] for row in rows]


def test_every_format_of_predictions_holds_the_same(classifier: Path, new: Path, tmp_path: Path) -> None:
    arguments = ("predict", classifier, new, "--id", "flat", "--id", "let", "--proba")
    lines = [json.loads(line) for line in done(*arguments, "--json-lines").splitlines()]
    assert lines[0]["let"] == NEW[0]["let"]
    for ending in ("csv", "tsv", "parquet", "json", "ndjson"):
        path = tmp_path / f"out.{ending}"
        result = coterie(*arguments, "-o", path)
        assert result.stdout == ""
        assert result.stderr == f"30 predictions are in {path}.\n"
        assert predictions_in(path) == [list(line.values()) for line in lines], ending
    assert len(list(tmp_path.iterdir())) == 6, "no part is left"


def test_columns_are_read_as_in_the_fit(classifier: Path, tmp_path: Path) -> None:
    """A column that happens to hold no value, or digits alone, in these rows."""
    empty = changed(tmp_path / "empty.csv", area=None, let=None)
    assert len(read_csv(done("predict", classifier, empty))) == 30
    digits = changed(tmp_path / "digits.csv", town=7)
    unknown = changed(tmp_path / "unknown.csv", town="nowhere")
    assert done("predict", classifier, digits, "--proba") == done("predict", classifier, unknown, "--proba")


def test_a_model_without_names_takes_columns_in_order(tmp_path: Path) -> None:
    X = np.arange(20.0).reshape(10, 2)
    library.save(library.DecisionTreeRegressor().fit(X, X[:, 0]), tmp_path / "tree")
    table = write_csv(tmp_path / "t.csv", [{"row": n, "a": X[n, 0], "b": X[n, 1]} for n in range(10)])

    rows = read_csv(done("predict", tmp_path / "tree", table, "--id", "row"))
    assert [float(row["prediction"]) for row in rows] == X[:, 0].tolist()
    text = failed(3, "predict", tmp_path / "tree", table)
    assert "was fitted to 2 columns without names" in text
    assert "has 3" in text


WRONG: dict[str, tuple[dict[str, Any], list[str], str]] = {
    "a renamed column": ({"area": "AREA"}, ["area"], "'area' may be called 'AREA' there: rename it back."),
    "a lost column": ({"town": None}, ["town"], "add it with empty values"),
}


@pytest.mark.parametrize("case", WRONG)
def test_columns_that_differ_are_named(case: str, classifier: Path, tmp_path: Path) -> None:
    names, missing, advice = WRONG[case]
    rows = [{names.get(key, key): value for key, value in row.items() if names.get(key, key)} for row in NEW]
    error = error_of(3, "predict", classifier, write_csv(tmp_path / "t.csv", rows))

    assert error.received == missing
    assert advice in (error.hint or "")


VALUES: dict[str, tuple[dict[str, Any], tuple[str, str, str], str]] = {
    "a text among numbers": ({"area": (4, "huge")}, ("area", "huge", "numbers"), "in line 6"),
    "a text among dates": ({"let": (0, "soon")}, ("let", "soon", "dates"), "in line 2"),
    "dates for numbers": ({"area": "2020-01-01"}, ("area", "2020-01-01", "numbers"), "in line 2"),
}


@pytest.mark.parametrize("case", VALUES)
def test_values_of_another_kind_are_named(case: str, classifier: Path, tmp_path: Path) -> None:
    values, fields, words = VALUES[case]
    error = error_of(3, "predict", classifier, changed(tmp_path / "t.csv", **values))

    assert (error.parameter, error.received, error.allowed) == fields
    assert words in error.message


def test_outputs_that_a_model_does_not_have_are_refused(
    classifier: Path, regressor: Path, new: Path, tmp_path: Path
) -> None:
    cases = [
        ((classifier, "--interval", "0.9"), "--interval", "For classes there is --proba."),
        ((regressor, "--proba"), "--proba", "For numbers there is --interval 0.9."),
        ((regressor, "--interval", "90"), "--interval", "a share between 0 and 1"),
        ((regressor, "-o", tmp_path / "out.xlsx"), "--output", "a name that ends in .csv or"),
        (
            (regressor, "-o", tmp_path / "out.csv", "--json"),
            "--json",
            "with -o the ending of the file decides",
        ),
    ]
    for (model, *options), parameter, words in cases:
        error = error_of(2, "predict", model, new, *options)
        assert error.parameter == parameter
        assert words in str(error)
    error = error_of(3, "predict", regressor, new, "--id", "flta")
    assert (error.parameter, error.received, error.hint) == ("--id", "flta", "Did you mean 'flat'?")


def test_model_files_that_cannot_be_read_are_refused(classifier: Path, new: Path, tmp_path: Path) -> None:
    whole = bytearray(classifier.read_bytes())
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    whole[-100] ^= 1
    (tmp_path / "damaged").write_bytes(whole)
    library.save(library.DecisionTreeRegressor(), tmp_path / "unfitted")

    assert "is damaged or was cut off" in failed(5, "predict", tmp_path / "cut", new)
    assert "Copy it once more, or fit it again." in failed(5, "predict", tmp_path / "damaged", new)
    assert "was not fitted" in failed(5, "predict", tmp_path / "unfitted", new)
    assert "is no model of coterie.save" in failed(5, "predict", new, new)
    assert "Did you mean 'damaged'?" in failed(5, "predict", tmp_path / "damage", new)


def test_a_full_disk_leaves_the_old_predictions(
    regressor: Path, new: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.csv"
    out.write_text("old")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    assert "no space is left on the disk" in failed(1, "predict", regressor, new, "-o", out)
    assert out.read_text() == "old"
    assert sorted(own.name for own in tmp_path.iterdir()) == ["new.csv", "out.csv"]


def program(regressor: Path, new: Path) -> list[str]:
    return [sys.executable, "-m", "coterie", "predict", str(regressor), str(new)]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a full device")
def test_a_full_standard_output_is_an_error_in_one_line(regressor: Path, new: Path) -> None:
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            program(regressor, new), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert run.returncode == 1
    assert run.stderr.startswith(
        "coterie: The standard output cannot be written: no space is left on the disk."
    )
    assert run.stderr.count("\n") == 1


def test_a_reader_who_left_is_no_reason_to_complain(regressor: Path, new: Path) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    try:
        run = subprocess.run(
            program(regressor, new), stdout=writes, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(writes)
    assert run.stderr == ""
    assert run.returncode == 141
