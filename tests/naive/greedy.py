"""Greedy selection the long way: every candidate is tried in every round, and its mean is computed from scratch."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Score = Callable[[NDArray[np.float64]], float]


def naive_path(
    library: Any, score: Score, candidates: list[int], max_iter: int, n_start: int, patience: int | None
) -> tuple[list[int], list[float]]:
    alone = {member: score(np.mean([library[member]], axis=0)) for member in candidates}
    ordered = sorted(candidates, key=lambda member: -alone[member])
    chosen: list[int] = []
    scores: list[float] = []
    for member in ordered[: min(n_start, max_iter)]:
        chosen.append(member)
        scores.append(score(np.mean([library[m] for m in chosen], axis=0)))
    while len(chosen) < max_iter:
        if patience is not None and len(scores) > patience:
            recent, before = scores[-patience:], scores[:-patience]
            if max(recent) <= max(before) + 1e-12 * abs(max(before)):
                break
        tried = {m: score(np.mean([library[k] for k in [*chosen, m]], axis=0)) for m in candidates}
        best = max(tried.values())
        ties = [m for m in candidates if tried[m] >= best - 1e-12 * abs(best)]
        inside = [m for m in ties if m in chosen]
        chosen.append((inside or ties)[0])
        scores.append(tried[chosen[-1]])
    return chosen, scores
