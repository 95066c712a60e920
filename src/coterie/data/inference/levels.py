"""The different texts of a column, and in which rows they are: what is inferred and parsed once for each of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from coterie._typing import AnyArray, CodeArray
from coterie.data.inference.marks import MISSING, SPACES


@dataclass(frozen=True)
class TextLevels:
    """Different texts and the row of each; `codes` are places among them, -1 where a row has no value."""

    levels: list[str]
    codes: CodeArray

    @classmethod
    def of(cls, texts: AnyArray | Sequence[Any], na: Iterable[str] = ()) -> "TextLevels":
        """The levels of strings; None, NaN, and texts that mean missing in any column are no levels.

        Examples
        --------
        >>> own = TextLevels.of(["a", None, "NA", "b", "a"])
        >>> own.levels, own.codes
        (['a', 'b'], array([ 0, -1, -1,  1,  0], dtype=int32))
        """
        place: dict[Any, int] = {}
        held = texts.tolist() if isinstance(texts, np.ndarray) else list(texts)
        firsts = np.array([place.setdefault(text, len(place)) for text in held], dtype=np.int32)
        missing = {*MISSING, *na}
        levels: list[str] = []
        lookup = np.full(len(place), -1, dtype=np.int32)
        for text, first in place.items():
            if not _is_gap(text, missing):
                lookup[first] = len(levels)
                levels.append(text if isinstance(text, str) else str(text))
        return cls(levels, lookup[firsts] if len(place) else firsts)

    @cached_property
    def counts(self) -> AnyArray:
        """Rows of each level."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.levels))

    @cached_property
    def stripped(self) -> list[str]:
        """The levels without spaces around them."""
        return [level.strip().strip(SPACES) for level in self.levels]

    @property
    def n_known(self) -> int:
        return int(self.counts.sum())

    @property
    def n_rows(self) -> int:
        return len(self.codes)

    def first_row(self, level: int) -> int:
        return int(np.flatnonzero(self.codes == level)[0])

    def labels(self) -> AnyArray:
        """The texts themselves, None where one is missing."""
        return np.asarray(object_array([*self.levels, None])[self.codes])

    def expanded(self, values: AnyArray) -> AnyArray:
        """The value of each row, from those of the levels; NaN, NaT or None where a row has none."""
        if values.dtype.kind == "O":
            return np.asarray(object_array([*values.tolist(), None])[self.codes])
        missing = np.array(["NaT"], dtype=values.dtype) if values.dtype.kind in "mM" else np.array([np.nan])
        return np.asarray(np.concatenate([values, missing])[self.codes])


def _is_gap(text: Any, missing: set[str]) -> bool:
    if isinstance(text, str):
        return text in missing or text.strip() in missing
    return text is None or text != text or type(text).__name__ in ("NAType", "NaTType")


def object_array(values: Sequence[Any]) -> AnyArray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def shapes_of(texts: Sequence[str], digits: Mapping[int, int]) -> tuple[list[str], CodeArray]:
    """The different shapes of texts, and the shape of each: what is true of a shape is found out once.

    `digits` says what becomes of each digit in a shape.

    Examples
    --------
    >>> shapes_of(["3,50", "4,75", "12"], str.maketrans("0123456789", "0000000000"))
    (['0,00', '00'], array([0, 0, 1], dtype=int32))
    """
    shaped = "\n".join(texts).translate(digits).split("\n")
    if len(shaped) != len(texts):  # some text has several lines, or there is none
        shaped = [text.translate(digits) for text in texts]
    place: dict[str, int] = {}
    codes = np.array([place.setdefault(shape, len(place)) for shape in shaped], dtype=np.int32)
    return list(place), codes
