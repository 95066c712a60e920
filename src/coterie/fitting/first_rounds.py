"""Answers of the first trees of a model only."""

from typing import Any

from coterie._params import Whole, in_short
from coterie.errors import InvalidParameter

__all__ = ["check_n_trees"]


def check_n_trees(n_trees: Any, n_known: int) -> int:
    """How many trees, or rounds of them, to ask; refuses what the model does not have."""
    if not Whole(1, n_known).accepts(n_trees):
        raise InvalidParameter(
            f"n_trees={in_short(n_trees)}: expected None for all, or a whole number from 1 to {n_known}, which is how "
            "many the model has."
        )
    return int(n_trees)
