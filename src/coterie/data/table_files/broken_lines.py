"""Which line of a CSV file is not like the others, and where a row of a table is in its files."""

import csv

from coterie.data.table_files.data_files import DataFiles, text_of


def csv_error(files: DataFiles, message: str) -> str | None:
    """A sentence about the first line that is not like the others, or None if all are alike."""
    for path, name in zip(files.paths, files.names, strict=True):
        wrong = _line_in(path, files.delimiter, files.skip)
        if wrong is not None:
            return f"{files.name if len(files.paths) == 1 else name} cannot be read as CSV: {wrong}"
    if "utf-8" in message:
        setting = files.caller.setting("encoding", "latin-1")
        return f"{files.name} is not written in UTF-8 throughout. Name its encoding: {setting}"
    return None


def place_of_row(files: DataFiles, row: int) -> str:
    """Where a row is, counted from 0 over all files: the line of a CSV file, whose fields may have several lines."""
    if files.format == "csv":
        before = 0
        for path, name in zip(files.paths, files.names, strict=True):
            line, n_rows = _line_of_row(path, files, row - before)
            if line is not None:
                return f"line {line:,}" if len(files.paths) == 1 else f"line {line:,} of {name}"
            before += n_rows
    return f"row {row + 1:,}"


def _line_of_row(path: str, files: DataFiles, row: int) -> tuple[int | None, int]:
    """The line where a row begins, or None and how many rows there are; the first line names the columns."""
    number = -1
    with text_of(path) as file:
        for _ in range(files.skip):
            file.readline()
        lines = csv.reader(file, delimiter=files.delimiter)
        begin = 1
        try:
            for fields in lines:
                if fields or len(files.header) == 1:
                    if number == row:
                        return begin + files.skip, number
                    number += 1
                begin = lines.line_num + 1
        except csv.Error:  # a field that is longer than the module csv reads
            return None, row
    return None, number


def _line_in(path: str, delimiter: str, skip: int) -> str | None:
    with text_of(path) as file:
        for _ in range(skip):
            file.readline()
        lines = csv.reader(file, delimiter=delimiter, strict=True)
        begin = 1
        try:
            width = len(next(lines, []))
            for row in lines:
                begin = lines.line_num + skip
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
