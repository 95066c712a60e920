"""A tree as another library has it, checked and put into the order of the engine.

Some libraries round values to single precision before they compare them with thresholds.
Rounding keeps the order of numbers. So "the rounded value is at most t" is "the value is at most T" for another T, the
largest double that rounds to at most t. With such thresholds the engine compares values as they are, without a
rounded copy of the table, and sends every row where the other library sends it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import coterie._engine as _engine
from coterie._typing import AnyArray, BoolArray, FloatArray
from coterie.errors import ModelFileError
from coterie.export.readers.category_sets import CategorySet


@dataclass(frozen=True)
class LinearLeaf:
    """A leaf that predicts base + the sum of slope * value over some columns, if none of these is missing."""

    base: float
    columns: AnyArray
    slopes: FloatArray


@dataclass(frozen=True)
class RawTree:
    """Parallel arrays, one entry per node, root at 0. Children may be anywhere.

    Attributes
    ----------
    column : the column that a split looks at, -1 at a leaf.
    threshold : values up to it go left.
    missing_left : whether missing values go left.
    left, right : the children; of no meaning at a leaf.
    value : array of shape (n_nodes, n_values)
    leaf_id : how the other library calls the node, which `apply` returns.
    output : the first of the outputs to which the values are added.
    sets : of splits by category, the categories that go left.
    zero_missing : of splits that take zero for a missing value, whether they do; None if no split does.
    linear : of leaves that are lines.
    """

    column: AnyArray
    threshold: FloatArray
    missing_left: BoolArray
    left: AnyArray
    right: AnyArray
    value: FloatArray
    leaf_id: AnyArray
    output: int = 0
    sets: Mapping[int, CategorySet] = field(default_factory=dict)
    zero_missing: BoolArray | None = None
    linear: Mapping[int, LinearLeaf] = field(default_factory=dict)


def level_order(tree: RawTree, n_columns: int, where: str) -> AnyArray:
    """The nodes level by level, the two children of a split side by side; nodes that cannot be reached are left out.

    Raises ModelFileError where the arrays are not a tree over `n_columns` columns.
    """
    n_nodes = len(tree.column)
    is_split = tree.column >= 0
    seen = np.zeros(n_nodes, dtype=bool)
    level = np.zeros(1, dtype=np.int64)
    seen[0] = True
    levels = [level]
    while True:
        splits = level[is_split[level]]
        if len(splits) == 0:
            break
        level = np.stack([tree.left[splits], tree.right[splits]], axis=1).reshape(-1)
        outside = (level < 0) | (level >= n_nodes)
        if outside.any():
            place = int(np.argmax(outside))
            raise ModelFileError(
                f"{where}: node {splits[place // 2]} has the child {level[place]}, and the tree has the nodes 0 to "
                f"{n_nodes - 1}."
            )
        again = seen[level]
        seen[level] = True
        if again.any() or len(np.unique(level)) < len(level):
            raise ModelFileError(f"{where}: a node has two parents, or is its own ancestor.")
        levels.append(level)
    order = np.concatenate(levels)
    _check_nodes(tree, order, n_columns, where)
    return order


def _check_nodes(tree: RawTree, order: AnyArray, n_columns: int, where: str) -> None:
    splits = order[tree.column[order] >= 0]
    leaves = order[tree.column[order] < 0]
    for name, wrong in (
        (f"a column that is not one of 0 to {n_columns - 1}", tree.column[splits] >= n_columns),
        ("NaN for a threshold", np.isnan(tree.threshold[splits])),
    ):
        if wrong.any():
            raise ModelFileError(f"{where}: node {splits[int(np.argmax(wrong))]} has {name}.")
    unknown = np.isnan(tree.value[leaves]).any(axis=1)
    if unknown.any():
        leaf = tree.leaf_id[leaves[int(np.argmax(unknown))]]
        raise ModelFileError(
            f"{where}: the value of leaf {leaf} is NaN.", parameter=where, received=float("nan")
        )


@dataclass(frozen=True)
class Placement:
    """Where the engine finds what a tree looks at: features by node, and words of bits by node with a set."""

    feature: AnyArray
    bits: Mapping[int, AnyArray]
    term_feature: Mapping[int, AnyArray]
    n_features: int


def native_tree(tree: RawTree, order: AnyArray, placed: Placement) -> Any:
    """The engine's tree."""
    n_nodes = len(order)
    is_split = tree.column[order] >= 0
    left = np.zeros(n_nodes, dtype=np.uint32)
    left[is_split] = 1 + 2 * np.arange(is_split.sum(), dtype=np.uint32)
    levels = np.full(n_nodes, -1, dtype=np.int32)
    with_set = np.flatnonzero(np.isin(order, list(placed.bits)))
    levels[with_set] = np.arange(len(with_set), dtype=np.int32)
    bits = [placed.bits[node] for node in order[with_set].tolist()]
    state = {
        "n_outputs": tree.value.shape[1],
        "feature": np.where(is_split, placed.feature[order], -1).astype(np.int32),
        "threshold": np.where(is_split, tree.threshold[order], 0.0),
        "levels": levels,
        "missing_left": (is_split & tree.missing_left[order]).astype(np.uint8),
        "left": left,
        "value": np.ascontiguousarray(tree.value[order], dtype=np.float64).reshape(-1),
        "gain": np.zeros(n_nodes),
        "cover": np.zeros(n_nodes),
        "n_rows": np.zeros(n_nodes, dtype=np.uint32),
        "impurity": np.zeros(0),
        "level_bits": np.concatenate(bits) if bits else np.zeros(0, dtype=np.uint64),
        **_linear_state(tree, order, placed),
    }
    return _engine.Tree.from_state(state, placed.n_features)


def _linear_state(tree: RawTree, order: AnyArray, placed: Placement) -> dict[str, AnyArray]:
    n_nodes = len(order) if tree.linear else 0
    base, first_term = np.zeros(n_nodes), [0] if tree.linear else []
    features, slopes = [np.zeros(0, dtype=np.int32)], [np.zeros(0)]
    for place, node in enumerate(order.tolist() if tree.linear else []):
        leaf = tree.linear.get(node)
        if leaf is not None:
            base[place] = leaf.base
            features.append(placed.term_feature[node].astype(np.int32))
            slopes.append(leaf.slopes)
        first_term.append(first_term[-1] + (0 if leaf is None else len(leaf.slopes)))
    slope = np.concatenate(slopes)
    most = np.full(len(slope), np.finfo(np.float64).max)
    return {
        "linear_first_term": np.array(first_term, dtype=np.uint32),
        "linear_base": base,
        "linear_low": np.full(n_nodes, -np.inf),
        "linear_high": np.full(n_nodes, np.inf),
        "linear_feature": np.concatenate(features),
        "linear_slope": slope,
        "linear_centre": np.zeros(len(slope)),
        "linear_least": -most,
        "linear_most": most,
    }


_BEYOND = 2.0**128 - 2.0**103  # from here on numbers round to infinity


def at_most(threshold: FloatArray) -> FloatArray:
    """The largest doubles that, rounded to single precision, are at most the threshold.

    Examples
    --------
    The single above 1 is 1 + 2**-23; what is up to half way there rounds to 1.

    >>> bool(at_most(np.array([1.0]))[0] == 1 + 2**-24)
    True
    """
    with np.errstate(all="ignore"):  # numbers beyond the largest single are infinity, as they should be
        rounded = threshold.astype(np.float32)
        above = rounded > threshold  # as doubles: numpy compares in the wider type
        return _last_that_rounds_to(np.where(above, np.nextafter(rounded, np.float32(-np.inf)), rounded))


def less_than(condition: NDArray[np.float32]) -> FloatArray:
    """The largest doubles that, rounded to single precision, are less than the condition.

    Examples
    --------
    >>> last = less_than(np.array([1.0], dtype=np.float32))
    >>> bool(np.float32(last[0]) < 1), bool(np.float32(np.nextafter(last[0], 2)) < 1)
    (True, False)
    """
    with np.errstate(all="ignore"):
        return _last_that_rounds_to(np.nextafter(condition, np.float32(-np.inf)))


def _last_that_rounds_to(single: NDArray[np.float32]) -> FloatArray:
    """The largest double that rounds to each single; half way between two, the one with an even last bit wins."""
    low = np.where(np.isneginf(single), -_BEYOND, single.astype(np.float64))
    high = np.nextafter(single, np.float32(np.inf)).astype(np.float64)
    half = np.where(np.isinf(high), _BEYOND, (low + np.where(np.isinf(high), 0.0, high)) / 2)
    even = single.view(np.uint32) & 1 == 0
    last = np.where(even, half, np.nextafter(half, -np.inf))
    last = np.where(np.isneginf(single), -_BEYOND, last)  # which rounds to -infinity
    return np.where(np.isposinf(single), np.inf, last)
