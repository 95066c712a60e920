"""What a model says after each of its rounds."""

from collections.abc import Iterator
from typing import Any

import coterie._engine as _engine
from coterie._typing import AnyArray, FloatArray
from coterie.data.encoding import Encoded
from coterie.ensembles._booster import add_scores

__all__ = ["staged_scores"]


def staged_scores(
    forest: Any, rounds: AnyArray, start: FloatArray, encoded: Encoded, n_threads: int
) -> Iterator[FloatArray]:
    """The scores after each round, shape (n_rows, n_outputs); each is an array of its own.

    The forest holds the trees round by round; `rounds` says how many rounds each booster has.
    """
    scores, place = start, 0
    for number in range(int(rounds.max(initial=0))):
        own = _engine.Forest(forest.n_features, forest.n_outputs)
        n_trees = forest.n_outputs * int((rounds > number).sum())
        for tree in range(place, place + n_trees):
            own.add(forest.tree(tree), forest.first_output(tree))
        place += n_trees
        scores = add_scores(own, scores, encoded, n_threads)
        yield scores
