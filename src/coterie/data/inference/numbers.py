"""Numbers as people write them: decimal commas, thousands marks, currencies, percent, negatives in brackets.

Words
  decimal    the mark before the fraction, a point or a comma
  thousands  the marks between groups of three digits
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from coterie._typing import AnyArray, BoolArray, FloatArray
from coterie.data.inference.levels import shapes_of
from coterie.data.inference.marks import APOSTROPHES, CURRENCY_SIGNS, CURRENCY_WORDS, MINUS_SIGNS, SPACES

_WORDS = "|".join(re.escape(word) for word in sorted(CURRENCY_WORDS, key=len, reverse=True))
_CURRENCY = re.compile(
    rf"[{re.escape(CURRENCY_SIGNS)}]|\b(?:{_WORDS})(?![a-zA-Z])|(?<=\d)(?:{_WORDS})(?![a-zA-Z])"
)
_TRAILING_MINUS = re.compile(r"^(.*)-$", re.MULTILINE)
_SHAPE = str.maketrans("0123456789", "0111111111")  # a zero at the beginning is no begin of thousands
_NO_DIGITS = re.compile(r"[^0-9.,]")
EXACT_DIGITS = 15  # of whole numbers that every float64 holds


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of a column are written.

    Attributes
    ----------
    decimal : "." or ","
    thousands : the marks that may stand between groups of three digits; "" for none
    percent : whether every value has a percent sign, so that 12 % is 12; where some have one, 12 % is 0.12
    """

    decimal: str = "."
    thousands: str = "," + SPACES + APOSTROPHES + "_"
    percent: bool = False

    @classmethod
    def of(cls, decimal: str = ".", thousands: str | None = None, *, percent: bool = False) -> "NumberFormat":
        """By the decimal mark; without a thousands mark, all but that mark are allowed."""
        if thousands is None:
            thousands = {".": ",", ",": "."}[decimal] + SPACES + APOSTROPHES + "_"
        elif thousands in SPACES:
            thousands = SPACES if thousands else ""
        elif thousands in APOSTROPHES:
            thousands = APOSTROPHES
        return cls(decimal, thousands, percent)

    def parse(self, texts: Sequence[str]) -> tuple[FloatArray, BoolArray]:
        """The numbers that texts stand for, NaN if one stands for none; and which stand for one.

        Examples
        --------
        >>> NumberFormat.of(",").parse(["1.234,5 €", "-7", "(3)", "50 %", "twelve"])[0].tolist()
        [1234.5, -7.0, -3.0, 0.5, nan]
        """
        values = np.full(len(texts), np.nan)
        is_number = self.matches(texts)
        if is_number.any():
            kept = [text for text, known in zip(texts, is_number.tolist(), strict=True) if known]
            values[is_number] = self._values(kept)
        return values, is_number

    def matches(self, texts: Sequence[str]) -> BoolArray:
        """Which texts are numbers of this format."""
        fits = _pattern(self.decimal, self.thousands).fullmatch
        shapes, codes = shapes_of(texts, _SHAPE)
        return np.array([fits(shape) is not None for shape in shapes], dtype=bool)[codes]

    def _values(self, texts: list[str]) -> FloatArray:
        """All at once: marks are replaced in one long text."""
        joined = "\n".join(texts)
        has_percent = "%" in joined and not self.percent
        if _CURRENCY.search(joined) is not None:
            joined = _CURRENCY.sub("", joined)
        changes: dict[str, str | None] = dict.fromkeys(SPACES + APOSTROPHES + "_%)+", None)
        changes |= dict.fromkeys(self.thousands, None) | dict.fromkeys(MINUS_SIGNS + "(", "-")
        changes[self.decimal] = "."
        if "e+" in joined or "E+" in joined:
            changes.pop("+")
        joined = joined.translate(str.maketrans(changes))  # type: ignore[arg-type]
        if "-\n" in f"{joined}\n":
            joined = _TRAILING_MINUS.sub(r"-\1", joined)
        values = np.array(list(map(float, joined.split("\n"))))
        if has_percent:
            values[np.array(["%" in text for text in texts])] /= 100
        return values


def _body(decimal: str, thousands: str, group: str) -> str:
    """A pattern of digits and marks; `group` is a name for the thousands mark, which is one in all of a number."""
    groups = []
    if thousands:
        marks = re.escape(thousands)
        groups.append(rf"[1-9]\d{{0,2}}(?P<{group}>[{marks}])\d{{3}}(?:(?P={group})\d{{3}})*")
    if "," in thousands:
        groups.append(r"[1-9]\d?(?:,\d{2})+,\d{3}")  # as in India
    whole = "|".join([*groups, r"\d+"])
    mark = re.escape(decimal)
    return rf"(?:(?:{whole})(?:{mark}\d*)?|{mark}\d+)(?:[eE][+-]?\d{{1,3}})?"


@cache
def _pattern(decimal: str, thousands: str) -> re.Pattern[str]:
    body, inner, last = (_body(decimal, thousands, group) for group in "abc")
    minus = re.escape(MINUS_SIGNS)
    sign = f"[+{minus}]?"
    space = f"[{SPACES}]?"
    currency = rf"(?:{_WORDS}|[{re.escape(CURRENCY_SIGNS)}])"
    before = rf"(?:{sign}{space}(?:{currency}{space})?|{currency}{space}{sign})"
    plain = rf"{before}{body}(?:{space}(?:{currency}|%))?"
    return re.compile(
        rf"{plain}|\((?:{currency}{space})?{inner}(?:{space}(?:{currency}|%))?\)|{last}[{minus}]"
    )


@dataclass(frozen=True)
class NumberEvidence:
    """How many rows are numbers with a decimal point, and how many with a decimal comma.

    Attributes
    ----------
    ambiguous : a text that is one number with a point and another with a comma, such as 1,234; None if there is none
    grouped : the mark that must stand between thousands, if nothing but groups of three digits shows that
    """

    with_point: int
    with_comma: int
    ambiguous: str | None
    grouped: str | None = None

    @property
    def decimal(self) -> str | None:
        """The mark, if there is no doubt about it."""
        if self.with_point == self.with_comma:
            return {".": ",", ",": "."}.get(self.grouped or "")
        return "." if self.with_point > self.with_comma else ","


def number_evidence(texts: Sequence[str], counts: AnyArray) -> NumberEvidence:
    """Weigh the texts of a column; `counts` says in how many rows each is.

    Examples
    --------
    >>> number_evidence(["1,5", "1,234"], np.array([1, 1]))
    NumberEvidence(with_point=1, with_comma=2, ambiguous='1,234', grouped=None)
    >>> number_evidence(["900", "1.600"], np.array([1, 1])).grouped
    '.'
    """
    point, comma = (NumberFormat.of(mark).matches(texts) for mark in ".,")
    both = [text for text, own in zip(texts, (point & comma).tolist(), strict=True) if own]
    doubtful = next((text for text in both if "," in text or "." in text), None)
    grouped = None if doubtful is None else _grouping_mark(both)
    return NumberEvidence(int(counts[point].sum()), int(counts[comma].sum()), doubtful, grouped)


def _grouping_mark(texts: Sequence[str]) -> str | None:
    """The mark of texts such as 900 and 1.600, if it is no decimal mark.

    A program that writes three decimals writes 900.000, and one that leaves zeros out writes 1.6.
    """
    digits = [_NO_DIGITS.sub("", text) for text in texts]
    marks = {mark for text in digits for mark in ".," if mark in text}
    plain = [text for text in digits if "." not in text and "," not in text]
    ends_in_zero = any(text.endswith("0") for text in digits if "." in text or "," in text)
    fits = len(marks) == 1 and plain and ends_in_zero and all(len(text) <= 3 for text in plain)
    return marks.pop() if fits else None


def are_long_integers(texts: Sequence[str]) -> bool:
    """Whether these are whole numbers of which some have more digits than a float holds."""
    return all(map(str.isdigit, texts)) and any(len(text.lstrip("0")) > EXACT_DIGITS for text in texts)
