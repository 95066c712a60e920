"""What DART means: every round keeps what it says of each row, and scores are added up anew whenever they are needed.

The trees themselves are the engine's, which has a twin of its own.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def dart(
    grow: Callable[[Floats, int], Floats],
    n_rows: int,
    n_rounds: int,
    *,
    rate: float,
    skip: float,
    learning_rate: float,
    draws: np.random.Generator,
) -> tuple[Floats, Floats]:
    """The weight of each round, and what each says of each row before weights, shape (n_rounds, n_rows).

    `grow(scores, number)` is the answer of a new tree, at the scores of the rounds that are not left out.
    """
    said = np.zeros((0, n_rows))
    weights = np.zeros(0)
    for number in range(n_rounds):
        left_out = np.zeros(number, dtype=bool)
        if draws.random() >= skip and number > 0:
            left_out = draws.random(number) < rate
            if not left_out.any():
                left_out[draws.integers(number)] = True
        scores = np.zeros(n_rows)
        for i in np.flatnonzero(~left_out):
            scores = scores + weights[i] * said[i]
        said = np.vstack([said, grow(scores, number)])
        k = left_out.sum()
        weights[left_out] *= k / (k + learning_rate)
        weights = np.append(weights, 1 / (k + learning_rate) if k else 1.0)
    return weights, said
