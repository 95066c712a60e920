"""What a leaf with a line means: a page of numpy on top of the naive tree.

The line of a leaf is the ridge regression of Newton's step on the numeric features of the leaf's path, weighted by
the hessian, in units of each feature's deviation. Only rows that miss none of these features count.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.naive.boosted_tree import Floats, Leaf, SlowGrower

ROWS_PER_NUMBER = 6
LEAST_UNEXPLAINED = 1e-9
LEAST_RISE = 1e-6


class Line(NamedTuple):
    """Answers base + slopes @ (values - centre), inside the bounds of the leaf; all numbers times the learning rate."""

    features: list[int]
    base: float
    slopes: Floats
    centre: Floats
    least: Floats
    most: Floats
    bounds: tuple[float, float]

    def answers(self, values: Floats, constant: float) -> Floats:
        """`values` has one column per feature of the table."""
        own = values[:, self.features]
        inside = np.clip(own, self.least, self.most)
        said = np.clip(self.base + (inside - self.centre) @ self.slopes, *self.bounds)
        return np.where(np.isnan(own).any(axis=1), constant, said)


def slow_line(
    grower: SlowGrower,
    leaf: Leaf,
    values: Floats,
    gradient: NDArray[np.float32],
    hessian: NDArray[np.float32],
) -> Line | None:
    """The line of one leaf of the grower's last tree; None if it keeps its constant."""
    options = grower.options
    g = gradient[leaf.rows].astype(float)
    h = hessian[leaf.rows].astype(float) if len(hessian) else np.ones(len(g))
    x = values[leaf.rows]
    features = [f for f in _path(grower, leaf) if _has_spread(x[:, f])]
    complete = ~np.isnan(x[:, features]).any(axis=1)
    g, h, x = g[complete], h[complete], x[complete]
    if not features or len(g) < ROWS_PER_NUMBER * (len(features) + 1) or h.sum() <= 0:
        return None
    features = [f for f in features if _has_spread(x[:, f])]
    x = x[:, features]
    centre = np.average(x, axis=0, weights=h)
    deviation = np.sqrt(np.average((x - centre) ** 2, axis=0, weights=h))
    z = (x - centre) / deviation
    correlation = (z * h[:, None]).T @ z / h.sum()
    with_step = -(g @ z) / h.sum()
    directions = np.array([options.monotone[f] if options.monotone else 0 for f in features])

    used = np.arange(len(features))
    while True:
        used = _unexplained(correlation, options.linear_l2, used)
        steep = correlation[np.ix_(used, used)] + options.linear_l2 * np.eye(len(used))
        slopes = np.linalg.solve(steep, with_step[used])
        allowed = directions[used] * slopes >= 0
        if allowed.all():
            break
        used = used[allowed]
    rate, step = options.learning_rate, -g.sum() / (h.sum() + options.l2)
    rise = np.abs(slopes / deviation[used]) * np.ptp(x, axis=0)[used]
    real = rise > LEAST_RISE * np.abs(g).sum() / h.sum()
    used, slopes = used[real], slopes[real]
    if len(used) == 0:
        return None
    return Line(
        [features[k] for k in used],
        step * rate,
        slopes / deviation[used] * rate,
        centre[used],
        x.min(axis=0)[used],
        x.max(axis=0)[used],
        (leaf.low * rate, leaf.high * rate),
    )


def _path(grower: SlowGrower, leaf: Leaf) -> list[int]:
    features: set[int] = set()
    above: Any = leaf.parent
    while above is not None:
        features.add(above.split.feature)
        above = above.parent
    return sorted(f for f in features if not grower.nominal[f])


def _has_spread(column: Floats) -> bool:
    known = column[~np.isnan(column)]
    return bool(len(known) and np.isfinite(known).all() and known.min() < known.max())


def _unexplained(correlation: Floats, l2: float, used: NDArray[Any]) -> NDArray[Any]:
    """Of the features, in order, those of which the ones before leave something."""
    kept: list[int] = []
    for k in used:
        others = correlation[np.ix_(kept, kept)] + l2 * np.eye(len(kept))
        explained = correlation[k, kept] @ np.linalg.solve(others, correlation[kept, k]) if kept else 0.0
        if correlation[k, k] + l2 - explained > LEAST_UNEXPLAINED:
            kept.append(int(k))
    return np.array(kept, dtype=int)
