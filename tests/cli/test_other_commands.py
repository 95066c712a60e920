"""`compare`, `inspect`, `export`, `doctor`, and the program itself."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import treelite

import coterie as library
from coterie import _engine
from coterie.cli import doctor as doctor_module
from tests.helpers.command import coterie, done, error_of, failed, json_of
from tests.helpers.extras import EXTRAS_OF_USERS, packages_of

FEW = ("--models", "dummy,tree", "--cv", "2", "--seed", "0")


def test_a_comparison_is_a_table_and_a_sentence(data: Path) -> None:
    result = coterie("compare", data, "-t", "rent", "--drop", "dear", *FEW)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["tree", "dummy"]
    assert "tree is" in lines[-1]
    assert re.search(r"  dummy, \d+\.\d s, rmse ", result.stderr)
    assert "s left" in result.stderr
    without = coterie("compare", data, "-t", "rent", *FEW)
    n_columns = [re.search(r" rows, (\d+) columns", shown.stderr) for shown in (result, without)]
    assert [None if found is None else int(found[1]) for found in n_columns] == [5, 6]


def test_a_comparison_as_json(data: Path) -> None:
    shown = json_of("compare", data, "-t", "dear", "--drop", "rent", *FEW)
    assert {row["name"] for row in shown["models"]} == {"tree", "dummy"}
    assert shown["metric"] == "log_loss"
    assert shown["conclusion"].startswith(f"{shown['models'][0]['name']} is")


def test_a_wrong_model_is_guessed(data: Path) -> None:
    error = error_of(2, "compare", data, "-t", "rent", "--models", "dummy,tre")
    assert (error.parameter, error.received) == ("--models", "tre")
    assert (error.hint or "").startswith("Did you mean 'tree'?")


def test_a_file_is_described_without_loading_it(classifier: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coterie.files.model_files.Reader", None)
    text = done("inspect", classifier)
    assert text.startswith("CommitteeClassifier, ")
    assert "columns: 4: area (number), town (category), let (date), lift (flag)" in text
    assert "classes: no, yes" in text
    assert "target: dear (classification)" in text
    shown = json_of("inspect", classifier)
    assert shown["notes"]["target"] == "dear"
    assert shown["feature_names"] == ["area", "town", "let", "lift"]


def test_what_is_no_model_file_is_refused(data: Path, tmp_path: Path) -> None:
    assert "is no model of coterie.save" in failed(5, "inspect", data)
    assert "There is no file" in failed(5, "inspect", tmp_path / "m.coterie")


@pytest.fixture
def forest(tmp_path: Path) -> Path:
    X = {"area": np.arange(30.0), "age": np.arange(30.0)[::-1].copy()}
    library.save(library.RandomForestRegressor(5, random_state=0).fit(X, X["area"]), tmp_path / "forest")
    return tmp_path / "forest"


def test_a_model_of_trees_is_exported(forest: Path, tmp_path: Path) -> None:
    shown = json_of("export", forest, "--to", "onnx", "-o", tmp_path / "m.onnx")
    assert shown["bytes"] == (tmp_path / "m.onnx").stat().st_size
    onnx.checker.check_model(onnx.load(tmp_path / "m.onnx"))
    done("export", forest, "--to", "treelite", "-o", tmp_path / "m.tl")
    assert treelite.Model.deserialize(tmp_path / "m.tl").num_tree == 5
    assert len(list(tmp_path.iterdir())) == 3


def test_a_committee_is_distilled_before_it_is_exported(regressor: Path, data: Path, tmp_path: Path) -> None:
    arguments = ("export", regressor, "--to", "onnx", "-o", tmp_path / "m.onnx")
    error = error_of(2, *arguments)
    assert error.parameter == "--distil"
    assert error.hint == "Distil it to one model first, with a table that has its columns: --distil DATA"
    assert json_of(*arguments, "--distil", data)["model"] == "GradientBoostingRegressor"
    onnx.checker.check_model(onnx.load(tmp_path / "m.onnx"))


def test_exports_that_cannot_be_are_refused(forest: Path, data: Path, tmp_path: Path) -> None:
    error = error_of(2, "export", forest, "--to", "pmml", "-o", tmp_path / "m")
    assert (error.parameter, error.received, error.allowed) == ("--to", "pmml", "onnx or treelite")
    error = error_of(2, "export", forest, "--to", "onnx", "-o", tmp_path / "m", "--distil", data)
    assert (error.parameter, error.received) == ("--distil", str(data))


def test_the_doctor_looks_at_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_module, "_version", lambda name: None if name in ("shap", "polars") else "1.0")
    text = done("doctor")
    assert "engine: " in text
    assert "shap         not installed: pip install 'coterie[explain]'" in text
    assert "polars       not installed: pip install 'polars'" in text
    assert text.endswith("A small fit, saved and loaded: works.\n")
    shown = json_of("doctor")
    assert (shown["works"], shown["error"]) == (True, None)
    assert shown["missing"] == {"shap": "pip install 'coterie[explain]'", "polars": "pip install 'polars'"}
    assert shown["engine"]["revision"] == _engine.REVISION
    assert shown["engine"]["instruction_set"] == _engine.instruction_set()
    assert shown["engine"]["threads"] == _engine.available_threads()


def test_the_doctor_knows_every_optional_package_of_the_metadata() -> None:
    known = {(name, extra) for name, (extra, _) in doctor_module._OPTIONAL.items() if extra is not None}
    assert {name for name, _ in known} == {name for extra in EXTRAS_OF_USERS for name in packages_of(extra)}
    assert all(name in packages_of(extra) for name, extra in known)


def test_the_doctor_says_what_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise OSError("no such library")

    monkeypatch.setattr(doctor_module, "save", broken)
    result = coterie("doctor")
    assert result.exit_code == 1
    assert "FAILED: OSError: no such library." in result.stdout


def test_a_command_that_is_not_there_is_a_wrong_use() -> None:
    assert "No such command 'fot'" in failed(2, "fot")


def test_the_program_knows_its_version() -> None:
    assert done("--version") == f"coterie {doctor_module.version('coterie')}\n"


def test_help_names_every_command_and_exit_code() -> None:
    text = done("--help")
    for word in (
        "fit",
        "predict",
        "evaluate",
        "compare",
        "report",
        "inspect",
        "export",
        "doctor",
        "4 quality gate",
    ):
        assert word in text


def test_a_long_list_of_columns_ends_with_how_many_are_left(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(30, 14))
    named = {f"c{number}": X[:, number] for number in range(14)}
    library.save(library.RandomForestRegressor(2, random_state=0).fit(named, X[:, 0]), tmp_path / "forest")

    text = done("inspect", tmp_path / "forest")

    assert "columns: 14: " in text
    assert "c11 and 2 more" in text
