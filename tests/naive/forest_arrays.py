"""A forest as its statistics see it, without a tree: random leaves, random draws, targets with ties."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass
class ForestArrays:
    leaves: NDArray[np.uint32]  # (n_rows, n_trees)
    counts: NDArray[np.uint16]  # (n_rows, n_trees)
    y: NDArray[np.float64]
    weight: NDArray[np.float64]

    @property
    def in_bag_means(self) -> NDArray[np.float64]:
        """What each tree answers for each training row, weights left aside; NaN where a leaf holds no draw."""
        means = np.full(self.leaves.shape, np.nan)
        for tree in range(self.leaves.shape[1]):
            leaves, counts = self.leaves[:, tree], self.counts[:, tree]
            for leaf in np.unique(leaves):
                own = leaves == leaf
                if counts[own].any():
                    means[own, tree] = np.average(self.y[own], weights=counts[own])
        return means


def random_forest(seed: int, n_rows: int = 12, n_trees: int = 5, n_leaves: int = 4) -> ForestArrays:
    """Every tree draws as many rows as there are, with replacement; one row may be in every bag or in none."""
    rng = np.random.default_rng(seed)
    draws = rng.integers(0, n_rows, size=(n_trees, n_rows))
    counts = np.stack([np.bincount(drawn, minlength=n_rows) for drawn in draws], axis=1)
    return ForestArrays(
        leaves=rng.integers(0, n_leaves, size=(n_rows, n_trees)).astype(np.uint32),
        counts=counts.astype(np.uint16),
        y=rng.integers(0, max(2, n_rows // 2), n_rows) / 4,
        weight=rng.integers(0, 4, n_rows) + (np.arange(n_rows) == 0.0),
    )
