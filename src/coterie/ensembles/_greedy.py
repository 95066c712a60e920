"""Greedy selection: members are added one by one, each the one that helps most, the same one again if need be.

Words
  library  the answers of all candidates to the same rows, shape (n_members, n_rows, n_columns)
  round    one addition; the mean of what was added so far is what is scored
  path     who was added in each round, and the score after it; greater is better
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from coterie._typing import AnyArray, FloatArray, RowArray

__all__ = ["AnyScore", "GreedyOptions", "Judge", "LogLoss", "Path", "SquaredError", "greedy_path", "shares"]

_LEAST = float(np.finfo(np.float64).eps)


class Judge(Protocol):
    """Scores sums of answers."""

    def scores(self, total: FloatArray, count: int, members: Sequence[int]) -> FloatArray:
        """The score, for each member, of the mean of `count` answers that sum to `total` and of that member's."""


class SquaredError:
    """Minus the mean squared error."""

    def __init__(self, library: FloatArray, truth: FloatArray, weight: FloatArray) -> None:
        self._library, self._truth, self._weight = library, truth, weight / weight.sum()

    def scores(self, total: FloatArray, count: int, members: Sequence[int]) -> FloatArray:
        with np.errstate(over="ignore"):
            squares = [
                ((total + self._library[m]) / (count + 1) - self._truth) ** 2 @ np.ones(self._truth.shape[1])
                for m in members
            ]
            means = [-float(self._weight @ own) / self._truth.shape[1] for own in squares]
        return np.array(means)


class LogLoss:
    """Minus the mean log loss of probabilities; none counts as less than the smallest step of a float."""

    def __init__(self, library: FloatArray, codes: AnyArray, weight: FloatArray) -> None:
        self._said = library[:, np.arange(len(codes)), codes]
        self._places, self._weight = (np.arange(len(codes)), codes), weight / weight.sum()

    def scores(self, total: FloatArray, count: int, members: Sequence[int]) -> FloatArray:
        before = total[self._places]
        means = (before + self._said[list(members)]) / (count + 1)
        return np.asarray(np.log(np.maximum(means, _LEAST)) @ self._weight)


class AnyScore:
    """Any function of the mean answers."""

    def __init__(self, library: FloatArray, score: Callable[[FloatArray], float]) -> None:
        self._library, self._score = library, score

    def scores(self, total: FloatArray, count: int, members: Sequence[int]) -> FloatArray:
        return np.array([self._score((total + self._library[m]) / (count + 1)) for m in members])


@dataclass(frozen=True)
class GreedyOptions:
    """How long to go on.

    Attributes
    ----------
    max_iter : additions at most
    n_start : the best members that are added first, each once, in the order of their scores
    n_iter_no_change : rounds without a gain of more than `tol` after which to stop, or None
    """

    max_iter: int
    n_start: int = 1
    n_iter_no_change: int | None = None
    tol: float = 0.0


@dataclass(frozen=True)
class Path:
    """Who was added, and the score after each addition; the best is the first of the greatest."""

    members: list[int]
    scores: list[float]

    @property
    def best(self) -> int:
        """The number of additions that are kept."""
        return int(np.argmax(self.scores)) + 1


def greedy_path(library: FloatArray, judge: Judge, candidates: Sequence[int], options: GreedyOptions) -> Path:
    """Add candidates, with replacement, to the mean of answers.

    On a tie the one that is already in comes first, then the first in the list: fewer members are needed.

    Examples
    --------
    Two members err in opposite directions, and the third errs less than either.

    >>> said = np.array([[[2.0]], [[-2.0]], [[1.0]]])
    >>> judge = SquaredError(said, np.array([[0.0]]), np.ones(1))
    >>> path = greedy_path(said, judge, [0, 1, 2], GreedyOptions(max_iter=3))
    >>> path.members, [round(score, 2) + 0.0 for score in path.scores], path.best
    ([2, 1, 2], [-1.0, -0.25, 0.0], 3)
    """
    total = np.zeros(library.shape[1:])
    alone = judge.scores(total, 0, candidates)
    first = np.argsort(-alone, kind="stable")[: options.n_start]
    path = Path([], [])
    for place in first[: options.max_iter]:
        _add(path, candidates[int(place)], judge, total, library)
    while len(path.members) < options.max_iter and not _has_stopped(path.scores, options):
        scores = judge.scores(total, len(path.members), candidates)
        ties = [candidates[int(place)] for place in np.flatnonzero(scores == scores.max())]
        known = [member for member in ties if member in path.members]
        _add(path, (known or ties)[0], judge, total, library)
    return path


def _add(path: Path, member: int, judge: Judge, total: FloatArray, library: FloatArray) -> None:
    score = judge.scores(total, len(path.members), [member])[0]
    path.members.append(int(member))
    path.scores.append(float(score))
    total += library[member]


def _has_stopped(scores: list[float], options: GreedyOptions) -> bool:
    patience = options.n_iter_no_change
    if patience is None or len(scores) <= patience:
        return False
    return max(scores[-patience:]) <= max(scores[:-patience]) + options.tol


def shares(path: Path, n_members: int) -> FloatArray:
    """How often each member was added up to the best score, as shares of all additions."""
    counts: RowArray = np.bincount(path.members[: path.best], minlength=n_members)
    return counts / path.best
