"""AdaBoost on stumps as a textbook has it: every threshold of every column is tried in every round.

A stump says 1 above its threshold and -1 below it. With `both_ways=False` there is no stump the other way round, so
that the best one may be worse than chance: it gets a negative vote.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LEAST = 1e-12  # a perfect stump would have an infinite vote


class StumpBoosting:
    """A fitted model, with what AdaBoost remembers of its rounds."""

    def __init__(
        self, X: Any, y: Any, *, n_rounds: int = 20, weight: Any = None, both_ways: bool = True
    ) -> None:
        X = np.asarray(X, dtype=np.float64)
        self.classes_, codes = np.unique(y, return_inverse=True)
        sign = 2.0 * codes - 1
        w = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
        w = w / w.sum()
        stumps, errors, votes, normalizers = [], [], [], []
        for _ in range(n_rounds):
            stump, error = _best_stump(X, sign, w, both_ways=both_ways)
            if error in (0.5, 0.0, 1.0) and stumps:
                break
            error = min(max(error, _LEAST), 1 - _LEAST)
            vote = 0.5 * np.log((1 - error) / error)
            w = w * np.exp(-vote * sign * _answers(stump, X))
            stumps.append(stump)
            errors.append(error)
            votes.append(vote)
            normalizers.append(w.sum())
            w = w / w.sum()
        self.stumps = stumps
        self.estimator_errors_ = np.array(errors)
        self.estimator_weights_ = np.array(votes)
        self.normalizers_ = np.array(normalizers)
        self.final_weight = w

    def staged_votes(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """After each round, the votes of the two classes; a negative vote is one for the other class."""
        X = np.asarray(X, dtype=np.float64)
        votes = np.zeros((len(X), 2))
        for stump, vote in zip(self.stumps, self.estimator_weights_, strict=True):
            said = _answers(stump, X) * np.sign(vote)
            votes = votes + abs(vote) * np.stack([said < 0, said > 0], axis=1)
            yield votes

    def labels(self, X: Any) -> list[NDArray[Any]]:
        """What each stump says, by itself."""
        return [self.classes_[(_answers(stump, np.asarray(X)) > 0).astype(int)] for stump in self.stumps]


def _best_stump(X: Any, sign: Any, w: Any, *, both_ways: bool) -> tuple[tuple[int, float, float], float]:
    """The stump whose error is farthest from one half, on the better side if stumps go both ways."""
    found: list[tuple[float, tuple[int, float, float], float]] = []
    for column in range(X.shape[1]):
        values = np.unique(X[:, column])
        for cut in [values[0] - 1.0, *((values[1:] + values[:-1]) / 2)]:
            for direction in (1.0, -1.0) if both_ways else (1.0,):
                stump = (column, float(cut), direction)
                error = float(w[_answers(stump, X) != sign].sum())
                found.append((error if both_ways else -abs(0.5 - error), stump, error))
    _, stump, error = min(found, key=lambda each: each[0])
    return stump, error


def _answers(stump: tuple[int, float, float], X: Any) -> NDArray[np.float64]:
    column, cut, direction = stump
    return np.asarray(np.where(X[:, column] > cut, direction, -direction))
