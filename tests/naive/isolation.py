"""Path lengths and scores of an isolation forest, one row and one node at a time, from the arrays of its trees."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


def average_path_length(n_rows: int) -> float:
    """The mean length of a search without success in a binary search tree of so many keys."""
    if n_rows <= 1:
        return 0.0
    if n_rows == 2:
        return 1.0
    harmonic = math.log(n_rows - 1) + 0.5772156649015329
    return 2 * harmonic - 2 * (n_rows - 1) / n_rows


def goes_left(tree: Any, node: int, value: float, *, nominal: bool) -> bool:
    """Where one value goes at a split: a number, or a code that is negative where the level is missing."""
    if (nominal and not value >= 0) or (not nominal and math.isnan(value)):
        return bool(tree.missing_left[node])
    if not nominal:
        return bool(value <= tree.threshold[node])
    word = tree.level_bits[4 * tree.levels[node] + int(value) // 64]
    return bool(int(word) >> (int(value) % 64) & 1)


def leaf_rows(tree: Any, X: NDArray[Any], rows: NDArray[Any], n_levels: NDArray[Any]) -> dict[int, list[int]]:
    """The rows of a bag in each leaf."""
    found: dict[int, list[int]] = {}
    for row in rows:
        found.setdefault(path(tree, X[row], n_levels)[-1], []).append(int(row))
    return found


def path(tree: Any, values: NDArray[Any], n_levels: NDArray[Any]) -> list[int]:
    """The nodes from the root to the leaf of one row."""
    nodes = [0]
    while tree.feature[nodes[-1]] >= 0:
        node = nodes[-1]
        feature = tree.feature[node]
        left = goes_left(tree, node, values[feature], nominal=n_levels[feature] > 0)
        nodes.append(int(tree.left[node]) + (0 if left else 1))
    return nodes


def scores(
    trees: list[Any], bags: list[NDArray[Any]], train: NDArray[Any], X: NDArray[Any], n_levels: Any, psi: int
) -> NDArray[np.float64]:
    """The opposite of the anomaly score of Liu, Ting and Zhou, with sizes of leaves counted from the bags."""
    total = np.zeros(len(X))
    for tree, rows in zip(trees, bags, strict=True):
        inside = leaf_rows(tree, train, rows, n_levels)
        for index, values in enumerate(X):
            nodes = path(tree, values, n_levels)
            total[index] += len(nodes) - 1 + average_path_length(len(inside[nodes[-1]]))
    return -(2.0 ** (-total / len(trees) / average_path_length(psi)))
