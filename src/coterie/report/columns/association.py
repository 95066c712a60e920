"""How much of a target's variance one column explains on its own, found without a model."""

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.data.table import Column

_N_GROUPS = 20


def column_groups(column: Column, n_groups: int = _N_GROUPS) -> AnyArray:
    """A group for each row: its level, or one of some equally large parts of the numbers; the last are missing."""
    if column.levels is not None:
        n_levels = len(column.levels)
        return np.where(column.values < 0, n_levels, column.values).astype(np.intp)
    values = np.asarray(column.values, dtype=np.float64)
    known = ~np.isnan(values)
    if not known.any():
        return np.zeros(len(values), dtype=np.intp)
    cuts = np.unique(np.quantile(values[known], np.linspace(0, 1, n_groups + 1)[1:-1]))
    groups = np.searchsorted(cuts, values, side="right")
    return np.where(known, groups, len(cuts) + 1).astype(np.intp)


def association(column: Column, target: FloatArray) -> float:
    """The share of the target's variance between the groups of a column, adjusted for chance (epsilon squared).

    A column of ids explains every row, but each of its groups is one row, so its adjusted share is 0.

    Examples
    --------
    >>> target = np.tile([0.0, 1.0], 50)
    >>> copy = Column("copy", "numeric", np.tile([3.0, 7.0], 50))
    >>> ids = Column("id", "nominal", np.arange(100), np.arange(100).astype(str).astype(object))
    >>> round(association(copy, target), 3), association(ids, target)
    (1.0, 0.0)
    """
    groups = column_groups(column)
    target = np.asarray(target, dtype=np.float64)
    n_rows, spread = len(target), float(((target - target.mean()) ** 2).sum())
    counts = np.bincount(groups)
    used = counts > 0
    n_groups = int(used.sum())
    if spread <= 0 or n_groups < 2 or n_groups > n_rows / 2:
        return 0.0
    means = np.bincount(groups, target)[used] / counts[used]
    within = spread - float(counts[used] @ (means - target.mean()) ** 2)
    return max(0.0, 1 - (within / (n_rows - n_groups)) / (spread / (n_rows - 1)))
