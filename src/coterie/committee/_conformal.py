"""Intervals from out-of-fold predictions: CV+, which is the jackknife+ with folds in place of rows."""

import numpy as np

from coterie._typing import BoolArray, FloatArray, RowArray
from coterie.committee.weights import OutOfFoldPredictions

_MOST_ROWS = 2_000


def calibration_rows(nested: FloatArray, oof: OutOfFoldPredictions) -> RowArray:
    """At most 2,000 rows that calibrate intervals: evenly spaced in the order of their targets, by weight.

    Examples
    --------
    Rows that all count alike are all there, each once.

    >>> from coterie.committee.metrics import RowTargets
    >>> rows = RowTargets(np.array([3.0, 1.0, 2.0]), np.ones(3))
    >>> oof = OutOfFoldPredictions(np.zeros((1, 3, 1)), rows, np.ones(3, dtype=bool), [])
    >>> calibration_rows(np.zeros((3, 1)), oof)
    array([1, 2, 0])
    """
    rows = np.flatnonzero(~np.isnan(nested).any(axis=1) & oof.known)
    rows = rows[np.argsort(oof.rows.truth[rows], kind="stable")]
    n_chosen = min(len(rows), _MOST_ROWS)
    reached = np.cumsum(oof.rows.weight[rows])
    wanted = (np.arange(n_chosen) + 0.5) / n_chosen * reached[-1]
    return np.asarray(rows[np.searchsorted(reached, wanted)], dtype=np.int64)


def held_out(rows: RowArray, oof: OutOfFoldPredictions) -> BoolArray:
    """Which folds held which rows out, shape (n_rows, n_folds)."""
    out = np.zeros((len(oof.known), len(oof.folds)), dtype=bool)
    for number, fold in enumerate(oof.folds):
        out[fold.test, number] = True
    return np.asarray(out[rows])
