"""Where the bytes of a model are read from: a file, or an object with `read`. Files are replaced whole, or not."""

import mmap
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO, Self

from coterie._params import in_short
from coterie.errors import InvalidType, ModelFileError


class ByteSource:
    """Bytes by their places.

    Parameters
    ----------
    file : an unbuffered file that can seek, or bytes
    name : what messages call it
    size : in bytes
    """

    def __init__(self, file: BinaryIO | bytes, name: str, size: int) -> None:
        self._file = file
        self.name = name
        self.size = size

    def read(self, begin: int, n_bytes: int) -> bytes:
        held = bytearray(n_bytes)
        self.read_into(begin, memoryview(held))
        return bytes(held)

    def read_into(self, begin: int, out: memoryview) -> None:
        """Fill `out` with the bytes from `begin` on."""
        if isinstance(self._file, bytes):
            part = self._file[begin : begin + len(out)]
            out[: len(part)] = part
            done = len(part)
        else:
            self._file.seek(begin)
            done = 0
            while done < len(out):
                n_now = self._file.readinto(out[done:])  # type: ignore[attr-defined]
                if not n_now:
                    break
                done += n_now
        if done < len(out):
            raise ModelFileError(f"{self.name} became shorter while it was read.")

    def mapped(self) -> mmap.mmap:
        """All bytes, which stay in the file until they are read. A write changes a copy."""
        if isinstance(self._file, bytes):
            raise InvalidType("mmap=True needs the path of a file, since only files can be mapped.")
        return mmap.mmap(self._file.fileno(), self.size, access=mmap.ACCESS_COPY)

    def close(self) -> None:
        if not isinstance(self._file, bytes):
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def opened(path: Any) -> ByteSource:
    """The source of a path, or of an object that is open for reading bytes."""
    if isinstance(path, str | os.PathLike):
        return _opened_path(path)
    if not hasattr(path, "read"):
        raise InvalidType(
            f"path={in_short(path)}: expected the path of a file, or an object that is open for reading bytes."
        )
    data = path.read()
    if not isinstance(data, bytes):
        raise InvalidType(f"path: {in_short(path)} is open for text; open the file with mode 'rb'.")
    return ByteSource(data, "The file", len(data))


def _opened_path(path: str | os.PathLike[str]) -> ByteSource:
    name = os.fspath(path)
    about = os.stat(name)
    if stat.S_ISDIR(about.st_mode):
        raise ModelFileError(f"{name} is a folder; a model is one file.")
    if not stat.S_ISREG(about.st_mode):
        raise ModelFileError(f"{name} is no ordinary file.")
    file = open(name, "rb", buffering=0)  # noqa: SIM115  (closed by the source)
    return ByteSource(file, str(name), os.fstat(file.fileno()).st_size)


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
