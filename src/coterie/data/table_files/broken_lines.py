"""Which line of a CSV file is not like the others."""

import csv

from coterie.data.table_files.data_files import DataFiles, text_of


def csv_error(files: DataFiles, message: str) -> str | None:
    """A sentence about the first line that is not like the others, or None if all are alike."""
    for path, name in zip(files.paths, files.names, strict=True):
        wrong = _line_in(path, files.delimiter, files.skip)
        if wrong is not None:
            return f"{files.name if len(files.paths) == 1 else name} cannot be read as CSV: {wrong}"
    if "utf-8" in message:
        return f"{files.name} is not written in UTF-8 throughout. Name its encoding: --encoding latin-1"
    return None


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
