"""A tree as other formats want it: plain arrays, sets of codes in words, and leaves that are numbers or lines."""

from dataclasses import dataclass, field

import numpy as np

from coterie._engine import Tree
from coterie._typing import AnyArray, BoolArray, FloatArray


@dataclass(frozen=True)
class Lines:
    """What the leaves of a tree predict if they are lines; the terms of node i are those from first[i] to first[i + 1].

    A line is `base` plus `slope * (value - centre)` for each term, where the value is held between `least` and `most`,
    and the prediction between `low` and `high`. A row without one of the values gets the number of the leaf.
    """

    first: AnyArray
    base: FloatArray
    low: FloatArray
    high: FloatArray
    feature: AnyArray
    slope: FloatArray
    centre: FloatArray
    least: FloatArray
    most: FloatArray


@dataclass(frozen=True)
class FlatTree:
    """One entry for each node, the root first.

    Attributes
    ----------
    feature : what is compared with the threshold; -1 at a leaf.
    threshold : values up to it go left, if the split has no set.
    sets : of splits of categories, the codes that go left.
    missing_left : where missing values go.
    left, right : the children.
    value : the predictions, shape (n_nodes, 1) or (n_nodes, n_outputs).
    output : the output that predictions of one column belong to.
    lines : if leaves are lines.
    cover : the weight of the training rows in each node, if it is known.
    """

    feature: AnyArray
    threshold: FloatArray
    missing_left: BoolArray
    left: AnyArray
    right: AnyArray
    value: FloatArray
    output: int = 0
    sets: dict[int, AnyArray] = field(default_factory=dict)
    lines: Lines | None = None
    cover: FloatArray | None = None

    @property
    def is_leaf(self) -> bool:
        """Whether the tree has no split."""
        return bool(self.feature[0] < 0)


def flat_tree(tree: Tree, output: int = 0) -> FlatTree:
    """A tree of the engine."""
    left = tree.left.astype(np.int64)
    return FlatTree(
        feature=tree.feature.astype(np.int64),
        threshold=np.asarray(tree.threshold),
        missing_left=tree.missing_left.astype(bool),
        left=left,
        right=left + 1,
        value=np.asarray(tree.value).reshape(tree.n_nodes, -1),
        output=output,
        sets=_sets(tree),
        lines=_lines(tree),
        cover=np.asarray(tree.cover),
    )


def _sets(tree: Tree) -> dict[int, AnyArray]:
    levels = np.asarray(tree.levels)
    nodes = np.flatnonzero((levels >= 0) & (tree.feature >= 0))
    if len(nodes) == 0:
        return {}
    words = np.ascontiguousarray(tree.level_bits).reshape(-1, 4)
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    return {int(node): np.flatnonzero(bits[levels[node]]) for node in nodes}


def _lines(tree: Tree) -> Lines | None:
    first = tree.linear_first_term.astype(np.int64)
    if len(first) == 0 or first[-1] == 0:
        return None
    return Lines(
        first,
        np.asarray(tree.linear_base),
        np.asarray(tree.linear_low),
        np.asarray(tree.linear_high),
        tree.linear_feature.astype(np.int64),
        np.asarray(tree.linear_slope),
        np.asarray(tree.linear_centre),
        np.asarray(tree.linear_least),
        np.asarray(tree.linear_most),
    )
