"""Which files a name stands for, their format, and what separates the fields of a CSV file."""

import csv
import glob
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from coterie.data.table_files.callers import PYTHON, Caller
from coterie.data.table_files.plain_copies import (
    COMPRESSED_ENDINGS,
    as_utf8,
    check_encoding,
    decompressed,
    encoding_of,
    without_patterns,
)
from coterie.data.table_files.suggestions import guessed, listed
from coterie.errors import InvalidInput, InvalidParameter

FileFormat = Literal["csv", "parquet", "json", "excel"]
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
    ".xlsx": "excel",
    ".xlsm": "excel",
}
KNOWN_FORMATS = "CSV, TSV, Parquet, JSON and Excel (.xlsx)"
_DELIMITERS = ",;\t|"
_MOST_LETTERS = 1 << 20  # of the first line


@dataclass(frozen=True)
class DataFiles:
    """Files of one format, as they can be read: copies of those that are compressed or not in UTF-8.

    Attributes
    ----------
    name : what messages call them
    names : what they are called by the person who gave them
    delimiter : between the fields of a CSV file
    skip : lines before the one that names the columns
    header : the names in the first line of a CSV file
    notes : what a person should know about how they are read
    caller : whose words errors use
    """

    name: str
    names: tuple[str, ...]
    paths: tuple[str, ...]
    format: FileFormat
    delimiter: str = ","
    skip: int = 0
    header: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    caller: Caller = PYTHON


@contextmanager
def find_files(
    data: Sequence[str], encoding: str | None = None, caller: Caller = PYTHON
) -> Iterator[DataFiles]:
    """The files that names, patterns or `-` stand for; copies and the standard input last as long as this is open."""
    check_encoding(encoding, caller)
    with tempfile.TemporaryDirectory() as folder:
        if "-" in data:
            if len(data) > 1:
                raise InvalidParameter(
                    "`-` reads the standard input; it cannot stand beside other files.",
                    parameter="source",
                    received=list(data),
                )
            path = os.path.join(folder, "input")
            with open(path, "wb") as file:
                _copy_input(file)
            names = ("the standard input",)
            yield _described(names[0], names, (path,), folder, encoding, caller)
            return
        paths = tuple(path for name in data for path in _paths_of(name))
        label = data[0] if len(paths) == 1 else f"{data[0]} ({len(paths)} files)"
        yield _described(label, paths, paths, folder, encoding, caller)


def _copy_input(file: IO[bytes]) -> None:
    if sys.stdin.isatty():
        raise InvalidParameter(
            "`-` reads a table from the standard input, and nothing is sent to it.", parameter="source"
        )
    while part := sys.stdin.buffer.read(1 << 20):
        file.write(part)


def _paths_of(name: str) -> list[str]:
    if "://" in name:
        raise InvalidParameter(
            f"{name}: files are read from this machine alone.",
            parameter="source",
            received=name,
            hint="Download it first.",
        )
    if os.path.isdir(name):
        raise InvalidInput(
            f"{name} is a folder.",
            parameter="source",
            received=name,
            hint=f"To read the files in it: '{os.path.join(name, '*.csv')}'.",
        )
    if os.path.exists(name):
        return [name]
    matches = sorted(path for path in glob.glob(name, recursive=True) if os.path.isfile(path))
    for path in matches:
        _check_inside(path, name)
    if matches:
        return matches
    if glob.has_magic(name):
        raise InvalidInput(
            f"No file matches the pattern '{name}'.",
            parameter="source",
            received=name,
            hint=folder_hint(name),
        )
    raise InvalidInput(
        f"There is no file '{name}'.", parameter="source", received=name, hint=folder_hint(name)
    )


def _check_inside(path: str, pattern: str) -> None:
    """Refuse a match that is a link out of the folder of the pattern."""
    fixed = pattern[: next(place for place, mark in enumerate(pattern) if mark in "*?[")]
    folder = os.path.realpath(os.path.dirname(fixed) or ".")
    real = os.path.realpath(path)
    if os.path.commonpath([folder, real]) != folder:
        raise InvalidInput(
            f"'{path}', which the pattern '{pattern}' matches, is a link to '{real}', outside of its folder.",
            parameter="source",
            received=path,
            allowed=f"files in '{folder}'",
            hint="If it is meant, give its name in full.",
        )


def folder_hint(name: str) -> str | None:
    """What the folder holds that may have been meant by the name of a file that is not there."""
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


def _described(
    label: str,
    names: tuple[str, ...],
    paths: tuple[str, ...],
    folder: str,
    encoding: str | None,
    caller: Caller,
) -> DataFiles:
    if not any(os.path.getsize(path) for path in paths):
        raise InvalidInput(f"{label} is empty.", parameter="source", received=label)
    plain = tuple(decompressed(path, folder, name) for path, name in zip(paths, names, strict=True))
    formats = [_format_of(path) for path in plain]
    if len(set(formats)) > 1:
        raise InvalidInput(
            f"{label}: files of one format are read at a time; these are {listed(names)}.",
            parameter="source",
            received=list(names),
        )
    notes: list[str] = []
    if formats[0] in ("csv", "json"):
        plain = tuple(
            _in_utf8(path, name, folder, encoding, notes, caller)
            for path, name in zip(plain, names, strict=True)
        )
    plain = tuple(without_patterns(path, folder) for path in plain)
    if not any(os.path.getsize(path) for path in plain):
        raise InvalidInput(f"{label} is empty.", parameter="source", received=label)
    if formats[0] != "csv":
        return DataFiles(label, names, plain, formats[0], notes=tuple(notes), caller=caller)
    skip, delimiter = _delimiter_of(plain[0])
    header = _header_of(plain[0], delimiter, skip)
    notes += notes_on_names(header)
    notes += _notes_on_numbers(header)
    return DataFiles(label, names, plain, "csv", delimiter, skip, header, tuple(notes), caller)


def _in_utf8(path: str, name: str, folder: str, given: str | None, notes: list[str], caller: Caller) -> str:
    found = given or encoding_of(path)
    if found is None:
        raise InvalidInput(
            f"{name} is no text, so it is no CSV file.",
            parameter="source",
            received=name,
            hint=f"Known are {KNOWN_FORMATS}.",
        )
    if given is None and found == "cp1252":
        other = caller.setting("encoding", "NAME")
        notes.append(f"{name} is not written in UTF-8 and is read as Windows-1252 ({other} changes that)")
    return as_utf8(path, found, folder, name)


def _format_of(path: str) -> FileFormat:
    """By its ending, and if that is unknown by its first bytes."""
    endings = [ending.lower() for ending in Path(path).suffixes]
    while endings and endings[-1] in COMPRESSED_ENDINGS:
        endings.pop()
    if endings and endings[-1] in _FORMATS:
        return _FORMATS[endings[-1]]
    if endings and endings[-1] in (".xls", ".ods"):
        raise InvalidInput(
            f"{path} is a workbook of a kind that cannot be read.",
            parameter="source",
            received=path,
            allowed=KNOWN_FORMATS,
            hint="Save it as .xlsx or .csv.",
        )
    with open(path, "rb") as file:
        start = file.read(1024)
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"PK\x03\x04") and b"[Content_Types]" in start:
        return "excel"
    return "json" if start.lstrip()[:1] in (b"{", b"[") else "csv"


def text_of(path: str) -> IO[str]:
    """A file of text, open for reading."""
    return open(path, encoding="utf-8-sig", errors="replace", newline="")


def _delimiter_of(path: str) -> tuple[int, str]:
    """Lines to skip, and what separates the names of the columns: the commonest of four marks outside of quotes."""
    with text_of(path) as file:
        first = file.readline(_MOST_LETTERS)
    if (
        first.lower().startswith("sep=") and len(first.strip()) == 5
    ):  # a line that Excel writes and understands
        return 1, first[4]
    if ".tsv" in Path(path).suffixes:
        return 0, "\t"
    outside = "".join(first.split('"')[::2])
    return 0, max(_DELIMITERS, key=outside.count)


def _header_of(path: str, delimiter: str, skip: int) -> tuple[str, ...]:
    with text_of(path) as file:
        for _ in range(skip):
            file.readline(_MOST_LETTERS)
        try:
            return tuple(next(csv.reader(file, delimiter=delimiter), ()))
        except csv.Error:
            return ()


def notes_on_names(header: Sequence[str]) -> Iterator[str]:
    """What a person should know about the names in the first line."""
    names = [name.strip() for name in header if name.strip()]
    twice = [name for name, count in Counter(map(str.casefold, names)).items() if count > 1]
    if twice:
        shown = [name for name in dict.fromkeys(names) if name.casefold() in twice]
        yield (
            f"the first line names {listed(shown)} more than once; later columns of that name are called "
            f"{shown[0]}_1, {shown[0]}_2 and so on"
        )


def _notes_on_numbers(header: tuple[str, ...]) -> Iterator[str]:
    names = [name.strip() for name in header if name.strip()]
    if names and all(_is_number(name) for name in names):
        yield (
            f"the first line holds numbers alone, such as {names[0]}: it is taken for the names of the columns; "
            "if there are none, add a line with names"
        )


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True
