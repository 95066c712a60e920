"""`checkpoint=`: where a fit keeps what it has done so far, and how often; and the registry of who writes it.

Files know every class of coterie, so they are above all of them, and a fit, below, must not import them. The
registry is here, at the bottom: `coterie.files` registers its folders when it is imported, at the latest by the first
fit that has a checkpoint.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from coterie._params import Integer, Real, in_short
from coterie.errors import InvalidParameter

_SECONDS = 30.0


@dataclass(frozen=True)
class Checkpoint:
    """Where a fit keeps what it has done so far, and how often.

    A path alone, `checkpoint="folder"`, is `Checkpoint("folder")`. A file is written when either number is reached, and
    when the fit ends, well or not; it holds what is new since the last one.

    Parameters
    ----------
    folder : str or path
        A folder for one fit; it is made if it is not there. Files in it that are not of a checkpoint are left alone.
    every : int or None
        Rounds, trees or members between two files. Default None: only the time between files counts, by `seconds`.
    seconds : float or None
        Seconds between two files. Default 30.0: a fit loses half a minute at most, and writing costs next to nothing.
    trusted : list of str
        Types of other libraries' members that may be read, as in `coterie.load`. The types of the learners that the
        estimator is given are trusted anyway. Default (): a file may come from anywhere, so foreign types are named
        by you.

    Examples
    --------
    >>> from coterie import Checkpoint
    >>> Checkpoint("run-1", every=100)
    Checkpoint(folder='run-1', every=100, seconds=30.0, trusted=())
    """

    folder: str | os.PathLike[str]
    every: int | None = None
    seconds: float | None = _SECONDS
    trusted: Sequence[str] = ()

    @property
    def path(self) -> Path:
        return Path(self.folder)


class CheckpointLike:
    """What `checkpoint` may be, apart from None."""

    def accepts(self, value: object) -> bool:
        if not isinstance(value, Checkpoint):
            return _is_path(value)
        every, seconds = value.every, value.seconds
        return (
            _is_path(value.folder)
            and (every is None or Integer(1).accepts(every))
            and (seconds is None or Real(0).accepts(seconds))
            and isinstance(value.trusted, list | tuple)
            and all(isinstance(name, str) for name in value.trusted)
        )

    def describe(self) -> str:
        return (
            "the path of a folder or a coterie.Checkpoint with every >= 1 and seconds >= 0, or None for either, and "
            "trusted, a list of names of types"
        )


def _is_path(value: object) -> bool:
    return isinstance(value, str | os.PathLike) and bool(os.fspath(value))


def checkpoint_of(given: Any, every: int | None = None) -> Checkpoint:
    """The checkpoint that a parameter stands for; `every` goes with a path."""
    return given if isinstance(given, Checkpoint) else Checkpoint(given, every)


@dataclass(frozen=True)
class FoundPart:
    """A file of a checkpoint by its name.

    Attributes
    ----------
    run : text that the files of one fit share
    number : 1 for the first part
    kind : "part", which adds to those before it, or "state", which replaces those before it
    """

    run: str
    number: int
    kind: str


class Folder(Protocol):
    """The files of checkpoints in a folder; any other file is none of its business."""

    def found(self) -> list[FoundPart]:
        """What is there, in the order of the numbers."""

    def read(self, part: FoundPart, trusted: Sequence[str]) -> dict[str, Any]:
        """What a file holds; raises ModelFileError if it is damaged."""

    def write(self, part: FoundPart, held: dict[str, Any]) -> None:
        """Write a file, whole or not at all."""

    def remove(self, parts: Sequence[FoundPart]) -> None:
        """Remove files that are still there."""

    def check(self, held: Any) -> None:
        """Raise ModelFileError if a file could not hold this."""

    def can_keep(self, held: Any, trusted: Sequence[str]) -> bool:
        """Whether a file could hold this, and could be read with these types trusted."""


_MAKERS: list[Callable[[Path], Folder]] = []


def provide_folders(make: Callable[[Path], Folder]) -> None:
    """Register who writes checkpoints; the last one does."""
    _MAKERS.append(make)


def folder_at(path: Path) -> Folder:
    """The folder of a checkpoint, made if it is not there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidParameter(
            f"checkpoint={in_short(str(path))} cannot be a folder: {error.strerror or error}.",
            parameter="checkpoint",
            received=path,
            allowed="a folder that can be written to",
            hint="Choose a place that can be written to.",
        ) from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise InvalidParameter(
            f"checkpoint={in_short(str(path))} is a folder that this process may not write to.",
            parameter="checkpoint",
            received=path,
            allowed="a folder that can be written to",
            hint="Choose another one.",
        )
    if not _MAKERS:
        import_module("coterie.files")  # which provides one
    return _MAKERS[-1](path)
