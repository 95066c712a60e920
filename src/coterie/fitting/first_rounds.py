"""Predictions of the first rounds or trees of a model only."""

from typing import Any

from coterie._params import Integer, unexpected

__all__ = ["check_first"]


def check_first(parameter: str, number: Any, n_known: int) -> int:
    """How many rounds or trees to use; refuses what the model does not have."""
    if not Integer(1, n_known).accepts(number):
        allowed = f"None for all, or a whole number from 1 to {n_known}, which is how many the model has"
        raise unexpected(parameter, number, allowed)
    return int(number)
