"""Where the rounds of boosters begin in a forest.

A round of one booster has a tree for each output, or one tree with values for all of them: its first tree is the one
that adds to the first output.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from coterie._typing import RowArray


def starts_of_rounds(forest: Any) -> RowArray:
    """The place of the first tree of each round of each booster, and the number of trees at the end."""
    n_trees = len(forest)
    if forest.n_outputs == 1:
        return np.arange(n_trees + 1)
    outputs = np.fromiter((forest.first_output(place) for place in range(n_trees)), np.int64, n_trees)
    return np.append(np.flatnonzero(outputs == 0), n_trees)


def n_trees_of(forest: Any, n_rounds: int) -> int:
    """How many trees the first rounds have, those of all boosters counted."""
    if forest.n_outputs == 1:
        return n_rounds
    starts = starts_of_rounds(forest)
    return int(starts[min(n_rounds, len(starts) - 1)])


def rounds_in(forest: Any) -> list[list[Any]]:
    """The trees of each round of each booster, in the order of the forest."""
    starts = starts_of_rounds(forest).tolist()
    return [[forest.tree(place) for place in range(begin, end)] for begin, end in pairwise(starts)]


def covers_all_outputs(trees: list[Any], n_outputs: int) -> bool:
    """Whether the trees of a round have a value for each output."""
    return bool(sum(tree.n_outputs for tree in trees) == n_outputs)
