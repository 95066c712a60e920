"""What networks minimise: the log loss of classes, or the squared error of numbers."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from coterie._typing import AnyArray, FloatArray


@dataclass(frozen=True)
class NetworkLoss:
    """A loss of outputs and targets of shape (n_rows, n_outputs).

    Attributes
    ----------
    slopes : derivatives of the loss of each row by its outputs
    values : the loss of each row, float64
    """

    slopes: Callable[[AnyArray, AnyArray], AnyArray]
    values: Callable[[AnyArray, AnyArray], FloatArray]


def softmax(outputs: AnyArray) -> AnyArray:
    """Probabilities of the classes.

    Examples
    --------
    >>> softmax(np.array([[0.0, 0.0], [1000.0, 0.0]]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    powers = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    powers /= powers.sum(axis=1, keepdims=True)
    return np.asarray(powers)


def _log_loss(outputs: AnyArray, target: AnyArray) -> FloatArray:
    logits = outputs.astype(np.float64)
    highest = logits.max(axis=1)
    logs = highest + np.log(np.exp(logits - highest[:, None]).sum(axis=1))
    return np.asarray(logs - (logits * target).sum(axis=1))


def log_loss(smoothing: float) -> NetworkLoss:
    """The log loss of shares of classes; with label smoothing networks learn from less certain labels."""

    def slopes(outputs: AnyArray, target: AnyArray) -> AnyArray:
        soft = target * target.dtype.type(1 - smoothing) + target.dtype.type(smoothing / target.shape[1])
        return np.asarray(softmax(outputs) - soft)

    return NetworkLoss(slopes, _log_loss)


def squared_error() -> NetworkLoss:
    """Half of the square of the difference."""

    def values(outputs: AnyArray, target: AnyArray) -> FloatArray:
        return np.asarray(0.5 * ((outputs.astype(np.float64) - target) ** 2).sum(axis=1))

    return NetworkLoss(lambda outputs, target: outputs - target, values)
