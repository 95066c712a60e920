"""Batches of files: Parquet, CSV and Arrow (Feather), by pyarrow."""

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from coterie._optional import need
from coterie.errors import InvalidInput

_FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".arrows": "arrow",
}
_KNOWN = "Parquet (.parquet, .pq), CSV (.csv, .tsv, .txt) or Arrow (.arrow, .feather, .ipc, .arrows)"
_MISSING = ["", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "<NA>", "?"]


def paths_of(source: str | os.PathLike[str]) -> list[str]:
    """The files that a path or a pattern stands for, in the order of their names."""
    name = os.fspath(source)
    if "://" in name:
        raise _refused(name, f"source={name!r} is no path of this machine.", "Give a pyarrow.dataset of it.")
    if os.path.isdir(name):
        raise _refused(
            name, f"source={name!r} is a folder.", f"Name its files: {os.path.join(name, '*.parquet')!r}."
        )
    if os.path.exists(name):
        return [name]
    found = sorted(path for path in glob.glob(name, recursive=True) if os.path.isfile(path))
    if not found:
        what = f"No file matches {name!r}." if glob.has_magic(name) else f"There is no file {name!r}."
        raise _refused(name, what, None)
    return found


def _refused(name: str, message: str, hint: str | None) -> InvalidInput:
    return InvalidInput(message, parameter="source", received=name, allowed="files that exist", hint=hint)


class FileSource:
    """Files that are read one after the other; a file that changes while a fit reads them is refused."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = tuple(paths)
        self._formats = [_format_of(path) for path in self._paths]
        self._states = [_state_of(path) for path in self._paths]
        self.pyarrow = need("pyarrow", purpose="Reading files in batches", extra="scan")

    def __repr__(self) -> str:
        return repr(self._paths[0]) if len(self._paths) == 1 else f"{len(self._paths)} files"

    def n_rows(self) -> int | None:
        """How many rows there are, if files say so without being read."""
        if set(self._formats) != {"parquet"}:
            return None
        from pyarrow import parquet

        return sum(int(parquet.read_metadata(path).num_rows) for path in self._paths)

    def open(self, batch_size: int, exact: Sequence[str]) -> Iterator[tuple[Any, str]]:
        """Arrow's record batches, with the name of the file; whole numbers of `exact` columns of CSV stay whole."""
        for path, form, state in zip(self._paths, self._formats, self._states, strict=True):
            _check_unchanged(path, state)
            try:
                yield from ((batch, path) for batch in _OPEN[form](path, batch_size, exact))
            except self.pyarrow.ArrowException as error:
                raise InvalidInput(
                    f"{path} cannot be read as {form}: {error}",
                    parameter="source",
                    received=path,
                    allowed=_KNOWN,
                ) from error
            _check_unchanged(path, state)


def _format_of(path: str) -> str:
    endings = Path(path).suffixes
    if endings and endings[-1] == ".gz":
        endings.pop()
    known = _FORMATS.get(endings[-1].lower()) if endings else None
    if known is None:
        raise InvalidInput(
            f"source names {path!r}, whose ending says nothing about its format.",
            parameter="source",
            received=path,
            allowed=_KNOWN,
            hint=f"Known are {_KNOWN}; others can be given as a pyarrow.dataset.",
        )
    return known


def _state_of(path: str) -> tuple[int, int, int]:
    state = os.stat(path)
    return state.st_size, state.st_mtime_ns, state.st_ino


def _check_unchanged(path: str, state: tuple[int, int, int]) -> None:
    try:
        same = _state_of(path) == state
    except FileNotFoundError:
        same = False
    if not same:
        raise InvalidInput(
            f"{path} has changed since it was named in scan: its passes would see different rows.",
            parameter="source",
            received=path,
            allowed="files that stay as they are",
            hint="Write new data to files of their own, and call scan and fit again.",
        )


def _open_parquet(path: str, batch_size: int, _: Sequence[str]) -> Iterator[Any]:
    from pyarrow import parquet

    with parquet.ParquetFile(path, pre_buffer=False) as file:
        yield from file.iter_batches(batch_size)


def _open_arrow(path: str, batch_size: int, _: Sequence[str]) -> Iterator[Any]:
    from pyarrow import ipc, memory_map

    with memory_map(path) as mapped:
        if mapped.read(6) == b"ARROW1":
            mapped.seek(0)
            file = ipc.open_file(mapped)
            batches: Any = (file.get_batch(number) for number in range(file.num_record_batches))
        else:
            mapped.seek(0)
            batches = ipc.open_stream(mapped)
        for batch in batches:
            for begin in range(0, batch.num_rows, batch_size):
                yield batch.slice(begin, batch_size)


def _open_csv(path: str, batch_size: int, exact: Sequence[str]) -> Iterator[Any]:
    """The first rows say what columns hold. Whole numbers are read as floats, since later rows may have fractions."""
    import pyarrow as pa
    from pyarrow import csv

    parsing = csv.ParseOptions(delimiter="\t" if ".tsv" in Path(path).suffixes else ",")
    options = csv.ConvertOptions(
        null_values=_MISSING, strings_can_be_null=True, quoted_strings_can_be_null=False
    )
    with csv.open_csv(path, parse_options=parsing, convert_options=options) as first:
        kinds = {
            field.name: pa.float64()
            for field in first.schema
            if pa.types.is_integer(field.type) and field.name not in exact
        }
    options.column_types = kinds
    with csv.open_csv(path, parse_options=parsing, convert_options=options) as reader:
        for batch in reader:
            for begin in range(0, batch.num_rows, batch_size):
                yield batch.slice(begin, batch_size)


_OPEN = {"parquet": _open_parquet, "csv": _open_csv, "arrow": _open_arrow}
