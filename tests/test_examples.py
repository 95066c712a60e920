"""Every example runs as a user would run it, without a warning, and says something."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


ARGUMENTS = {"demo": ["1"]}  # seconds for each fit


@pytest.mark.parametrize(
    "example",
    # The demo starts a process for each of its commands.
    [pytest.param(path, marks=pytest.mark.slow) if path.stem == "demo" else path for path in EXAMPLES],
    ids=lambda path: path.stem,
)
def test_the_example_runs(example: Path, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", str(example), *ARGUMENTS.get(example.stem, [])],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip(), "an example shows its result"


def test_there_is_a_demo() -> None:
    assert "demo" in [example.stem for example in EXAMPLES]
