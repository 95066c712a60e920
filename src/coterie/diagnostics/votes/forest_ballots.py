"""The votes of a forest of ours: every tree has one vote, for the class of the leaf that a row reaches."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from coterie._typing import BoolArray, FloatArray, RowArray
from coterie.diagnostics.votes.tally import Answer, Ballots, Tally, one_hot, running_tallies
from coterie.errors import InvalidInput

__all__ = ["forest_ballots"]


def forest_ballots(model: Any, X: Any, *, soft: bool, oob: bool) -> Ballots:
    """`soft`: a tree shares its vote as its leaf has the classes; `oob`: only trees that did not draw the row vote."""
    leaves = model.apply(X)
    left_out = _left_out(model, len(leaves)) if oob else None

    def answers() -> Iterator[Answer]:
        for place in range(leaves.shape[1]):
            shares = model.forest_.tree(place).value
            by_leaf = shares if soft else one_hot(shares.argmax(axis=1), shares.shape[1])
            weight: FloatArray = np.ones(()) if left_out is None else left_out[place].astype(np.float64)
            yield Answer(by_leaf[leaves[:, place]], weight)

    def after(rounds: RowArray) -> Iterator[Tally]:
        return running_tallies(islice(answers(), int(rounds[-1])), rounds)

    return Ballots(np.asarray(model.classes_), leaves.shape[1], after)


def _left_out(model: Any, n_rows: int) -> BoolArray:
    """Which rows each tree did not draw, shape (n_trees, n_rows); rows without weight were never out of a bag."""
    kept = model._remembered("oob=True", needs_bag=True)
    if n_rows != kept.n_table_rows:
        raise InvalidInput(
            f"oob=True is for the training table: X has {n_rows} rows and the training table had {kept.n_table_rows}."
        )
    left_out = np.zeros((len(model.forest_), n_rows), dtype=bool)
    left_out[:, kept.rows] = kept.counts() == 0
    return left_out
