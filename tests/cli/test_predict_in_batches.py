"""`coterie predict --memory` and `coterie evaluate --memory`: what they say of a table at once, batch by batch."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import coterie as library
from coterie.cli import prediction_batches
from tests.helpers.command import coterie, done, error_of, flats, json_of, write_csv

pytest.importorskip("pyarrow")

ROWS = flats(700, seed=2)


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of 100 rows, so that a small table has several."""
    monkeypatch.setattr(prediction_batches, "_MOST_ROWS", 100)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("batches") / "flats.csv", ROWS)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".json", ".ndjson"])
def test_files_are_the_same(classifier: Path, table: Path, tmp_path: Path, ending: str) -> None:
    given = ("predict", classifier, table, "--id", "flat", "--id", "town", "--id", "area", "--proba")
    at_once, in_batches = tmp_path / f"a{ending}", tmp_path / f"b{ending}"
    done(*given, "-o", at_once)
    done(*given, "-o", in_batches, "--memory", "1GB")
    assert in_batches.read_text() == at_once.read_text()


def test_the_standard_output_is_the_same(regressor: Path, table: Path) -> None:
    given = ("predict", regressor, table, "--interval", "0.9", "--escape-formulas")
    assert done(*given, "--memory", "1GB") == done(*given)
    assert done(*given, "--json", "--memory", "1GB") == done(*given, "--json")


def test_formulas_are_escaped_in_columns_to_keep(regressor: Path, tmp_path: Path) -> None:
    rows = [dict(row) | {"note": "=1+1" if row["flat"] % 3 else None} for row in ROWS]
    data = write_csv(tmp_path / "notes.csv", rows)
    given = ("predict", regressor, data, "--escape-formulas", "--id", "note", "--id", "flat")
    found = done(*given, "--memory", "1GB")
    assert found == done(*given)
    assert "'=1+1,1000" in found


def test_parquet_in_parquet_out(classifier: Path, table: Path, tmp_path: Path) -> None:
    source, found = tmp_path / "in.parquet", tmp_path / "out.parquet"
    # A column to keep that is missing in the whole first batch, and days.
    duckdb.sql(
        f"COPY (SELECT *, CASE WHEN flat > 1200 THEN flat END AS late, let::DATE AS day "
        f"FROM read_csv('{table}')) TO '{source}' (FORMAT parquet)"
    )
    done("predict", classifier, source, "--id", "late", "--id", "day", "-o", found, "--memory", "1GB")
    rows = duckdb.sql(f"SELECT late, day, prediction FROM '{found}'")
    assert list(map(str, rows.types)) == ["BIGINT", "DATE", "VARCHAR"]
    held = rows.fetchall()
    assert [row[0] for row in held] == [None] * 201 + list(range(1201, 1700))
    assert str(held[0][1]) == ROWS[0]["let"]
    whole = [line["prediction"] for line in csv.DictReader(io.StringIO(done("predict", classifier, source)))]
    assert [row[2] for row in held] == whole
    text = done("predict", classifier, source, "--id", "late", "--id", "day", "--memory", "1GB")
    assert text == done("predict", classifier, source, "--id", "late", "--id", "day")


def test_a_condition_and_several_files(regressor: Path, tmp_path: Path) -> None:
    write_csv(tmp_path / "1.csv", ROWS[:250])
    write_csv(tmp_path / "2.csv", ROWS[250:])
    given = ("predict", regressor, str(tmp_path / "*.csv"), "--where", "area > 60", "--id", "flat")
    assert done(*given, "--memory", "1GB") == done(*given)


def test_a_model_of_a_matrix(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    path = tmp_path / "m.coterie"
    library.save(library.GradientBoostingRegressor(n_estimators=5).fit(X, X[:, 0]), path)
    data = write_csv(tmp_path / "x.csv", [dict(zip("abc", map(float, row), strict=True)) for row in X])
    assert done("predict", path, data, "--memory", "1GB") == done("predict", path, data)


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_the_same(classifier: Path, regressor: Path, table: Path, weighted: bool) -> None:
    for model in (classifier, regressor):
        given = ("evaluate", model, table, *(["--weight", "flat"] if weighted else []))
        whole, in_batches = json_of(*given), json_of(*given, "--memory", "1GB")
        assert in_batches == whole | {"training_rows": None, "out_of_sample": None}
        assert in_batches["n_rows"] == 700


def test_gates_hold_in_batches_too(classifier: Path, table: Path) -> None:
    result = coterie("evaluate", classifier, table, "--memory", "1GB", "--fail-under", "auc=1.01")
    assert result.exit_code == 4


def test_progress_tells_rows(classifier: Path, table: Path) -> None:
    result = coterie("predict", classifier, table, "--memory", "1GB")
    assert "700 of 700 rows" in result.stderr


def test_rows_of_errors_are_those_of_the_table(classifier: Path, regressor: Path, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [dict(row) for row in ROWS]
    rows[512]["rent"] = None
    error = error_of(
        3, "evaluate", regressor, write_csv(tmp_path / "a.csv", rows), "--memory", "1GB", "--quiet"
    )
    assert "the first is row 513" in str(error)
    rows[512]["let"] = "soon"
    error = error_of(
        3, "predict", classifier, write_csv(tmp_path / "b.csv", rows), "--memory", "1GB", "--quiet"
    )
    assert "in line 514" in str(error)
    whole = error_of(3, "predict", classifier, tmp_path / "b.csv", "--quiet")
    assert str(error) == str(whole)


def test_a_file_that_fails_half_way_leaves_nothing(classifier: Path, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [dict(row) for row in ROWS]
    rows[512]["let"] = "soon"
    found = tmp_path / "found.csv"
    error_of(
        3,
        "predict",
        classifier,
        write_csv(tmp_path / "b.csv", rows),
        "--memory",
        "1GB",
        "-o",
        found,
        "--quiet",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["b.csv"]


def test_no_rows_are_refused(classifier: Path, table: Path) -> None:
    for command in ("predict", "evaluate"):
        error = error_of(3, command, classifier, table, "--where", "flat < 0", "--memory", "1GB", "--quiet")
        assert error.parameter == "--where"


def test_memory_that_is_too_small_is_refused(classifier: Path, table: Path) -> None:
    for command in ("predict", "evaluate"):
        error = error_of(3, command, classifier, table, "--memory", "20KB", "--quiet")
        assert error.parameter == "--memory"
        assert error_of(2, command, classifier, table, "--memory", "lots").parameter == "--memory"
    error = error_of(3, "evaluate", classifier, table, "--memory", "90KB", "--quiet")
    assert "evaluate fewer rows" in str(error)


def test_json_of_one_batch_is_json(classifier: Path, table: Path, tmp_path: Path) -> None:
    found = tmp_path / "found.json"
    done("predict", classifier, table, "--where", "flat < 1003", "--memory", "1GB", "-o", found)
    assert len(json.loads(found.read_text())) == 3
