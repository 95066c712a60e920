"""A table from files, as a dict of arrays.

duckdb finds lines, fields, and plain numbers; what strings mean, such as dates and decimal commas, is inferred and read
by `coterie.data.inference`, in the same way at every later time.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import duckdb
import numpy as np

from coterie._typing import AnyArray
from coterie.data.inference.infer import doubtful_decimals, infer_table
from coterie.data.inference.marks import MISSING
from coterie.data.inference.numbers import EXACT_DIGITS, NumberFormat
from coterie.data.inference.reading import (
    PLURALS,
    ColumnKind,
    ColumnReading,
    ReadingOptions,
    TableReading,
)
from coterie.data.streaming.sources import relation_batches
from coterie.data.table_files.broken_lines import csv_error
from coterie.data.table_files.callers import PYTHON, Caller
from coterie.data.table_files.conditions import condition_fault
from coterie.data.table_files.data_files import DataFiles, find_files, notes_on_names
from coterie.data.table_files.excel import read_workbook
from coterie.data.table_files.odd_values import OddValues, row_in_words
from coterie.data.table_files.suggestions import guessed, listed
from coterie.errors import CoterieError, InvalidInput, InvalidParameter

_KINDS: tuple[tuple[ColumnKind, tuple[str, ...]], ...] = (
    ("category", ("VARCHAR", "UUID", "ENUM")),
    ("date", ("DATE", "TIMESTAMP")),
    ("time", ("TIME", "INTERVAL")),
    ("flag", ("BOOLEAN",)),
    ("number", ("DECIMAL", "FLOAT", "DOUBLE", "REAL")),
)
_WIDE = ("DECIMAL", "HUGEINT", "UHUGEINT")
_BATCH_ROWS = 131_072
_SAMPLED_ROWS = 200_000  # by which a table that is read in batches is understood
_FIRST_ROWS = 1000
_WORKBOOK = "the_workbook"
_PARSED = "the_parsed_rows"


@contextmanager
def open_table(
    data: Sequence[str],
    where: str | None = None,
    options: ReadingOptions | None = None,
    *,
    encoding: str | None = None,
    caller: Caller = PYTHON,
) -> Iterator["DataTable"]:
    """The table that files hold, before any value is read; errors inside name what the caller gave."""
    settings: Any = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_community_extensions": "false",
    }
    with (
        caller.named_errors(),
        find_files(data, encoding, caller) as files,
        duckdb.connect(config=settings) as connection,
    ):
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("SET enable_progress_bar = false")
        # A condition in SQL may name files as well: nothing but these is read, and nothing is written.
        connection.execute(f"SET allowed_paths = [{', '.join(map(_text, files.paths))}]")
        connection.execute("SET enable_external_access = false")
        if files.format == "excel":
            columns, header = _workbook(files)
            connection.register(_WORKBOOK, columns)
            files = replace(files, header=header, notes=(*files.notes, *notes_on_names(header)))
        yield DataTable(files, connection, where, options or ReadingOptions())


def _workbook(files: DataFiles) -> tuple[dict[str, AnyArray], tuple[str, ...]]:
    if len(files.paths) > 1:
        raise InvalidInput(
            f"{files.name}: one workbook is read at a time.", parameter="source", received=list(files.names)
        )
    columns, header = read_workbook(files.paths[0], files.names[0])
    return {name: _for_duckdb(values) for name, values in columns.items()}, header


@dataclass
class DataTable:
    """Columns by name, which are read when they are needed.

    Attributes
    ----------
    where : a condition of SQL on rows, or None; it sees numbers and dates where the file has texts of them
    options : what a person says about the table
    types : of duckdb, by name, in the order of the file
    odd : what was taken for missing because it is none of the kind of its column, when columns were last read
    n_sampled : how many rows kinds were inferred from, or None if all of them
    """

    files: DataFiles
    connection: duckdb.DuckDBPyConnection
    where: str | None = None
    options: ReadingOptions = field(default_factory=ReadingOptions)
    types: dict[str, str] = field(default_factory=dict)
    n_sampled: int | None = None
    _inferred: TableReading | None = None

    def __post_init__(self) -> None:
        self.odd = OddValues(self.files)
        relation = self._query(f"SELECT * FROM {self._scan(())}")
        self.types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        for name in self.options.kinds:
            self.check_column(name, self.files.caller.name("kinds"))

    @property
    def name(self) -> str:
        return self.files.name

    def check_column(self, name: str, option: str) -> None:
        """Refuse a column that is not there, and say which was probably meant."""
        if name not in self.types:
            raise InvalidInput(
                f"{self.name} has no column {name!r} ({option}).",
                parameter=option,
                received=name,
                hint=guessed(name, self.types) or f"Its columns are {listed(self.types)}.",
            )

    def reading(self, *, sampled: bool = False) -> TableReading:
        """How the columns are best read; `sampled`: by some of the rows."""
        if self._inferred is None:
            self._inferred = self._infer(sampled)
        return self._inferred

    def _infer(self, sampled: bool) -> TableReading:
        own = {name: self._native_reading(name) for name in self.types}
        given = self.options.kinds
        texts = [name for name, type_ in self.types.items() if type_ == "VARCHAR" or name in given]
        texts += [*self._long_numbers(), *self._doubtful_numbers()]
        texts = [name for name in dict.fromkeys(texts) if own[name] is not None]
        delimiter = self.files.delimiter if self.files.format == "csv" else None
        inferred = infer_table(self._texts(texts, sampled), self.options, delimiter)
        readings = {name: inferred.get(name, own[name]) for name in self.types}
        if self._has_decimal_commas(inferred):
            # Whole numbers here may have thousands marks in a later file, which are those of the other columns.
            commas = {
                name: replace(each, number=NumberFormat.of(",")) for name, each in readings.items() if each
            }
            readings |= {name: commas[name] for name in commas if self._holds_whole_numbers(name)}
        return TableReading({name: each for name, each in readings.items() if each is not None})

    def _has_decimal_commas(self, inferred: TableReading) -> bool:
        """Whether all columns of a CSV file that show a decimal mark show a comma."""
        points = any(type_ == "DOUBLE" and name not in inferred for name, type_ in self.types.items())
        marks = {own.number.decimal for own in inferred.values() if own.kind == "number"}
        marks |= {own for own in (self.options.decimal,) if own is not None}
        return self.files.format == "csv" and not points and marks == {","}

    def _holds_whole_numbers(self, name: str) -> bool:
        return self.types[name] == "BIGINT"

    def _long_numbers(self) -> list[str]:
        """Columns of numbers that may be whole ones of more digits than a float has."""
        names = [name for name, type_ in self.types.items() if type_ in ("DOUBLE", "HUGEINT", "UHUGEINT")]
        if not names:
            return []
        wanted = ", ".join(f"max(abs({_quoted(name)}))" for name in names)
        found = self._fetched(self._query(f"SELECT {wanted} FROM {self._scan(())}"))
        largest = [float(np.ma.filled(values.astype(float), 0.0)[0]) for values in found.values()]
        return [
            name
            for name, value in zip(names, largest, strict=True)
            if 10.0**EXACT_DIGITS <= value < float("inf")
        ]

    def _doubtful_numbers(self) -> list[str]:
        """Columns of a CSV file whose points, as in 1.234, may stand between thousands; a few rows tell of most."""
        names = [name for name, type_ in self.types.items() if type_ == "DOUBLE"]
        if self.files.format != "csv" or not names or self.options.decimal == ".":
            return []
        wanted = ", ".join(map(_quoted, names))
        relation = self._query(f"SELECT {wanted} FROM {self._scan(names)} LIMIT {_FIRST_ROWS}")
        held = dict(zip(names, map(_without_mask, self._fetched(relation).values()), strict=True))
        return doubtful_decimals(held)

    def _texts(self, names: Sequence[str], sampled: bool) -> dict[str, AnyArray]:
        """Columns as they are written; of a table to be read in batches a sample."""
        if not names:
            return {}
        wanted = ", ".join(f"CAST({_quoted(name)} AS VARCHAR) AS {_quoted(name)}" for name in names)
        sample = f" USING SAMPLE reservoir({_SAMPLED_ROWS} ROWS) REPEATABLE (0)" if sampled else ""
        relation = self._query(f"SELECT {wanted} FROM {self._scan(names)}{sample}")
        held = dict(zip(names, map(_without_mask, self._fetched(relation).values()), strict=True))
        self.n_sampled = _SAMPLED_ROWS if sampled and len(held[names[0]]) == _SAMPLED_ROWS else None
        return held

    def _native_reading(self, name: str) -> ColumnReading | None:
        """The reading of a column as duckdb has it; None if models cannot use it."""
        kind = _kind_of(self.types[name])
        return None if kind is None else ColumnReading(name, kind, native=True)

    def columns(
        self, names: Sequence[str], readings: Mapping[str, ColumnReading] | None = None
    ) -> dict[str, AnyArray]:
        """The values of some columns, by these readings; of others as duckdb has them."""
        readings = readings or {}
        if self.where is None or not self._condition_needs_values():
            return self._columns(names, readings, self.where)
        known = {**self.reading(), **readings}
        held = self._columns(list(known), known, None)
        self.connection.register(_PARSED, {name: _for_duckdb(values) for name, values in held.items()})
        wanted = ", ".join(map(_quoted, names))
        relation = self._query(f"SELECT {wanted} FROM {_PARSED} WHERE ({self.where}\n)")
        return dict(zip(names, map(_without_mask, self._fetched(relation).values()), strict=True))

    def _condition_needs_values(self) -> bool:
        """Whether the condition may be about a column that duckdb has as text, and we as numbers or dates."""
        return any(own.is_parsed and not own.native for own in self.reading().values())

    def _columns(
        self, names: Sequence[str], readings: Mapping[str, ColumnReading], where: str | None
    ) -> dict[str, AnyArray]:
        parsed = {name for name in names if name in readings and self._needs_parsing(readings[name])}
        held = self._fetched(self._selected(names, readings, parsed, where))
        self.odd.forget(names)
        columns = {}
        for name, values in zip(names, map(_without_mask, held.values()), strict=True):
            columns[name] = (
                self._parsed(readings[name], values, in_file=where is None) if name in parsed else values
            )
        return columns

    def _parsed(
        self, reading: ColumnReading, texts: AnyArray, *, in_file: bool, first_row: int = 0
    ) -> AnyArray:
        """The values of some rows; `in_file`: rows are counted as in the files, from `first_row` on."""
        try:
            values, others = reading.parse_with_others(texts, self.name)
        except InvalidInput as error:
            if error.row is None:
                raise
            raise self._wrong_value(error, reading, first_row + error.row, in_file) from None
        if others is not None:
            self.odd.add(reading, others, first_row=first_row, in_file=in_file)
        return values

    def _wrong_value(
        self, error: InvalidInput, reading: ColumnReading, row: int, in_file: bool
    ) -> InvalidInput:
        """The error of a value that is none of the kind of its column, with its place in the files."""
        place = row_in_words(self.files, row, in_file)
        hint, why = error.hint, f"it held {PLURALS[reading.kind]} in the table that the model was fitted to"
        if self.n_sampled is not None:
            given = self.files.caller.setting("kinds", f"{reading.name}={reading.kind}")
            hint = f"If such values are missing ones: {given}"
            why = f"the {self.n_sampled:,} rows by which its kind was inferred hold {PLURALS[reading.kind]}"
        return InvalidInput(
            f"Column {reading.name!r} of {self.name} holds {error.received!r:.60} in {place}; {why}.",
            parameter=error.parameter,
            received=error.received,
            allowed=error.allowed,
            hint=hint,
            column=error.column,
            row=row,
        )

    def _needs_parsing(self, reading: ColumnReading) -> bool:
        """Whether a column is read as text, and parsed here."""
        own = _kind_of(self.types[reading.name])
        if own is None:
            raise self._not_for_models(reading.name)
        if not reading.is_parsed or own == "category":
            return True
        if own == reading.kind or {own, reading.kind} == {"number", "flag"}:
            plain = reading.number.decimal == "." or self._holds_whole_numbers(reading.name)
            return reading.kind == "number" and not plain and self.files.format == "csv"
        if self.files.format == "csv" or reading.lenient:
            return True
        raise InvalidInput(
            f"Column {reading.name!r} of {self.name} holds {PLURALS[own]}; it held {PLURALS[reading.kind]} in the "
            "table that the model was fitted to.",
            parameter=reading.name,
            received=PLURALS[own],
            allowed=PLURALS[reading.kind],
            hint="Write it as it was there.",
        )

    def _not_for_models(self, name: str) -> InvalidInput:
        return InvalidInput(
            f"Column {name!r} of {self.name} holds {self.types[name]}, and models take numbers, texts and dates.",
            parameter=name,
            received=self.types[name],
            allowed="numbers, texts and dates",
            hint="Turn it into columns of its own"
            + (f", or leave it out: --drop {_shell(name)}" if self.files.caller.is_command else "."),
        )

    def batches(self, names: Sequence[str], readings: Mapping[str, ColumnReading]) -> Iterator[Any]:
        """The same as Arrow's record batches, in the order of the rows, each time from the first.

        The condition `where` sees what duckdb has: texts where numbers have decimal commas.
        """
        import pyarrow as pa

        for held, _ in self._read_batches(names, readings, (), _BATCH_ROWS):
            columns = [pa.array(own) if isinstance(own, np.ndarray) else own for own in held.values()]
            yield pa.RecordBatch.from_arrays(columns, names=list(held))

    def array_batches(
        self,
        names: Sequence[str],
        readings: Mapping[str, ColumnReading],
        kept: Sequence[str] = (),
        n_rows: int = _BATCH_ROWS,
    ) -> Iterator[tuple[dict[str, AnyArray], dict[str, Any]]]:
        """Columns as arrays, so many rows at a time, and others to keep, as Arrow has them."""
        for held, others in self._read_batches(names, readings, kept, n_rows):
            yield (
                {
                    name: own if isinstance(own, np.ndarray) else own.to_numpy(zero_copy_only=False)
                    for name, own in held.items()
                },
                others,
            )

    def _read_batches(
        self, names: Sequence[str], readings: Mapping[str, ColumnReading], kept: Sequence[str], n_rows: int
    ) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        parsed = {name for name in names if name in readings and self._needs_parsing(readings[name])}
        relation = self._selected(names, readings, parsed, self.where, wide=False, kept=kept)
        self.odd, first_row, in_file = OddValues(self.files), 0, self.where is None
        try:
            for batch in relation_batches(relation, n_rows):
                columns: dict[str, Any] = dict(zip(names, batch.columns[: len(names)], strict=True))
                for name in parsed:
                    texts = columns[name].to_numpy(zero_copy_only=False)
                    columns[name] = self._parsed(readings[name], texts, in_file=in_file, first_row=first_row)
                first_row += batch.num_rows
                yield columns, dict(zip(kept, batch.columns[len(names) :], strict=True))
        except duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except duckdb.Error as error:
            raise self._explained(error) from error

    def n_rows(self) -> int:
        """How many rows there are for which the condition holds."""
        rows = "" if self.where is None else f" WHERE ({self.where}\n)"
        counted = self._fetched(self._query(f"SELECT count(*) AS n FROM {self._scan(())}{rows}"))
        return int(counted["n"][0])

    def limit_memory(self, n_bytes: int) -> None:
        """Let reading use no more than so much."""
        self.connection.execute(f"SET memory_limit = '{max(64, n_bytes // 1_000_000)}MB'")

    def _selected(
        self,
        names: Sequence[str],
        readings: Mapping[str, ColumnReading],
        parsed: set[str],
        where: str | None,
        *,
        wide: bool = True,
        kept: Sequence[str] = (),
    ) -> duckdb.DuckDBPyRelation:
        """A query of some columns, and of others that are not parsed, which have numbers as names.

        `wide`: numbers of exact digits stay as they are.
        """
        wanted = []
        for place, name in enumerate([*names, *kept]):
            if _kind_of(self.types[name]) is None:
                raise self._not_for_models(name)
            is_kept = place >= len(names)
            cast = "VARCHAR" if name in parsed and not is_kept and self.types[name] != "VARCHAR" else None
            if cast is None and not wide and self.types[name].startswith(_WIDE):
                cast = "DOUBLE"
            quoted = _quoted(name)
            value = quoted if cast is None else f"CAST({quoted} AS {cast})"
            wanted.append(f"{value} AS {_quoted(str(place)) if is_kept else quoted}")
        rows = "" if where is None else f" WHERE ({where}\n)"
        as_text = [name for name in names if name in parsed]
        return self._query(f"SELECT {', '.join(wanted)} FROM (SELECT * FROM {self._scan(as_text)}{rows})")

    def _scan(self, as_text: Sequence[str]) -> str:
        """A function of duckdb that reads the files, some columns of a CSV file as they are written."""
        if self.files.format == "excel":
            return _WORKBOOK
        paths = f"[{', '.join(map(_text, self.files.paths))}]"
        if self.files.format == "parquet":
            return f"read_parquet({paths}, union_by_name = true)"
        if self.files.format == "json":
            return f"read_json({paths}, union_by_name = true, sample_size = -1)"
        missing = ", ".join(map(_text, dict.fromkeys([*MISSING, *self.options.na])))
        given = ", ".join(f"{_text(name)}: 'VARCHAR'" for name in as_text)
        return (
            f"read_csv({paths}, header = true, delim = {_text(self.files.delimiter)}, quote = '\"', escape = '\"', "
            f"comment = '', skip = {self.files.skip}, sample_size = -1, union_by_name = true, nullstr = [{missing}], "
            "auto_type_candidates = ['BOOLEAN', 'BIGINT', 'DOUBLE', 'VARCHAR']"
            + (f", types = {{{given}}}" if given else "")
            + ")"
        )

    def _query(self, query: str) -> duckdb.DuckDBPyRelation:
        try:
            return self.connection.sql(query)
        except duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except duckdb.Error as error:
            raise self._explained(error) from error

    def _fetched(self, relation: duckdb.DuckDBPyRelation) -> dict[str, Any]:
        try:
            return relation.fetchnumpy()
        except duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except duckdb.Error as error:
            raise self._explained(error) from error

    def _explained(self, error: duckdb.Error) -> CoterieError:
        message = str(error)
        if self.types and self.where is not None and isinstance(error, _OF_THE_QUERY):
            return InvalidParameter(
                f"--where {self.where!r} cannot be understood: {condition_fault(message, self.types)}",
                parameter="--where",
                received=self.where,
            )
        if isinstance(error, duckdb.OutOfMemoryException):
            return InvalidInput(
                f"{self.name} does not fit into memory.",
                hint="Read fewer rows" + (": --where." if self.files.caller.is_command else "."),
            )
        if self.files.format == "csv":
            explained = csv_error(self.files, message)
            if explained is not None:
                return InvalidInput(explained, parameter="source", received=self.name)
        return InvalidInput(
            f"{self.name} cannot be read as {self.files.format.upper()}: {_first_line(message)}",
            parameter="source",
            received=self.name,
        )


_OF_THE_QUERY = (
    duckdb.BinderException,
    duckdb.ParserException,
    duckdb.CatalogException,
    duckdb.ConversionException,
    duckdb.PermissionException,
)


def _kind_of(type_: str) -> ColumnKind | None:
    if type_.endswith("]") or type_.startswith(("STRUCT", "MAP", "UNION")):
        return None
    for kind, starts in _KINDS:
        if type_.startswith(starts):
            return kind
    return "number" if type_.endswith(("INT", "INTEGER")) else None


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


def _for_duckdb(values: AnyArray) -> AnyArray:
    """An array as duckdb takes it."""
    return values.astype("m8[ns]") if values.dtype.kind == "m" else values


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


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _shell(name: str) -> str:
    return name if re.fullmatch(r"[\w.-]+", name) else f"'{name}'"
