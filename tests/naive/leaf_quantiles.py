"""What a quantile forest means, in fractions: no rounding, no ranks, every training row for every new one."""

from fractions import Fraction
from math import nan

import numpy as np
from numpy.typing import NDArray

from tests.naive.forest_arrays import ForestArrays

UNIT = Fraction(1, 2**31)  # so much may be missing from a level


def naive_weights(forest: ForestArrays, new_leaves: NDArray, use: NDArray) -> dict[float, Fraction]:
    """The weight of each target for one new row; nothing if no tree has anything to say."""
    every, n_used = {}, 0
    for tree in np.flatnonzero(use):
        in_leaf = np.flatnonzero(forest.leaves[:, tree] == new_leaves[tree])
        own = {row: int(forest.counts[row, tree]) * Fraction(float(forest.weight[row])) for row in in_leaf}
        total = sum(own.values())
        if total == 0:
            continue
        n_used += 1
        for row, weight in own.items():
            every[forest.y[row]] = every.get(forest.y[row], 0) + weight / total
    return {target: weight / n_used for target, weight in every.items() if weight > 0}


def naive_quantiles(
    forest: ForestArrays, new_leaves: NDArray, use: NDArray, levels: list[float]
) -> list[float]:
    """For each level the least target that has the level of the weight at or below it."""
    weights = naive_weights(forest, new_leaves, use)
    if not weights:
        return [nan] * len(levels)
    return [_quantile(weights, Fraction(level) - UNIT) for level in levels]


def _quantile(weights: dict[float, Fraction], level: Fraction) -> float:
    reached = Fraction(0)
    for target in sorted(weights):
        reached += weights[target]
        if reached >= level:
            return float(target)
    raise AssertionError("weights add up to one")
