"""Which files a name on the command line stands for, and how they are written."""

import glob
import gzip
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from coterie.cli.errors import DATA, CommandError, data_error, guessed, listed, usage_error

FileFormat = Literal["csv", "parquet", "json"]
_FORMATS: dict[str, FileFormat] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}
_DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class DataFiles:
    """Files of one format.

    Attributes
    ----------
    name : what messages call them
    delimiter : between the fields of a CSV file
    """

    name: str
    paths: tuple[str, ...]
    format: FileFormat
    delimiter: str = ","


@contextmanager
def find_files(data: Sequence[str]) -> Iterator[DataFiles]:
    """The files that names, patterns or `-` stand for; the standard input is a file as long as this is open."""
    if "-" in data:
        if len(data) > 1:
            raise usage_error(
                "`-` reads the standard input; it cannot stand beside other files.", "DATA", list(data)
            )
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "input")
            with open(path, "wb") as file:
                _copy_input(file)
            yield _described("the standard input", (path,))
        return
    paths = tuple(path for name in data for path in _paths_of(name))
    label = data[0] if len(paths) == 1 else f"{data[0]} ({len(paths)} files)"
    yield _described(label, paths)


def _copy_input(file: IO[bytes]) -> None:
    if sys.stdin.isatty():
        raise usage_error("`-` reads a table from the standard input, and nothing is sent to it.", "DATA")
    while part := sys.stdin.buffer.read(1 << 20):
        file.write(part)


def _paths_of(name: str) -> list[str]:
    if "://" in name:
        raise usage_error(
            f"{name}: files are read from this machine alone.", "DATA", name, hint="Download it first."
        )
    if os.path.isdir(name):
        raise data_error(
            f"{name} is a folder.",
            "DATA",
            name,
            hint=f"To read the files in it: '{os.path.join(name, '*.csv')}'.",
        )
    if os.path.exists(name):
        return [name]
    matches = sorted(path for path in glob.glob(name, recursive=True) if os.path.isfile(path))
    if matches:
        return matches
    if glob.has_magic(name):
        raise data_error(f"No file matches the pattern '{name}'.", "DATA", name, hint=_inside(name))
    check_exists(name, DATA)
    raise AssertionError("a file appeared")


def check_exists(name: str, code: int) -> None:
    """Refuse a file that is not there, with a hint of what is in the folder."""
    if not os.path.exists(name):
        raise CommandError(
            f"There is no file '{name}'.", code, parameter="FILE", received=name, hint=_inside(name)
        )


def _inside(name: str) -> str | None:
    """What the folder holds that may have been meant."""
    folder, base = os.path.split(name)
    if folder and not os.path.isdir(folder):
        return f"There is no folder '{folder}' either."
    try:
        names = sorted(each for each in os.listdir(folder or ".") if not each.startswith("."))
    except OSError:
        return None
    guess = guessed(base, names)
    if guess is not None:
        return guess
    alike = [each for each in names if Path(each).suffix == Path(base).suffix]
    where = f"'{folder}'" if folder else "This folder"
    return f"{where} holds {listed(alike or names)}." if names else f"{where} is empty."


def _described(label: str, paths: tuple[str, ...]) -> DataFiles:
    formats = {path: _format_of(path) for path in paths}
    if len(set(formats.values())) > 1:
        raise data_error(
            f"{label}: files of one format are read at a time; these are {listed(paths)}.",
            "DATA",
            list(paths),
        )
    if not any(os.path.getsize(path) for path in paths):
        raise data_error(f"{label} is empty.", "DATA", label)
    delimiter = _delimiter_of(paths[0], label) if formats[paths[0]] == "csv" else ","
    return DataFiles(label, paths, formats[paths[0]], delimiter)


def _format_of(path: str) -> FileFormat:
    """By its ending, and if that is unknown by its first bytes."""
    endings = Path(path).suffixes
    if endings and endings[-1] == ".gz":
        endings.pop()
    if endings and endings[-1].lower() in _FORMATS:
        return _FORMATS[endings[-1].lower()]
    with open(path, "rb") as file:
        start = file.read(1024)
    if start.startswith(b"PAR1"):
        return "parquet"
    return "json" if start.lstrip()[:1] in (b"{", b"[") else "csv"


def text_of(path: str) -> IO[str]:
    """A file of text, compressed or not, open for reading."""
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    opened = gzip.open if packed else open
    return opened(path, "rt", encoding="utf-8-sig", errors="replace", newline="")


def _delimiter_of(path: str, label: str) -> str:
    """What separates the names of the columns: the commonest of four marks in the first line."""
    if ".tsv" in Path(path).suffixes:
        return "\t"
    with text_of(path) as file:
        first = file.readline(1 << 20)
    if "\0" in first:
        raise data_error(
            f"{label} is no text, so it is no CSV file.",
            "DATA",
            label,
            hint="Known are CSV, TSV, Parquet and JSON.",
        )
    return max(_DELIMITERS, key=first.count)
