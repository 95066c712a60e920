"""The commands and the lines of README run as they are printed."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.repository import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
FEWEST_SECONDS = 1


def block_of(heading: str, language: str = "") -> str:
    """The first block of code below a heading."""
    below = README.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    found = re.search(rf"```{language}\n(.*?)```", below, re.DOTALL)
    assert found is not None
    return found[1]


def write_houses(folder: Path) -> None:
    """The files that `make demo` writes, by its own functions."""
    maker = (
        "import sys; sys.path.insert(0, sys.argv[1]); import demo; from pathlib import Path; "
        "from coterie.datasets import make_messy; demo.FOLDER = Path(); "
        "table, y = make_messy(4000, random_state=0); demo.write_parts('houses', table, 'verdict', y)"
    )
    subprocess.run([sys.executable, "-c", maker, str(ROOT / "examples")], cwd=folder, check=True, timeout=60)


def run_commands(folder: Path, commands: list[str]) -> None:
    for command in commands:
        program, *words = shlex.split(command)
        assert program == "coterie"
        done = subprocess.run(
            [sys.executable, "-m", "coterie", *words],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, (command, done.stderr)


@pytest.mark.parametrize(
    "as_printed", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["one second", "as printed"]
)
def test_the_commands_run_and_pass_their_own_gate(as_printed: bool, tmp_path: Path) -> None:
    write_houses(tmp_path)
    text = block_of("On files")
    if not as_printed:
        text = re.sub(r"--time-limit \d+", f"--time-limit {FEWEST_SECONDS}", text)

    run_commands(tmp_path, text.strip().splitlines())

    assert "--fail-under" in text
    made = {file.name for file in tmp_path.iterdir()}
    assert {"houses.coterie", "answers.csv", "houses.html"} <= made
    n_answers = len((tmp_path / "answers.csv").read_text(encoding="utf-8").splitlines()) - 1
    assert n_answers == len((tmp_path / "houses_new.csv").read_text(encoding="utf-8").splitlines()) - 1


@pytest.mark.parametrize(
    "as_printed", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["one second", "as printed"]
)
def test_the_lines_of_python_run(as_printed: bool, tmp_path: Path) -> None:
    text = block_of("In Python", "python")
    if not as_printed:
        text = re.sub(r"time_limit=\d+", f"time_limit={FEWEST_SECONDS}", text)

    done = subprocess.run(
        [sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )

    assert done.returncode == 0, done.stderr
    assert "committee" in done.stdout
    assert {"report.html", "model.coterie"} <= {file.name for file in tmp_path.iterdir()}
