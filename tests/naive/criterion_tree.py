"""The slow twin of the decision tree's split search: every partition of a node, by the definitions.

Nothing is sorted, summed along the way or skipped. A numeric feature may be cut between any two distinct
values, with the missing ones on either side; a nominal one may send any set of levels left (missing being one
more level). Where the library only promises cuts of an ordering (several classes or outputs, medians, or a
limit that forbids some of the sets), the twin tries the cuts of those orderings.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np


@dataclass(frozen=True)
class Node:
    """Rows of one node: features (NaN is missing, nominal levels are whole numbers), targets, weights."""

    X: np.ndarray
    y: np.ndarray  # (n_rows, n_outputs)
    weight: np.ndarray
    n_classes: int = 0  # of the whole problem, 0 for numbers


@dataclass(frozen=True)
class Split:
    feature: int
    left: np.ndarray  # a mask of the node's rows
    decrease: float  # of the impurity, times the node's weight


def impurity(node: Node, rows: np.ndarray, criterion: str) -> float:
    """Mean over the outputs of what the definition says about the chosen rows."""
    weight = node.weight[rows] / node.weight[rows].sum()
    parts = []
    for y in node.y[rows].T:
        if criterion in ("gini", "entropy"):
            share = np.array([weight[y == k].sum() for k in np.unique(y)])
            parts.append(1 - (share**2).sum() if criterion == "gini" else -(share * np.log2(share)).sum())
        elif criterion == "squared_error":
            parts.append((weight * (y - weight @ y) ** 2).sum())
        elif criterion == "absolute_error":
            parts.append((weight * abs(y - median(y, weight))).sum())
        else:
            mean = weight @ y
            parts.append(sum(w * t * np.log(t / mean) for w, t in zip(weight, y, strict=True) if t > 0))
    return float(np.mean(parts))


def median(y: np.ndarray, weight: np.ndarray) -> float:
    """Any number between the two middle ones has the least distance; their midpoint is meant."""
    order = np.argsort(y, kind="stable")
    y, below = y[order], np.cumsum(weight[order]) / weight.sum()
    low, high = y[np.argmax(below >= 0.5 - 1e-12)], y[np.argmax(below > 0.5 + 1e-12)]
    return float((low + high) / 2)


def value(node: Node, rows: np.ndarray, criterion: str) -> float:
    """What monotone constraints compare: the share of the second class, the mean or the median."""
    y, weight = node.y[rows, 0], node.weight[rows]
    return median(y, weight) if criterion == "absolute_error" else float(weight @ y / weight.sum())


def partitions(
    node: Node, feature: int, *, nominal: bool, criterion: str, any_set: bool
) -> Iterator[np.ndarray]:
    """Masks of the rows going left, without those that send everything one way."""
    column = node.X[:, feature]
    missing = np.isnan(column)
    if nominal:
        yield from nominal_partitions(node, np.where(missing, -1, column), criterion, any_set=any_set)
        return
    values = np.unique(column[~missing])
    for threshold in values[:-1]:
        yield (column <= threshold) & ~missing
        if missing.any():
            yield (column <= threshold) | missing
    if missing.any() and len(values):
        yield ~missing


def nominal_partitions(
    node: Node, column: np.ndarray, criterion: str, *, any_set: bool
) -> Iterator[np.ndarray]:
    levels = np.unique(column)
    if (
        any_set
        and node.n_classes <= 2
        and node.y.shape[1] == 1
        and criterion not in ("absolute_error", "poisson")
    ):
        for size in range(1, len(levels)):
            for chosen in combinations(levels, size):
                yield np.isin(column, chosen)
        return
    for y in node.y.T:
        first = 1 if node.n_classes == 2 and node.y.shape[1] == 1 else 0  # two classes need one ordering
        for target in [y == k for k in range(first, node.n_classes)] or [y]:
            middle = median if criterion == "absolute_error" else lambda t, w: w @ t / w.sum()
            keys = [middle(target[column == level], node.weight[column == level]) for level in levels]
            order = levels[np.argsort(keys, kind="stable")]
            for cut in range(1, len(order)):
                yield np.isin(column, order[:cut])


def splits(
    node: Node,
    *,
    criterion: str,
    nominal: np.ndarray,
    min_samples_leaf: int = 1,
    monotone: np.ndarray | None = None,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> list[Split]:
    """Every allowed split of the node."""
    everything = np.ones(len(node.y), dtype=bool)
    whole = node.weight.sum() * impurity(node, everything, criterion)
    found = []
    for feature in range(node.X.shape[1]):
        sign = 0 if monotone is None else monotone[feature]
        any_set = min_samples_leaf == 1
        for left in partitions(
            node, feature, nominal=bool(nominal[feature]), criterion=criterion, any_set=any_set
        ):
            if min(left.sum(), (~left).sum()) < min_samples_leaf:
                continue
            if sign and not _is_monotone(
                value(node, left, criterion), value(node, ~left, criterion), sign, bounds
            ):
                continue
            if (
                criterion == "poisson"
                and min(node.y[left].sum(axis=0).min(), node.y[~left].sum(axis=0).min()) <= 0
            ):
                continue
            rest = sum(node.weight[side].sum() * impurity(node, side, criterion) for side in (left, ~left))
            found.append(Split(feature, left, whole - rest))
    return found


def _is_monotone(left: float, right: float, sign: int, bounds: tuple[float, float]) -> bool:
    low, high = bounds
    return low <= min(left, right) and max(left, right) <= high and (left - right) * sign <= 0
