"""From the columns of a table to the features of trees, written down so that another format can do it.

A reading is a small formula: a column, or something that is done to another reading. `Encoder` and `TargetStatistics`,
and the `TableReader` of imported models, do the same to tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.data.levels import is_number
from coterie.data.prepare import Encoder
from coterie.data.table import Schema
from coterie.data.target_statistics import Source, TargetStatistics
from coterie.errors import InvalidInput


@dataclass(frozen=True)
class Values:
    """A column as it is: numbers or text."""

    column: int


@dataclass(frozen=True)
class LookUp:
    """The number that belongs to each key; a value that is no key, or missing, has the number `default`.

    `keys` is a list of text, or an array of numbers.
    """

    source: "Reading"
    keys: list[str] | FloatArray
    numbers: FloatArray
    default: float = np.nan


@dataclass(frozen=True)
class PairLookUp:
    """The same for pairs: the key is that of the first reading times `width`, plus that of the second."""

    first: LookUp
    second: LookUp
    width: int
    keys: FloatArray
    numbers: FloatArray
    default: float


@dataclass(frozen=True)
class WithoutNumber:
    """One number, in single precision, counts as missing."""

    source: "Reading"
    number: float


@dataclass(frozen=True)
class WithoutZero:
    """Zero counts as missing."""

    source: "Reading"


@dataclass(frozen=True)
class WholeNumbers:
    """Codes of whole numbers: cut towards zero, or if `single`, rounded to single precision and down. Others are 0."""

    source: "Reading"
    keys: FloatArray
    codes: FloatArray
    single: bool


Reading: TypeAlias = Values | LookUp | PairLookUp | WithoutNumber | WithoutZero | WholeNumbers


@dataclass(frozen=True)
class Readings:
    """All features of a model.

    Attributes
    ----------
    names : of the columns; x0, x1, ... if the table had none.
    text : which columns hold text.
    features : what trees see.
    """

    names: tuple[str, ...]
    text: frozenset[int]
    features: Sequence[Reading]

    @property
    def are_plain(self) -> bool:
        """Whether feature j is column j as it is."""
        return all(isinstance(each, Values) for each in self.features)


def readings_of(schema: Schema, encoder: Encoder, statistics: TargetStatistics | None = None) -> Readings:
    """How a model of coterie reads its columns."""
    names = column_names(schema)
    keys: dict[int, list[str] | FloatArray] = {}
    features: list[Reading] = []
    for column, name in enumerate(names):
        levels, codes = encoder.levels(column), encoder.codes(column)
        if levels is None or codes is None:
            features.append(Values(column))
            continue
        keys[column] = text_or_numbers(levels, name)
        features.append(look_up(column, keys[column], codes))
    for source, means in statistics.means_by_source() if statistics else ():
        features += [_statistic(source, mean, keys) for mean in means]
    text = frozenset(column for column, own in keys.items() if isinstance(own, list))
    return Readings(names, text, features)


def look_up(column: int, keys: list[str] | FloatArray, numbers: AnyArray, default: float = np.nan) -> LookUp:
    """The number of each key of a column."""
    if len(keys) == 0:  # a column that was empty in fit
        return LookUp(Values(column), np.zeros(1), np.array([default]), default)
    return LookUp(Values(column), keys, np.asarray(numbers, dtype=np.float64), default)


def _statistic(source: Source, mean: FloatArray, keys: dict[int, list[str] | FloatArray]) -> Reading:
    """The means of levels, or of pairs of them; that of missing ones is the first."""
    if source.pairs is None:
        return look_up(source.features[0], keys[source.features[0]], mean[1:], float(mean[0]))
    first, second = (
        look_up(column, keys[column], np.arange(len(keys[column])) + 1, 0.0) for column in source.features
    )
    width = len(keys[source.features[1]]) + 1
    pairs = source.pairs.astype(np.int64)
    combined = (pairs >> 32) * width + (pairs & 0xFFFFFFFF)
    return PairLookUp(first, second, width, combined.astype(np.float64), mean[1:], float(mean[0]))


def text_or_numbers(levels: AnyArray, name: str) -> list[str] | FloatArray:
    """The levels of a column as keys that other formats know."""
    if levels.dtype.kind != "O" or all(is_number(level) for level in levels):
        return levels.astype(np.float64)
    keys = [str(level) for level in levels]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InvalidInput(
            f"Column {name!r} has different categories with the same text, {twice!r}, and other formats know only "
            "text.",
            parameter=name,
            received=twice,
            allowed="categories that differ as text",
            hint="Fit the model on a column of text, or of numbers.",
        )
    return keys


def column_names(schema: Schema) -> tuple[str, ...]:
    """Those of the table, or x0, x1, ..."""
    if schema.names is None:
        return tuple(f"x{column}" for column in range(schema.n_features))
    return tuple(str(name) or f"x{column}" for column, name in enumerate(schema.names))
