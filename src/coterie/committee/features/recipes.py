"""How a column is made of others: differences, ratios, means by level and the like, each with a name one can read.

Words
  columns   the columns of a table, each as float64: NaN where a value is missing, places of levels where it has labels
  recipe    what a generated column is made of: `sources`, places of columns; `name`; and `values` for any rows
  key       one or two columns whose values part the rows: the rows of one town, or of one town and one kind
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np

from coterie._storage import expect, storable, stored_as
from coterie._typing import FloatArray, RowArray
from coterie._value_types import COUNT, FLOAT_VECTOR, INTEGERS, NONE, NUMBER, TEXT, instance, one_of, tuple_of

_SMOOTHING = 10.0  # rows with the mean of all that are added to those of a key

Columns: TypeAlias = Sequence[FloatArray]


def _verify_key(key: "RowKey") -> None:
    expect(len(key.columns) == len(key.levels) > 0, "has a key of other columns than its values")


@storable(
    "committee.RowKey",
    {"columns": tuple_of(COUNT), "levels": tuple_of(FLOAT_VECTOR), "known": INTEGERS},
    verify=_verify_key,
)
@dataclass(frozen=True)
class RowKey:
    """Columns whose values part the rows, and which combinations of values there are.

    Attributes
    ----------
    columns : places of the columns
    levels : for each column its values in order; a missing value is one more
    known : the numbers of the combinations that occur, in order

    Examples
    --------
    >>> columns = [np.array([1.0, 1.0, 2.0]), np.array([0.0, np.nan, 0.0])]
    >>> key = RowKey.of((0, 1), columns)
    >>> key.places(columns), key.places([np.array([2.0, 3.0]), np.array([0.0, 0.0])])
    (array([0, 1, 2]), array([ 2, -1]))
    """

    columns: tuple[int, ...]
    levels: tuple[FloatArray, ...]
    known: RowArray

    @classmethod
    def of(cls, places: tuple[int, ...], columns: Columns) -> Self:
        """The key of some columns, with the combinations that these rows hold."""
        levels = tuple(np.unique(columns[place][~np.isnan(columns[place])]) for place in places)
        return cls(places, levels, np.unique(cls(places, levels, np.zeros(0, np.int64))._numbers(columns)))

    def _numbers(self, columns: Columns) -> RowArray:
        """The number of each row's combination; -1 if one of its values is new."""
        total = np.zeros(len(columns[self.columns[0]]), dtype=np.int64)
        is_new = np.zeros(len(total), dtype=bool)
        for place, levels in zip(self.columns, self.levels, strict=True):
            values = columns[place]
            missing = np.isnan(values)
            own = np.searchsorted(levels, np.where(missing, np.inf, values))
            at = np.minimum(own, max(0, len(levels) - 1))
            found = levels[at] == values if len(levels) else np.zeros(len(values), dtype=bool)
            is_new |= ~found & ~missing
            total = total * (len(levels) + 1) + np.where(missing, len(levels), own)
        return np.where(is_new, -1, total)

    def places(self, columns: Columns) -> RowArray:
        """The place of each row's combination among those known, or -1."""
        numbers = self._numbers(columns)
        place = np.minimum(np.searchsorted(self.known, numbers), len(self.known) - 1)
        return np.where(self.known[place] == numbers, place, -1)

    def title(self, names: Sequence[str]) -> str:
        return " & ".join(names[place] for place in self.columns)


def by_place(values: FloatArray, places: RowArray, otherwise: float) -> FloatArray:
    """The value of each row's place; `otherwise` where it has none."""
    return np.where(places >= 0, values[np.maximum(places, 0)], otherwise)


_OPERATIONS = {"sum": "+", "difference": "-", "product": "*", "ratio": "/"}


@storable("committee.Arithmetic", {"one": COUNT, "other": COUNT, "operation": one_of(*_OPERATIONS)})
@dataclass(frozen=True)
class Arithmetic:
    """Two numbers added, subtracted, multiplied or divided; a ratio to 0 is missing."""

    one: int
    other: int
    operation: str

    @property
    def sources(self) -> tuple[int, ...]:
        return self.one, self.other

    def name(self, names: Sequence[str]) -> str:
        return f"{names[self.one]} {_OPERATIONS[self.operation]} {names[self.other]}"

    def values(self, columns: Columns) -> FloatArray:
        one, other = columns[self.one], columns[self.other]
        with np.errstate(all="ignore"):
            if self.operation == "ratio":
                found = np.where(other == 0.0, np.nan, one / np.where(other == 0.0, 1.0, other))
            elif self.operation == "product":
                found = one * other
            else:
                found = one + other if self.operation == "sum" else one - other
        return np.where(np.isfinite(found), found, np.nan)


@storable("committee.CountBy", {"key": instance(RowKey), "counts": FLOAT_VECTOR})
@dataclass(frozen=True)
class CountBy:
    """How many rows of fit have the same key, by weight; 0 for one that fit did not see."""

    key: RowKey
    counts: FloatArray

    @classmethod
    def learned(cls, key: RowKey, columns: Columns, weight: FloatArray) -> Self:
        return cls(key, np.bincount(key.places(columns), weight, minlength=len(key.known)).astype(np.float64))

    @property
    def sources(self) -> tuple[int, ...]:
        return self.key.columns

    def name(self, names: Sequence[str]) -> str:
        return f"count of {self.key.title(names)}"

    def values(self, columns: Columns) -> FloatArray:
        return by_place(self.counts, self.key.places(columns), 0.0)


@storable(
    "committee.SummaryBy",
    {
        "number": COUNT,
        "key": instance(RowKey),
        "statistic": one_of("mean", "spread", "deviation"),
        "summary": FLOAT_VECTOR,
    },
)
@dataclass(frozen=True)
class SummaryBy:
    """The mean or the standard deviation of a number over the rows of a key, or how far a row is from that mean."""

    number: int
    key: RowKey
    statistic: str
    summary: FloatArray

    @classmethod
    def learned(cls, number: int, key: RowKey, statistic: str, columns: Columns, weight: FloatArray) -> Self:
        values, places = columns[number], key.places(columns)
        known = ~np.isnan(values)
        values, places, weight = values[known], places[known], weight[known]
        total = np.bincount(places, weight, minlength=len(key.known))
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.bincount(places, weight * values, minlength=len(key.known)) / total
            if statistic == "spread":
                squares = np.bincount(
                    places, weight * (values - means[places]) ** 2, minlength=len(key.known)
                )
                return cls(number, key, statistic, np.sqrt(squares / total))
        return cls(number, key, statistic, means)

    @property
    def sources(self) -> tuple[int, ...]:
        return self.number, *self.key.columns

    def name(self, names: Sequence[str]) -> str:
        number, by = names[self.number], self.key.title(names)
        if self.statistic == "deviation":
            return f"{number} - mean of {number} by {by}"
        return f"{'mean' if self.statistic == 'mean' else 'standard deviation'} of {number} by {by}"

    def values(self, columns: Columns) -> FloatArray:
        found = by_place(self.summary, self.key.places(columns), np.nan)
        return columns[self.number] - found if self.statistic == "deviation" else found


@storable(
    "committee.TargetMeanBy",
    {"key": instance(RowKey), "means": FLOAT_VECTOR, "overall": NUMBER, "label": TEXT | NONE},
)
@dataclass(frozen=True)
class TargetMeanBy:
    """The mean target of the rows of a key, drawn towards the mean of all by ten rows; or the share of one class.

    `label` is the class, None for numbers. Rows that took part know their own target: `out_of_fold` leaves it out.
    """

    key: RowKey
    means: FloatArray
    overall: float
    label: str | None

    @classmethod
    def learned(
        cls, key: RowKey, label: str | None, columns: Columns, target: FloatArray, weight: FloatArray
    ) -> Self:
        places = key.places(columns)
        overall = float(np.average(target, weights=weight))
        seen = places >= 0
        mass = np.bincount(places[seen], weight[seen], minlength=len(key.known))
        sums = np.bincount(places[seen], (weight * target)[seen], minlength=len(key.known))
        return cls(key, (sums + _SMOOTHING * overall) / (mass + _SMOOTHING), overall, label)

    @property
    def sources(self) -> tuple[int, ...]:
        return self.key.columns

    def name(self, names: Sequence[str]) -> str:
        what = "mean of the target" if self.label is None else f"share of {self.label}"
        return f"{what} by {self.key.title(names)}"

    def values(self, columns: Columns) -> FloatArray:
        return by_place(self.means, self.key.places(columns), self.overall)

    def out_of_fold(
        self, columns: Columns, target: FloatArray, weight: FloatArray, part: RowArray
    ) -> FloatArray:
        """For the rows of fit: each row by the targets of the rows of other parts alone."""
        found = np.full(len(target), self.overall)
        for own in np.unique(part):
            inside, others = part == own, part != own
            if not weight[others].any():
                continue
            learn, new = ([column[rows] for column in columns] for rows in (others, inside))
            found[inside] = TargetMeanBy.learned(
                self.key, self.label, learn, target[others], weight[others]
            ).values(new)
        return found


Recipe: TypeAlias = Arithmetic | CountBy | SummaryBy | TargetMeanBy
RECIPE = stored_as(
    "committee.Arithmetic", "committee.CountBy", "committee.SummaryBy", "committee.TargetMeanBy"
)
