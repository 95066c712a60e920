"""Values that are read as missing because they are none of the kind of their column: how many, the first, and where."""

from collections.abc import Iterable, Iterator

from coterie.data.inference.reading import ColumnReading, OtherValues
from coterie.data.table_files.broken_lines import place_of_row
from coterie.data.table_files.data_files import DataFiles


class OddValues:
    """What reading has found, by column."""

    def __init__(self, files: DataFiles) -> None:
        self._files = files
        self._found: dict[str, tuple[ColumnReading, OtherValues, bool]] = {}

    def forget(self, names: Iterable[str]) -> None:
        """Columns are read once more."""
        for name in names:
            self._found.pop(name, None)

    def add(self, reading: ColumnReading, found: OtherValues, *, first_row: int, in_file: bool) -> None:
        """Take some rows of a column, the first of which has a number; `in_file`: rows are those of the files."""
        total = OtherValues(found.n_rows, found.example, first_row + found.row)
        if reading.name in self._found:
            before = self._found[reading.name][1]
            total = OtherValues(before.n_rows + found.n_rows, before.example, before.row)
        self._found[reading.name] = reading, total, in_file

    def warnings(self) -> Iterator[str]:
        """A sentence for each column."""
        for reading, found, in_file in self._found.values():
            yield found.in_words(reading, self._files.name, row_in_words(self._files, found.row, in_file))


def row_in_words(files: DataFiles, row: int, in_file: bool) -> str:
    """Where a row is, counted from 0: in the files, or among the rows for which a condition holds."""
    return place_of_row(files, row) if in_file else f"row {row + 1:,} of those that were read"
