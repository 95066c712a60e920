"""What can go wrong, and the exit code of each."""

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

from coterie.errors import CoterieError, InvalidInput, InvalidParameter, ModelFileError

__all__ = [
    "DATA",
    "INTERRUPTED",
    "MODEL_FILE",
    "QUALITY",
    "READER_LEFT",
    "STDOUT",
    "UNEXPECTED",
    "USAGE",
    "Problem",
    "code_of",
    "is_explained",
    "listed",
    "nearest",
    "writing",
]

UNEXPECTED = 1
USAGE = 2
DATA = 3
QUALITY = 4
MODEL_FILE = 5
INTERRUPTED = 130
STDOUT = "The standard output"
READER_LEFT = 141  # as of any program whose output nobody reads any more


class Problem(Exception):
    """A message for people, which says what to do, and the exit code.

    `lost_output` says that the standard output takes nothing any more.
    """

    def __init__(self, message: str, code: int, *, lost_output: bool = False) -> None:
        super().__init__(message)
        self.code, self.lost_output = code, lost_output


def code_of(error: Exception) -> int:
    """The exit code of what the library raised.

    Examples
    --------
    >>> code_of(InvalidInput("y has holes")), code_of(ModelFileError("cut off")), code_of(KeyError("x"))
    (3, 5, 1)
    """
    if isinstance(error, Problem):
        return error.code
    kinds = ((ModelFileError, MODEL_FILE), (InvalidParameter, USAGE), (InvalidInput, DATA))
    return next((code for kind, code in kinds if isinstance(error, kind)), UNEXPECTED)


def is_explained(error: Exception) -> bool:
    """Whether the message was written for people."""
    return isinstance(error, Problem | CoterieError)


def nearest(name: str, names: Iterable[str]) -> str:
    """A question about the name that was probably meant, or nothing.

    Examples
    --------
    >>> nearest("prise", ["price", "area"])
    " Did you mean 'price'?"
    """
    known = list(names)
    by_small = {own.lower(): own for own in known}
    near = get_close_matches(name.lower(), by_small, n=1, cutoff=0.65)
    return f" Did you mean {by_small[near[0]]!r}?" if near else ""


def listed(names: Iterable[str], most: int = 8) -> str:
    """Names in quotes, the first of them if they are many.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    all_names = [repr(name) for name in names]
    if len(all_names) <= most:
        return ", ".join(all_names)
    return f"{', '.join(all_names[:most])} and {len(all_names) - most} more"


_REASONS = {
    errno.ENOSPC: "no space is left on the disk. Free some, or write to another place with -o",
    errno.EDQUOT: "your share of the disk is used up. Free some, or write to another place with -o",
    errno.EACCES: "you may not write there. Choose another place with -o",
    errno.EPERM: "you may not write there. Choose another place with -o",
    errno.EROFS: "the disk is read-only. Choose another place with -o",
    errno.EFBIG: "the file would be larger than the disk allows. Choose another place with -o",
}


@contextmanager
def writing(name: str | os.PathLike[str]) -> Iterator[None]:
    """Explain why a file, or the standard output, cannot be written."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, f"{error.strerror or error}")
        message = f"{os.fspath(name)} cannot be written: {reason}."
        raise Problem(message, UNEXPECTED, lost_output=name == STDOUT) from error
