"""A tree of another library, walked as its documentation says: one row, one node at a time."""

import math
from collections.abc import Sequence
from typing import Any


def leaf_of(tree: Any, row: Sequence[float]) -> int:
    """The node in which a row ends up."""
    node = 0
    while tree.column[node] >= 0:
        node = int(tree.left[node] if _goes_left(tree, node, row[tree.column[node]]) else tree.right[node])
    return node


def _goes_left(tree: Any, node: int, value: float) -> bool:
    zero_missing = tree.zero_missing is not None and tree.zero_missing[node] and node not in tree.sets
    if math.isnan(value) or (zero_missing and abs(value) <= 1e-35):
        return bool(tree.missing_left[node])
    if node in tree.sets:
        levels = tree.sets[node]
        return (math.trunc(value) in levels.categories) != levels.inverted
    return bool(value <= tree.threshold[node])


def answer_of(tree: Any, row: Sequence[float]) -> list[float]:
    """What the leaf says, which may be a line."""
    node = leaf_of(tree, row)
    line = tree.linear.get(node)
    if line is not None and len(line.columns):
        values = [row[column] for column in line.columns]
        if not any(math.isnan(value) for value in values):
            total = line.base
            for slope, value in zip(line.slopes.tolist(), values, strict=True):
                total += slope * value
            return [total]
    return list(tree.value[node].tolist())
