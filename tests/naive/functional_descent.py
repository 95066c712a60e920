"""AnyBoost as its pseudo-code has it, with a step that a library of optimisers looks for."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

Floats = NDArray[np.float64]


class Descended(NamedTuple):
    scores: Floats
    steps: list[float]
    inner_products: list[float]
    losses: list[float]


def anyboost(
    fitted: Callable[[Floats], Any],
    X: Floats,
    loss: Callable[[Floats], Floats],
    gradient: Callable[[Floats], Floats],
    start: Floats,
    n_rounds: int,
    *,
    furthest: float,
    share: float = 1.0,
) -> Descended:
    """`fitted(wanted)` is a member fitted to these numbers; all rows count the same, each has one score."""
    scores, out = start, Descended(start, [], [], [])
    for _ in range(n_rounds):
        slopes = gradient(scores)
        said = fitted(-slopes).predict(X)
        inner = float(slopes @ said)
        if not inner < 0:
            break
        found = minimize_scalar(
            lambda step, at=scores, along=said: loss(at + step * along).mean(),
            bounds=(0, furthest),
            method="bounded",
            options={"xatol": 1e-11},
        )
        step = share * float(found.x)
        scores = scores + step * said
        out.steps.append(step)
        out.inner_products.append(inner / len(scores))
        out.losses.append(float(loss(scores).mean()))
    return out._replace(scores=scores)
