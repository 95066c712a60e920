"""Orders of members the long way: every member that is left is tried, and its ensemble is scored from scratch."""

from typing import Any

import numpy as np


def squared_error(answers: Any, truth: Any, weight: Any, votes: Any, members: list[int]) -> float:
    mean = np.average([answers[m] for m in members], axis=0, weights=[votes[m] for m in members])
    return float(np.average(((mean - truth) ** 2).sum(axis=1), weights=weight))


def naive_reduced_error(answers: Any, truth: Any, weight: Any, votes: Any) -> list[int]:
    order: list[int] = []
    while len(order) < len(answers):
        left = [m for m in range(len(answers)) if m not in order]
        losses = [squared_error(answers, truth, weight, votes, [*order, m]) for m in left]
        order.append(left[int(np.argmin(losses))])
    return order


def naive_margin_distance(right: Any, weight: Any, votes: Any) -> list[int]:
    shares = np.asarray(votes) / np.sum(votes)
    signs = [np.where(own, 1.0, -1.0) * share for own, share in zip(right, shares, strict=True)]
    order: list[int] = []
    while len(order) < len(right):
        left = [m for m in range(len(right)) if m not in order]
        far = [np.average((0.075 - sum(signs[k] for k in [*order, m])) ** 2, weights=weight) for m in left]
        order.append(left[int(np.argmin(far))])
    return order
