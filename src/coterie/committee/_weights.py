"""From answers out of fold to weights, to a temperature, and to an honest score of both.

Weights and temperature are chosen on rows held out, and so they fit these rows a little. To score them, they are
chosen once more for each fold, without its rows, and judged on its rows: no number is judged by rows that helped to
choose it. What is left in favour of the committee is the yes or no of the temperature; what is against it is that a
row out of fold is answered by one model of each member, and a new row by the mean of all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from coterie._storage import expect, storable
from coterie._typing import AnyArray, BoolArray, FloatArray
from coterie._value_types import array, instance, list_of
from coterie.combining.greedy import GreedyOptions, Path, greedy_path, shares
from coterie.committee._goal import Goal, LogLossGoal, Rows, mean_with_error
from coterie.members.out_of_fold import Fold

__all__ = ["Answers", "Choice", "choice_of", "cooled", "temperature_of", "weights_of"]

_MOST_ROWS_OF_TEMPERATURE = 10_000  # it is one number
_ROWS_OF_TRUST = 100.0
_LEAST = float(np.finfo(np.float64).eps)


def _verify_predictions(answers: Any) -> None:
    n_rows = len(answers.known)
    same = answers.said.shape[1] == n_rows == len(answers.rows.truth) == len(answers.rows.weight)
    expect(same, "has predictions of other rows than those that are known")
    inside = all(
        len(rows) == 0 or 0 <= rows.min() <= rows.max() < n_rows
        for fold in answers.folds
        for rows in (fold.train, fold.test)
    )
    expect(inside, "has folds of rows that do not exist")


@storable(
    "committee.Answers",
    {
        "said": array("f", 3),
        "rows": instance(Rows),
        "known": array("b", 1),
        "folds": list_of(instance(Fold)),
    },
    verify=_verify_predictions,
)
@dataclass(frozen=True)
class Answers:
    """What all members say out of fold, shape (n_members, n_rows, n_columns), and what is true.

    `known` marks the rows that were held out and have weight.
    """

    said: FloatArray
    rows: Rows
    known: BoolArray
    folds: Sequence[Fold]

    def of_known(self) -> "Answers":
        """The known rows alone, counted anew."""
        places = np.cumsum(self.known) - 1
        folds = [
            Fold(places[fold.train[self.known[fold.train]]], places[fold.test[self.known[fold.test]]])
            for fold in self.folds
        ]
        every = np.ones(int(self.known.sum()), dtype=bool)
        return Answers(self.said[:, self.known], self.rows.take(self.known), every, folds)

    def without(self, member: int) -> "Answers":
        return Answers(np.delete(self.said, member, axis=0), self.rows, self.known, self.folds)


@dataclass(frozen=True)
class Choice:
    """Weights, temperature, and what the committee says of rows that had no part in choosing them.

    The temperature is that of one model for each member. The mean of several models is less certain than each of them,
    so that for it a temperature above 1 goes too far, and `honest` was made without.
    It has the shape (n_rows, n_columns), and NaN where nothing honest can be said.
    """

    weights: FloatArray
    temperature: float
    honest: FloatArray
    n_iter: int


def weights_of(
    goal: Goal, answers: Answers, mask: AnyArray, max_iter: int, trusted: int | None = None
) -> FloatArray:
    """Greedy weights on some rows; of very many, on some that are evenly spaced.

    They lean towards the member that is trusted, as if a hundred rows more had spoken for it.
    """
    return _leaning(_path(goal, answers, mask, max_iter), answers, mask, trusted)


def _leaning(path: Path, answers: Answers, mask: AnyArray, trusted: int | None) -> FloatArray:
    weights = shares(path, len(answers.said))
    if trusted is None:
        return weights
    mass = float(answers.rows.weight[mask].sum())
    weights = weights * (mass / (mass + _ROWS_OF_TRUST))
    weights[trusted] += 1.0 - weights.sum()
    return weights


def _path(goal: Goal, answers: Answers, mask: AnyArray, max_iter: int) -> Path:
    n_members = len(answers.said)
    if n_members == 1:
        return Path([0], [0.0])
    rows = _some(mask, goal.most_rows)
    library = answers.said[:, rows]
    judge = goal.judge(library, answers.rows.take(rows))
    return greedy_path(library, judge, range(n_members), GreedyOptions(max_iter, n_iter_no_change=10))


def _some(mask: AnyArray, most: int) -> AnyArray:
    rows = np.flatnonzero(mask)
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]


def choice_of(
    goal: Goal, answers: Answers, max_iter: int, *, calibrates: bool, trusted: int | None = None
) -> Choice:
    """Weights and temperature from all rows held out, and honest answers."""
    found = _choice(goal, answers.of_known(), max_iter, trusted, calibrates=calibrates)
    honest = np.full(answers.said.shape[1:], np.nan)
    honest[answers.known] = found.honest
    return replace(found, honest=honest)


def _choice(goal: Goal, answers: Answers, max_iter: int, trusted: int | None, *, calibrates: bool) -> Choice:
    path = _path(goal, answers, answers.known, max_iter)
    weights = _leaning(path, answers, answers.known, trusted)
    plain, cool, sharp = (np.zeros(answers.said.shape[1:]) for _ in range(3))
    times = np.zeros(len(answers.known), dtype=np.int64)
    for fold in answers.folds:
        others = np.zeros(len(times), dtype=bool)
        others[fold.train] = True
        others &= answers.known
        if not others.any():
            continue
        own = weights_of(goal, answers, others, max_iter, trusted)
        mixed = _mixed(own, answers.said[:, fold.test])
        plain[fold.test] += mixed
        if calibrates:
            temperature = _temperature(own, answers, others)
            cool[fold.test] += cooled(mixed, temperature)
            sharp[fold.test] += cooled(mixed, min(1.0, temperature))
        times[fold.test] += 1
    honest_rows = (times > 0) & answers.known
    if not honest_rows.any():  # one fold alone: there are no rows to choose without it
        honest_rows, times = answers.known, np.ones(len(times), dtype=np.int64)
        plain = _mixed(weights, answers.said)
        calibrates = False
    with np.errstate(invalid="ignore", divide="ignore"):
        plain, cool, sharp = (each / times[:, None] for each in (plain, cool, sharp))
    keeps = calibrates and _helps(plain[honest_rows], cool[honest_rows], answers.rows.take(honest_rows))
    temperature = 1.0
    if keeps:
        temperature = _temperature(weights, answers, answers.known)
    honest = np.where(honest_rows[:, None], sharp if keeps else plain, np.nan)
    return Choice(weights, temperature, honest, len(path.members))


def _temperature(weights: FloatArray, answers: Answers, mask: AnyArray) -> float:
    rows = _some(mask, _MOST_ROWS_OF_TEMPERATURE)
    return temperature_of(_mixed(weights, answers.said[:, rows]), answers.rows.take(rows))


def _mixed(weights: FloatArray, said: FloatArray) -> FloatArray:
    return np.asarray(np.tensordot(weights, said, axes=1))


def _helps(plain: FloatArray, cool: FloatArray, rows: Rows) -> bool:
    """Whether the log loss falls by more than the standard error of its fall."""
    loss = LogLossGoal()
    gain = mean_with_error(loss.losses(plain, rows.truth) - loss.losses(cool, rows.truth), rows)
    return bool(gain.value > gain.error)


def cooled(proba: FloatArray, temperature: float) -> FloatArray:
    """Probabilities to the power of 1 over the temperature, scaled to sum to 1: above 1 they are less certain.

    Examples
    --------
    >>> cooled(np.array([[0.8, 0.2]]), 2.0).round(3)
    array([[0.667, 0.333]])
    """
    if temperature == 1.0:
        return proba
    logs = np.log(np.maximum(proba, _LEAST)) / temperature
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def temperature_of(proba: FloatArray, rows: Rows) -> float:
    """The temperature with the least log loss, between a tenth and ten."""
    goal = LogLossGoal()

    def loss(log_temperature: float) -> float:
        return -goal.value(cooled(proba, float(np.exp(log_temperature))), rows)

    best = minimize_scalar(loss, bounds=(-np.log(10), np.log(10)), method="bounded", options={"xatol": 1e-3})
    return float(np.exp(best.x))
