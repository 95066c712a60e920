"""Why a CSV file cannot be read, and in which line: Python's reader finds the place where duckdb's gave up."""

import csv
import re

from coterie.cli.data_files import DataFiles, text_of


def csv_error(files: DataFiles, message: str) -> str | None:
    """A sentence about the first line that is not like the others, or None if all are alike."""
    for path in files.paths:
        wrong = _line_in(path, files.delimiter)
        if wrong is not None:
            name = files.name if len(files.paths) == 1 else path
            return f"{name} cannot be read as CSV: {wrong}"
    line = re.search(r"on Line: (\d+)", message)
    if "utf-8" in message:
        place = f"line {line[1]} of it" if line else "a part of it"
        return (
            f"{files.name} is not written in UTF-8: {place} holds other bytes. Convert it, for example with "
            f"iconv -f LATIN1 -t UTF-8 {files.paths[0]} > new.csv"
        )
    return None


def _line_in(path: str, delimiter: str) -> str | None:
    with text_of(path) as file:
        lines = csv.reader(file, delimiter=delimiter, strict=True)
        begin = 1
        try:
            width = len(next(lines, []))
            for row in lines:
                begin = lines.line_num
                if row and len(row) != width:
                    fields = "1 field" if len(row) == 1 else f"{len(row)} fields"
                    return (
                        f"line {begin} has {fields}, and the first line names {width} columns (separated by "
                        f"{'tabs' if delimiter == chr(9) else repr(delimiter)}). Put quotes around texts that hold "
                        "the mark, or correct the line."
                    )
        except csv.Error as error:
            return f"from line {begin + 1} on, {_words(str(error))}."
    return None


def _words(error: str) -> str:
    if "unexpected end of data" in error:
        return "a quote is opened and never closed"
    return error
