"""A committee's choice the long way: greedy weights, and answers of each fold by weights chosen without it."""

from typing import Any

import numpy as np

from tests.naive.greedy import naive_path


def chosen_weights(said: Any, y: Any, weight: Any, max_iter: int) -> Any:
    """Shares of the additions up to the least squared error; `said` is a list of arrays of shape (n_rows,)."""
    names = list(range(len(said)))
    chosen, scores = naive_path(
        said, lambda mean: -float(np.average((mean - y) ** 2, weights=weight)), names, max_iter, 1, 10
    )
    best = 1 + next(i for i, score in enumerate(scores) if score >= max(scores) - 1e-12 * abs(max(scores)))
    return np.bincount(chosen[:best], minlength=len(said)) / best


def honest_answers(said: Any, y: Any, weight: Any, folds: Any, max_iter: int) -> Any:
    """What is said of each fold's rows by weights from the rows of the others."""
    answers = np.full(len(y), np.nan)
    for train, test in folds:
        weights = chosen_weights([own[train] for own in said], y[train], weight[train], max_iter)
        answers[test] = sum(w * own[test] for w, own in zip(weights, said, strict=True))
    return answers
