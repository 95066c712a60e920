"""`coterie fit`: the model file, the leaderboard, messages and progress, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

import coterie as library
from coterie.cli import fit as fit_module
from tests.helpers.command import QUICK, coterie, done, error_of, failed, flats, json_of, write_csv


def test_a_fit_leaves_a_model_and_prints_a_leaderboard(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.coterie"
    result = coterie("fit", data, "--target", "dear", "--drop", "flat", "--drop", "rent", "-o", model, *QUICK)

    assert result.exit_code == 0
    assert result.stdout.startswith("member ")
    assert "committee" in result.stdout
    assert (
        "80 rows, 4 columns (1 number, 1 category, 1 date, 1 flag); target 'dear': 2 classes" in result.stderr
    )
    assert "1 members, 2 folds; about" in result.stderr
    assert f"The model is in {model}" in result.stderr
    assert sorted(own.name for own in tmp_path.iterdir()) == ["m.coterie"], "nothing else is left"
    assert library.load(model).members_ == ["linear"]


def test_the_file_knows_the_target_and_the_kinds_of_columns(classifier: Path) -> None:
    notes = library.inspect_file(classifier).notes

    assert notes["target"] == "dear"
    assert notes["task"] == "classification"
    assert {name: own["kind"] for name, own in json.loads(notes["reading"]).items()} == {
        "area": "number",
        "town": "category",
        "let": "date",
        "lift": "flag",
        "dear": "category",
    }


def test_results_as_json_are_alone_on_the_standard_output(data: Path, tmp_path: Path) -> None:
    shown = json_of("fit", data, "-t", "rent", "--drop", "dear", "-o", tmp_path / "m", *QUICK)

    assert shown["task"] == "regression"
    assert shown["n_rows"] == 80
    assert shown["leaderboard"][0]["name"] == "committee"
    assert shown["score"] == shown["leaderboard"][0]["score"]
    assert shown["interrupted"] is False


def test_quiet_prints_nothing(data: Path, tmp_path: Path) -> None:
    result = coterie("fit", data, "-t", "rent", "-o", tmp_path / "m", "--quiet", *QUICK)
    assert result.exit_code == 0
    assert result.stderr == ""


def test_progress_is_a_line_for_each_member_if_there_is_no_terminal(data: Path, tmp_path: Path) -> None:
    settings = ("--members", "linear,forest", "--cv", "2", "--time-limit", "30")
    lines = coterie("fit", data, "-t", "rent", "-o", tmp_path / "m", *settings).stderr.splitlines()
    assert [line.split(",")[0].strip() for line in lines if line.endswith("s left")] == ["linear", "forest"]


def test_suspicious_columns_are_named(tmp_path: Path) -> None:
    rows = [
        own | {"same": 1, "copy": own["dear"], "gone": None, "leak": own["rent"] * 2 if number else None}
        for number, own in enumerate(flats(400))
    ]
    data = write_csv(tmp_path / "t.csv", rows)
    text = coterie("fit", data, "-t", "dear", "-o", tmp_path / "m", *QUICK).stderr

    assert "look at 'flat': another value in each row, as ids have." in text
    assert "look at 'same': it is the same in every row" in text
    assert "look at 'copy': a copy of the target." in text
    assert "look at 'gone': every value is missing" in text
    assert "look at 'rent', 'leak': alone it predicts the target almost perfectly." in text
    assert "'area'" not in text


def test_rows_are_in_the_order_of_time(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "m"
    settings = ("--members", "linear", "--cv", "3", "--time-limit", "0")
    done(
        "fit", data, "-t", "rent", "--time", "let", "--drop", "dear", "--drop", "flat", "-o", path, *settings
    )
    model = library.load(path)
    assert type(model.cv).__name__ == "TimeSeriesSplit"
    assert list(model.feature_names_in_) == ["area", "town", "lift"]
    assert model.n_folds_ == 3


def test_groups_and_weights_are_columns(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}
    whole = fit_module.CommitteeRegressor.fit

    def fit(self: Any, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, resume: bool) -> Any:
        seen.update(columns=list(X), weight=sample_weight, groups=groups)
        return whole(self, X, y, sample_weight, groups=groups, resume=resume)

    monkeypatch.setattr(fit_module.CommitteeRegressor, "fit", fit)
    options = ("--groups", "town", "--weight", "flat", "--drop", "dear", "--where", "area > 30")
    done("fit", data, "-t", "rent", *options, "-o", tmp_path / "m", *QUICK)

    assert seen["columns"] == ["area", "let", "lift"]
    assert set(seen["groups"]) == {"Cork", "Oslo", "Rome"}
    assert seen["weight"].min() >= 1000
    assert len(seen["weight"]) < 80


def test_an_interrupted_fit_saves_the_best_so_far(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from coterie.forests.random_forest import RandomForestRegressor

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(RandomForestRegressor, "fit", interrupted)
    path = tmp_path / "m.coterie"
    settings = ("--members", "linear,forest", "--cv", "2", "--time-limit", "0")
    text = failed(130, "fit", data, "-t", "rent", "-o", path, *settings)

    assert f"interrupted: {path} holds the committee of the 1 members that were complete." in text
    assert library.load(path).members_ == ["linear"]


def test_a_fit_that_is_interrupted_at_once_writes_nothing(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(fit_module.CommitteeRegressor, "fit", interrupted)
    text = failed(130, "fit", data, "-t", "rent", "-o", tmp_path / "m", *QUICK)
    assert "interrupted; nothing was written." in text
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_explained_and_leaves_the_old_file(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.coterie"
    path.write_bytes(b"old")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("coterie.files.source.os.fsync", full)
    text = failed(1, "fit", data, "-t", "rent", "-o", path, *QUICK)

    assert f"{path} cannot be written: no space is left on the disk. Free some" in text
    assert path.read_bytes() == b"old"
    assert [own.name for own in tmp_path.iterdir()] == ["m.coterie"]


def test_a_fit_that_was_killed_goes_on_from_its_checkpoint(data: Path, tmp_path: Path) -> None:
    folder, settings = tmp_path / "kept", ("--members", "linear,forest", "--cv", "2", "--seed", "0")
    fit = ("fit", data, "-t", "rent", "-o", tmp_path / "m", "--checkpoint", folder, *settings)
    first = json_of(*fit)
    written = {part.name: part.stat().st_mtime_ns for part in folder.iterdir()}

    again = json_of(*fit)

    assert len(written) > 1
    assert {part.name: part.stat().st_mtime_ns for part in folder.iterdir()} == written
    assert again["score"] == first["score"]
    text = failed(3, "fit", data, "-t", "dear", *fit[4:])
    assert "is the checkpoint of another fit" in text


def test_a_fit_writes_a_report(data: Path, tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    done("fit", data, "-t", "rent", "-o", tmp_path / "m", "--report", page, *QUICK)

    text = page.read_text(encoding="utf-8")
    assert f"rent in {data}" in text
    assert "the model was fitted to them" in text
    assert sorted(own.name for own in tmp_path.iterdir()) == ["m", "r.html"]


def test_a_model_gets_a_report(regressor: Path, data: Path, tmp_path: Path) -> None:
    page = tmp_path / "r.md"
    shown = json_of("report", regressor, data, "-o", page, "--title", "Flats", "--new")

    assert shown["title"] == "Flats"
    assert "was not fitted to these rows" in page.read_text(encoding="utf-8")
    assert page.read_text(encoding="utf-8").startswith("# Flats")


# The exit code and the arguments; then the option that the error names, what was given for it, and some of its text.
CASES: dict[str, tuple[int, list[str], str, object, str]] = {
    "a wrong target": (3, ["-t", "dera"], "--target", "dera", "Did you mean 'dear'?"),
    "no such column": (3, ["-t", "zzz"], "--target", "zzz", "Its columns are 'flat', 'area', 'town'"),
    "a wrong column to drop": (3, ["-t", "dear", "--drop", "twon"], "--drop", "twon", "Did you mean 'town'?"),
    "two roles": (2, ["-t", "dear", "--weight", "dear"], "--weight", "dear", "to --target and to --weight"),
    "two kinds of folds": (
        2,
        ["-t", "dear", "--groups", "town", "--time", "let"],
        "--time",
        "let",
        "choose one.",
    ),
    "holes in the target": (3, ["-t", "area"], "--target", "area", "is missing in 12 of 80 rows"),
    "a date as target": (3, ["-t", "let"], "--target", "let", "Predict a number"),
    "texts as numbers": (
        3,
        ["-t", "dear", "--task", "regression"],
        "--task",
        "regression",
        "holds texts, such as",
    ),
    "numbers as classes": (
        3,
        ["-t", "rent", "--task", "classification"],
        "--task",
        "classification",
        "numbers with fractions",
    ),
    "a wrong task": (
        2,
        ["-t", "dear", "--task", "ranking"],
        "--task",
        "ranking",
        "auto, classification or regression",
    ),
    "no column is left": (
        3,
        [
            "-t",
            "dear",
            *(own for name in ("flat", "area", "town", "let", "lift", "rent") for own in ("--drop", name)),
        ],
        "--drop",
        ["flat", "area", "town", "let", "lift", "rent"],
        "no column left to learn from",
    ),
    "one class": (3, ["-t", "dear", "--where", "dear = 'yes'"], "--target", "dear", "'yes' in every row"),
    "no row": (3, ["-t", "dear", "--where", "area > 1000"], "--where", "area > 1000", "has no rows"),
    "a wrong condition": (
        2,
        ["-t", "dear", "--where", "size > 3"],
        "--where",
        "size > 3",
        "there is no column 'size'",
    ),
    "a wrong scorer": (
        2,
        ["-t", "dear", "--scoring", "rocauc"],
        "--scoring",
        "rocauc",
        "Did you mean 'auc'?",
    ),
    "a wrong member": (
        2,
        ["-t", "dear", "--members", "forst"],
        "--members",
        "forst",
        "Did you mean 'forest'?",
    ),
    "a member twice": (
        2,
        ["-t", "dear", "--members", "forest,forest"],
        "--members",
        "forest,forest",
        "a name is given twice",
    ),
    "no threads": (2, ["-t", "dear", "--jobs", "0"], "--jobs", 0, "a number of threads"),
    "no folder": (2, ["-t", "dear", "-o", "nowhere/m"], "--output", Path("nowhere/m"), "there is no folder"),
    "a folder": (2, ["-t", "dear", "-o", "."], "--output", Path("."), "give the name of a file in it"),
    "no file": (2, ["-t", "dear", "-o", "/dev/null"], "--output", Path("/dev/null"), "is no ordinary file"),
    "a wrong report": (
        2,
        ["-t", "dear", "--report", "r.pdf"],
        "--report",
        Path("r.pdf"),
        "ends in .html or .txt or .md or .json",
    ),
}
# What typer refuses before a command begins: the arguments, and the option that is named.
USAGE = {
    "no target": ([], "Missing option '--target'"),
    "too few folds": (["-t", "dear", "--cv", "1"], "--cv"),
    "a negative time": (["-t", "dear", "--time-limit", "-1"], "--time-limit"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_fitted_is_refused_with_advice(
    case: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, arguments, parameter, received, words = CASES[case]
    error = error_of(code, "fit", data, *arguments)

    assert (error.parameter, error.received) == (parameter, received)
    assert words in str(error)
    assert not list(tmp_path.iterdir()), "nothing is written"


@pytest.mark.parametrize("case", USAGE)
def test_what_is_no_command_is_refused(
    case: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, words = USAGE[case]

    assert words in failed(2, "fit", data, *arguments)
    assert not list(tmp_path.iterdir()), "nothing is written"


def test_an_unexpected_error_is_one_line_unless_debug_is_given(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("the sky fell")

    monkeypatch.setattr(fit_module, "save", broken)
    arguments = ("fit", data, "-t", "rent", "-o", tmp_path / "m", "-q", *QUICK)
    text = failed(1, *arguments)
    assert text == (
        "coterie: something unexpected happened: RuntimeError: the sky fell. Run it again with --debug to see where.\n"
    )
    assert "Traceback" in coterie(*arguments, "--debug").stderr
