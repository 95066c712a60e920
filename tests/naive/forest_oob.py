"""Out-of-bag answers the long way: every tree is asked about every row, and counted where it did not draw the row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def answers_of_trees(model: Any, X: Any) -> NDArray[np.float64]:
    """Shape (n_rows, n_trees, n_columns): what each member says."""
    said = []
    for member in model.estimators_:
        if hasattr(member, "predict_proba"):
            proba = member.predict_proba(X)
            said.append(np.concatenate(proba, axis=1) if isinstance(proba, list) else proba)
        else:
            said.append(member.predict(X).reshape(len(X), -1))
    return np.stack(said, axis=1)


def draws(model: Any, n_rows: int) -> NDArray[np.int64]:
    """Shape (n_rows, n_trees): how often each tree drew each row."""
    return np.stack([np.bincount(own, minlength=n_rows) for own in model.estimators_samples_], axis=1)


def naive_oob(
    model: Any, X: Any, weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Mean answers of the trees that did not draw a row, and how many these are."""
    answers, counts = answers_of_trees(model, X), draws(model, len(X))
    sums, coverage = np.zeros((len(X), answers.shape[2])), np.zeros(len(X), np.int64)
    for tree in range(answers.shape[1]):
        out = (counts[:, tree] == 0) & (weight > 0)
        sums[out] += answers[out, tree]
        coverage += out
    with np.errstate(invalid="ignore"):
        return sums / coverage[:, None], coverage
