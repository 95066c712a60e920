"""AdaBoost on stumps as one would write it on a page: every question is tried, every weight is a float.

A table is a list of columns; NaN is missing, and a nominal column holds codes. Of equally good stumps the first is
taken: by feature, missing values on the left first, thresholds upwards.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

ROUNDING = 2.0**-40
WORTH = 1e-6


@dataclass
class Naive:
    """What happened in each round, and the weights and votes at the end."""

    sides: list[Any] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    votes: list[float] = field(default_factory=list)
    normalizers: list[float] = field(default_factory=list)
    weights: list[Any] = field(default_factory=list)
    class_votes: Any = 0.0


def questions(
    column: Any, nominal: bool, y: Any, weight: Any, n_classes: int, by_error: bool
) -> Iterator[Any]:
    """Which rows are on the right, for every stump of one column."""
    missing = np.isnan(column)
    if nominal:
        yield from level_sets(np.where(missing, -1, column), y, weight, n_classes, by_error)
        return
    values = np.unique(column[~missing & (weight > 0)])
    some_missing = weight[missing].any()
    for missing_right in (False, True) if some_missing else (False,):
        for low in values if some_missing and missing_right else values[:-1]:
            yield np.where(missing, missing_right, column > low)


def level_sets(codes: Any, y: Any, weight: Any, n_classes: int, by_error: bool) -> Iterator[Any]:
    levels = np.unique(codes[weight > 0])
    table = np.array(
        [[weight[(codes == level) & (y == k)].sum() for k in range(n_classes)] for level in levels]
    )
    if by_error:
        for a in range(n_classes):
            for b in range(a + 1, n_classes):
                yield np.isin(codes, levels[table[:, b] > table[:, a]])
        return
    for k in (1,) if n_classes == 2 else range(n_classes):
        order = np.argsort(table[:, k] / table.sum(axis=1), kind="stable")
        for place in range(1, len(order)):
            yield np.isin(codes, levels[order[place:]])


def class_sums(right: Any, y: Any, weight: Any, n_classes: int) -> Any:
    return np.array([[weight[(right == side) & (y == k)].sum() for k in range(n_classes)] for side in (0, 1)])


def score(sums: Any, algorithm: str) -> float:
    """Large is good: weight that is right; for "real" and two classes the loss, for the rest least squares."""
    total = 0.0
    for side in sums[sums.sum(axis=1) > 0]:
        share = side / side.sum()
        if algorithm == "samme":
            total += side.max()
        elif algorithm == "real" and len(side) == 2:
            odds = np.sqrt(max(share[0], 0.01) / max(share[1], 0.01))
            total -= side[0] / odds + side[1] * odds
        else:
            total += (side * share).sum()
    return total


def best_stump(columns: Any, nominal: Any, y: Any, weight: Any, n_classes: int, algorithm: str) -> Any:
    none = np.zeros(len(y), dtype=bool)
    best, highest = none, score(class_sums(none, y, weight, n_classes), algorithm) + WORTH
    for column, is_nominal in zip(columns, nominal, strict=True):
        for right in questions(column, is_nominal, y, weight, n_classes, algorithm == "samme"):
            found = score(class_sums(right, y, weight, n_classes), algorithm)
            if found > highest + ROUNDING:
                best, highest = right, found
    return best


def shares_of(proba: Any, algorithm: str) -> Any:
    n_classes = proba.shape[1]
    if algorithm == "samme":
        return np.eye(n_classes)[proba.argmax(axis=1)]
    if algorithm == "confidence":
        return proba
    if algorithm == "gentle":
        return (n_classes * proba - 1) / 2
    logs = np.log(np.maximum(proba, 0.02 / n_classes))
    return (logs - logs.mean(axis=1, keepdims=True)) / 2


def adaboost(
    columns: Any, nominal: Any, y: Any, weight: Any, n_rounds: int, algorithm: str, learning_rate: float = 1.0
) -> Naive:
    n_classes = int(y.max()) + 1
    first = weight / weight.sum()
    said, rows = Naive(), np.arange(len(y))
    said.weights.append(first)
    for _ in range(n_rounds):
        weight = said.weights[-1]
        right = best_stump(columns, nominal, y, weight, n_classes, algorithm)
        sums = class_sums(right, y, weight, n_classes)
        sums = sums if sums.sum(axis=1).all() else sums[[0, 0]]
        proba = sums / sums.sum(axis=1, keepdims=True)
        shares = shares_of(proba, algorithm)[right.astype(int)]
        gains = 2 * (shares[rows, y] - shares.mean(axis=1))
        error = weight[shares.argmax(axis=1) != y].sum()
        if algorithm == "samme":
            vote = 0.5 * (np.log((1 - error) / error) + np.log(n_classes - 1))
        elif algorithm == "confidence":
            vote = _line_search(weight, gains)
        else:
            vote = 1.0
        vote *= learning_rate
        said.class_votes = said.class_votes + vote * shares
        own = said.class_votes[rows, y] - said.class_votes.mean(axis=1)
        new = first * np.exp(-2 * own)
        said.sides.append(right)
        said.errors.append(error)
        said.votes.append(vote)
        said.normalizers.append((weight * np.exp(-vote * gains)).sum())
        said.weights.append(new / new.sum())
    return said


def _line_search(weight: Any, gains: Any) -> float:
    found = minimize_scalar(
        lambda vote: (weight * np.exp(-vote * gains)).sum(), bounds=(-11, 11), method="bounded"
    )
    vote = found.x
    for _ in range(20):  # Newton, to the last digit
        parts = weight * np.exp(-vote * gains)
        vote += (parts * gains).sum() / (parts * gains**2).sum()
    return float(vote)
