"""A model of trees as one sum: columns that become features, trees that are added up, and a link.

    raw predictions = (start + sum of the trees) / divisor * unit
    predictions     = link(raw predictions)

Estimators take themselves apart with their method `tree_sum()`; what other formats need is written from it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.data.encoding import Encoded
from coterie.trees.column_readings import Readings
from coterie.trees.flat_tree import FlatTree, flat_tree
from coterie.trees.links import NumberLink, Shares


@dataclass(frozen=True)
class TreeSum:
    """A model of trees, taken apart.

    Attributes
    ----------
    name : of the model's class, for messages.
    readings : from columns to features.
    trees : all of them; each has one column of values and the output that they are added to, or a column for each.
    start : the raw prediction before the first tree, shape (n_outputs,).
    link : one of `coterie.trees.links`.
    classes : labels of each target; empty for numbers.
    divisor, unit : what the sum is divided by, and then multiplied with.
    """

    name: str
    readings: Readings
    trees: Sequence[FlatTree]
    start: FloatArray
    link: Any
    classes: tuple[AnyArray, ...] = ()
    divisor: float = 1.0
    unit: float = 1.0

    @property
    def n_outputs(self) -> int:
        return len(self.start)


def trees_of_outputs(forest: Any) -> list[FlatTree]:
    """The trees of an engine's `Forest`, each of which is added to one output, or to several from one on."""
    return [flat_tree(forest.tree(place), forest.first_output(place)) for place in range(len(forest))]


def link_of_leaves(model: Any) -> tuple[NumberLink | Shares, tuple[AnyArray, ...]]:
    """The link and the classes of a model whose leaves hold predictions already, as those of forests do."""
    classes = labels_by_target(model)
    return Shares() if classes else NumberLink(), classes


def labels_by_target(model: Any) -> tuple[AnyArray, ...]:
    """The labels of each target of a fitted classifier; none for numbers."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        return ()
    return tuple(classes) if isinstance(classes, list) else (classes,)


def as_matrix(encoded: Encoded) -> FloatArray:
    """The features that trees see, as one matrix: categories are codes, and NaN is where a value is missing."""
    if not isinstance(encoded.values, list):
        matrix = encoded.values.astype(np.float64)
    else:
        matrix = np.column_stack([np.asarray(own, dtype=np.float64) for own in encoded.values])
    nominal = np.flatnonzero(encoded.n_levels > 0)
    codes = matrix[:, nominal]
    matrix[:, nominal] = np.where(codes < 0, np.nan, codes)
    return matrix
