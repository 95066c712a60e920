"""The leaderboard of a committee: who is how good, at what price, and what would be lost without."""

from typing import Any

import numpy as np

from coterie.committee._goal import Goal
from coterie.committee._weights import Answers, weights_of
from coterie.committee.listing import Listing
from coterie.committee.portfolio import trusted_of

__all__ = ["leaderboard_of"]

_TWO_SIDED = 1.959964  # standard errors that hold 95 % of a normal distribution


def leaderboard_of(committee: Any, goal: Goal) -> Listing:
    """Rows for the committee and for each member, the best first."""
    answers: Answers = committee._answers
    whole = _value(goal, answers, committee.weights_)
    rows = []
    for place, name in enumerate(committee.members_):
        score = goal.score(answers.said[place][answers.known], answers.rows.take(answers.known))
        weight = float(committee.weights_[place])
        without = whole
        if weight > 0:
            others = answers.without(place)
            names = [each for each in committee.members_ if each != name]
            trusted = trusted_of(names, committee.portfolio)
            without = (
                _value(goal, others, weights_of(goal, others, others.known, committee.max_iter, trusted))
                if names
                else float("nan")
            )
        rows.append(
            _row(
                name,
                (score.value, score.error),
                weight,
                (without, whole - without),
                (committee.fit_times_[name], committee.predict_times_[name]),
            )
        )
    rows.sort(key=lambda row: -row["score"])
    weighted = [
        name for name, weight in zip(committee.members_, committee.weights_, strict=True) if weight > 0
    ]
    first = _row(
        "committee",
        (committee.oof_score_, committee.oof_score_error_),
        1.0,
        (None, None),
        (
            sum(committee.fit_times_[name] for name in committee.members_),
            sum(committee.predict_times_[name] for name in weighted),
        ),
    )
    notes = [f"score: {goal.name}, greater is better; low and high hold it 95 % of the time."]
    notes += [f"not fitted: {name}: {why}" for name, why in committee.skipped_.items()]
    notes += [f"failed: {name}: {why}" for name, why in committee.dropped_.items()]
    return Listing([first, *rows], notes)


def _value(goal: Goal, answers: Answers, weights: Any) -> float:
    mixed = np.tensordot(weights, answers.said[:, answers.known], axes=1)
    return goal.value(mixed, answers.rows.take(answers.known))


def _row(name: str, score: Any, weight: float, without: Any, times: Any) -> dict[str, Any]:
    value, error = score
    return {
        "name": name,
        "score": value,
        "low": value - _TWO_SIDED * error,
        "high": value + _TWO_SIDED * error,
        "weight": weight,
        "score_without": without[0],
        "brings": without[1],
        "fit_time": float(times[0]),
        "predict_time": float(times[1]),
    }
