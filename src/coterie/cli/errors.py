"""Errors of the command line, and the exit code of each."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from coterie.data.table_files.data_files import folder_hint
from coterie.errors import CoterieError, InvalidInput, InvalidParameter, ModelFileError

UNEXPECTED = 1
USAGE = 2
DATA = 3
QUALITY_GATE = 4
MODEL_FILE = 5
INTERRUPTED = 130
BROKEN_PIPE = 141  # as of any program whose output nobody reads any more
STDOUT = "The standard output"


class CommandError(CoterieError):
    """What is wrong, for people, and the exit code; `parameter` is the option, column or file that it is about.

    `lost_output` means that nothing more can be written to the standard output.
    """

    def __init__(self, message: str, code: int, *, lost_output: bool = False, **fields: Any) -> None:
        super().__init__(message, **fields)
        self.code, self.lost_output = code, lost_output

    def _fields(self) -> dict[str, Any]:
        return {**super()._fields(), "code": self.code, "lost_output": self.lost_output}


def usage_error(message: str, option: str, received: object = None, **fields: Any) -> CommandError:
    """The error of an option that cannot be used so."""
    return CommandError(message, USAGE, parameter=option, received=received, **fields)


def data_error(message: str, place: str | None, received: object = None, **fields: Any) -> CommandError:
    """The error of a table that cannot be used; `place` is the option, the column or the file that it is about."""
    return CommandError(message, DATA, parameter=place, received=received, **fields)


def exit_code_of(error: Exception) -> int:
    """The exit code of what the library raised.

    Examples
    --------
    >>> exit_code_of(InvalidInput("y has holes")), exit_code_of(ModelFileError("cut off")), exit_code_of(KeyError("x"))
    (3, 5, 1)
    """
    if isinstance(error, CommandError):
        return error.code
    kinds = ((ModelFileError, MODEL_FILE), (InvalidParameter, USAGE), (InvalidInput, DATA))
    return next((code for kind, code in kinds if isinstance(error, kind)), UNEXPECTED)


def check_exists(name: str, code: int) -> None:
    """Refuse a file that is not there, with a hint of what is in the folder."""
    if not os.path.exists(name):
        raise CommandError(
            f"There is no file '{name}'.", code, parameter="FILE", received=name, hint=folder_hint(name)
        )


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
        raise CommandError(
            f"{os.fspath(name)} cannot be written: {reason}.",
            UNEXPECTED,
            lost_output=name == STDOUT,
            parameter=os.fspath(name),
        ) from error
