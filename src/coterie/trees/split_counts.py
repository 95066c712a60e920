"""How often trees split on each feature."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray


def split_counts_of(
    trees: Iterable[AnyArray], n_columns: int, made_from: Sequence[Sequence[int]] = ()
) -> FloatArray:
    """The splits on each column, over all trees.

    Parameters
    ----------
    trees : for each tree, the feature of each node, negative at leaves
    n_columns : int
    made_from : the columns of each further feature, which counts in parts for each of them

    Examples
    --------
    >>> split_counts_of([np.array([0, 2, -1, -1, -1]), np.array([0, -1, -1])], 2, made_from=[(0, 1)])
    array([2.5, 0.5])
    """
    counts = np.zeros(n_columns + len(made_from))
    for feature in trees:
        counts += np.bincount(feature[feature >= 0], minlength=len(counts))
    by_column = counts[:n_columns]
    for count, columns in zip(counts[n_columns:], made_from, strict=True):
        by_column[list(columns)] += count / len(columns)
    return by_column


def splits_of_forest(forest: Any) -> Iterable[AnyArray]:
    """The feature of each node, for each tree of an engine's forest."""
    return (forest.tree(place).feature for place in range(len(forest)))
