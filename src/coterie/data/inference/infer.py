"""What the columns of a table mean, inferred from the strings in them.

A column that leaves a doubt, such as one of 1,234 alone, is read as those that leave none: a file has one decimal mark,
and one order of day and month.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coterie._typing import AnyArray
from coterie.data.inference.dates import DateEvidence, DateFormat, date_evidence, parse_times, pattern_of
from coterie.data.inference.levels import TextLevels
from coterie.data.inference.marks import CURRENCY_SIGNS, FLAG_WORDS
from coterie.data.inference.numbers import (
    NumberEvidence,
    NumberFormat,
    are_long_integers,
    number_evidence,
)
from coterie.data.inference.reading import (
    PLURALS,
    ColumnKind,
    ColumnReading,
    ReadingOptions,
    TableReading,
    missing_among_values,
)

NEARLY_ALL = 0.9  # of the rows with a value: a column of numbers with some words in it
_MOST_WORDS = 5  # different words among numbers that are taken for missing values
_FEWEST_TEXTS = 20  # different texts, for sentences
_WORDS_OF_TEXT = 3.0  # on average, for sentences
_SHARE_OF_TEXTS = 0.2  # different ones among all rows, for sentences
_TRIED = 200  # levels by which most columns are seen to be no numbers and no dates
_FEWEST = 0.3  # of those
_LOOKED_AT = 2000  # texts whose marks are described


@dataclass(frozen=True)
class ColumnEvidence:
    """What speaks for which kind of a column; levels that mean missing are left out."""

    name: str
    all_levels: TextLevels
    texts: list[str]
    counts: AnyArray
    numbers: NumberEvidence
    dates: DateEvidence

    @classmethod
    def of(cls, name: str, levels: TextLevels) -> "ColumnEvidence":
        known = ~missing_among_values(levels.stripped)
        texts = [text for text, own in zip(levels.stripped, known.tolist(), strict=True) if own]
        counts = levels.counts[known]
        numbers, dates = NumberEvidence(0, 0, None), DateEvidence(0, 0, None)
        tried = slice(None, None, max(1, len(texts) // _TRIED))
        some, ones = texts[tried], np.ones(len(texts[tried]))
        if _share(number_evidence(some, ones), len(some)) >= _FEWEST:
            numbers = number_evidence(texts, counts)
        elif _share(date_evidence(some, ones), len(some)) >= _FEWEST:
            dates = date_evidence(texts, counts)
        return cls(name, levels, texts, counts, numbers, dates)

    @property
    def n_rows(self) -> int:
        """Rows with a value."""
        return int(self.counts.sum())


def _share(evidence: NumberEvidence | DateEvidence, n_rows: int) -> float:
    held = [own for own in vars(evidence).values() if isinstance(own, int)]
    return max(held) / max(1, n_rows)


@dataclass(frozen=True)
class Habits:
    """What columns without doubt say about the others: the decimal mark, and whether days are first.

    `delimiter` is the mark between the fields of a file; where that is a semicolon, commas are decimal marks.
    """

    decimal: str | None = None
    day_first: bool | None = None
    delimiter: str | None = None

    @classmethod
    def of(cls, columns: list[ColumnEvidence], delimiter: str | None) -> "Habits":
        marks = [own.numbers.decimal for own in columns if _is_mostly(own.numbers, own)]
        orders = [own.dates.order for own in columns if _is_mostly(own.dates, own)]
        decimal = _majority([mark for mark in marks if mark is not None])
        return cls(decimal, _majority([order for order in orders if order is not None]), delimiter)

    def decimal_of(self, own: ColumnEvidence) -> str:
        """The decimal mark of a column."""
        mark = own.numbers.decimal or self.decimal
        if mark is not None:
            return mark
        doubtful = own.numbers.ambiguous or ""
        return "," if self.delimiter == ";" and "," in doubtful else "."

    def day_first_in(self, own: ColumnEvidence) -> bool:
        """Whether days are first; points and a decimal comma are marks of places where they are."""
        order = own.dates.order if own.dates.order is not None else self.day_first
        if order is not None:
            return order
        doubtful = own.dates.ambiguous or ""
        return "/" not in doubtful or self.decimal == "," or self.delimiter == ";"


def _is_mostly(evidence: NumberEvidence | DateEvidence, own: ColumnEvidence) -> bool:
    return _share(evidence, own.n_rows) >= NEARLY_ALL


def _majority(votes: list[Any]) -> Any:
    return max(sorted(set(votes)), key=votes.count) if votes else None


def infer_table(
    columns: Mapping[str, AnyArray], options: ReadingOptions | None = None, delimiter: str | None = None
) -> TableReading:
    """How columns of strings are best read.

    Examples
    --------
    >>> infer_table({"price": ["1.234,50 €", "99,90 €", "-"], "sold": ["31.12.2024", "NA", "1.2.2025"]})
    column  kind    example     missing  note
    price   number  1.234,50 €        1  decimal commas, thousands marks, currency signs
    sold    date    31.12.2024        1  day first
    """
    options = options or ReadingOptions()
    evidence = [ColumnEvidence.of(name, TextLevels.of(texts, options.na)) for name, texts in columns.items()]
    habits = Habits.of(evidence, delimiter)
    return TableReading({own.name: _reading(own, options, habits) for own in evidence})


def doubtful_decimals(columns: Mapping[str, AnyArray]) -> list[str]:
    """Columns whose numbers are all written as 1.234 and 900 are, so that a point may be a thousands mark."""
    found = []
    for name, texts in columns.items():
        evidence = ColumnEvidence.of(name, TextLevels.of(texts)).numbers
        if evidence.with_point == evidence.with_comma:
            found.append(name)
    return found


def _reading(own: ColumnEvidence, options: ReadingOptions, habits: Habits) -> ColumnReading:
    kind = options.kinds.get(own.name)
    if kind is not None:
        reading = _of_kind(own, kind, options, habits)
        return replace(reading, lenient=True, note=_given_note(own, reading), change=None)
    for find in (_flag, _number, _date, _time):
        found = find(own, options, habits)
        if found is not None:
            return found
    return _labels(own, options)


def _plain(own: ColumnEvidence, kind: ColumnKind, options: ReadingOptions, **others: Any) -> ColumnReading:
    """A reading with an example and the number of rows without a value of its kind."""
    reading = ColumnReading(own.name, kind, na=options.na, **others)
    if reading.is_parsed:
        texts, n_known = _values_of(own, reading)
    else:
        texts, n_known = own.all_levels.levels, own.all_levels.n_known
    example = texts[0] if texts else ""
    return replace(reading, example=example, n_missing=own.all_levels.n_rows - n_known)


def _values_of(own: ColumnEvidence, reading: ColumnReading) -> tuple[list[str], int]:
    known = reading.known_levels(own.texts)
    return [text for text, is_one in zip(own.texts, known.tolist(), strict=True) if is_one], int(
        own.counts[known].sum()
    )


def _of_kind(own: ColumnEvidence, kind: ColumnKind, options: ReadingOptions, habits: Habits) -> ColumnReading:
    """The reading of a kind that a person gave."""
    if kind == "number":
        return _plain(own, kind, options, number=_number_format(own, options, habits))
    if kind == "date":
        own = replace(own, dates=date_evidence(own.texts, own.counts))
        return _plain(own, kind, options, date=_date_format(own, options, habits))
    if kind == "flag":
        return _flag(own, options, habits) or _plain(own, kind, options)
    return _plain(own, kind, options)


def _given_note(own: ColumnEvidence, reading: ColumnReading) -> str:
    if not reading.is_parsed:
        return "as given"
    odd = own.n_rows - _values_of(own, reading)[1]
    return f"as given; {_rows(odd)} with other values: missing" if odd else "as given"


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n:,} rows"


def _flag(own: ColumnEvidence, options: ReadingOptions, _: Habits) -> ColumnReading | None:
    words = {text.casefold() for text in own.texts}
    if not words:
        return None
    pair = next((pair for pair in FLAG_WORDS if words <= set(pair)), None)
    if pair is None or (len(words) == 1 and pair[0] in ("y", "t")):
        return None
    return _plain(own, "flag", options, words=pair)


def _number_format(own: ColumnEvidence, options: ReadingOptions, habits: Habits) -> NumberFormat:
    given = options.decimal or {".": ",", ",": "."}.get(options.thousands or "")
    decimal = habits.decimal_of(own)
    # What is given decides where there is a doubt; a column that can be read in one way alone is read so.
    if given is not None and own.numbers.decimal in (None, given):
        decimal = given
    thousands = None if options.thousands == decimal else options.thousands
    percent = bool(own.texts) and all("%" in text for text in own.texts)
    return NumberFormat.of(decimal, thousands, percent=percent)


def _number(own: ColumnEvidence, options: ReadingOptions, habits: Habits) -> ColumnReading | None:
    if _share(own.numbers, own.n_rows) < NEARLY_ALL or not own.texts:
        return None
    if are_long_integers(own.texts) or _are_codes(own.texts):
        return None
    number = _number_format(own, options, habits)
    reading = _plain(own, "number", options, number=number)
    reading = replace(reading, **_with_odd(own, reading))
    if reading.kind != "number":
        return reading
    marks = _marks(_values_of(own, reading)[0], number)
    note = "; ".join(filter(None, [", ".join(marks), reading.note]))
    change = reading.change
    doubtful = own.numbers.ambiguous
    other = {".": ",", ",": "."}[number.decimal]
    if doubtful is not None and own.numbers.decimal is None and options.decimal is None:
        value = number.parse([doubtful])[0][0]
        note = "; ".join(filter(None, [note, f"{doubtful} is read as {value:g}"]))
        change = ("decimal", other)
    return replace(reading, note=note, change=change)


def _with_odd(own: ColumnEvidence, reading: ColumnReading) -> dict[str, Any]:
    """What a few words among values change: they are missing values, or the column is one of labels."""
    known = reading.known_levels(own.texts)
    odd = [text for text, is_one in zip(own.texts, known.tolist(), strict=True) if not is_one]
    if not odd:
        return {}
    n_odd, share = int(own.counts[~known].sum()), float(own.counts[known].sum() / own.n_rows)
    plural = PLURALS[reading.kind]
    if share >= NEARLY_ALL and len(odd) <= _MOST_WORDS and not any(map(_has_digit, odd)):
        words = ", ".join(repr(text[:20]) for text in odd[:3])
        note = f"{_rows(n_odd)} with {words}: missing"
        return {"lenient": True, "note": note, "change": ("kinds", "category")}
    return {
        "kind": "category",
        "note": f"{share:.0%} are {plural}, and {odd[0][:20]!r} is none",
        "change": ("kinds", reading.kind),
        "n_missing": own.all_levels.n_rows - own.all_levels.n_known,
    }


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _are_codes(texts: list[str]) -> bool:
    """Whether these are digits of one length with zeros before them, as postal codes are."""
    return (
        len({len(text) for text in texts}) == 1
        and len(texts[0]) > 1
        and all(map(str.isdigit, texts))
        and any(text[0] == "0" for text in texts)
    )


def _marks(texts: list[str], number: NumberFormat) -> list[str]:
    """What is not plain about numbers."""
    texts = texts[:_LOOKED_AT]
    joined = "\n".join(texts)
    marks = []
    if number.decimal == "," and "," in joined:
        marks.append("decimal commas")
    if number.thousands and re.search(rf"\d[{re.escape(number.thousands)}]\d", joined) is not None:
        marks.append("thousands marks")
    if re.search(rf"[{re.escape(CURRENCY_SIGNS)}]|[^\W\d_eE]", joined) is not None:
        marks.append("currency signs")
    if "%" in joined:
        marks.append(
            "percent signs" if number.percent else "percent signs in some rows, which are hundredths"
        )
    return marks


def _date_format(own: ColumnEvidence, options: ReadingOptions, habits: Habits) -> DateFormat:
    return DateFormat(habits.day_first_in(own), options.date_format)


def _date(own: ColumnEvidence, options: ReadingOptions, habits: Habits) -> ColumnReading | None:
    if options.date_format is not None:
        given = _plain(own, "date", options, date=DateFormat(pattern=options.date_format))
        if own.n_rows and own.n_rows - given_missing(own, given) >= NEARLY_ALL * own.n_rows:
            return replace(given, **_with_odd(own, given))
    if _share(own.dates, own.n_rows) < NEARLY_ALL or not own.texts:
        return None
    date = DateFormat(habits.day_first_in(own))
    reading = _plain(own, "date", options, date=date)
    reading = replace(reading, **_with_odd(own, reading))
    doubtful = own.dates.ambiguous
    if reading.kind != "date" or doubtful is None:
        return reading
    note = "day first" if date.day_first else "month first"
    change = reading.change
    if own.dates.order is None:
        moment = date.parse([doubtful])[0].astype("M8[D]")[0]
        note += f": {doubtful} is read as {moment}"
        pattern = pattern_of(doubtful.split()[0].split("T")[0], not date.day_first)
        change = None if pattern is None else ("date_format", pattern)
    return replace(reading, note="; ".join(filter(None, [note, reading.note])), change=change)


def given_missing(own: ColumnEvidence, reading: ColumnReading) -> int:
    """Rows whose value is none of the kind."""
    return own.n_rows - _values_of(own, reading)[1]


def _time(own: ColumnEvidence, options: ReadingOptions, _: Habits) -> ColumnReading | None:
    if not own.texts or not parse_times(own.texts[:_TRIED])[1].mean() >= NEARLY_ALL:
        return None
    reading = _plain(own, "time", options)
    return replace(reading, **_with_odd(own, reading))


def _labels(own: ColumnEvidence, options: ReadingOptions) -> ColumnReading:
    levels = own.all_levels
    kind: ColumnKind = "text" if are_sentences(levels) else "category"
    reading = _plain(own, kind, options)
    if not levels.levels:
        return replace(reading, note="no value at all")
    share = _share(own.numbers, own.n_rows)
    if own.texts and are_long_integers(own.texts):
        digits = max(map(len, own.texts))
        return replace(reading, note=f"whole numbers of up to {digits} digits, kept as labels")
    if own.texts and all(map(str.isdigit, own.texts)) and _are_codes(own.texts):
        return replace(reading, note="codes with zeros before them", change=("kinds", "number"))
    if share >= 0.5:
        return replace(reading, note=f"{share:.0%} are numbers", change=("kinds", "number"))
    dates = _share(own.dates, own.n_rows)
    if dates >= 0.5:
        return replace(reading, note=f"{dates:.0%} are dates", change=("kinds", "date"))
    return reading


def are_sentences(levels: TextLevels) -> bool:
    """Whether labels are texts of several words, nearly another in each row."""
    n_levels = len(levels.levels)
    if n_levels <= _FEWEST_TEXTS or n_levels < _SHARE_OF_TEXTS * levels.n_known:
        return False
    some = levels.levels[:: max(1, n_levels // 1000)]
    return sum(len(text.split()) for text in some) / len(some) >= _WORDS_OF_TEXT
