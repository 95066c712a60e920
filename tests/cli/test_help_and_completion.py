"""`--help` in groups with examples that work, silence by `--quiet`, and completion as shells use it."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from coterie.cli.app import app
from coterie.cli.help_pages import EXAMPLES
from coterie.cli.writing import check_model_place
from tests.helpers.command import QUICK, coterie, done, error_of, failed, json_of

COMMANDS = get_command(app).commands  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_whose_options_exist(command: str) -> None:
    text = done(command, "--help")
    known = {option for param in COMMANDS[command].params for option in param.opts}

    assert "\nExamples:\n" in text
    for line in EXAMPLES[command]:
        assert f"  {line}\n" in text
        program, name, *words = shlex.split(line)
        assert (program, name) == ("coterie", command)
        assert {word for word in words if re.match(r"--?[a-z]", word)} <= known


def test_options_are_in_groups() -> None:
    lines = done("fit", "--help").splitlines()
    headings = [line for line in lines if re.fullmatch(r"[A-Z][a-z ]+:", line)]

    assert headings == [
        "Arguments:", "Reading the table:", "Columns:", "Members and limits:", "Decisions between classes:",
        "Tables larger than memory:", "Options:", "Examples:",
    ]  # fmt: skip
    place = {line.split()[0]: number for number, line in enumerate(lines) if line.startswith("  --")}
    assert lines.index("Columns:") < place["--groups"] < lines.index("Members and limits:")


def test_quiet_leaves_nothing_but_what_was_asked_for(data: Path, regressor: Path, tmp_path: Path) -> None:
    fitted = coterie("fit", data, "-t", "rent", "-o", tmp_path / "m", "-q", *QUICK)
    for result in (fitted, coterie("evaluate", regressor, data, "-q"), coterie("inspect", regressor, "-q")):
        assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert json_of("evaluate", regressor, data, "-q")["n_rows"] == 80
    assert len(done("predict", regressor, data, "-q").splitlines()) == 81
    assert coterie("evaluate", regressor, data, "-q", "--fail-under", "r2=1").exit_code == 4


def test_predictions_are_one_document_or_one_object_a_line(regressor: Path, data: Path) -> None:
    document = json.loads(done("predict", regressor, data, "--json"))
    lines = [json.loads(line) for line in done("predict", regressor, data, "--json-lines").splitlines()]

    assert document == lines
    assert len(document) == 80
    assert set(document[0]) == {"prediction"}
    assert error_of(2, "predict", regressor, data, "--json", "--json-lines").parameter == "--json-lines"


def test_columns_to_drop_may_have_commas_between(data: Path, tmp_path: Path) -> None:
    apart = json_of(
        "fit", data, "-t", "rent", "--drop", "dear", "--drop", "flat", "-o", tmp_path / "a", *QUICK
    )
    together = json_of("fit", data, "-t", "rent", "--drop", "dear, flat", "-o", tmp_path / "b", *QUICK)

    assert (apart["n_columns"], apart["score"]) == (together["n_columns"], together["score"])
    assert failed(3, "fit", data, "-t", "rent", "--drop", "dear,fat", "-o", tmp_path / "c", *QUICK)


def test_a_column_whose_name_has_a_comma_can_be_dropped(tmp_path: Path) -> None:
    lines = ['"a,b",c,y', *(f"{number},{number % 7},{number * 2.5}" for number in range(60))]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert json_of("fit", path, "-t", "y", "--drop", "a,b", "-o", tmp_path / "m", *QUICK)["n_columns"] == 1


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("m.pkl", "pickles run code"),
        ("m.onnx", "coterie export"),
        ("m.html", "--report"),
        ("m.csv", "predict"),
    ],
)
def test_a_model_file_is_not_called_something_else(
    name: str, reason: str, data: Path, tmp_path: Path
) -> None:
    error = error_of(2, "fit", data, "-t", "rent", "-o", tmp_path / name, *QUICK)

    assert (error.parameter, error.received) == ("--output", tmp_path / name)
    assert reason in str(error)
    assert str(tmp_path / "m.coterie") in str(error)
    check_model_place(tmp_path / "m.coterie")
    check_model_place(tmp_path / "m")


def test_inspect_has_no_private_names(classifier: Path) -> None:
    text = done("inspect", classifier)

    assert "_" not in text.replace(str(classifier), "")
    assert "columns: 4: area (number), town (category), let (date), lift (flag)" in text
    assert "columns left out: flat, rent" in text
    assert "{" not in text


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("aera > 3", "there is no column 'aera'. Did you mean 'area'?"),
        ('area > "x"', "texts are in single quotes: 'x'"),
        ("area >", "something is missing at its end"),
        ("area > 3 AND", "something is missing at its end"),
        ("town = 'Oslo", "a quote or a bracket is open"),
        ("area 3", "it goes wrong at '3'"),
        ("foo(area) > 3", "there is no function 'foo'"),
        ("area = 'many'", "'many' is compared with a column of numbers or dates"),
    ],
)
def test_a_wrong_condition_is_explained_without_words_of_sql(
    condition: str, words: str, regressor: Path, data: Path
) -> None:
    text = failed(2, "predict", regressor, data, "--where", condition)

    assert words in text
    assert not re.search(r"FROM clause|Binder|Parser|syntax error|INT64|DOUBLE", text)


def test_verbose_lists_members_that_were_not_fitted(data: Path, tmp_path: Path) -> None:
    settings = ("--members", "linear,forest", "--max-members", "1", "--cv", "2", "--time-limit", "0")
    short = done("fit", data, "-t", "rent", "-o", tmp_path / "m", *settings)
    long = done("fit", data, "-t", "rent", "-o", tmp_path / "m", *settings, "--verbose")

    assert "1 member not fitted: max_members=1 were fitted." in short
    assert "forest not fitted: max_members=1 were fitted" in long
    assert "forest not fitted" not in short


def test_events_of_members_are_in_the_json(data: Path, tmp_path: Path) -> None:
    settings = ("--members", "linear,forest", "--cv", "2", "--time-limit", "0", "-o", tmp_path / "m")
    shown = json_of("fit", data, "-t", "rent", "--drop", "dear", *settings)

    assert [event["member"] for event in shown["events"]] == ["linear", "forest"]
    scores = {row["name"]: row["score"] for row in shown["leaderboard"]}
    assert {event["member"]: event["rmse"] for event in shown["events"]} == pytest.approx(
        {name: scores[name] for name in ("linear", "forest")}
    )


# A program of the name that completion scripts call.
PROGRAM = f'#!/bin/sh\nexec "{sys.executable}" -c "from coterie.cli.main import run; run()" "$@"\n'


@pytest.fixture(scope="module")
def path_with_coterie(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "coterie"
    program.write_text(PROGRAM, encoding="utf-8")
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


# What each shell makes of `coterie f` and `coterie fit --thr` when tab is pressed, a line each.
COMPLETED = {
    "bash": """
        eval "$(_COTERIE_COMPLETE=source_bash coterie)"
        complete -p coterie > /dev/null || exit 1
        COMP_WORDS=(coterie f); COMP_CWORD=1; _coterie_completion coterie; echo "coterie ${COMPREPLY[@]}"
        COMP_WORDS=(coterie fit --thr); COMP_CWORD=2; _coterie_completion coterie; echo "coterie fit ${COMPREPLY[@]}"
    """,
    # A shell of its own at a terminal, in which keys are pressed; control-X writes down the line as it stands.
    "zsh": r"""
        zmodload zsh/zpty
        out=$(mktemp)
        wait_for() { repeat 1200; do (( $(wc -l < $out) >= $1 )) && return; sleep 0.1; done; exit 1 }
        zpty shell "OUT=$out zsh -f -i"
        zpty -w shell 'autoload -Uz compinit; compinit -u -D; eval "$(_COTERIE_COMPLETE=source_zsh coterie)"'
        zpty -w shell 'show() { print -r -- "$BUFFER" >> $OUT; BUFFER=; }; zle -N show; bindkey "^X" show'
        zpty -w shell 'print ready >> $OUT'
        wait_for 1
        zpty -w -n shell $'coterie f\t\x18'
        wait_for 2
        zpty -w -n shell $'coterie fit --thr\t\x18'
        wait_for 3
        zpty -d shell
        tail -n 2 $out
        rm $out
    """,
    "fish": """
        _COTERIE_COMPLETE=source_fish coterie | source
        echo coterie (complete -C 'coterie f' | string match -r '^[^[:space:]]+')
        echo coterie fit (complete -C 'coterie fit --thr' | string match -r '^[^[:space:]]+')
    """,
}


@pytest.mark.slow  # programs are started; a shell that is not here is named among what was skipped
@pytest.mark.parametrize("shell", COMPLETED)
def test_shells_complete_commands_and_options(shell: str, path_with_coterie: str, tmp_path: Path) -> None:
    if sys.platform == "win32" or shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} on this machine, so its completion was not tried")
    environment = os.environ | {"PATH": path_with_coterie, "HOME": str(tmp_path), "TERM": "dumb"}
    done = subprocess.run(
        [shell, "-c", COMPLETED[shell]],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert [line.strip() for line in done.stdout.splitlines()] == ["coterie fit", "coterie fit --threshold"]
