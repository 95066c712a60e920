"""Thousands of changed files: each is refused in a sentence of ours, or is a model that can be asked.

They are tried in a process of their own, which must still be there at the end. A process that is killed says which
file it had before it.
"""

import subprocess
import sys
from pathlib import Path

import pytest

import tests.helpers.ask_mutants as asked

ROOT = Path(asked.__file__).parents[2]


def outcome(kind: str, first: int, n: int) -> dict[str, int]:
    run = subprocess.run(
        [sys.executable, "-m", "tests.helpers.ask_mutants", kind, str(first), str(n)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=3600,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-300:] + run.stderr[-3000:]
    words = run.stdout.split("\n")[-2].split()
    return {"refused": int(words[0]), "accepted": int(words[1])}


def test_noise_is_always_noticed() -> None:
    found = outcome("noise", 0, 1000)

    assert found["accepted"] == 0
    assert found["refused"] > 950


def test_changes_with_the_right_checksum_do_no_harm() -> None:
    found = outcome("care", 0, 400)

    assert found["refused"] > 200
    assert found["accepted"] > 15


def test_changes_of_a_mapped_file_do_no_harm() -> None:
    found = outcome("mapped", 0, 200)

    assert found["refused"] > 75
    assert found["accepted"] > 7


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_100_000_changed_files_do_no_harm(part: int) -> None:
    noise = outcome("noise", 10_000 + 3_000 * part, 3_000)
    care = outcome("care", 100_000 + 5_000 * part, 5_000)
    mapped = outcome("mapped", 200_000 + 2_000 * part, 2_000)

    assert noise["accepted"] == 0
    assert noise["refused"] + care["refused"] + mapped["refused"] > 6_000
