"""Accumulated local effects by their definition, one interval after the other."""

from typing import Any

import numpy as np


def naive_effects(formula: Any, table: Any, column: int, edges: Any) -> Any:
    """Of one column at its edges; the mean over rows, halfway through their intervals, is 0."""
    along = [0.0]
    counts = []
    for k in range(1, len(edges)):
        rows = [
            row
            for row in table
            if edges[k - 1] < row[column] <= edges[k] or (k == 1 and row[column] == edges[0])
        ]
        changes = []
        for row in rows:
            high, low = row.copy(), row.copy()
            high[column], low[column] = edges[k], edges[k - 1]
            changes.append(float(formula(high[None])[0] - formula(low[None])[0]))
        along.append(along[-1] + sum(changes) / len(changes))
        counts.append(len(rows))
    mean = sum(n * (a + b) / 2 for n, a, b in zip(counts, along, along[1:], strict=False)) / sum(counts)
    return np.array(along) - mean
