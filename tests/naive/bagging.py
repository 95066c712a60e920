"""Bagging the long way: rows are written out as often as they count, bags are lists of rows, members are a loop."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone


def written_out(order: NDArray[np.int64], weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rows in their order, each as often as its weight says."""
    return np.array([row for row in order for _ in range(int(weight[row]))])


def naive_members(learner: Any, X: Any, y: Any, samples: list[Any], features: list[Any]) -> list[Any]:
    """A copy of the learner for each bag, fitted to the rows as often as they were drawn."""
    return [
        clone(learner).fit(X[np.sort(rows)][:, columns], y[np.sort(rows)])
        for rows, columns in zip(samples, features, strict=True)
    ]


def naive_answers(models: list[Any], X: Any, features: list[Any], classes: Any = None) -> NDArray[np.float64]:
    """Shape (n_members, n_rows, n_columns): probabilities in the order of the classes, or numbers."""
    said = []
    for model, columns in zip(models, features, strict=True):
        if classes is None:
            said.append(np.asarray(model.predict(X[:, columns])).reshape(len(X), -1))
            continue
        full = np.zeros((len(X), len(classes)))
        own = model.predict_proba(X[:, columns])
        for place, label in enumerate(model.classes_):
            full[:, list(classes).index(label)] = own[:, place]
        said.append(full)
    return np.stack(said)


def naive_oob(
    answers: NDArray[np.float64], samples: list[Any]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """For each row the mean answer of the members that did not draw it, and how many these are."""
    n_rows = answers.shape[1]
    means, coverage = np.full(answers.shape[1:], np.nan), np.zeros(n_rows, np.int64)
    for row in range(n_rows):
        out = [own for own, drawn in zip(answers[:, row], samples, strict=True) if row not in drawn]
        coverage[row] = len(out)
        if out:
            means[row] = np.mean(out, axis=0)
    return means, coverage
