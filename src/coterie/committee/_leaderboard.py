"""The leaderboard of a committee: the score of each member, its cost, and what would be lost without it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._typing import FloatArray
from coterie.committee.listing import Listing
from coterie.committee.metrics import Metric
from coterie.committee.weights import OutOfFoldPredictions
from coterie.members.oof_score import Score

_TWO_SIDED = 1.959964  # standard errors that hold 95 % of a normal distribution


@dataclass(frozen=True)
class MemberSummary:
    """A member by name, its weight, and its times in seconds."""

    name: str
    weight: float
    fit_time: float
    predict_time: float


def leaderboard_of(
    members: Sequence[MemberSummary],
    oof: OutOfFoldPredictions,
    metric: Metric,
    score: Score,
    choose: Callable[[OutOfFoldPredictions, list[str]], FloatArray],
    notes: Sequence[str],
) -> Listing:
    """Rows for the committee and for each member, the best first.

    Parameters
    ----------
    members : in the order of `oof`
    score : that of the committee
    choose : the weights of a committee of some members, given their predictions and names
    """
    whole = _value(metric, oof, np.array([member.weight for member in members]))
    rows = []
    for place, member in enumerate(members):
        own = metric.score(oof.predictions[place][oof.known], oof.rows.take(oof.known))
        without = whole
        if member.weight > 0:
            others = oof.without(place)
            names = [each.name for each in members if each.name != member.name]
            without = _value(metric, others, choose(others, names)) if names else float("nan")
        rows.append(_row(member, own, without, whole - without))
    rows.sort(key=lambda row: -row["score"])
    committee = MemberSummary(
        "committee",
        1.0,
        sum(member.fit_time for member in members),
        sum(member.predict_time for member in members if member.weight > 0),
    )
    first = f"score: {metric.name}, greater is better; low and high hold it 95 % of the time."
    return Listing([_row(committee, score, None, None), *rows], [first, *notes])


def _value(metric: Metric, oof: OutOfFoldPredictions, weights: FloatArray) -> float:
    mixed = np.tensordot(weights, oof.predictions[:, oof.known], axes=1)
    return metric.value(mixed, oof.rows.take(oof.known))


def _row(
    member: MemberSummary, score: Score, without: float | None, contribution: float | None
) -> dict[str, Any]:
    return {
        "name": member.name,
        "score": score.value,
        "low": score.value - _TWO_SIDED * score.error,
        "high": score.value + _TWO_SIDED * score.error,
        "weight": member.weight,
        "score_without": without,
        "contribution": contribution,
        "fit_time": member.fit_time,
        "predict_time": member.predict_time,
    }
