"""The votes of a forest: every tree has one vote, for the class of the leaf that a row reaches."""

from collections.abc import Iterator

import numpy as np

import coterie._engine as _engine
from coterie._typing import AnyArray, BoolArray, FloatArray, RowArray
from coterie.errors import InvalidInput
from coterie.forests._training_rows import TrainingRows
from coterie.members.votes import CastVotes, Votes, one_hot, votes_in_order


def forest_votes(
    forest: _engine.PackedForest,
    leaves: RowArray,
    classes: AnyArray,
    *,
    soft: bool,
    left_out: BoolArray | None,
) -> Votes:
    """The votes of all trees.

    Parameters
    ----------
    forest : the trees
    leaves : array of shape (n_rows, n_trees), the leaf that each row reaches
    classes : the labels
    soft : whether a tree shares its vote as its leaf has the classes
    left_out : bool array of shape (n_trees, n_rows), the rows that each tree votes about; None for all
    """

    def members() -> Iterator[CastVotes]:
        for place in range(leaves.shape[1]):
            shares = np.asarray(forest.tree(place).value)
            by_leaf = shares if soft else one_hot(shares.argmax(axis=1), shares.shape[1])
            weight: FloatArray = np.ones(()) if left_out is None else left_out[place].astype(np.float64)
            yield CastVotes(by_leaf[leaves[:, place]], weight)

    return votes_in_order(classes, leaves.shape[1], members)


def rows_left_out(kept: TrainingRows, n_trees: int, n_rows: int) -> BoolArray:
    """Which rows each tree did not draw, shape (n_trees, n_rows); rows without weight were never out of a bag."""
    if n_rows != kept.n_table_rows:
        raise InvalidInput(
            f"oob=True is for the training table: X has {n_rows} rows and the training table had {kept.n_table_rows}.",
            parameter="X",
            received=n_rows,
            allowed=f"the training table, of {kept.n_table_rows} rows",
        )
    left_out = np.zeros((n_trees, n_rows), dtype=bool)
    left_out[:, kept.rows] = kept.counts() == 0
    return left_out
