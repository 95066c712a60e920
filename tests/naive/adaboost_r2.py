"""AdaBoost.R2 as Drucker wrote it down: plain weights, one loop, a median by sorting."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LOSSES: dict[str, Callable[[Floats], Floats]] = {
    "linear": lambda s: s,
    "square": lambda s: s * s,
    "exponential": lambda s: 1 - np.exp(-s),
}


class Boosted(NamedTuple):
    members: list[Any]
    votes: list[float]
    losses: list[float]
    weights: list[Floats]


def adaboost_r2(
    fitted: Callable[[Floats, int], Any],
    X: Floats,
    y: Floats,
    weight: Floats,
    n_rounds: int,
    *,
    loss: str,
    learning_rate: float,
) -> Boosted:
    """`fitted(weights, number)` is a member fitted to rows with these weights, which sum to 1."""
    out = Boosted([], [], [], [])
    weight = weight / weight.sum()
    for number in range(n_rounds):
        member = fitted(weight, number)
        error = np.abs(member.predict(X) - y)
        losses = LOSSES[loss](error / error.max())
        mean = float(weight @ losses)
        if mean >= 0.5:
            break
        beta = mean / (1 - mean)
        out.members.append(member)
        out.votes.append(learning_rate * float(np.log(1 / beta)))
        out.losses.append(mean)
        out.weights.append(weight)
        weight = weight * beta ** ((1 - losses) * learning_rate)
        weight = weight / weight.sum()
    return out


def weighted_median(said: Floats, votes: Floats) -> float:
    """Of one row: walk up the answers until half of the votes are passed."""
    passed = 0.0
    for answer, vote in sorted(zip(said, votes, strict=True)):
        passed += vote
        if passed >= sum(votes) / 2:
            return float(answer)
    raise AssertionError("all votes are more than half of them")
