"""From what a library's reader found to a model that predicts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import coterie._engine as _engine
from coterie._typing import AnyArray, FloatArray, Kind
from coterie.data.encoding import Encoded
from coterie.data.table import Schema
from coterie.errors import InvalidInput, ModelFileError
from coterie.export.imported import ImportedClassifier, ImportedRegressor, Recipe
from coterie.export.readers.raw_tree import RawTree, level_order, native_tree
from coterie.export.readers.table_reader import Feature, Labels, TableReader, place_features
from coterie.trees.links import NumberLink

_MOST_COLUMNS = 1_000_000
_MOST_OUTPUTS = 2**16


@dataclass(frozen=True)
class Findings:
    """A model of another library, taken apart.

    The link decides what becomes of it: a `NumberLink` makes a regressor. See `Recipe` and `TableReader` for the rest.
    """

    source: str
    objective: str
    trees: Sequence[RawTree]
    n_columns: int
    link: Any
    start: FloatArray | Callable[[Encoded], FloatArray]
    n_outputs: int
    divisor: float = 1.0
    names: Sequence[str] | None = None
    classes: AnyArray | None = None
    labels: Labels = field(default_factory=Labels)
    missing: float | None = None
    single: bool = False
    gaps_missing: bool = False
    underlines: bool = False


def assemble(found: Findings) -> ImportedClassifier | ImportedRegressor:
    """The model."""
    check_sizes(found.source, found.n_columns, found.n_outputs)
    orders = [
        level_order(tree, found.n_columns, f"{found.source}, tree {number}")
        for number, tree in enumerate(found.trees)
    ]
    features, placements = place_features(found.trees, orders, found.n_columns, single=found.single)
    forest = _engine.Forest(len(features), found.n_outputs)
    for number, (tree, order, placed) in enumerate(zip(found.trees, orders, placements, strict=True)):
        try:
            forest.add(native_tree(tree, order, placed), tree.output)
        except InvalidInput as error:
            raise ModelFileError(f"{found.source}, tree {number}: {error}") from error
    reader = _reader(found, features)
    model = ImportedRegressor() if isinstance(found.link, NumberLink) else ImportedClassifier()
    reader.schema.set_feature_names(model)
    model.source_ = found.source
    model.objective_ = found.objective
    model.forest_ = forest
    model.link_ = found.link
    model.recipe_ = Recipe(reader, found.start, found.divisor, *_leaf_ids(found.trees, orders))
    if isinstance(model, ImportedClassifier):
        model.classes_ = np.asarray(found.classes)
    return model


def check_sizes(source: str, n_columns: int, n_outputs: int) -> None:
    """Refuse numbers for which there would be no memory; a short file can claim any."""
    for what, n, most in (("columns", n_columns, _MOST_COLUMNS), ("outputs", n_outputs, _MOST_OUTPUTS)):
        if not 1 <= n <= most:
            raise ModelFileError.expecting(f"{source}: a model of {n} {what}", f"1 to {most}", what, n)


def _reader(found: Findings, features: Sequence[Feature]) -> TableReader:
    kinds: list[Kind] = ["nominal" if each.reading.n_codes else "numeric" for each in features]
    names = None if found.names is None else tuple(found.names)
    return TableReader(
        schema=Schema(names, tuple(kinds[: found.n_columns])),
        features=features,
        labels=found.labels,
        missing=found.missing,
        single=found.single,
        gaps_missing=found.gaps_missing,
        underlines=found.underlines,
    )


def _leaf_ids(trees: Sequence[RawTree], orders: Sequence[AnyArray]) -> tuple[AnyArray, AnyArray]:
    ids = [tree.leaf_id[order] for tree, order in zip(trees, orders, strict=True)]
    sizes = [len(each) for each in ids]
    first = np.cumsum([0, *sizes[:-1]], dtype=np.int64) if sizes else np.zeros(0, dtype=np.int64)
    return np.concatenate([*ids, np.zeros(0, dtype=np.int64)]).astype(np.int64), first
