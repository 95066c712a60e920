"""What is good: the loss of rows, or any scorer of scikit-learn; a score with its standard error, greater is better.

The log loss and the squared error are means over rows, so their errors are those of means. Of any other score the error
is found by the jackknife: the score without each of twenty parts of the rows. Rows of one group stay together in both.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.metrics import get_scorer

from coterie._params import in_short
from coterie._storage import storable
from coterie._typing import AnyArray, FloatArray
from coterie._value_types import FLOATS, INTEGERS, NONE, array
from coterie.combining.greedy import AnyScore, Judge, LogLoss, SquaredError
from coterie.errors import CoterieError, InvalidInput, InvalidParameter
from coterie.fitting.scoring import parameters_of
from coterie.members.oof_score import Score

__all__ = ["AnyGoal", "Goal", "LogLossGoal", "Rows", "SquaredErrorGoal"]

_PARTS = 20
_LEAST = float(np.finfo(np.float64).eps)


@storable("committee.Rows", {"truth": array("fiu", 1), "weight": FLOATS, "groups": INTEGERS | NONE})
@dataclass(frozen=True)
class Rows:
    """What is true of some rows: the target, their weights, and their groups if there are any."""

    truth: AnyArray
    weight: FloatArray
    groups: AnyArray | None = None

    def take(self, rows: AnyArray) -> "Rows":
        return Rows(self.truth[rows], self.weight[rows], None if self.groups is None else self.groups[rows])


class Goal(Protocol):
    """Judges answers of shape (n_rows, n_columns)."""

    name: str
    most_rows: int  # that weights are chosen by

    def judge(self, library: FloatArray, rows: Rows) -> Judge: ...

    def value(self, answers: FloatArray, rows: Rows) -> float: ...

    def score(self, answers: FloatArray, rows: Rows) -> Score: ...


class _RowGoal:
    """Minus a mean of losses of rows."""

    name: str
    most_rows = 50_000

    def losses(self, answers: FloatArray, truth: AnyArray) -> FloatArray:
        raise AssertionError("each goal says what a row loses")

    def value(self, answers: FloatArray, rows: Rows) -> float:
        return float(-(rows.weight @ self.losses(answers, rows.truth)) / rows.weight.sum())

    def score(self, answers: FloatArray, rows: Rows) -> Score:
        losses = self.losses(answers, rows.truth)
        return mean_with_error(-losses, rows)


def mean_with_error(values: FloatArray, rows: Rows) -> Score:
    """A weighted mean, and its standard error; rows of one group err together.

    Examples
    --------
    >>> rows = Rows(np.zeros(4), np.ones(4), np.array([0, 0, 1, 1]))
    >>> score = mean_with_error(np.array([1.0, 1.0, 3.0, 3.0]), rows)
    >>> score.value, round(score.error, 6)
    (2.0, 1.0)
    """
    total = rows.weight.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        middle = float(rows.weight @ values / total)
        off = rows.weight * (values - middle)
        if rows.groups is not None:
            off = np.bincount(rows.groups, weights=off)[np.unique(rows.groups)]
        n = len(off) if rows.groups is not None else int((rows.weight > 0).sum())
        if n < 2:
            return Score(middle, float("nan"))
        return Score(middle, float(np.sqrt((off**2).sum() * n / (n - 1)) / total))


class LogLossGoal(_RowGoal):
    """Minus the log loss of probabilities."""

    name = "neg_log_loss"

    def judge(self, library: FloatArray, rows: Rows) -> Judge:
        return LogLoss(library, rows.truth, rows.weight)

    def losses(self, answers: FloatArray, truth: AnyArray) -> FloatArray:
        said = answers[np.arange(len(truth)), truth]
        return -np.log(np.maximum(said, _LEAST))


class SquaredErrorGoal(_RowGoal):
    """Minus the squared error."""

    name = "neg_mean_squared_error"

    def judge(self, library: FloatArray, rows: Rows) -> Judge:
        unit = _unit(rows.truth)
        return SquaredError(library / unit, rows.truth[:, None] / unit, rows.weight)

    def losses(self, answers: FloatArray, truth: AnyArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.asarray((truth - answers[:, 0]) ** 2)


def _unit(truth: AnyArray) -> float:
    """A power of two, by which numbers whose squares are no floats are divided."""
    largest = float(np.abs(truth).max(initial=0.0))
    moderate = largest == 0 or 1e-100 < largest < 1e100
    return 1.0 if moderate else 2.0 ** max(-1000, math.frexp(largest)[1] - 1)


class AnyGoal:
    """A scorer of scikit-learn, which asks `view(answers)` as if it were the committee.

    Parameters
    ----------
    view : makes an object of the committee's class whose answers to any table are those given
    labels : the target as the user gave it, of what is true inside
    """

    most_rows = 10_000

    def __init__(
        self, scoring: Any, view: Callable[[FloatArray], Any], labels: Callable[[AnyArray], AnyArray]
    ) -> None:
        self._scoring, self._view, self._labels = scoring, view, labels
        self._scorer = get_scorer(scoring)
        self._takes_weight = "sample_weight" in parameters_of(
            getattr(self._scorer, "_score_func", self._scorer)
        )
        self.name = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", repr(scoring))

    def judge(self, library: FloatArray, rows: Rows) -> Judge:
        return AnyScore(library, lambda answers: self.value(answers, rows))

    def value(self, answers: FloatArray, rows: Rows) -> float:
        weights = {"sample_weight": rows.weight} if self._takes_weight else {}
        try:
            found = float(self._scorer(self._view(answers), None, self._labels(rows.truth), **weights))
        except CoterieError:
            raise
        except Exception as error:
            raise InvalidParameter(
                f"scoring={in_short(self._scoring)} cannot score the {len(answers)} rows that were held out: "
                f"{type(error).__name__}: {error}"
            ) from error
        if not math.isfinite(found):
            raise InvalidInput(
                f"scoring={in_short(self._scoring)} is {found} on the {len(answers)} rows that were held out; "
                "expected a finite number. Some scores need rows of every class."
            )
        return found

    def score(self, answers: FloatArray, rows: Rows) -> Score:
        part = (np.arange(len(answers)) if rows.groups is None else rows.groups) % _PARTS
        parts = np.unique(part)
        found = self.value(answers, rows)
        if len(parts) < 2:
            return Score(found, float("nan"))
        try:
            without = [self.value(answers[part != own], rows.take(part != own)) for own in parts]
        except (InvalidInput, InvalidParameter):  # a part holds all rows of a class
            return Score(found, float("nan"))
        spread = np.sum((np.array(without) - np.mean(without)) ** 2) * (len(parts) - 1) / len(parts)
        return Score(found, float(np.sqrt(spread)))
