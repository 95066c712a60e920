"""Dates and times as people write them: day or month first, names of months, hours with AM and PM, offsets of zones.

A column has one order of day and month; all other forms may be mixed in it. A format of strptime reads nothing else.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from coterie._typing import AnyArray, BoolArray
from coterie.data.inference.levels import shapes_of
from coterie.data.inference.marks import MONTHS

_NAME = r"(?P<{}>[^\W\d_]{{3,10}})\.?"
_CLOCK = r"(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?:[.,](?P<f>\d{1,9}))?)?\s?(?P<p>[AaPp]\.?[Mm]\.?)?"
_ZONE = r"\s?(?P<z>Z|UTC|GMT|[+-](?P<z_hours>\d{2})(?::?(?P<z_minutes>\d{2}))?)?"
_WEEKDAY = r"(?:[^\W\d_]{2,10}[.,]{0,2}\s)?"
_DATES = (
    r"(?P<y1>\d{4})(?P<s1>[-/. ])(?P<m1>\d{1,2})(?P=s1)(?P<d1>\d{1,2})\.?",
    r"(?P<a2>\d{1,2})(?P<s2>[-/. ]|\. )(?P<b2>\d{1,2})(?P=s2)(?P<y2>\d{4}|\d{2})",
    rf"(?P<d3>\d{{1,2}})(?:st|nd|rd|th|\.)?[-/. ]{{0,2}}{_NAME.format('n3')}[-/., ]{{1,2}}(?P<y3>\d{{4}}|\d{{2}})",
    rf"{_NAME.format('n4')}[-/. ](?P<d4>\d{{1,2}})(?:st|nd|rd|th)?,?[-/. ](?P<y4>\d{{4}})",
    r"(?P<y5>\d{4})[-/](?P<m5>\d{1,2})",
    rf"{_NAME.format('n6')}[-/. ](?P<y6>\d{{4}})",
    r"(?P<m7>\d{1,2})/(?P<y7>\d{4})",
)
_PATTERN = re.compile(rf"{_WEEKDAY}(?:{'|'.join(_DATES)})(?:(?:T|,?\s+){_CLOCK}{_ZONE})?")
_TIME = re.compile(_CLOCK)
_SHAPE = str.maketrans("0123456789", "0000000000")
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?")
_LAST_OF_THIS_CENTURY = 68  # years of two digits after it are of the last century, as in strptime
_SHOWN = 50  # rows by which it is decided whether numpy may read them all


@dataclass(frozen=True)
class DateFormat:
    """How the dates of a column are written.

    Attributes
    ----------
    day_first : whether 3/4/2021 is in April
    pattern : a format of strptime that all dates have, or None
    """

    day_first: bool = False
    pattern: str | None = None

    def parse(self, texts: Sequence[str]) -> tuple[AnyArray, BoolArray]:
        """The moments that texts stand for, NaT if one stands for none; and which stand for one.

        Examples
        --------
        >>> DateFormat(day_first=True).parse(["3/4/2021", "Mar 15, 2021 2:30 PM", "2021"])[0].astype("M8[m]")
        array(['2021-04-03T00:00', '2021-03-15T14:30', 'NaT'], dtype='datetime64[m]')
        """
        if self.pattern is not None:
            return _by_pattern(texts, self.pattern)
        iso = _iso_dates(texts)
        if iso is not None:
            return iso, np.ones(len(texts), dtype=bool)
        return _by_shapes(texts, _PATTERN, lambda fields: _moments(fields, self.day_first), "M8[us]")


def _iso_dates(texts: Sequence[str]) -> AnyArray | None:
    """The dates by numpy itself, if all are in the form of ISO 8601."""
    step = max(1, len(texts) // _SHOWN)
    if not texts or any(_ISO.fullmatch(text) is None for text in texts[::step]):
        return None
    try:
        # A year alone, or a month, is a date for numpy, and may be a number here.
        return np.array(texts, dtype="M8[us]") if min(map(len, texts)) >= 10 else None
    except ValueError:
        return None


class _Fields:
    """The parts of texts that have one shape, by name: digits are in the same places in all of them."""

    def __init__(self, texts: list[str], shape: re.Match[str]) -> None:
        self.shape, self.n = shape, len(texts)
        width = len(texts[0])
        self._letters = np.array(texts, dtype=f"U{width}").view(np.uint32).reshape(self.n, width)

    def text(self, *names: str) -> str | None:
        """The letters of the first of these parts that is there."""
        return next((self.shape[name] for name in names if self.shape[name]), None)

    def number(self, *names: str, missing: int = 0, digits: int | None = None) -> AnyArray:
        """The number in the first of these parts that is there, perhaps as one of so many digits."""
        name = next((name for name in names if self.shape[name]), None)
        if name is None:
            return np.full(self.n, missing, dtype=np.int64)
        begin, end = self.shape.span(name)
        if digits is not None:
            end = min(end, begin + digits)
        value = np.zeros(self.n, dtype=np.int64)
        for place in range(begin, end):
            value = 10 * value + (self._letters[:, place].astype(np.int64) - ord("0"))
        return value if digits is None else value * 10 ** (digits - (end - begin))


def _by_shapes(
    texts: Sequence[str], pattern: re.Pattern[str], read: Callable[[_Fields], AnyArray], dtype: str
) -> tuple[AnyArray, BoolArray]:
    """Values of texts, all of a shape at once; NaT where a text has no such shape or there is no such day."""
    values = np.full(len(texts), "NaT", dtype=dtype)
    if not len(texts):
        return values, np.zeros(0, dtype=bool)
    shapes, codes = shapes_of(texts, _SHAPE)
    matches = [pattern.fullmatch(shape) for shape in shapes]
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(shapes)))
    for match, rows in zip(matches, np.split(order, ends[:-1]), strict=True):
        if match is not None:
            values[rows] = read(_Fields([texts[row] for row in rows.tolist()], match))
    return values, ~np.isnat(values)


def _moments(fields: _Fields, day_first: bool) -> AnyArray:
    """Moments of texts of one shape; NaT where there is no such day."""
    year = fields.number("y1", "y2", "y3", "y4", "y5", "y6", "y7")
    if len(fields.text("y2", "y3") or "four") == 2:
        year = year + np.where(year > _LAST_OF_THIS_CENTURY, 1900, 2000)
    name = fields.text("n3", "n4", "n6")
    month = fields.number("m1", "m5", "m7", "b2" if day_first else "a2")
    if name is not None:
        month[:] = MONTHS.get(name.casefold(), 0)
    day = fields.number("d1", "d3", "d4", "a2" if day_first else "b2", missing=1)
    months = (year - 1970) * 12 + month - 1
    days = months.astype("M8[M]").astype("M8[D]") + (day - 1).astype("m8[D]")
    valid = (month >= 1) & (month <= 12) & (day >= 1) & (year >= 1)
    valid &= days.astype("M8[M]").astype(np.int64) == months
    moments = days.astype("M8[us]") + _clock(fields) - _zone(fields)
    moments[~valid] = np.datetime64("NaT")
    return np.asarray(moments)


def _zone(fields: _Fields) -> AnyArray:
    """By how much clocks are ahead of universal time."""
    zone = fields.text("z")
    if not zone or zone[0] not in "+-":
        return np.zeros(fields.n, dtype="m8[m]")
    digits = fields.number("z_hours", missing=0) * 60 + fields.number("z_minutes", missing=0)
    return np.asarray((-digits if zone[0] == "-" else digits).astype("m8[m]"))


def _clock(fields: _Fields) -> AnyArray:
    """Times since midnight; NaT where there is no such time."""
    hour, minute, second = (fields.number(name) for name in "HMS")
    half = (fields.text("p") or "")[:1].lower()
    wrong = (hour > 23) | (minute > 59) | (second > 59)
    if half:
        wrong |= (hour < 1) | (hour > 12)
        hour = hour % 12 + 12 * (half == "p")
    since = ((hour * 60 + minute) * 60 + second) * 1_000_000 + fields.number("f", digits=6)
    times = since.astype("m8[us]")
    times[wrong] = np.timedelta64("NaT")
    return np.asarray(times)


def parse_times(texts: Sequence[str]) -> tuple[AnyArray, BoolArray]:
    """Times of day as durations since midnight, NaT if a text is none; and which are.

    Examples
    --------
    >>> parse_times(["14:30", "2:30 pm", "25:00"])[0].astype("m8[m]")
    array([  870,   870, 'NaT'], dtype='timedelta64[m]')
    """
    return _by_shapes(texts, _TIME, _clock, "m8[us]")


def _parsed(text: str, pattern: str) -> np.datetime64 | None:
    try:
        moment = datetime.strptime(text, pattern)
    except ValueError:
        return None
    offset = moment.utcoffset()
    return np.datetime64(
        moment.replace(tzinfo=None) if offset is None else moment.replace(tzinfo=None) - offset
    )


def _by_pattern(texts: Sequence[str], pattern: str) -> tuple[AnyArray, BoolArray]:
    held = [_parsed(text, pattern) for text in texts]
    values = np.array([np.datetime64("NaT") if own is None else own for own in held], dtype="M8[us]")
    return values, ~np.isnat(values)


@dataclass(frozen=True)
class DateEvidence:
    """How many rows are dates with the day first, and how many with the month first.

    Attributes
    ----------
    ambiguous : a text that is another date with the month first than with the day first; None if there is none
    """

    day_first: int
    month_first: int
    ambiguous: str | None

    @property
    def order(self) -> bool | None:
        """Whether the day is first, if there is no doubt about it."""
        return None if self.day_first == self.month_first else self.day_first > self.month_first


def date_evidence(texts: Sequence[str], counts: AnyArray) -> DateEvidence:
    """Weigh the texts of a column; `counts` says in how many rows each is."""
    day, is_day = DateFormat(day_first=True).parse(texts)
    month, is_month = DateFormat(day_first=False).parse(texts)
    differ = is_day & is_month & (day != month)
    ambiguous = texts[int(differ.argmax())] if differ.any() else None
    return DateEvidence(int(counts[is_day].sum()), int(counts[is_month].sum()), ambiguous)


def pattern_of(text: str, day_first: bool) -> str | None:
    """The format of strptime of a date that has two numbers before its year; None for other forms.

    Examples
    --------
    >>> pattern_of("03/04/2021", day_first=True)
    '%d/%m/%Y'
    """
    match = _PATTERN.fullmatch(text)
    if match is None or match["a2"] is None:
        return None
    mark, year = match["s2"], "%Y" if len(match["y2"]) == 4 else "%y"
    return mark.join(["%d", "%m", year] if day_first else ["%m", "%d", year])
