"""Small tables of the theory tests: a disc that no stump can cut out, and all stumps of a table."""

from typing import Any

import numpy as np

from coterie._typing import AnyArray


def disc(n_rows: int, seed: int = 0, flipped: float = 0.0) -> tuple[Any, Any]:
    """Points of a square; +1 inside of a disc, -1 outside, and a share of the labels turned round."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_rows, 2))
    y = np.where((X**2).sum(axis=1) < 0.6, 1, -1)
    return X, np.where(rng.random(n_rows) < flipped, -y, y)


DISC = disc(60)


def answers_of_stumps(X: AnyArray) -> AnyArray:
    """What every stump predicts, -1 or 1; a row for each stump, the two that always answer alike included."""
    sides = [np.ones(len(X))]
    for column in X.T:
        sides.extend(np.where(column <= value, 1.0, -1.0) for value in np.unique(column)[:-1])
    return np.concatenate([sides, -np.array(sides)])


def signs(stump: Any, X: Any) -> Any:
    """What a member answers, as -1 or 1."""
    return np.where(stump.predict(X) == 1, 1, -1)
