"""Interventional Shapley values by their definition: all subsets of columns, all rows of the background."""

from collections.abc import Callable
from itertools import combinations
from math import factorial
from typing import Any

import numpy as np


def interventional_values(function: Callable[[Any], Any], rows: Any, background: Any) -> Any:
    """Values of shape (n_rows, n_columns, n_outputs) of a function of arrays."""
    d = rows.shape[1]

    def expected(row: Any, known: frozenset[int]) -> Any:
        points = background.copy()
        for column in known:
            points[:, column] = row[column]
        return np.asarray(function(points)).reshape(len(points), -1).mean(axis=0)

    found = []
    for row in rows:
        memory: dict[frozenset[int], Any] = {}
        for size in range(d + 1):
            for some in combinations(range(d), size):
                memory[frozenset(some)] = expected(row, frozenset(some))
        own = np.zeros((d, len(memory[frozenset()])))
        for column in range(d):
            for known, value in memory.items():
                if column not in known:
                    chance = factorial(len(known)) * factorial(d - len(known) - 1) / factorial(d)
                    own[column] += chance * (memory[known | {column}] - value)
        found.append(own)
    return np.stack(found)
