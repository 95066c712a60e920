"""The first sheet of an Excel workbook, as columns."""

import zipfile
from datetime import date
from typing import Any

import numpy as np

from coterie._optional import need
from coterie._typing import AnyArray
from coterie.data.inference.levels import object_array
from coterie.data.table_files.plain_copies import FREE_BYTES, MOST_TIMES
from coterie.errors import InvalidInput


def read_workbook(path: str, name: str) -> tuple[dict[str, AnyArray], tuple[str, ...]]:
    """Columns of the first sheet, whose first row holds their names, and that row.

    Cells are as Python has them, None if they are empty.
    """
    openpyxl = need("openpyxl", purpose=f"Reading {name}", extra="excel")
    _check_size(path, name)
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
    except Exception as error:  # openpyxl has no errors of its own for most of what may be wrong
        raise InvalidInput(
            f"{name} cannot be read as an Excel workbook: {error}.", parameter="source", received=name
        ) from error
    try:
        rows = [
            row
            for row in book.worksheets[0].iter_rows(values_only=True)
            if any(cell is not None for cell in row)
        ]
    finally:
        book.close()
    if not rows:
        raise InvalidInput(f"The first sheet of {name} is empty.", parameter="source", received=name)
    names = _names(rows[0])
    columns = {
        own: object_array([row[place] if place < len(row) else None for row in rows[1:]])
        for place, own in enumerate(names)
    }
    header = tuple("" if title is None else str(title) for title in rows[0])
    return {
        own: _typed(cells)
        for own, cells, title in zip(columns, columns.values(), rows[0], strict=True)
        if title is not None or any(cell is not None for cell in cells)
    }, header


def _typed(cells: AnyArray) -> AnyArray:
    """Numbers, moments or flags if all cells are such; else texts."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds and kinds <= {int, float}:
        return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
    if kinds and all(issubclass(kind, date) for kind in kinds):
        return np.array(["NaT" if cell is None else cell for cell in cells], dtype="M8[us]")
    if kinds == {bool}:
        return cells
    return object_array([None if cell is None else str(cell) for cell in cells])


def _names(header: tuple[Any, ...]) -> list[str]:
    """Names that differ, also without regard to capital letters, as those of CSV files do."""
    names: list[str] = []
    taken: set[str] = set()
    for place, cell in enumerate(header):
        name = f"column{place}" if cell is None else str(cell).strip()
        count = 0
        while (f"{name}_{count}" if count else name).casefold() in taken:
            count += 1
        names.append(f"{name}_{count}" if count else name)
        taken.add(names[-1].casefold())
    return names


def _check_size(path: str, name: str) -> None:
    """A workbook is a zip file, which may become a huge one."""
    try:
        with zipfile.ZipFile(path) as file:
            entries = file.infolist()
    except zipfile.BadZipFile as error:
        raise InvalidInput(
            f"{name} cannot be read as an Excel workbook: {error}.", parameter="source", received=name
        ) from error
    packed, plain = (sum(getattr(own, size) for own in entries) for size in ("compress_size", "file_size"))
    if plain > max(FREE_BYTES, MOST_TIMES * packed):
        raise InvalidInput(
            f"{name} becomes {plain / 1e6:,.0f} MB when it is decompressed, which is more than {MOST_TIMES} times its "
            "size.",
            parameter="source",
            received=name,
            hint="Save it as CSV.",
        )
