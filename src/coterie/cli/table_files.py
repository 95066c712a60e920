"""Tables of predictions as files, or on the standard output."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from coterie._typing import AnyArray
from coterie.cli.writing import as_json, placed, print_out

_JSON_LINES = (".jsonl", ".ndjson")
TABLE_ENDINGS = (".csv", ".tsv", ".parquet", ".json", *_JSON_LINES)


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
    names = list(columns)
    rows = zip(*map(_cells, columns.values()), strict=True)
    if ending == ".json" or ending in _JSON_LINES:
        lines = [as_json(dict(zip(names, row, strict=True)), indent=None) for row in rows]
        return (
            "[\n" + ",\n".join(lines) + "\n]\n" if ending == ".json" else "".join(f"{own}\n" for own in lines)
        )
    file = io.StringIO()
    writer = csv.writer(file, delimiter="\t" if ending == ".tsv" else ",", lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return file.getvalue()


def _cells(values: AnyArray) -> list[Any]:
    """Values as one writes them: days without hours, whole numbers without a point, holes as None."""
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
