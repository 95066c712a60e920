"""A file that is replaced whole or not at all."""

import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path

from coterie.errors import ModelFileError


def replace_file(path: str | os.PathLike[str], chunks: Iterable[bytes | memoryview]) -> None:
    """Write a new file beside the old one, wait until it is on the disk, and let it take the old one's place.

    Whoever reads the path sees the old file or the new one, never a part, even if the process is killed. An error, a
    full disk for example, leaves the old file as it was.
    """
    target = Path(os.path.realpath(path))
    _check_place(target)
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            os.chmod(part, stat.S_IMODE(target.stat().st_mode))
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _settle(target.parent)


def _check_place(target: Path) -> None:
    if target.is_dir():
        raise ModelFileError(f"{target} is a folder; a model is saved as one file.")
    if target.exists() and not target.is_file():
        raise ModelFileError(f"{target} is no ordinary file, so it cannot be replaced by one.")


def _settle(folder: Path) -> None:
    """Wait until the folder knows the new name; not every system lets folders be opened."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)
