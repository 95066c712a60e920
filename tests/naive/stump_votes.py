"""Discrete AdaBoost as textbooks have it, on stumps that are found by trying all of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Stump:
    """`side` where the feature is above the threshold, minus that elsewhere."""

    feature: int
    threshold: float
    side: int

    def says(self, X: Floats) -> Floats:
        return np.where(X[:, self.feature] > self.threshold, self.side, -self.side).astype(float)


def best_stump(X: Floats, y: Any, weight: Floats) -> Stump:
    """The first of the stumps with the least weighted error; errors that differ by rounding are the same."""
    weight = weight / weight.sum()
    tried = []
    for feature in range(X.shape[1]):
        values = np.unique(X[:, feature])
        for threshold in [-np.inf, *(values[:-1] + values[1:]) / 2]:
            for side in (1, -1):
                stump = Stump(feature, float(threshold), side)
                tried.append((round(float(weight @ (stump.says(X) != y)), 11), stump))
    return min(tried, key=lambda pair: pair[0])[1]


def adaboost(X: Floats, y: Any, n_rounds: int) -> tuple[list[Stump], Floats, Floats]:
    """Stumps, votes and weighted errors; `y` is -1 and 1."""
    weight = np.full(len(y), 1 / len(y))
    stumps, votes, errors = [], [], []
    for _ in range(n_rounds):
        stump = best_stump(X, y, weight)
        said = stump.says(X)
        error = float(weight[said != y].sum())
        vote = np.log((1 - error) / error) / 2
        weight = weight * np.exp(-vote * said * y)
        weight /= weight.sum()
        stumps.append(stump)
        votes.append(vote)
        errors.append(error)
    return stumps, np.array(votes), np.array(errors)
