"""Rounds of an earlier fit: they are added to the scores again, to the last bit, instead of growing them.

A tree's values are in the user's units, which differ from the loop's by a power of two, or, of several targets, are
float32 numbers times a unit of so few digits that nothing is rounded. Growing adds leaf values to the scores as
float32, so dividing what the tree predicts by the unit and rounding gives the same number: the leaf that a row reaches
is the one that it was put into, and a linear leaf predicts there what it predicted then.
"""

from typing import Any

import numpy as np

import coterie._engine as _engine
from coterie._typing import FloatArray
from coterie.data.encoding import Encoded
from coterie.losses.loss import Float32Array

_ROUNDS_AT_ONCE = 16  # the table is read once for so many


class ReplayedRounds:
    """The trees of one booster.

    Parameters
    ----------
    rounds : a tree for each output, round by round.
    encoded : the rows whose scores are added to.
    units : what a step of 1 in the scores is in a tree's values, for each output.
    """

    def __init__(
        self, rounds: list[list[Any]], encoded: Encoded, *, units: FloatArray, n_threads: int
    ) -> None:
        self._rounds = rounds
        self._encoded = encoded
        self._units = units
        self._n_threads = n_threads
        self._contributions = np.empty((0, 0))

    def __len__(self) -> int:
        return len(self._rounds)

    def repeat(self, number: int, scores: Float32Array) -> list[Any]:
        """Add one round to the scores, a row for each output; rounds come in order from the first."""
        place = number % _ROUNDS_AT_ONCE
        if place == 0:
            self._evaluate(self._rounds[number : number + _ROUNDS_AT_ONCE])
        trees = self._rounds[number]
        for output in range(len(trees)):
            contributions = self._contributions[:, place * len(trees) + output] / self._units[output]
            scores[output] += contributions.astype(np.float32)
        return trees

    def _evaluate(self, rounds: list[list[Any]]) -> None:
        """What each tree of some rounds predicts for each row, a column for each tree."""
        trees = [tree for each in rounds for tree in each]
        forest: Any = _engine.Forest(self._encoded.n_features, len(trees))
        for number, tree in enumerate(trees):
            forest.add(tree, number)
        self._contributions = np.zeros((self._encoded.n_rows, len(trees)))
        forest.add_scores(
            self._encoded.values, self._encoded.n_levels, self._contributions.reshape(-1), self._n_threads
        )
