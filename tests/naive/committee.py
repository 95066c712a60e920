"""A committee's choice the long way: greedy weights, and predictions of each fold by weights chosen without it."""

from typing import Any

import numpy as np

from tests.naive.greedy import naive_path


def chosen_weights(predictions: Any, y: Any, weight: Any, max_iter: int) -> Any:
    """Shares of the additions up to the least squared error, from a list of arrays of shape (n_rows,)."""
    names = list(range(len(predictions)))
    chosen, scores = naive_path(
        predictions, lambda mean: -float(np.average((mean - y) ** 2, weights=weight)), names, max_iter, 1, 10
    )
    best = 1 + next(i for i, score in enumerate(scores) if score >= max(scores) - 1e-12 * abs(max(scores)))
    return np.bincount(chosen[:best], minlength=len(predictions)) / best


def nested_predictions(predictions: Any, y: Any, weight: Any, folds: Any, max_iter: int) -> Any:
    """Predictions of each fold's rows by weights from the rows of the others."""
    nested = np.full(len(y), np.nan)
    for train, test in folds:
        weights = chosen_weights([own[train] for own in predictions], y[train], weight[train], max_iter)
        nested[test] = sum(w * own[test] for w, own in zip(weights, predictions, strict=True))
    return nested
