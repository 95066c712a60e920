"""Greedy selection: members are added one by one, each the one that helps most, the same one again if need be.

Words
  library  the predictions of all candidates for the same rows, shape (n_members, n_rows, n_columns)
  round    one addition; the mean of what was added so far is what is scored
  path     who was added in each round, and the score after it; greater is better
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from coterie._typing import AnyArray, FloatArray, RowArray

_LEAST = float(np.finfo(np.float64).eps)
_ROUNDING = 1e-12  # what the order of additions may change in a score


class SelectionLoss(Protocol):
    """Scores means of predictions."""

    def scores(self, mean: FloatArray, count: int, members: Sequence[int]) -> FloatArray:
        """The score, for each member, of the mean of its predictions and of `count` others whose mean is given."""


class SquaredErrorOfMean:
    """Minus the mean squared error."""

    def __init__(self, library: FloatArray, truth: FloatArray, weight: FloatArray) -> None:
        self._library, self._truth, self._weight = library, truth, weight / weight.sum()

    def scores(self, mean: FloatArray, count: int, members: Sequence[int]) -> FloatArray:
        with np.errstate(over="ignore"):
            squares = [
                ((_with(mean, count, self._library[m]) - self._truth) ** 2).sum(axis=1) for m in members
            ]
            means = [-float(self._weight @ own) / self._truth.shape[1] for own in squares]
        return np.array(means)


class LogLossOfMean:
    """Minus the mean log loss of probabilities; none counts as less than the smallest step of a float."""

    def __init__(self, library: FloatArray, codes: AnyArray, weight: FloatArray) -> None:
        self._of_true_class = library[:, np.arange(len(codes)), codes]
        self._places, self._weight = (np.arange(len(codes)), codes), weight / weight.sum()

    def scores(self, mean: FloatArray, count: int, members: Sequence[int]) -> FloatArray:
        means = _with(mean[self._places], count, self._of_true_class[list(members)])
        return np.asarray(np.log(np.maximum(means, _LEAST)) @ self._weight)


class ScoreOfMean:
    """Any function of the mean predictions."""

    def __init__(self, library: FloatArray, score: Callable[[FloatArray], float]) -> None:
        self._library, self._score = library, score

    def scores(self, mean: FloatArray, count: int, members: Sequence[int]) -> FloatArray:
        return np.array([self._score(_with(mean, count, self._library[m])) for m in members])


def _with(mean: FloatArray, count: int, predictions: FloatArray) -> FloatArray:
    """The mean of one more; sums could be too large for a float."""
    return np.asarray(mean * (count / (count + 1)) + predictions / (count + 1))


@dataclass(frozen=True)
class GreedyOptions:
    """How long to go on.

    Attributes
    ----------
    max_iter : additions at most
    n_start : the best members that are added first, each once, in the order of their scores
    n_iter_no_change : rounds without a gain of more than `tol` after which to stop, or None
    costs : what each member of the library costs the first time it is added; all together cost 1 at most. None: nothing
    """

    max_iter: int
    n_start: int = 1
    n_iter_no_change: int | None = None
    tol: float = 0.0
    costs: FloatArray | None = None

    def within(self, candidates: Sequence[int], added: Sequence[int]) -> Sequence[int]:
        """The candidates that can still be paid for."""
        if self.costs is None or not added:
            return candidates
        known = set(added)
        left = 1.0 - float(self.costs[sorted(known)].sum())
        return [member for member in candidates if member in known or self.costs[member] <= left]


@dataclass(frozen=True)
class Path:
    """Who was added, and the score after each addition; the best is the first of the greatest."""

    members: list[int]
    scores: list[float]

    @property
    def best(self) -> int:
        """The number of additions that are kept."""
        return int(np.argmax(_are_best(np.array(self.scores)))) + 1


def greedy_path(
    library: FloatArray, loss: SelectionLoss, candidates: Sequence[int], options: GreedyOptions
) -> Path:
    """Add candidates, with replacement, to the mean of predictions.

    On a tie the one that is already in comes first, then the first in the list: fewer members are needed.

    Examples
    --------
    Two members err in opposite directions, and the third errs less than either.

    >>> predicted = np.array([[[2.0]], [[-2.0]], [[1.0]]])
    >>> loss = SquaredErrorOfMean(predicted, np.array([[0.0]]), np.ones(1))
    >>> path = greedy_path(predicted, loss, [0, 1, 2], GreedyOptions(max_iter=3))
    >>> path.members, [round(score, 2) + 0.0 for score in path.scores], path.best
    ([2, 1, 2], [-1.0, -0.25, 0.0], 3)
    """
    mean = np.zeros(library.shape[1:])
    alone = loss.scores(mean, 0, candidates)
    first = np.argsort(-alone, kind="stable")[: options.n_start]
    path = Path([], [])
    for place in first[: options.max_iter]:
        mean = _added(path, candidates[int(place)], loss, mean, library)
    while len(path.members) < options.max_iter and not _has_stopped(path.scores, options):
        open_to = options.within(candidates, path.members)
        scores = loss.scores(mean, len(path.members), open_to)
        ties = [open_to[int(place)] for place in np.flatnonzero(_are_best(scores))]
        known = [member for member in ties if member in path.members]
        mean = _added(path, (known or ties)[0], loss, mean, library)
    return path


def _added(path: Path, member: int, loss: SelectionLoss, mean: FloatArray, library: FloatArray) -> FloatArray:
    """Write an addition down; the mean with it."""
    count = len(path.members)
    path.scores.append(float(loss.scores(mean, count, [member])[0]))
    path.members.append(int(member))
    return _with(mean, count, library[member])


def _has_stopped(scores: list[float], options: GreedyOptions) -> bool:
    patience = options.n_iter_no_change
    if patience is None or len(scores) <= patience:
        return False
    before = max(scores[:-patience])
    return max(scores[-patience:]) <= before + max(options.tol, _ROUNDING * abs(before))


def _are_best(scores: FloatArray) -> AnyArray:
    """Which scores are the greatest, but for rounding."""
    best = scores.max()
    return np.asarray(scores >= best - (_ROUNDING * abs(best) if np.isfinite(best) else 0.0))


def shares(path: Path, n_members: int) -> FloatArray:
    """How often each member was added up to the best score, as shares of all additions."""
    counts: RowArray = np.bincount(path.members[: path.best], minlength=n_members)
    return counts / path.best
