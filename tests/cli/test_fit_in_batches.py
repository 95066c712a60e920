"""`coterie fit --memory`: boosting on a table that is read in batches."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coterie as library
from tests.helpers.command import coterie, done, error_of, json_of
from tests.helpers.streamed import mixed_table, pieces

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

DROPPED = ("--drop", "number", "--drop", "start", "--drop", "code", "--seed", "0", "--memory", "1GB")


@pytest.fixture
def files(tmp_path: Path) -> str:
    for number, piece in enumerate(pieces(mixed_table(1, 400), [150])):
        parquet.write_table(pa.Table.from_pandas(piece, preserve_index=False), tmp_path / f"{number}.parquet")
    return str(tmp_path / "*.parquet")


def test_a_fit_in_batches_leaves_a_model_that_predicts(files: str, tmp_path: Path) -> None:
    path = tmp_path / "m.coterie"
    result = coterie(
        "fit", files, "-t", "label", "--weight", "weight", "--groups", "team", *DROPPED, "-o", path
    )
    assert result.exit_code == 0, result.stderr
    assert (
        "400 rows, 10 columns to predict 'label' (classification), in batches, within 1.0 GB" in result.stderr
    )
    assert "400 of 400 rows, keeping features, pass 2" in result.stderr
    assert result.stdout.startswith("GradientBoostingClassifier: ")
    model: Any = library.load(path)
    assert model.classes_.tolist() == ["high", "low", "mid"]
    assert len(done("predict", path, files).splitlines()) == 401
    assert "accuracy" in done("evaluate", path, files)


def test_bins_in_files_and_json(files: str, tmp_path: Path) -> None:
    spill = tmp_path / "spill"
    spill.mkdir()
    shown = json_of(
        "fit",
        files,
        "-t",
        "number",
        "--drop",
        "label",
        "--memory",
        "1GB",
        "--spill",
        spill,
        "-o",
        tmp_path / "m",
    )
    assert shown["task"] == "regression"
    assert shown["n_rows"] == 400
    assert np.isfinite(shown["validation_loss"])
    assert list(spill.iterdir()) == []


def test_a_report_is_about_a_sample(files: str, tmp_path: Path) -> None:
    page = tmp_path / "r.txt"
    done(
        "fit",
        files,
        "-t",
        "number",
        "--drop",
        "label",
        "--memory",
        "1GB",
        "-o",
        tmp_path / "m",
        "--report",
        page,
    )
    assert "400 rows" in page.read_text()


def test_memory_that_is_too_small_is_refused(files: str, tmp_path: Path) -> None:
    error = error_of(
        3,
        "fit",
        files,
        "-t",
        "number",
        "--drop",
        "label",
        "--memory",
        "20KB",
        "-o",
        tmp_path / "m",
        "--quiet",
    )
    assert error.parameter == "--memory"
    assert "--spill FOLDER" in str(error)
    assert not (tmp_path / "m").exists()


def test_options_that_do_not_go_together_are_refused(files: str) -> None:
    assert error_of(2, "fit", files, "-t", "number", "--spill", ".").parameter == "--spill"
    assert error_of(2, "fit", files, "-t", "number", "--memory", "lots").parameter == "--memory"
    assert error_of(2, "fit", files, "-t", "number", "--effort", "quick").parameter == "--effort"
    error = error_of(2, "fit", files, "-t", "number", "--memory", "1GB", "--effort", "fast")
    assert error.parameter == "--effort"
    assert "quick, default, best" in str(error)
    error = error_of(2, "fit", files, "-t", "number", "--memory", "1GB", "--members", "forest")
    assert error.parameter == "--members"
    error = error_of(2, "fit", files, "-t", "number", "--memory", "1GB", "--cv", "3")
    assert "--cv is for committees" in str(error)


def test_a_target_with_holes_is_refused_before_it_is_read_in_batches(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n2,\n3,4\n")
    error = error_of(3, "fit", tmp_path / "a.csv", "-t", "y", "--memory", "1GB")
    assert "is missing in 1 of 3 rows" in str(error)
