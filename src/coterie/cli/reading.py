"""A table from files: CSV, TSV, Parquet or JSON through duckdb, as a dict of arrays.

Words
  kind    what a column holds, as far as models care: number, text, date, time or flag
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import duckdb
import numpy as np

from coterie._typing import AnyArray
from coterie.cli.data_files import DataFiles, find_files, text_of
from coterie.cli.errors import DATA, CommandError, data_error, guessed, listed, usage_error
from coterie.data.streaming.sources import relation_batches


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


# What stands for a missing value in a CSV file.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "<NA>", "?")
_KINDS = (
    ("text", ("VARCHAR", "UUID", "ENUM")),
    ("date", ("DATE", "TIMESTAMP")),
    ("time", ("TIME", "INTERVAL")),
    ("flag", ("BOOLEAN",)),
    ("number", ("DECIMAL", "FLOAT", "DOUBLE", "REAL")),
)
_CASTS = {"number": "DOUBLE", "date": "TIMESTAMP", "time": "TIME", "flag": "BOOLEAN"}
_BATCH_ROWS = 131_072
_PLURALS = {"number": "numbers", "text": "texts", "date": "dates", "time": "times", "flag": "flags"}


@contextmanager
def open_table(data: Sequence[str], where: str | None = None) -> Iterator["DataTable"]:
    """The table that files hold, before any value is read."""
    settings: Any = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    with find_files(data) as files, duckdb.connect(config=settings) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("SET enable_progress_bar = false")
        yield DataTable(files, connection, where)


@dataclass
class DataTable:
    """Columns by name, which are read when they are needed.

    Attributes
    ----------
    kinds : by name, in the order of the file
    where : a condition of SQL on rows, or None
    """

    files: DataFiles
    connection: duckdb.DuckDBPyConnection
    where: str | None = None
    kinds: dict[str, str] = field(default_factory=dict)
    _types: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        relation = self._query(f"SELECT * FROM {self._scan({})}")
        self._types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        self.kinds = {name: _kind_of(own) for name, own in self._types.items()}

    @property
    def name(self) -> str:
        return self.files.name

    def check_column(self, name: str, option: str) -> None:
        """Refuse a column that is not there, and say which was probably meant."""
        if name not in self.kinds:
            raise data_error(
                f"{self.name} has no column {name!r} ({option}).",
                option,
                name,
                hint=guessed(name, self.kinds) or f"Its columns are {listed(self.kinds)}.",
            )

    def columns(self, names: Sequence[str], kinds: Mapping[str, str] | None = None) -> dict[str, AnyArray]:
        """The values of some columns; of the given kinds, if what the file holds can be read so."""
        held = self._fetched(self._selected(names, kinds), kinds or {})
        return {name: _without_mask(values) for name, values in zip(names, held.values(), strict=True)}

    def batches(self, names: Sequence[str], kinds: Mapping[str, str]) -> Iterator[Any]:
        """The same as Arrow's record batches, in the order of the rows, each time from the first."""
        relation = self._selected(names, kinds, decimals=False)
        try:
            yield from relation_batches(relation, _BATCH_ROWS)
        except duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except duckdb.Error as error:
            raise self._explained(error, kinds) from error

    def limit_memory(self, n_bytes: int) -> None:
        """Let reading use no more than so much."""
        self.connection.execute(f"SET memory_limit = '{max(64, n_bytes // 1_000_000)}MB'")

    def _selected(
        self, names: Sequence[str], kinds: Mapping[str, str] | None = None, *, decimals: bool = True
    ) -> duckdb.DuckDBPyRelation:
        """A query of some columns; `decimals`: numbers of exact digits stay as they are."""
        as_text = []
        wanted = []
        for name in names:
            kind = (kinds or {}).get(name, self.kinds[name])
            cast = self._cast(name, kind)
            if (
                cast is None
                and not decimals
                and self._types[name].startswith(("DECIMAL", "HUGEINT", "UHUGEINT"))
            ):
                cast = "DOUBLE"
            if cast == "VARCHAR" and self.files.format == "csv":
                as_text.append(name)
            quoted = _quoted(name)
            wanted.append(quoted if cast is None else f"CAST({quoted} AS {cast}) AS {quoted}")
        rows = "" if self.where is None else f" WHERE ({self.where}\n)"
        inner = f"SELECT * FROM {self._scan(dict.fromkeys(as_text, 'VARCHAR'))}{rows}"
        return self._query(f"SELECT {', '.join(wanted)} FROM ({inner})", kinds or {})

    def _cast(self, name: str, kind: str) -> str | None:
        """The type that a column has to be read as, or None for its own."""
        own = self.kinds[name]
        if own == "other":
            raise data_error(
                f"Column {name!r} of {self.name} holds {self._types[name]}, and models take numbers, texts and dates.",
                name,
                self._types[name],
                allowed="numbers, texts and dates",
                hint=f"Turn it into columns of its own, or leave it out: --drop {_shell(name)}",
            )
        if kind == "text":
            return None if self._types[name] == "VARCHAR" else "VARCHAR"
        if own == kind or {own, kind} == {"number", "flag"}:
            return None
        if own == "text":
            return _CASTS[kind]
        raise data_error(
            f"Column {name!r} of {self.name} holds {_PLURALS[own]}; it held {_PLURALS[kind]} in the table that the "
            "model was fitted to.",
            name,
            _PLURALS[own],
            allowed=_PLURALS[kind],
            hint="Write it as it was there.",
        )

    def _scan(self, types: Mapping[str, str]) -> str:
        """A function of duckdb that reads the files."""
        paths = f"[{', '.join(map(_path_text, self.files.paths))}]"
        if self.files.format == "parquet":
            return f"read_parquet({paths}, union_by_name = true)"
        if self.files.format == "json":
            return f"read_json({paths}, union_by_name = true, sample_size = -1)"
        missing = ", ".join(map(_text, MISSING))
        given = ", ".join(f"{_text(name)}: {_text(own)}" for name, own in types.items())
        return (
            f"read_csv({paths}, header = true, delim = {_text(self.files.delimiter)}, quote = '\"', escape = '\"', "
            f"comment = '', skip = 0, sample_size = -1, union_by_name = true, nullstr = [{missing}]"
            + (f", types = {{{given}}}" if given else "")
            + ")"
        )

    def _query(self, query: str, kinds: Mapping[str, str] | None = None) -> duckdb.DuckDBPyRelation:
        try:
            return self.connection.sql(query)
        except duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except duckdb.Error as error:
            raise self._explained(error, kinds or {}) from error

    def _fetched(self, relation: duckdb.DuckDBPyRelation, kinds: Mapping[str, str]) -> dict[str, Any]:
        try:
            return relation.fetchnumpy()
        except duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except duckdb.Error as error:
            raise self._explained(error, kinds) from error

    def _explained(self, error: duckdb.Error, kinds: Mapping[str, str]) -> CommandError:
        message = str(error)
        if self.kinds and self.where is not None and isinstance(error, _OF_THE_QUERY):
            return usage_error(
                f"--where {self.where!r} cannot be understood: {_first_line(message)}", "--where", self.where
            )
        if isinstance(error, duckdb.ConversionException) and kinds:
            return self._wrong_value(message)
        if isinstance(error, duckdb.OutOfMemoryException):
            return CommandError(
                f"{self.name} does not fit into memory.", DATA, hint="Read fewer rows: --where."
            )
        if self.files.format == "csv":
            explained = csv_error(self.files, message)
            if explained is not None:
                return data_error(explained, "DATA", self.name)
        return data_error(
            f"{self.name} cannot be read as {self.files.format.upper()}: {_first_line(message)}",
            "DATA",
            self.name,
        )

    def _wrong_value(self, message: str) -> CommandError:
        # Of a cast, and of a column that is read as another type: versions differ in which of them they report.
        value = re.search(
            r"""[Cc]ould not convert string ["'](.*?)["'] to|field (?:format|value out of range): ["'](.*?)["']""",
            message,
        )
        line = re.search(r"on Line: (\d+)", message)
        column = re.search(r'converting column "(.*?)"', message)
        column = column or re.search(r"casting from source column (.*)", message)
        which = f"Column {column[1]!r}" if column else "A column"
        place = f" in line {line[1]}" if line else ""
        held = f" {value[1] or value[2]!r}" if value else " a value"
        kind = _kind_in(message)
        expected = _PLURALS[kind] if kind else "another kind of value"
        return data_error(
            f"{which} of {self.name} holds{held}{place}; it held {expected} in the table that the model was fitted to.",
            column[1] if column else None,
            value[1] or value[2] if value else None,
            allowed=expected,
            hint="Correct the value, or leave it empty.",
        )


_OF_THE_QUERY = (
    duckdb.BinderException,
    duckdb.ParserException,
    duckdb.CatalogException,
    duckdb.ConversionException,
)


def _kind_in(message: str) -> str | None:
    """The kind that a value could not be read as."""
    return next(
        (kind for kind, cast in _CASTS.items() if f"'{cast}'" in message or f" {cast}" in message), None
    )


def _kind_of(type_: str) -> str:
    if type_.endswith("]") or type_.startswith(("STRUCT", "MAP", "UNION")):
        return "other"
    for kind, starts in _KINDS:
        if type_.startswith(starts):
            return kind
    return "number" if type_.endswith(("INT", "INTEGER")) else "other"


def _without_mask(values: Any) -> AnyArray:
    """Holes as NaN, NaT or None; whole numbers with holes become floats."""
    if not isinstance(values, np.ma.MaskedArray):
        return np.asarray(values)
    held, holes = values.data, np.ma.getmaskarray(values)
    if held.dtype.kind in "mM":
        return np.where(holes, np.array("NaT", dtype=held.dtype), held)
    if held.dtype.kind in "iuf":
        return np.where(holes, np.nan, held.astype(np.float64))
    plain = held.astype(object)
    plain[holes] = None
    return np.asarray(plain)


def _first_line(message: str) -> str:
    """The first line of a message of duckdb, without the name of the error.

    Examples
    --------
    >>> _first_line("Binder Error: Referenced column x not found!\\nLINE 1: ...")
    'Referenced column x not found!'
    """
    return re.sub(r"^[A-Z][\w ]*Error: ", "", message.strip().splitlines()[0].strip())


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _path_text(path: str) -> str:
    """A path in which no mark is a pattern."""
    return _text(re.sub(r"([*?\[])", r"[\1]", path))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _shell(name: str) -> str:
    return name if re.fullmatch(r"[\w.-]+", name) else f"'{name}'"
