"""Target statistics: what the target was in other rows of the same category, as a number that trees can split.

A column of 300 towns offers a tree 2**299 ways to divide them. The mean target of each town puts them in an order in
which one split says a lot. But a mean that holds a row's own label tells the label, and a tree that believes it
learns nothing: with one row per town, the mean is the label. So the rows are put in a random order, and a row that
is learned from gets the mean of its level over the rows before it (*ordered* statistics). Rows that take no part in
the learning, and new rows, get the mean over all rows that do.

Words
  source     the column, or the pair of columns, whose levels are counted; a pair has a level for each combination
  component  the numbers that are averaged: the target, or for classes the indicator of one of them
Every mean is drawn towards the overall mean, as if one more row of each level had been average.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from coterie._storage import expect, storable
from coterie._typing import AnyArray, CodeArray, FloatArray
from coterie._value_types import COUNT, FLOAT_VECTOR, NONE, array, instance, list_of, tuple_of
from coterie.data.encoding import Encoded
from coterie.data.prepare import TrainingData

_PRIOR_ROWS = 1.0
_FEW_LEVELS = 10
_MOST_COMPONENTS = 8


def _verify_source(source: Any) -> None:
    expect(1 <= len(source.features) <= 2, "is about one feature or two")
    expect(
        (source.pairs is None) == (len(source.features) == 1), "has pairs and one feature, or none and two"
    )
    if source.pairs is not None:
        expect(len(source.pairs) == source.n_levels, "has another number of pairs than of levels")
        expect(source.n_levels > 0 and (np.diff(source.pairs) > 0).all(), "has pairs that are not in order")


@storable(
    "Source",
    {"features": tuple_of(COUNT), "n_levels": COUNT, "pairs": array("i", 1) | NONE},
    verify=_verify_source,
)
@dataclass(frozen=True)
class Source:
    """A nominal feature or a pair of them, and how many levels it had in fit."""

    features: tuple[int, ...]
    n_levels: int
    pairs: AnyArray | None = None  # of two features: the sorted combinations that fit saw

    def codes(self, encoded: Encoded) -> CodeArray:
        """The level of each row, -1 where it is missing or was not seen."""
        if self.pairs is None:
            return level_codes(encoded, self.features[0])
        combined = _combined(encoded, self.features)
        place = np.searchsorted(self.pairs, combined).clip(max=len(self.pairs) - 1)
        return np.where(self.pairs[place] == combined, place, -1).astype(np.int32)


def _verify_statistics(statistics: Any) -> None:
    expect(len(statistics._means) == len(statistics.sources), "has means of other sources than its own")
    for source, means in zip(statistics.sources, statistics._means, strict=True):
        for mean in means:
            expect(len(mean) == source.n_levels + 1, "has another number of means than of levels")


@storable(
    "TargetStatistics",
    {
        "sources": tuple_of(instance(Source)),
        "_n_classes": COUNT,
        "_means": list_of(list_of(FLOAT_VECTOR)),
    },
    verify=_verify_statistics,
)
class TargetStatistics:
    """The means of every source and component over the rows that fit saw.

    Examples
    --------
    Four rows of a mean of 4, two of them in the first town: (1 + 3 + 4) / 3.

    >>> towns = Encoded([np.array([0, 0, 1, -1], np.int32)], 4, 1, np.array([2], np.int32))
    >>> target = np.array([1.0, 3.0, 8.0, 4.0])
    >>> statistics = TargetStatistics(find_sources(towns, few=1), towns, target, None)
    >>> statistics.extend(towns).values[1].round(2)
    array([2.67, 2.67, 6.  , 4.  ])
    """

    def __init__(
        self,
        sources: Sequence[Source],
        encoded: Encoded,
        target: AnyArray,
        weight: FloatArray | None,
        n_classes: int = 0,
    ) -> None:
        self.sources = tuple(sources)
        self._n_classes = n_classes
        components = target_components(target, n_classes)
        self._means = [
            [_means(source.codes(encoded), source.n_levels, component, weight) for component in components]
            for source in self.sources
        ]

    @property
    def features(self) -> list[tuple[int, ...]]:
        """For each column of statistics, the features that it was made from."""
        return [source.features for source, means in self.means_by_source() for _ in means]

    def extend(self, encoded: Encoded) -> Encoded:
        """The features of new rows, and a column for each source and component."""
        columns = []
        for source, means in self.means_by_source():
            codes = source.codes(encoded)
            columns += [mean[codes + 1] for mean in means]
        return _with_columns(encoded, columns)

    def extend_training(
        self, encoded: Encoded, target: AnyArray, weight: FloatArray | None, seed: int
    ) -> Encoded:
        """The same for the rows of fit: ordered for rows with a weight, plain for those of weight zero."""
        order = np.random.Generator(np.random.PCG64(seed % 2**64)).permutation(encoded.n_rows)
        components = target_components(target, self._n_classes)
        columns = [
            _ordered_means(source.codes(encoded), source.n_levels, component, weight, order)
            for source in self.sources
            for component in components
        ]
        return _with_columns(encoded, columns)

    def means_by_source(self) -> list[tuple[Source, list[FloatArray]]]:
        """Each source, and for each component the means of its levels, with that of missing values first."""
        return list(zip(self.sources, self._means, strict=True))


def learned_statistics(wanted: str, train: TrainingData, n_classes: int) -> TargetStatistics | None:
    """The statistics of "columns" or "pairs" of columns; None if there is nothing to count."""
    sources = find_sources(train.encoded, 2 if wanted == "pairs" else 1)
    if not sources:
        return None
    return TargetStatistics(sources, train.encoded, train.target.values, train.weight, n_classes)


def find_sources(encoded: Encoded, n_columns: int = 1, few: int = _FEW_LEVELS) -> list[Source]:
    """Nominal features of more than a few levels, and, if `n_columns` is 2, the pairs of nominal features too."""
    nominal = [int(feature) for feature in np.flatnonzero(encoded.n_levels > 0)]
    sources = [
        Source((feature,), n_levels)
        for feature in nominal
        if (n_levels := int(level_codes(encoded, feature).max(initial=-1)) + 1) > few
    ]
    if n_columns == 2:
        for features in combinations(nominal, 2):
            seen = np.unique(_combined(encoded, features))
            sources.append(Source(features, len(seen), seen))
    return sources


def target_components(target: AnyArray, n_classes: int) -> list[FloatArray]:
    """The numbers to average: the target itself, or indicators of classes, the most frequent if there are many."""
    if n_classes == 0:
        columns = np.atleast_2d(np.asarray(target, dtype=np.float64).T)
        return list(columns[:_MOST_COMPONENTS])
    if n_classes <= 2:
        return [(target == n_classes - 1).astype(np.float64)]
    frequent = np.argsort(-np.bincount(target, minlength=n_classes), kind="stable")[:_MOST_COMPONENTS]
    return [(target == code).astype(np.float64) for code in np.sort(frequent)]


def _with_columns(encoded: Encoded, columns: list[FloatArray]) -> Encoded:
    values = encoded.values
    n_levels = np.append(encoded.n_levels, np.zeros(len(columns), dtype=np.int32))
    wider = [*values, *columns] if isinstance(values, list) else np.column_stack([values, *columns])
    return Encoded(wider, encoded.n_rows, len(n_levels), n_levels, encoded.fine_codes)


def level_codes(encoded: Encoded, feature: int) -> CodeArray:
    """The codes of a nominal feature before its levels were put into groups."""
    if feature in encoded.fine_codes:
        return encoded.fine_codes[feature]
    values = encoded.values
    codes: CodeArray = values[feature] if isinstance(values, list) else values[:, feature].astype(np.int32)
    return codes


def _combined(encoded: Encoded, features: tuple[int, ...]) -> AnyArray:
    first, second = (level_codes(encoded, feature).astype(np.int64) + 1 for feature in features)
    return first << 32 | second


def _means(codes: CodeArray, n_levels: int, component: FloatArray, weight: FloatArray | None) -> FloatArray:
    """The mean of each level, with that of missing values first; an unseen level has the overall mean."""
    mass = np.bincount(codes + 1, weights=weight, minlength=n_levels + 1)
    total = np.bincount(
        codes + 1, weights=component if weight is None else component * weight, minlength=n_levels + 1
    )
    overall = float(total.sum() / mass.sum())
    return np.asarray((total + _PRIOR_ROWS * overall) / (mass + _PRIOR_ROWS))


def _ordered_means(
    codes: CodeArray, n_levels: int, component: FloatArray, weight: FloatArray | None, order: AnyArray
) -> FloatArray:
    means = _means(codes, n_levels, component, weight)
    plain = means[codes + 1]
    mass = np.ones(len(codes)) if weight is None else weight
    overall = float(mass @ component / mass.sum())
    # Rows of one level stand together, each level in the random order.
    by_level = order[np.argsort(codes[order], kind="stable")]
    first = np.flatnonzero(np.diff(codes[by_level], prepend=-2))
    own_first = np.repeat(first, np.diff(first, append=len(codes)))
    own_mass, own_total = mass[by_level], (mass * component)[by_level]
    mass_before = np.cumsum(own_mass) - own_mass
    total_before = np.cumsum(own_total) - own_total
    mass_before -= mass_before[own_first]
    total_before -= total_before[own_first]
    ordered = np.empty(len(codes))
    ordered[by_level] = (total_before + _PRIOR_ROWS * overall) / (mass_before + _PRIOR_ROWS)
    return ordered if weight is None else np.where(weight > 0, ordered, plain)
