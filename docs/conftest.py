"""Pages are tested as doctests, each in a folder of its own; what extends Sphinx is tested in tests/docs."""

from pathlib import Path

import pytest

collect_ignore = ["conf.py", "extensions", "reference/generated"]


@pytest.fixture(autouse=True)
def _files_are_written_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages save models and reports as a reader would, under plain names."""
    monkeypatch.chdir(tmp_path)
