"""The repository is the same on every machine: no file speaks of one."""

import re
from pathlib import Path

import pytest

from tests.helpers.repository import ROOT, files

# Homes, working folders of a single machine, and package indexes that only one network can reach.
TRACE = re.compile(
    r"(?<![\w.~})-])/(?:root|work|home|Users)/[\w.]|\b[A-Z]:\\Users\\|\bfile:[/]{3}|--(?:extra-)?index[-]url\b|--find[-]links\b"
)


def text_of(file: Path) -> str | None:
    """The file as text, or None if it is not text."""
    try:
        return (ROOT / file).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


@pytest.mark.parametrize("trace", [f"/{'root'}/x", f"a /{'home'}/ann", f'"/{"work"}/x"', f"file:{'//'}/x"])
def test_a_trace_is_recognised(trace: str) -> None:
    assert TRACE.search(trace)


@pytest.mark.parametrize(
    "innocent", [f"tests/{'root'}/x", f"https://a.org/{'home'}/x", "/usr/bin/env", f"../{'work'}/x"]
)
def test_an_ordinary_path_is_not_a_trace(innocent: str) -> None:
    assert not TRACE.search(innocent)


def test_no_file_speaks_of_one_machine() -> None:
    traces = [
        f"{file}:{number}: {line.strip()}"
        for file in files()
        for number, line in enumerate((text_of(file) or "").splitlines(), start=1)
        if TRACE.search(line)
    ]
    assert not traces, "\n".join(["These lines name a place on one machine:", *traces])
