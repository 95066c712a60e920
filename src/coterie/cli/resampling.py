"""Confidence intervals of metrics, each a function of the weights of rows: a bootstrap is then a loop over counts."""

import math

import numpy as np

from coterie._typing import FloatArray
from coterie.metrics import WeightedMetric

_FEW_ROWS = 20_000


def bootstrap_ends(
    metrics: dict[str, WeightedMetric], weight: FloatArray | None, n_rows: int, *, seed: int = 0
) -> dict[str, list[float]]:
    """The ends of a 95 % confidence interval of each metric; NaN where too few samples have one."""
    rng, n_repeats = np.random.default_rng(seed), 200 if n_rows <= _FEW_ROWS else 50
    found: dict[str, list[float]] = {name: [] for name in metrics}
    for _ in range(n_repeats):
        drawn = np.bincount(rng.integers(n_rows, size=n_rows), minlength=n_rows).astype(np.float64)
        drawn = drawn if weight is None else drawn * weight
        for name, metric in metrics.items():
            found[name].append(metric(drawn) if drawn.any() else math.nan)
    ends = {}
    for name, values in found.items():
        known = np.array(values)[np.isfinite(values)]
        enough = len(known) > n_repeats / 2 and n_rows > 1
        ends[name] = np.quantile(known, [0.025, 0.975]).tolist() if enough else [math.nan, math.nan]
    return ends
