"""Memory that lies in files: arrays over mapped files of a folder, for tables whose bins do not fit in memory.

A file is readable by its owner alone, has all its blocks before it is mapped, so that a full disk is an error and no
crash, and loses its name at once where the system allows that: it is gone with the last array over it, however the
process ends. Where names stay until files are closed (Windows), the next fit in the folder removes what a crash left.
"""

import errno
import mmap
import os
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np

from coterie._typing import AnyArray
from coterie.errors import InvalidInput

_PREFIX, _SUFFIX = "coterie-", ".spill"
_BLOCK = bytes(1 << 20)


class SpillFolder:
    """A folder for large arrays; its files are removed with the arrays, and those of a crash here and now."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.is_dir():
            raise InvalidInput(
                f"spill={str(self.path)!r} is no folder.",
                parameter="spill",
                received=str(self.path),
                allowed="a folder that exists, on a disk with room",
            )
        for left in self.path.glob(f"{_PREFIX}*{_SUFFIX}"):
            with suppress(OSError):  # somebody's own, or in use on a system that keeps names
                left.unlink()

    def empty(self, n: int, dtype: np.dtype[np.generic] | type = np.uint8) -> AnyArray:
        """An array of n values in a file of its own."""
        n_bytes = max(1, n * np.dtype(dtype).itemsize)
        with self._named_errors(n_bytes):
            descriptor, name = tempfile.mkstemp(prefix=_PREFIX, suffix=_SUFFIX, dir=self.path)  # mode 0600
            try:
                with suppress(OSError):
                    os.unlink(name)
                _reserve(descriptor, n_bytes)
                mapped = mmap.mmap(descriptor, n_bytes)
            finally:
                os.close(descriptor)
        return np.frombuffer(mapped, dtype=dtype, count=n)

    def _named_errors(self, n_bytes: int) -> "_SpillErrors":
        return _SpillErrors(self.path, n_bytes)


class _SpillErrors:
    def __init__(self, path: Path, n_bytes: int) -> None:
        self._path, self._n_bytes = path, n_bytes

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, OSError):
            return
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            what = f"has no room for {self._n_bytes / 1e9:.2f} GB of bins: the disk is full"
            hint = "Give a folder on a disk with more room."
        else:
            what, hint = f"cannot be written to: {error.strerror}", "Give a folder that you may write to."
        raise InvalidInput(
            f"spill={str(self._path)!r} {what}.",
            parameter="spill",
            received=str(self._path),
            allowed=f"a folder with room for {self._n_bytes} bytes",
            hint=hint,
        ) from error


def _reserve(descriptor: int, n_bytes: int) -> None:
    """All blocks of the file: a page that finds no room later would end the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, n_bytes)
        return
    for begin in range(0, n_bytes, len(_BLOCK)):
        os.write(descriptor, _BLOCK[: n_bytes - begin])
