"""What the engine's features are made of: a column of the user's table, and how splits read it.

Feature j is column j, read in the way of its splits. Columns that are read in more than one way (zero as a value and
as a missing value, as a number and as a category, by two codings) have further features behind the last column.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from coterie._storage import expect, storable
from coterie._typing import AnyArray, BoolArray
from coterie._value_types import COUNT, instance
from coterie.export.readers.category_sets import CategorySet, Coding, code_sets
from coterie.export.readers.raw_tree import Placement, RawTree

ALMOST_ZERO = float(np.float32(1e-35))


class Reading(Protocol):
    """How the values of a column become those of a feature; `n_codes` is 0 for numbers."""

    @property
    def n_codes(self) -> int: ...

    def read(self, values: AnyArray) -> AnyArray: ...


def _verify_numbers(numbers: Any) -> None:
    expect(numbers.n_codes == 0, "has codes of numbers")


@storable("import.Numbers", {"n_codes": COUNT}, verify=_verify_numbers)
@dataclass(frozen=True)
class Numbers:
    """The values as they are."""

    n_codes: int = 0

    def read(self, values: AnyArray) -> AnyArray:
        return values


@storable("import.ZeroIsMissing", {"n_codes": COUNT}, verify=_verify_numbers)
@dataclass(frozen=True)
class ZeroIsMissing:
    """LightGBM's `zero_as_missing`; numbers below 1e-35 are zeros to it."""

    n_codes: int = 0

    def read(self, values: AnyArray) -> AnyArray:
        return np.where(np.abs(values) <= ALMOST_ZERO, np.nan, values)


@storable("import.Feature", {"column": COUNT, "reading": instance(Numbers, ZeroIsMissing, Coding)})
@dataclass(frozen=True)
class Feature:
    """One feature of the engine."""

    column: int
    reading: Reading


@dataclass
class _FeatureLayout:
    """Features by column, and those for which the place of the column is taken."""

    features: list[Feature]
    taken: BoolArray
    sets: dict[int, list[tuple[int, int, CategorySet]]] = field(default_factory=dict)

    def add(self, column: int, reading: Reading) -> int:
        place = len(self.features) if self.taken[column] else column
        if place == column:
            self.features[column] = Feature(column, reading)
            self.taken[column] = True
        else:
            self.features.append(Feature(column, reading))
        return place


def place_features(
    trees: Sequence[RawTree], orders: Sequence[AnyArray], n_columns: int, *, single: bool
) -> tuple[list[Feature], list[Placement]]:
    """The features that the trees need, and which of them each node looks at."""
    numbers = Numbers()
    layout = _FeatureLayout(
        [Feature(column, numbers) for column in range(n_columns)], np.zeros(n_columns, dtype=bool)
    )
    with_zero: set[int] = set()
    for number, (tree, order) in enumerate(zip(trees, orders, strict=True)):
        _survey(tree, order, number, layout, with_zero)
    zero_place = np.arange(n_columns)
    for column in sorted(with_zero):
        zero_place[column] = layout.add(column, ZeroIsMissing())
    places: list[dict[int, int]] = [{} for _ in trees]
    bits: list[dict[int, AnyArray]] = [{} for _ in trees]
    for column, found in layout.sets.items():
        codings, used = code_sets([levels for _, _, levels in found], single=single)
        by_coding = [layout.add(column, coding) for coding in codings]
        for (number, node, levels), coding in zip(found, used, strict=True):
            places[number][node] = by_coding[coding]
            bits[number][node] = codings[coding].bits(levels)
    n_features = len(layout.features)
    return layout.features, [
        _placement(tree, zero_place, places[number], bits[number], n_features)
        for number, tree in enumerate(trees)
    ]


def _survey(tree: RawTree, order: AnyArray, number: int, layout: _FeatureLayout, with_zero: set[int]) -> None:
    """Take the places of columns that are read as numbers; remember the other readings."""
    reached = np.zeros(len(tree.column), dtype=bool)
    reached[order] = True
    numeric = reached & (tree.column >= 0)
    for node, levels in tree.sets.items():
        numeric[node] = False
        if reached[node]:
            layout.sets.setdefault(int(tree.column[node]), []).append((number, node, levels))
    if tree.zero_missing is not None:
        with_zero |= set(tree.column[numeric & tree.zero_missing].tolist())
        numeric &= ~tree.zero_missing
    layout.taken[tree.column[numeric]] = True
    for leaf in tree.linear.values():
        layout.taken[leaf.columns] = True


def _placement(
    tree: RawTree,
    zero_place: AnyArray,
    places: Mapping[int, int],
    bits: Mapping[int, AnyArray],
    n_features: int,
) -> Placement:
    feature = tree.column.copy()
    if tree.zero_missing is not None:
        zero = tree.zero_missing & (feature >= 0)
        feature[zero] = zero_place[feature[zero]]
    for node, place in places.items():
        feature[node] = place
    terms = {node: leaf.columns for node, leaf in tree.linear.items()}
    return Placement(feature, bits, terms, n_features)
