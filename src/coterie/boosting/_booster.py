"""One booster: trees grown one after the other, each from where the ones before it left off."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.boosting._data import Part
from coterie.boosting._replay import ReplayedRounds
from coterie.data.encoding import Encoded
from coterie.losses import BoundLoss

__all__ = ["Booster", "add_scores", "staged_scores", "units_of"]


class Booster:
    """Grows round after round on one binned matrix, from some of its rows.

    A *round* is one tree for each output of the loss; those of outputs that share their trees have the same splits.
    The scores of the loss follow, for all rows of the matrix: those that took part and those that were left out.

    Parameters
    ----------
    encoded : the features, as the matrix has them.
    part : the rows to learn from, and those to measure on.
    seed : the first of the numbers that the trees take as seeds; the engine hashes them.
    linear_leaves : whether the grower makes lines, for which it needs the features themselves beside the matrix.
    known : rounds of an earlier fit, which need not be grown again.
    """

    def __init__(
        self,
        loss: BoundLoss,
        grower: Any,
        *,
        encoded: Encoded,
        part: Part,
        seed: int,
        sampling: tuple[Any, float],
        linear_leaves: bool = False,
        known: ReplayedRounds | None = None,
    ) -> None:
        self.loss = loss
        self.encoded = encoded
        self.left_out = part.left_out
        self.rounds: list[list[Any]] = []
        self._grower = grower
        self._rows = part.rows
        self._seed = seed
        self._sampling = sampling
        self._values = (encoded.values, encoded.n_levels) if linear_leaves else ()
        self._known = known

    def grow_round(self) -> None:
        """One more tree for each output."""
        loss, number = self.loss, len(self.rounds)
        loss.begin_round()
        if self._known is not None and number < len(self._known):
            self.rounds.append(self._known.repeat(number, loss.scores))
            return
        if loss.joint_units is not None:
            self.rounds.append(self._joint_trees())
            return
        trees = []
        for output in range(loss.n_outputs):
            gradient, hessian = loss.derivatives(output)
            seed = (self._seed + number * loss.n_outputs + output) % 2**64
            tree = self._grower.grow(gradient, hessian, self._rows, seed, *self._sampling, *self._values)
            if refined := loss.leaf_quantile(output):
                self._grower.set_quantile_values(tree, refined.residual, refined.weight, refined.level)
            self._grower.add_predictions(loss.scores[output])
            trees.append(tree)
        self.rounds.append(trees)

    def _joint_trees(self) -> list[Any]:
        """One tree with leaf values for each output."""
        gradients, hessian = self.loss.joint_derivatives()
        seed = (self._seed + len(self.rounds)) % 2**64
        trees = self._grower.grow(gradients.reshape(-1), hessian, self._rows, seed, *self._sampling)
        for output in range(self.loss.n_outputs):
            self._grower.add_predictions(output, self.loss.scores[output])
        return list(trees)

    def trees_after(self, n_rounds: int) -> list[list[Any]]:
        """The model of so many rounds: their trees."""
        return self.rounds[:n_rounds]

    def settle(self) -> None:
        """Give the trees their final leaf values; no round comes after that."""


def units_of(loss: BoundLoss) -> FloatArray:
    """What a score of the loop's is worth in the user's units, for each output."""
    return np.full(loss.n_outputs, loss.scale) if loss.joint_units is None else loss.joint_units


def add_scores(
    forest: Any,
    start: FloatArray,
    encoded: Encoded,
    n_threads: int,
    trees: tuple[int, int | None] = (0, None),
) -> FloatArray:
    """What the trees add to `start`, which is one row for all or one for each.

    `trees` selects them: the number of the first one, and how many, or None for all that follow.
    """
    scores = np.empty((encoded.n_rows, start.shape[-1]))
    scores[:] = start
    forest.add_scores(encoded.values, encoded.n_levels, scores.reshape(-1), n_threads, *trees)
    return scores


def staged_scores(
    forest: Any, rounds: AnyArray, start: FloatArray, encoded: Encoded, n_threads: int
) -> Iterator[FloatArray]:
    """The scores after each round, shape (n_rows, n_outputs); each is an array of its own.

    The forest holds the trees round by round; `rounds` is the number of rounds of each booster.
    """
    scores, place = start, 0
    for number in range(int(rounds.max(initial=0))):
        n_trees = forest.n_outputs * int((rounds > number).sum())
        scores = add_scores(forest, scores, encoded, n_threads, (place, n_trees))
        place += n_trees
        yield scores
