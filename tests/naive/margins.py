"""Margins by their definition, row by row and member by member."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def naive_margins(
    answers: Sequence[Any], weights: Sequence[float], y: Sequence[Any], classes: Sequence[Any]
) -> NDArray[np.float64]:
    """`answers[t][i]` is the label that member t gives to row i."""
    found = []
    for row, own in enumerate(y):
        votes = dict.fromkeys(classes, 0.0)
        for labels, weight in zip(answers, weights, strict=True):
            votes[labels[row]] += weight
        others = max(vote for label, vote in votes.items() if label != own)
        found.append((votes[own] - others) / sum(abs(weight) for weight in weights))
    return np.array(found)


def naive_soft_margins(
    shares: Sequence[Any], weights: Sequence[float], codes: Sequence[int]
) -> NDArray[np.float64]:
    """`shares[t][i][k]` is what member t gives to class k in row i."""
    found = []
    for row, own in enumerate(codes):
        votes = sum(weight * np.asarray(share[row]) for share, weight in zip(shares, weights, strict=True))
        others = max(vote for code, vote in enumerate(votes) if code != own)
        found.append((votes[own] - others) / sum(weights))
    return np.array(found)


def naive_share(margins: Sequence[float], theta: float, weight: Sequence[float] | None = None) -> float:
    """The share of margins that are at most theta."""
    weights = [1.0] * len(margins) if weight is None else weight
    return sum(w for m, w in zip(margins, weights, strict=True) if m <= theta) / sum(weights)
