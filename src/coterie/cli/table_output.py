"""Tables that a command writes, whole or part by part: CSV, TSV, JSON and Parquet."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from coterie._typing import AnyArray
from coterie.cli.writing import as_json, placed, print_out, print_part

_JSON_LINES = (".jsonl", ".ndjson")
_FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r")
TABLE_ENDINGS = (".csv", ".tsv", ".parquet", ".json", *_JSON_LINES)

AddRows = Callable[[Mapping[str, Any]], None]


def write_table(columns: Mapping[str, AnyArray], path: Path | None, ending: str = ".csv") -> None:
    """A table as a file whose ending decides the format, or on the standard output in the format of an ending."""
    if path is None:
        print_out(_text(columns, ending))
        return
    with placed(path) as part:
        if path.suffix.lower() == ".parquet":
            _write_parquet(columns, part)
        else:
            part.write_text(_text(columns, path.suffix.lower()), encoding="utf-8", newline="")


def _text(columns: Mapping[str, AnyArray], ending: str) -> str:
    first, between, last = _around(ending, list(columns))
    return first + between.join(_lines(columns, ending)) + last


def _around(ending: str, names: list[str]) -> tuple[str, str, str]:
    """What stands before the first row, between rows and after the last."""
    if ending == ".json":
        return "[\n", ",\n", "\n]\n"
    return "" if ending in _JSON_LINES else _delimited([names], ending), "", ""


def _lines(columns: Mapping[str, Any], ending: str) -> list[str]:
    names, rows = list(columns), list(zip(*map(_cells, columns.values()), strict=True))
    if ending == ".json" or ending in _JSON_LINES:
        end = "" if ending == ".json" else "\n"
        return [as_json(dict(zip(names, row, strict=True)), indent=None) + end for row in rows]
    return [_delimited(rows, ending)] if rows else []


def _delimited(rows: Sequence[Sequence[Any]], ending: str) -> str:
    file = io.StringIO()
    writer = csv.writer(file, delimiter="\t" if ending == ".tsv" else ",", lineterminator="\n")
    writer.writerows(rows)
    return file.getvalue()


class _TextParts:
    """Text of rows that come part by part."""

    def __init__(self, write: Callable[[str], Any], ending: str) -> None:
        self._write, self._ending = write, ending
        self._between, self._last = "", ""
        self._begun = False

    def add(self, columns: Mapping[str, Any]) -> None:
        first, self._between, self._last = _around(self._ending, list(columns))
        rows = self._between.join(_lines(columns, self._ending))
        self._write((self._between if self._begun else first) + rows)
        self._begun = True

    def finish(self) -> None:
        self._write(self._last)


class _ParquetParts:
    """A Parquet file of rows that come part by part, of the types of the first."""

    def __init__(self, part: Path) -> None:
        self._part = part
        self._writer: Any = None

    def add(self, columns: Mapping[str, Any]) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        table = pa.table(dict(columns))
        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._part, table.schema)
        self._writer.write_table(table.cast(self._writer.schema))

    def finish(self) -> None:
        if self._writer is not None:
            self._writer.close()


@contextmanager
def table_in_parts(path: Path | None, ending: str = ".csv") -> Iterator[AddRows]:
    """A table of which rows are added part by part; as `write_table` writes one at once. Columns may be Arrow's."""
    with ExitStack() as stack:
        parts: _TextParts | _ParquetParts
        if path is None:
            parts = _TextParts(print_part, ending)
        else:
            part = stack.enter_context(placed(path))
            if path.suffix.lower() == ".parquet":
                parts = _ParquetParts(part)
            else:
                file = stack.enter_context(open(part, "w", encoding="utf-8", newline=""))
                parts = _TextParts(file.write, path.suffix.lower())
        yield parts.add
        parts.finish()


def without_formulas(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The same table in which no text begins like a formula of a spreadsheet.

    Examples
    --------
    >>> without_formulas({"a": np.array(["=1+1", "x", None], dtype=object)})
    {'a': array(["'=1+1", 'x', None], dtype=object)}
    """

    def escaped(text: Any) -> Any:
        return f"'{text}" if isinstance(text, str) and text.startswith(_FORMULA_MARKS) else text

    found: dict[str, Any] = {}
    for name, values in columns.items():
        plain = values
        if not isinstance(values, np.ndarray):
            import pyarrow as pa

            plain = pa.array(map(escaped, values.to_pylist()), type=values.type)
        elif values.dtype.kind in "OU":
            plain = np.empty(len(values), dtype=object)
            plain[:] = [escaped(text) for text in values.tolist()]
        found[escaped(name)] = plain
    return found


def _cells(values: Any) -> list[Any]:
    """Values as one writes them: days without hours, whole numbers without a point, holes as None.

    Arrow knows by itself what are days and what are whole numbers, whatever rows are here.
    """
    if not isinstance(values, np.ndarray):
        plain = values.to_pylist()
        return [None if own != own else str(own) if hasattr(own, "isoformat") else own for own in plain]
    if values.dtype.kind in "mM":
        texts = (values.astype("M8[D]") if _are_days(values) else values).astype(str).tolist()
        return [None if text == "NaT" else text.replace("T", " ") for text in texts]
    if values.dtype.kind == "f":
        whole = _are_whole(values)
        return [None if own != own else int(own) if whole else own for own in values.tolist()]
    return list(values.tolist())


def _are_days(values: AnyArray) -> bool:
    if values.dtype.kind != "M":
        return False
    known = values[~np.isnat(values)]
    return bool((known == known.astype("M8[D]")).all())


def _are_whole(values: AnyArray) -> bool:
    """Whether these are whole numbers that became floats because some are missing."""
    holes = np.isnan(values)
    known = values[~holes]
    return bool(holes.any()) and bool(((known == np.round(known)) & (np.abs(known) < 2**53)).all())


def _write_parquet(columns: Mapping[str, AnyArray], part: Path) -> None:
    held = {name: _for_duckdb(values) for name, values in columns.items()}
    quoted = {name: '"' + name.replace('"', '""') + '"' for name in columns}
    wanted = ", ".join(
        f"CAST({own} AS DATE) AS {own}" if _are_days(columns[name]) else own for name, own in quoted.items()
    )
    place = str(part).replace("'", "''")
    with duckdb.connect() as connection:
        connection.register("held", held)
        try:
            connection.execute(f"COPY (SELECT {wanted} FROM held) TO '{place}' (FORMAT parquet)")
        except duckdb.IOException as error:
            raise OSError(str(error).splitlines()[0]) from error


def _for_duckdb(values: AnyArray) -> AnyArray:
    if values.dtype.kind == "M":
        return values.astype("M8[us]")
    return values.astype(object) if values.dtype.kind == "U" else values
