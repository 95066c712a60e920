"""Linear models on features, for classes and for numbers: outputs are `features @ weights + intercept`."""

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge

from coterie._typing import AnyArray, FloatArray

_NO_CHANCE = -30.0  # the logit of a class that no row has


def linear_of_classes(
    features: FloatArray, codes: AnyArray, weight: FloatArray, strength: float, n_classes: int
) -> tuple[FloatArray, FloatArray]:
    """Weights and intercepts of all classes; a class that no row has keeps a chance of next to nothing."""
    present = np.unique(codes)
    weights, intercept = np.zeros((features.shape[1], n_classes)), np.full(n_classes, _NO_CHANCE)
    if len(present) == 1:
        intercept[present] = 0.0
        return weights, intercept
    model = LogisticRegression(C=strength, max_iter=200, tol=1e-3).fit(features, codes, weight)
    if len(present) == 2:
        weights[:, present[1]], intercept[present] = model.coef_[0], [0.0, model.intercept_[0]]
    else:
        weights[:, present], intercept[present] = model.coef_.T, model.intercept_
    return weights, intercept


def linear_of_numbers(
    features: FloatArray, y: AnyArray, weight: FloatArray, strength: float
) -> tuple[FloatArray, FloatArray]:
    """The weights and the intercept of ridge regression, as a column and a vector of one."""
    model = Ridge(alpha=1.0 / strength).fit(features, y, weight)
    return model.coef_[:, None], np.array([float(model.intercept_)])


def log_losses(outputs: FloatArray, codes: AnyArray) -> FloatArray:
    """The log loss of each row.

    Examples
    --------
    >>> log_losses(np.array([[0.0, 0.0], [0.0, np.log(3.0)]]), np.array([0, 1])).round(3)
    array([0.693, 0.288])
    """
    highest = outputs.max(axis=1)
    logs = highest + np.log(np.exp(outputs - highest[:, None]).sum(axis=1))
    return np.asarray(logs - outputs[np.arange(len(codes)), codes])


def probabilities_of(outputs: FloatArray) -> FloatArray:
    """Probabilities whose logarithms differ as the outputs do.

    Examples
    --------
    >>> probabilities_of(np.array([[0.0, np.log(3.0)]]))
    array([[0.25, 0.75]])
    """
    powers = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
