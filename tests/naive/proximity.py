"""Proximities of two rows at a time, tree by tree, and what Breiman makes of them."""

import numpy as np
from numpy.typing import NDArray

from tests.naive.forest_arrays import ForestArrays


def naive_shared(one: NDArray, other: NDArray, use: NDArray | None = None) -> float:
    """The share of trees, of those to use, in which two rows have the same leaf; 0 without any tree."""
    trees = [t for t in range(len(one)) if use is None or use[t]]
    return sum(one[t] == other[t] for t in trees) / len(trees) if trees else 0.0


def naive_gap(forest: ForestArrays, leaves: NDArray, use: NDArray, row: int) -> float:
    """The part of a training row in what the trees to use hold in these leaves."""
    parts = []
    for tree in np.flatnonzero(use):
        in_leaf = forest.leaves[:, tree] == leaves[tree]
        draws = forest.counts[in_leaf, tree].sum()
        parts.append(forest.counts[row, tree] / draws if in_leaf[row] and draws else 0.0)
    return float(np.mean(parts)) if parts else 0.0


def naive_outliers(leaves: NDArray, y_codes: NDArray) -> list[float]:
    raw = {}
    for row, code in enumerate(y_codes):
        alike = np.flatnonzero(y_codes == code)
        raw[row] = len(alike) / sum(naive_shared(leaves[row], leaves[other]) ** 2 for other in alike)
    measure = []
    for row, code in enumerate(y_codes):
        own = [raw[other] for other in np.flatnonzero(y_codes == code)]
        deviation = np.mean([abs(each - np.median(own)) for each in own])
        measure.append((raw[row] - np.median(own)) / deviation if deviation > 1e-12 else 0.0)
    return measure


def naive_neighbours(leaves: NDArray, row: int, k: int) -> list[int]:
    """Rows that share a leaf, the nearest first, of equal ones the first; not the row itself."""
    near = [
        (-naive_shared(leaves[row], leaves[other]), other) for other in range(len(leaves)) if other != row
    ]
    return [other for minus, other in sorted(near) if minus < 0][:k]


def naive_prototype(leaves: NDArray, y_codes: NDArray, code: int, k: int) -> tuple[int, list[int]]:
    best: tuple[int, float, int] | None = None
    for row in range(len(leaves)):
        own = [other for other in naive_neighbours(leaves, row, k) if y_codes[other] == code]
        close = sum(naive_shared(leaves[row], leaves[other]) for other in own)
        rank = (-len(own), -round(close, 9), row)
        best = rank if best is None else min(best, rank)
    assert best is not None
    case = best[2]
    return case, [other for other in naive_neighbours(leaves, case, k) if y_codes[other] == code]
