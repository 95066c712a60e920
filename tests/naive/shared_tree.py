"""Trees whose splits serve all classes: derivatives along a direction, and the values of each class, by definition."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.naive.boosted_tree import Floats, SlowGrower, SlowTree


def direction_derivatives(scores: Floats, y: NDArray[Any], direction: Floats) -> tuple[Floats, Floats]:
    """Slope and curvature of each row's log loss along a direction; scores have shape (n_rows, n_classes)."""
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    mean = shares @ direction
    away = direction - mean[:, None]
    return mean - direction[y], (shares * away**2).sum(axis=1)


def damped(step: float, free: float) -> float:
    """A step as it is up to `free`, and beyond it `free` times one plus a logarithm."""
    if free == 0 or abs(step) <= free:
        return step
    return float(np.sign(step) * free * (1 + np.log(abs(step) / free)))


def values_of_output(
    grower: SlowGrower, tree: SlowTree, gradient: NDArray[np.float32], hessian: NDArray[np.float32]
) -> Floats:
    """The leaf values, by node, that the splits of the grower's last tree have for other derivatives."""
    options = grower.options
    grower.has_hessian = True
    values = np.zeros(len(tree.feature))
    if len(values) == 1:
        return values
    for leaf, feature in zip(grower.nodes, tree.feature, strict=True):
        if feature < 0:
            step = damped(grower._exact_answer(leaf, gradient, hessian), options.free_step)
            values[leaf.number] = step * options.learning_rate
    return values
