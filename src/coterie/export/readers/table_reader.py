"""From a user's table to the engine's features, in the way of the library that trained the model.

Feature j is column j, read in the way of its splits. Columns that are read in more than one way (zero as a value and
as a missing value, as a number and as a category, by two codings) have further features behind the last column.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from coterie._storage import expect, storable
from coterie._typing import AnyArray, BoolArray, CodeArray
from coterie._value_types import (
    ANY,
    BOOL,
    COUNT,
    LABELS,
    NONE,
    NUMBER,
    RECOMPUTED,
    dict_of,
    instance,
    list_of,
    tuple_of,
)
from coterie.data.encoding import Encoded
from coterie.data.levels import is_number
from coterie.data.prepare import read_table
from coterie.data.table import Column, Schema, Table
from coterie.errors import InvalidInput, SchemaMismatch
from coterie.export.readers.raw_tree import CategorySet, Coding, Placement, RawTree, code_sets

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


_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


_LABEL_LIST = list_of(ANY) | tuple_of(ANY) | LABELS


@storable(
    "import.Labels",
    {
        "by_column": dict_of(COUNT, _LABEL_LIST),
        "in_order": list_of(_LABEL_LIST) | tuple_of(_LABEL_LIST) | NONE,
        "for_numbers": BOOL,
        "strict": BOOL,
    },
)
@dataclass(frozen=True)
class Labels:
    """What the numbers of categories stand for, as far as the model knows.

    Attributes
    ----------
    by_column : the labels of a column, in the order of their numbers.
    in_order : the labels of the first, second, ... column of categories, whichever columns these are.
    for_numbers : whether numbers in such a column are labels too, and not what labels are turned into.
    strict : whether a label that is not among them is an error; otherwise it counts as missing.
    """

    by_column: Mapping[int, Sequence[Any]] = field(default_factory=dict)
    in_order: Sequence[Sequence[Any]] | None = None
    for_numbers: bool = False
    strict: bool = False


def _verify_reader(reader: Any) -> None:
    n_columns = reader.schema.n_features
    expect(
        all(feature.column < n_columns for feature in reader.features), "reads a column that does not exist"
    )


@storable(
    "import.TableReader",
    {
        "schema": instance(Schema),
        "features": list_of(instance(Feature)) | tuple_of(instance(Feature)),
        "labels": instance(Labels),
        "missing": NUMBER | NONE,
        "single": BOOL,
        "gaps_missing": BOOL,
        "underlines": BOOL,
        "n_levels": RECOMPUTED,
        "takes_matrix": RECOMPUTED,
    },
    verify=_verify_reader,
)
@dataclass(frozen=True)
class TableReader:
    """How the tables of one model are read.

    Attributes
    ----------
    schema : the columns by number, and by name if the model knows names.
    features : what the engine wants to see.
    labels : what categories stand for.
    missing : a number that means missing, beside NaN; None if there is none.
    single : whether the library works in single precision. Thresholds already respect that: only whole numbers that
        double precision cannot hold have to be rounded here.
    gaps_missing : whether what a sparse matrix does not store is missing rather than zero.
    underlines : whether the model knows names with "_" in the place of blanks.
    """

    schema: Schema
    features: Sequence[Feature]
    labels: Labels = field(default_factory=Labels)
    missing: float | None = None
    single: bool = False
    gaps_missing: bool = False
    underlines: bool = False

    @cached_property
    def n_levels(self) -> CodeArray:
        return np.array([feature.reading.n_codes for feature in self.features], dtype=np.int32)

    @cached_property
    def takes_matrix(self) -> bool:
        """Whether a matrix of floats passes as it is."""
        plain = all(isinstance(feature.reading, Numbers) for feature in self.features)
        return plain and self.missing is None and not (self.labels.for_numbers and self.labels.by_column)

    def read(self, X: Any, estimator_name: str) -> Encoded:
        """The features of the rows of any table."""
        table = self.schema.check(self._named(self._table(X)), estimator_name)
        n_levels = self.n_levels
        if table.matrix is not None and table.matrix.dtype in _FLOATS and self.takes_matrix:
            return Encoded(table.matrix, table.n_rows, table.n_columns, n_levels)
        labels = self._labels_of(table)
        columns = [self._numbers(table.column(place), labels.get(place)) for place in range(table.n_columns)]
        values = [feature.reading.read(columns[feature.column]) for feature in self.features]
        return Encoded(values, table.n_rows, len(values), n_levels)

    def _table(self, X: Any) -> Table:
        if self.gaps_missing and sparse.issparse(X) and X.ndim == 2:
            stored = X.tocoo()
            X = np.full(stored.shape, np.nan)
            X[stored.row, stored.col] = stored.data
        return read_table(X)

    def _named(self, table: Table) -> Table:
        if not self.underlines or table.names is None:
            return table
        return replace(table, names=tuple(name.replace(" ", "_") for name in table.names))

    def _labels_of(self, table: Table) -> Mapping[int, Sequence[Any]]:
        if self.labels.in_order is None:
            return self.labels.by_column
        found = [place for place in range(table.n_columns) if table.column(place).levels is not None]
        if found and len(found) != len(self.labels.in_order):
            listed = ", ".join(repr(table.label(place)) for place in found)
            raise SchemaMismatch(
                f"X has {len(found)} columns of labels ({listed}), and the model was trained with "
                f"{len(self.labels.in_order)}.",
                parameter="X",
                received=len(found),
                allowed=f"{len(self.labels.in_order)} columns of labels",
                hint="Pass the same columns as categories or text, or all of them as the numbers of their categories.",
            )
        return dict(zip(found, self.labels.in_order, strict=False))

    def _numbers(self, column: Column, labels: Sequence[Any] | None) -> AnyArray:
        """The numbers that the other library would see, NaN where a value is missing."""
        values = column.values
        if column.levels is not None:
            numbers = _numbers_of_labels(column, column.levels, labels)
            values = np.append(numbers, np.nan)[values]
            if self.labels.strict and labels is not None:
                _refuse_unknown(column, column.levels, values, labels)
        elif labels is not None and self.labels.for_numbers:
            known, place = np.unique(values, return_inverse=True)
            values = _look_up(known.tolist(), labels)[place]
        elif self.single and values.dtype == np.int64:
            values = values.astype(np.float32)
        if self.missing is None:
            return values
        with np.errstate(over="ignore"):
            is_missing = values.astype(np.float32) == np.float32(self.missing)
        return np.where(is_missing, np.nan, values)


def _numbers_of_labels(column: Column, levels: AnyArray, labels: Sequence[Any] | None) -> AnyArray:
    if labels is not None:
        return _look_up(levels.tolist(), labels)
    if all(is_number(level) for level in levels):
        return levels.astype(np.float64)
    if column.is_empty():
        return np.full(len(levels), np.nan)
    examples = ", ".join(repr(level) for level in levels[:3])
    raise SchemaMismatch(
        f"Column {column.name!r} holds text ({examples}), and the model knows only numbers there.",
        parameter=str(column.name),
        received=examples,
        allowed="numbers",
        hint="Pass the numbers that the model was trained with.",
    )


def _look_up(values: Sequence[Any], labels: Sequence[Any]) -> AnyArray:
    number = {label: float(place) for place, label in enumerate(labels)}
    return np.array([number.get(value, np.nan) for value in values], dtype=np.float64)


def _refuse_unknown(column: Column, levels: AnyArray, numbers: AnyArray, labels: Sequence[Any]) -> None:
    unknown = np.unique(column.values[np.isnan(numbers) & (column.values >= 0)])
    if len(unknown):
        examples = ", ".join(repr(level) for level in levels[unknown[:5]])
        known = ", ".join(repr(label) for label in labels[:5])
        raise InvalidInput(
            f"Column {column.name!r} holds categories that the model does not know: {examples}. It knows {known}"
            f"{', ...' if len(labels) > 5 else ''}; make anything else missing.",
            parameter=str(column.name),
            received=examples,
            allowed=known,
        )
