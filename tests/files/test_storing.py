"""Saving replaces a file whole or not at all."""

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import coterie
from coterie.files.source import replace_file


def fitted(seed: int, n_trees: int = 3) -> coterie.RandomForestRegressor:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3))
    return coterie.RandomForestRegressor(n_estimators=n_trees, random_state=seed).fit(X, X[:, 0])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "model"
    coterie.save(fitted(0), path)
    first = path.read_bytes()
    coterie.save(fitted(1), path)

    assert path.read_bytes() != first
    assert names(tmp_path) == ["model"]


def test_an_error_while_saving_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(b"old")

    def chunks() -> Iterator[bytes]:
        yield b"new"
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        replace_file(path, chunks())
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["model"]


def test_a_model_that_cannot_be_stored_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "model"
    coterie.save(fitted(0), path)
    first = path.read_bytes()

    with pytest.raises(coterie.errors.ModelFileError, match="oob_score"):
        coterie.save(coterie.RandomForestRegressor(oob_score=max), path)
    assert path.read_bytes() == first
    assert names(tmp_path) == ["model"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
def test_a_full_disk_is_an_error() -> None:
    with pytest.raises(OSError, match="No space left"), open("/dev/full", "wb", buffering=0) as file:
        coterie.save(fitted(0), file)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="for root every folder can be written to"
)
def test_a_folder_that_cannot_be_written_to_is_an_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError):
            coterie.save(fitted(0), tmp_path / "model")
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.skipif(sys.platform == "win32", reason="rights of files are other ones there")
def test_the_rights_of_the_file_stay(tmp_path: Path) -> None:
    path = tmp_path / "model"
    coterie.save(fitted(0), path)
    path.chmod(0o640)
    coterie.save(fitted(1), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "model", tmp_path / "link"
    coterie.save(fitted(0), target)
    link.symlink_to(target)
    coterie.save(fitted(1), link)

    assert link.is_symlink()
    assert np.array_equal(coterie.load(target).predict(np.zeros((1, 3))), fitted(1).predict(np.zeros((1, 3))))


def test_what_is_no_ordinary_file_is_not_replaced(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        assert sys.platform == "win32"
        return
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(coterie.errors.ModelFileError, match="no ordinary file"):
        coterie.save(fitted(0), tmp_path / "pipe")
    with pytest.raises(coterie.errors.ModelFileError, match="no ordinary file"):
        coterie.load(tmp_path / "pipe")


_SAVES_FOREVER = """
import sys
import numpy as np
import coterie

rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 5))
models = [coterie.RandomForestRegressor(n_estimators=n, random_state=n).fit(X, X[:, 0]) for n in (5, 20)]
print("ready", flush=True)
while True:
    for model in models:
        coterie.save(model, sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="processes end in another way there")
def test_a_process_that_is_killed_while_saving_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "model"
    rng = np.random.default_rng(0)
    found = set()
    for _ in range(50):
        with subprocess.Popen(
            [sys.executable, "-c", _SAVES_FOREVER, str(path)], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(0.02 + rng.random() * 0.2)
            process.send_signal(signal.SIGKILL)
        if path.exists():
            found.add(len(coterie.load(path).forest_))
    assert found == {5, 20}
