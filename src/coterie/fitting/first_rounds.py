"""Predictions of the first trees of a model only."""

from typing import Any

from coterie._params import Integer, unexpected

__all__ = ["check_n_trees"]


def check_n_trees(n_trees: Any, n_known: int) -> int:
    """How many trees, or rounds of them, to use; refuses what the model does not have."""
    if not Integer(1, n_known).accepts(n_trees):
        allowed = f"None for all, or a whole number from 1 to {n_known}, which is how many the model has"
        raise unexpected("n_trees", n_trees, allowed)
    return int(n_trees)
