"""How a column is read: its kind, the format of its values, and what a person should know about that.

Kinds
  number     numbers, as floats
  date       moments, as datetime64
  time       times of day, as durations since midnight
  flag       yes or no
  category   labels: few different ones, or ids
  text       sentences of several words, nearly another in each row
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from coterie._typing import AnyArray, BoolArray
from coterie.data.inference.dates import DateFormat, parse_times
from coterie.data.inference.levels import TextLevels, object_array
from coterie.data.inference.marks import MISSING_AMONG_VALUES
from coterie.data.inference.numbers import NumberFormat
from coterie.errors import InvalidInput, InvalidParameter

ColumnKind: TypeAlias = Literal["number", "date", "time", "flag", "category", "text"]
KINDS: tuple[ColumnKind, ...] = get_args(ColumnKind)
PLURALS = {
    "number": "numbers",
    "date": "dates",
    "time": "times",
    "flag": "flags",
    "category": "categories",
    "text": "texts",
}


@dataclass(frozen=True)
class ReadingOptions:
    """What a person says about a table.

    Attributes
    ----------
    decimal : "." or ",", or None to infer it
    thousands : the mark between groups of three digits, or None to allow all but the decimal mark
    na : texts that are missing values, beside those that always are
    kinds : of columns by name
    date_format : a format of strptime that dates have, or None to infer it
    """

    decimal: str | None = None
    thousands: str | None = None
    na: tuple[str, ...] = ()
    kinds: Mapping[str, ColumnKind] = field(default_factory=dict)
    date_format: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise _unexpected("decimal", self.decimal, "'.' or ','")
        if self.thousands is not None and (len(self.thousands) > 1 or self.thousands.isalnum()):
            raise _unexpected("thousands", self.thousands, "one mark, such as '.' or ' ', or '' for none")
        if self.thousands and self.thousands == self.decimal:
            raise _unexpected("thousands", self.thousands, "another mark than that of decimals")
        for name, kind in self.kinds.items():
            if kind not in KINDS:
                raise _unexpected("kinds", kind, f"one of {', '.join(KINDS)} for column {name!r}")
        if self.date_format is not None and "%" not in self.date_format:
            raise _unexpected("date_format", self.date_format, "a format such as '%d/%m/%Y'")


def _unexpected(parameter: str, value: object, allowed: str) -> InvalidParameter:
    return InvalidParameter.expecting(f"{parameter}={value!r}", allowed, parameter, value)


@dataclass(frozen=True)
class OtherValues:
    """Values of a column that are none of its kind, and are read as missing.

    Attributes
    ----------
    n_rows : how many rows have such a value
    example, row : the first of them, and its row, counted from 0
    """

    n_rows: int
    example: str
    row: int

    def in_words(self, reading: "ColumnReading", where: str, place: str) -> str:
        """A sentence about a column of a table; `place` is that of the first value.

        Examples
        --------
        >>> OtherValues(2, "sold", 7).in_words(ColumnReading("price", "number"), "flats.csv", "line 9")
        "Column 'price' of flats.csv: 2 values are no numbers and are read as missing; the first is 'sold' in line 9."
        """
        what = f"Column {reading.name!r} of {where}"
        first = f"{self.example[:40]!r} in {place}"
        if self.n_rows == 1:
            return f"{what}: 1 value is no {reading.kind} and is read as missing: {first}."
        return (
            f"{what}: {self.n_rows:,} values are no {PLURALS[reading.kind]} and are read as missing; the first is "
            f"{first}."
        )


@dataclass(frozen=True)
class ColumnReading:
    """How one column is read.

    Attributes
    ----------
    kind : see the module
    example : a value of it, as it is written
    n_missing : rows without a value
    note : what a person should know, or ""
    change : the option that would change the reading and its value, such as ("kinds", "number"), or None
    lenient : whether values of another kind are missing; else they are an error
    na : texts that are missing values, beside those that always are
    number, date, words : the format of numbers, of dates, and the words for yes and no
    native : whether the source holds values of that kind, so that nothing has to be parsed
    """

    name: str
    kind: ColumnKind
    example: str = ""
    n_missing: int = 0
    note: str = ""
    change: tuple[str, str] | None = None
    lenient: bool = False
    na: tuple[str, ...] = ()
    number: NumberFormat = field(default_factory=NumberFormat)
    date: DateFormat = field(default_factory=DateFormat)
    words: tuple[str, str] = ("true", "false")
    native: bool = False

    @property
    def is_parsed(self) -> bool:
        """Whether strings have to be turned into something else."""
        return self.kind not in ("category", "text")

    def parse(self, texts: AnyArray, where: str = "X") -> AnyArray:
        """The values of a column of strings, missing ones as NaN, NaT or None; None among the strings is missing.

        Examples
        --------
        >>> reading = ColumnReading("price", "number", number=NumberFormat.of(","))
        >>> reading.parse(np.array(["1.234,5 €", None, "-"], dtype=object))
        array([1234.5,    nan,    nan])
        """
        return self.parse_with_others(texts, where)[0]

    def parse_with_others(self, texts: AnyArray, where: str = "X") -> tuple[AnyArray, OtherValues | None]:
        """The same, and which values are none of the kind: a lenient reading takes them for missing.

        Examples
        --------
        >>> reading = ColumnReading("price", "number", lenient=True)
        >>> reading.parse_with_others(np.array(["1.5", "-", "sold", "free"], dtype=object))[1]
        OtherValues(n_rows=2, example='sold', row=2)
        """
        levels = TextLevels.of(texts, self.na)
        if not self.is_parsed:
            return levels.labels(), None
        values, known = self.parsed_levels(levels.stripped)
        wrong = np.flatnonzero(~known & ~missing_among_values(levels.stripped))
        if not len(wrong):
            return levels.expanded(values), None
        first = int(wrong[0])  # levels are in the order of their first rows
        if not self.lenient:
            raise self._wrong_value(levels, first, where)
        n_rows = int(levels.counts[wrong].sum())
        return levels.expanded(values), OtherValues(n_rows, levels.levels[first], levels.first_row(first))

    def parsed_levels(self, texts: list[str]) -> tuple[AnyArray, BoolArray]:
        """Values of different texts, and which texts are values of this kind."""
        if self.kind == "number":
            return self.number.parse(texts)
        if self.kind == "date":
            return self.date.parse(texts)
        if self.kind == "time":
            return parse_times(texts)
        yes, no = self.words
        meaning = {yes: True, no: False, "1": True, "0": False, "true": True, "false": False}
        values = object_array([meaning.get(text.casefold()) for text in texts])
        return values, np.array([value is not None for value in values], dtype=bool)

    def known_levels(self, texts: list[str]) -> BoolArray:
        """Which texts are values of this kind."""
        return self.number.matches(texts) if self.kind == "number" else self.parsed_levels(texts)[1]

    def _wrong_value(self, levels: TextLevels, place: int, where: str) -> InvalidInput:
        row = levels.first_row(place)
        return InvalidInput(
            f"Column {self.name!r} of {where} holds {levels.levels[place]!r:.60} in row {row + 1}; it held "
            f"{PLURALS[self.kind]} in the table that the model was fitted to.",
            parameter=self.name,
            received=levels.levels[place],
            allowed=PLURALS[self.kind],
            hint="Correct the value, or leave it empty.",
            column=self.name,
            row=row,
        )

    def as_plain(self) -> dict[str, Any]:
        """What later tables are read by, as values of JSON; what was seen in this one is left out."""
        held: dict[str, Any] = {"kind": self.kind}
        if self.kind == "number":
            number = self.number
            held |= {"decimal": number.decimal, "thousands": number.thousands, "percent": number.percent}
        if self.kind == "date":
            held |= {"day_first": self.date.day_first, "pattern": self.date.pattern}
        if self.kind == "flag":
            held["words"] = list(self.words)
        if self.na:
            held["na"] = list(self.na)
        return {**held, "lenient": True} if self.lenient else held

    @classmethod
    def of_plain(cls, name: str, held: Mapping[str, Any]) -> "ColumnReading":
        """The reading of `as_plain`; what cannot be understood is left as it is by default."""
        kind = held.get("kind")
        default = NumberFormat()
        yes, no = (*map(str, held.get("words", ())), "true", "false")[:2]
        return cls(
            name,
            kind if kind in KINDS else "category",
            lenient=bool(held.get("lenient", False)),
            na=tuple(map(str, held.get("na", ()))),
            number=NumberFormat(
                "," if held.get("decimal") == "," else ".",
                str(held.get("thousands", default.thousands)),
                bool(held.get("percent", False)),
            ),
            date=DateFormat(bool(held.get("day_first", False)), held.get("pattern")),
            words=(yes, no),
        )


def missing_among_values(texts: list[str]) -> BoolArray:
    """Which texts mean that there is no number, date, time or flag."""
    return np.array([text.casefold() in MISSING_AMONG_VALUES for text in texts], dtype=bool)


def missing_in(values: AnyArray) -> BoolArray:
    """Which values of a column are missing: NaN, NaT or None."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind == "O":
        return np.array([value is None for value in values], dtype=bool)
    return np.zeros(len(values), dtype=bool)


def _example(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float | np.floating) else str(value)


class TableReading(dict[str, ColumnReading]):
    """Readings by the names of columns; shown, they are a table.

    Examples
    --------
    >>> TableReading({"area": ColumnReading("area", "number", "1,234", 3, "thousands marks", ("decimal", ","))})
    column  kind    example  missing  note
    area    number  1,234          3  thousands marks (decimal=',')
    """

    def to_json(self) -> str:
        """The readings as text, for `of_json`."""
        return json.dumps({name: own.as_plain() for name, own in self.items()}, ensure_ascii=False)

    @classmethod
    def of_json(cls, text: str) -> "TableReading":
        """Readings from text; none if it holds none."""
        try:
            held = json.loads(text)
        except ValueError:
            return cls()
        if not isinstance(held, dict):
            return cls()
        return cls(
            {name: ColumnReading.of_plain(name, own) for name, own in held.items() if isinstance(own, dict)}
        )

    def with_kind(self, name: str, kind: ColumnKind) -> "TableReading":
        """The same with another kind of a column."""
        return TableReading({**self, name: replace(self[name], kind=kind)})

    def seen_in(self, columns: Mapping[str, AnyArray]) -> "TableReading":
        """The readings of these columns, with how many values are missing, and examples where there are none yet."""
        seen = TableReading()
        for name, values in columns.items():
            own, holes = self[name], missing_in(values)
            known = values[~holes][:1]
            example = own.example if not own.native else _example(known[0]) if len(known) else ""
            seen[name] = replace(own, example=example, n_missing=int(holes.sum()))
        return seen

    def to_text(self, option: Callable[[ColumnReading], str] | None = None, most: int | None = None) -> str:
        """A table of lines: column, kind, example, missing, note; `option` writes what changes a reading."""
        write = option or _python_option
        rows = [("column", "kind", "example", "missing", "note")]
        for own in self.values():
            how = "" if own.change is None else f" ({write(own)})"
            rows.append(
                (
                    _short(own.name, 30),
                    own.kind,
                    _short(own.example, 24),
                    f"{own.n_missing:,}",
                    own.note + how,
                )
            )
        shown = rows if most is None or len(rows) <= most + 1 else rows[: most + 1]
        widths = [max(len(row[place]) for row in shown) for place in range(4)]
        lines = [
            "  ".join(
                [*(row[place].ljust(widths[place]) for place in range(3)), row[3].rjust(widths[3]), row[4]]
            ).rstrip()
            for row in shown
        ]
        return "\n".join(lines if len(shown) == len(rows) else [*lines, f"and {len(rows) - len(shown)} more"])

    def __repr__(self) -> str:
        return self.to_text()


def _python_option(own: ColumnReading) -> str:
    assert own.change is not None
    name, value = own.change
    return f"kinds={{{own.name!r}: {value!r}}}" if name == "kinds" else f"{name}={value!r}"


def _short(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"
