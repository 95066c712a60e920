"""Output codes the long way: class by class, member by member, row by row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

LOSSES = {
    "hamming": lambda z: 0.0 if z > 0 else 1.0 if z < 0 else 0.5,
    "hinge": lambda z: max(0.0, 1.0 - z),
    "exponential": lambda z: float(np.exp(-z)),
    "logistic": lambda z: float(np.log1p(np.exp(-z))),
}


def naive_distances(code: Any, scores: Any, decoding: str) -> NDArray[np.float64]:
    loss = LOSSES[decoding]
    return np.array(
        [
            [sum(loss(sign * score) for sign, score in zip(row, own, strict=True)) for row in code]
            for own in scores
        ]
    )


def opposed(code: Any, one: int, other: int) -> int:
    return sum(a * b == -1 for a, b in zip(code[one].tolist(), code[other].tolist(), strict=True))
