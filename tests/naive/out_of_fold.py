"""Predictions out of fold the slow way: one fold and one row after the other."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone


def out_of_fold(
    learner: Any, X: NDArray[Any], y: NDArray[Any], folds: list[tuple[Any, Any]], method: str
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The mean answer to each row by models that did not see it, NaN if there is none; and how many these are."""
    said: list[list[Any]] = [[] for _ in y]
    for train, test in folds:
        model = clone(learner).fit(X[train], y[train])
        for row, answer in zip(test, getattr(model, method)(X[test]), strict=True):
            said[row].append(np.ravel(answer))
    width = max(len(answer) for answers in said for answer in answers)
    mean = np.full((len(y), width), np.nan)
    for row, answers in enumerate(said):
        if answers:
            mean[row] = np.mean(answers, axis=0)
    return mean, np.array([len(answers) for answers in said])
