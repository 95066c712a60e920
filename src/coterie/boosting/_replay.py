"""Rounds of an earlier fit: their answers are added to the scores again, to the last bit, instead of growing them.

A tree's values are its answers in the user's units, which differ from the loop's by a power of two, or, of several
targets, are float32 answers times a unit of so few digits that nothing is rounded. Growing adds the answers to the
scores as float32, so dividing what the tree says by the unit and rounding gives the same number: the leaf that a row
reaches is the one that it was put into, and a line says there what it said.
"""

from typing import Any

import numpy as np

import coterie._engine as _engine
from coterie._typing import FloatArray
from coterie.data.encoding import Encoded
from coterie.losses.base import Float32Array

__all__ = ["ReplayedRounds"]

_ROUNDS_AT_ONCE = 16  # the table is read once for so many


class ReplayedRounds:
    """The trees of one booster.

    Parameters
    ----------
    rounds : a tree for each output, round by round.
    encoded : the rows whose scores are added to.
    units : what an answer of 1 is in a tree's values, for each output.
    """

    def __init__(
        self, rounds: list[list[Any]], encoded: Encoded, *, units: FloatArray, n_threads: int
    ) -> None:
        self._rounds = rounds
        self._encoded = encoded
        self._units = units
        self._n_threads = n_threads
        self._answers = np.empty((0, 0))

    def __len__(self) -> int:
        return len(self._rounds)

    def repeat(self, number: int, scores: Float32Array) -> list[Any]:
        """Add the answers of one round to the scores, a row for each output; rounds come in order from the first."""
        place = number % _ROUNDS_AT_ONCE
        if place == 0:
            self._ask(self._rounds[number : number + _ROUNDS_AT_ONCE])
        trees = self._rounds[number]
        for output in range(len(trees)):
            answers = self._answers[:, place * len(trees) + output] / self._units[output]
            scores[output] += answers.astype(np.float32)
        return trees

    def _ask(self, rounds: list[list[Any]]) -> None:
        """What each tree of some rounds says of each row, a column for each tree."""
        trees = [tree for each in rounds for tree in each]
        forest: Any = _engine.Forest(self._encoded.n_features, len(trees))
        for number, tree in enumerate(trees):
            forest.add(tree, number)
        self._answers = np.zeros((self._encoded.n_rows, len(trees)))
        forest.add_scores(
            self._encoded.values, self._encoded.n_levels, self._answers.reshape(-1), self._n_threads
        )
