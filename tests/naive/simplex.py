"""Weights on a simplex the slow way: by a general solver, from several starts."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize


def smallest_on_simplex(loss: Callable[[NDArray[Any]], float], n: int) -> float:
    """The least loss that weights >= 0 with the sum 1 can have."""
    starts = [np.full(n, 1 / n), *(0.9 * np.eye(n) + 0.1 / n)]
    found = [
        minimize(
            loss,
            start,
            method="SLSQP",
            bounds=[(0, 1)] * n,
            constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
            options={"ftol": 1e-13, "maxiter": 500},
        )
        for start in starts
    ]
    return float(min(result.fun for result in found))
