"""The scores of a model after each of its rounds."""

from collections.abc import Iterator
from typing import Any

from coterie._typing import AnyArray, FloatArray
from coterie.boosting._booster import add_scores
from coterie.data.encoding import Encoded

__all__ = ["staged_scores"]


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
