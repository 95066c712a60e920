"""Bins in mapped files: who may read them, when they are gone, and what a full disk says."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coterie
from coterie.data.streaming import spill
from coterie.data.streaming.spill import SpillFolder
from coterie.errors import InvalidInput
from tests.helpers.streamed import FEATURES, differences_of_fits, mixed_table, pieces

FRAME = mixed_table(4, 300)


def test_an_array_of_a_file_holds_what_is_written(tmp_path: Path) -> None:
    folder = SpillFolder(tmp_path)
    first, second = folder.empty(1000), folder.empty(10, np.float64)
    first[:], second[:] = np.arange(1000) % 256, np.pi
    assert first.dtype == np.uint8
    assert np.array_equal(first, np.arange(1000) % 256)
    assert np.array_equal(second, np.full(10, np.pi))


def test_files_are_for_their_owner_alone_and_lose_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes = []
    reserve = spill._reserve
    monkeypatch.setattr(
        spill, "_reserve", lambda file, n: (modes.append(os.fstat(file).st_mode & 0o777), reserve(file, n))
    )
    array = SpillFolder(tmp_path).empty(10)
    assert modes == [0o600]
    assert list(tmp_path.iterdir()) == []
    assert len(array) == 10


@pytest.mark.parametrize("options", [{"n_estimators": 4}, {"n_estimators": 4, "linear_leaves": True}])
def test_a_fit_with_bins_in_files_has_the_same_bits(tmp_path: Path, options: dict[str, Any]) -> None:
    made = []
    for folder in (None, tmp_path):
        scan = coterie.scan(pieces(FRAME, [90]), target="number", columns=FEATURES, spill=folder)
        made.append(coterie.GradientBoostingRegressor(random_state=0, **options).fit(scan))
    assert differences_of_fits(*made) == []
    assert list(tmp_path.iterdir()) == []


def test_what_a_crash_left_is_removed_at_the_next_start(tmp_path: Path) -> None:
    (tmp_path / "coterie-abc.spill").write_bytes(b"left")
    (tmp_path / "mine.txt").write_text("kept")
    SpillFolder(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_killed_fit_leaves_nothing(tmp_path: Path) -> None:
    program = f"""
        import os, signal
        import numpy as np, coterie
        from coterie.fitting.monitor import monitored
        frames = [{{"x": np.arange(500.0), "y": np.arange(500.0)}}]
        def kill(event):
            if event.step == "round":
                os.kill(os.getpid(), signal.SIGKILL)
        with monitored(kill):
            coterie.GradientBoostingRegressor(n_estimators=3).fit(
                coterie.scan(frames, target="y", spill={str(tmp_path)!r}))
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False, timeout=120)
    assert ended.returncode == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_an_error_that_says_how_much_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(spill, "_reserve", full)
    scan = coterie.scan([FRAME], target="number", columns=["wide"], spill=tmp_path)
    with pytest.raises(InvalidInput, match=r"has no room for .* GB of bins: the disk is full"):
        coterie.GradientBoostingRegressor(n_estimators=2).fit(scan)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is no folder"):
        SpillFolder(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    scan = coterie.scan([FRAME], target="number", columns=["wide"], spill=tmp_path / "file")
    with pytest.raises(InvalidInput, match="is no folder"):
        coterie.GradientBoostingRegressor(n_estimators=2).fit(scan)
