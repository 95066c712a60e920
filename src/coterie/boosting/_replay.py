"""Rounds of an earlier fit: they are added to the scores again, to the last bit, instead of growing them.

With a warm start or a checkpoint the boosters are made anew from the table and the seed of the first fit, the rounds
that are known are added to their raw predictions again, and training goes on after them. Nothing but the model is
needed for that, so it works after pickling, and the result is that of one longer fit.

A tree's values are in the user's units, which differ from the loop's by a power of two, or, of several targets, are
float32 numbers times a unit of so few digits that nothing is rounded. Growing adds leaf values to the scores as
float32, so dividing what the tree predicts by the unit and rounding gives the same number: the leaf that a row reaches
is the one that it was put into, and a linear leaf predicts there what it predicted then.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

import coterie._engine as _engine
from coterie._typing import FloatArray, RowArray
from coterie.boosting.forest_rounds import rounds_in
from coterie.data.encoding import Encoded
from coterie.errors import InvalidParameter
from coterie.fitting.warm_start import check_no_fewer
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
        n_outputs = len(self._units)
        for output in range(n_outputs):
            contributions = self._contributions[:, place * n_outputs + output] / self._units[output]
            scores[output] += contributions.astype(np.float32)
        return self._rounds[number]

    def _evaluate(self, rounds: list[list[Any]]) -> None:
        """What each of some rounds predicts for each row, a column for each output."""
        forest = self._side_by_side(rounds)
        self._contributions = np.zeros((self._encoded.n_rows, forest.n_outputs))
        forest.add_scores(
            self._encoded.values, self._encoded.n_levels, self._contributions.reshape(-1), self._n_threads
        )

    def _side_by_side(self, rounds: list[list[Any]]) -> Any:
        """The trees of some rounds as one forest, in which each round has outputs of its own."""
        n_outputs = len(self._units)
        forest: Any = _engine.Forest(self._encoded.n_features, n_outputs * len(rounds))
        for number, trees in enumerate(rounds):
            for output, tree in enumerate(trees):
                forest.add(tree, number * n_outputs + output)
        return forest


@dataclass(frozen=True)
class BoostingState:
    """What a longer fit needs of the last one.

    Attributes
    ----------
    rounds : how many rounds each booster has
    forest : the trees of all boosters, round by round
    unweighted : the same before they were weighted for the mean of several boosters; None if that was not kept
    """

    rounds: RowArray
    forest: Any
    unweighted: Any

    def check(self, n_estimators: int) -> None:
        """Refuse to continue with fewer rounds, or with boosters whose mean cannot be taken apart."""
        n_known = int(self.rounds.max())
        check_no_fewer(n_estimators, n_known, "rounds")
        if len(self.rounds) > 1 and self.unweighted is None:
            raise InvalidParameter(
                f"warm_start=True was not set when the {len(self.rounds)} boosters were fitted, and their mean cannot "
                "be taken apart to the last bit.",
                parameter="warm_start",
                received=True,
                hint="Set warm_start=True before the first fit.",
            )

    def trees(self) -> list[list[list[Any]]]:
        """The trees of each booster, round by round."""
        forest = self.forest if len(self.rounds) == 1 else self.unweighted
        boosters: list[list[list[Any]]] = [[] for _ in self.rounds]
        known = iter(rounds_in(forest))
        for number in range(int(max(self.rounds))):
            for booster, n_rounds in zip(boosters, self.rounds, strict=True):
                if number < n_rounds:
                    booster.append(next(known))
        return boosters
