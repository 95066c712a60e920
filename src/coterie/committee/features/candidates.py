"""The columns that may be worth making, of pairs of promising numbers, of levels and of pairs of levels.

Promising is what a model of the table gained most by. The number of candidates is bounded by that: ten numbers make 180
pairs, and with six columns of levels about 200 counts and means; no clock has a part in it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from coterie._typing import FloatArray, RowArray
from coterie.committee.features.recipes import (
    Arithmetic,
    Columns,
    CountBy,
    Recipe,
    RowKey,
    SummaryBy,
    TargetMeanBy,
)
from coterie.committee.features.screening import bins_of

_MOST_NUMBERS = 10
_MOST_KEYS = 6
_MOST_VALUES = 20  # different values of a number that may stand for levels
_MOST_SHARE = 0.5  # of the rows that different combinations of a key may be: of more, each says nothing
_MOST_SHARES = 5  # classes whose shares are taken


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table as recipes see them, and what is known of each.

    Attributes
    ----------
    values : each column as float64, NaN where missing, places of levels where it has labels
    names : of the columns
    has_levels : for each column whether it has labels
    """

    values: list[FloatArray]
    names: list[str]
    has_levels: list[bool]

    def promising(self, importances: FloatArray) -> tuple[list[int], list[int]]:
        """Numbers, and columns that can be keys, by what a model gained by them."""
        order = [int(place) for place in np.argsort(-importances, kind="stable") if importances[place] > 0]
        numbers = [place for place in order if not self.has_levels[place]]
        keys = [place for place in order if self.has_levels[place] or self._is_coarse(place)]
        return numbers[:_MOST_NUMBERS], keys[:_MOST_KEYS]

    def _is_coarse(self, place: int) -> bool:
        values = self.values[place]
        return len(np.unique(values[~np.isnan(values)])) <= _MOST_VALUES


@dataclass(frozen=True)
class Candidate:
    """Recipes that are chosen together, and bins of the rows that were looked at."""

    learn: Callable[[], list[Recipe]]
    bins: Callable[[], RowArray]


@dataclass(frozen=True)
class Targets:
    """Columns whose means by key are taken: numbers, or one column for each class; with a label of each."""

    columns: tuple[FloatArray, ...]
    labels: tuple[str | None, ...]

    @classmethod
    def of_classes(cls, codes: RowArray, classes: Sequence[object]) -> "Targets":
        """Of two classes the second alone; of very many none."""
        if len(classes) > _MOST_SHARES:
            return cls((), ())
        some = range(1, 2) if len(classes) == 2 else range(len(classes))
        return cls(
            tuple((codes == code).astype(np.float64) for code in some),
            tuple(str(classes[code]) for code in some),
        )


def candidates_of(
    table: TableColumns, importances: FloatArray, weight: FloatArray, targets: Targets, rows: RowArray
) -> list[Candidate]:
    """All candidates, in an order that does not depend on anything but the table; bins are those of some rows."""
    numbers, places = table.promising(importances)
    some = [column[rows] for column in table.values]

    def of(recipe: Recipe) -> Candidate:
        return Candidate(lambda: [recipe], lambda: bins_of(recipe.values(some)))

    found = [of(recipe) for recipe in _pairs(table, numbers)]
    for key in _keys(table, places, weight):
        found.append(of(CountBy.learned(key, table.values, weight)))
        if targets.columns and len(key.columns) > 1:
            found.append(_target_means(key, table.values, weight, targets, some))
        if len(key.columns) == 1:
            found += [
                of(SummaryBy.learned(number, key, statistic, table.values, weight))
                for number in numbers
                if number not in key.columns
                for statistic in ("mean", "spread", "deviation")
            ]
    return found


def _pairs(table: TableColumns, numbers: Sequence[int]) -> list[Recipe]:
    """Sums, differences, products and ratios; what has fewer zeros is divided by."""
    zeros = {place: int((table.values[place] == 0.0).sum()) for place in numbers}
    found: list[Recipe] = []
    for one, other in combinations(sorted(numbers), 2):
        above, below = (one, other) if zeros[other] <= zeros[one] else (other, one)
        found += [
            Arithmetic(one, other, "sum"),
            Arithmetic(one, other, "difference"),
            Arithmetic(one, other, "product"),
            Arithmetic(above, below, "ratio"),
        ]
    return found


def _keys(table: TableColumns, places: Sequence[int], weight: FloatArray) -> list[RowKey]:
    """Columns of levels and pairs of them, unless nearly every row is a combination of its own."""
    chosen = [(place,) for place in places] + list(combinations(sorted(places), 2))
    keys = [RowKey.of(own, table.values) for own in chosen]
    return [key for key in keys if 1 < len(key.known) <= _MOST_SHARE * len(weight)]


def _target_means(
    key: RowKey, columns: Columns, weight: FloatArray, targets: Targets, some: Columns
) -> Candidate:
    """The bins are the combinations themselves: their mean residual is what their mean target would explain."""

    def learn() -> list[Recipe]:
        return [
            TargetMeanBy.learned(key, label, columns, target, weight)
            for target, label in zip(targets.columns, targets.labels, strict=True)
        ]

    return Candidate(learn, lambda: key.places(some))
