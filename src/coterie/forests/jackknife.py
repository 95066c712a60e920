"""Intervals and variances of a forest's predictions from its own trees: no row is set aside, no tree is grown again.

Leaving row i out of a bagged forest needs no new fit: the trees that did not draw row i are a forest without it. This
settles two questions. Where will the target of a new row be? (`jackknife_plus`.) How much would the mean of the trees
have varied with other training rows? (`infinitesimal_jackknife`.)

Words
  predictions  what each tree predicts for each new row, shape (n_new, n_trees)
  out          which trees did not draw a row
  block        some new rows at a time, and for those some training rows at a time, so that memory stays bounded
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from coterie._typing import AnyArray, BoolArray, FloatArray
from coterie.errors import InvalidInput
from coterie.members.prediction_sets import check_alpha

_BLOCK_VALUES = 2_000_000  # 16 MB of floats; there are at most four such arrays at a time


def jackknife_plus(
    predictions: FloatArray, out: BoolArray, residuals: FloatArray, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Intervals for the targets of new rows: jackknife+ after bootstrap.

    For each calibration row i, the trees that did not draw it predict m_i for a new row, and were wrong by R_i about
    row i itself. With c calibration rows, the interval goes from the floor(alpha (c + 1))-th smallest of all m_i - R_i
    to the ceil((1 - alpha) (c + 1))-th smallest of all m_i + R_i.

    `predictions` have the shape (n_new, n_trees); `out`, of shape (n_rows, n_trees), are the trees that did not draw a
    calibration row, and `residuals` how far the mean of those was from its target.

    Examples
    --------
    Three calibration rows, each out of one tree. Without row 0 the forest predicts 10, and it was wrong by 1 about it.

    >>> out = np.eye(3, dtype=bool)
    >>> jackknife_plus(np.array([[10.0, 11.0, 15.0]]), out, np.array([1.0, 2.0, 1.0]), alpha=0.25)
    (array([9.]), array([16.]))

    Notes
    -----
    Rows that every tree drew are left out: there is no forest without them. With fewer than 1 / alpha - 1 calibration
    rows an index lies beyond them, and the interval is infinite: so few rows cannot promise more.

    If rows are exchangeable, the target is inside with a chance of 1 - 2 alpha at least, and in practice close to
    1 - alpha.

    References
    ----------
    Kim, Xu and Barber, Predictive inference is free with the jackknife+-after-bootstrap (2020).
    """
    check_alpha(alpha)
    predictions, out, residuals = (
        _floats("predictions", predictions, 2),
        np.asarray(out),
        np.asarray(residuals, np.float64),
    )
    _check_calibration(predictions, out, residuals)
    usable = np.flatnonzero(out.any(axis=1))
    if not np.isfinite(residuals[usable]).all():
        row = int(usable[np.argmin(np.isfinite(residuals[usable]))])
        raise InvalidInput(
            f"residuals[{row}] is {residuals[row]}; expected a finite number for every row with a tree."
        )
    if len(usable) < len(out):
        out, residuals = out[usable], residuals[usable]
    place = math.floor(alpha * (len(out) + 1) + 1e-9)  # 0.29 * 100 is 29, though not in floats
    lower, upper = np.full(len(predictions), -np.inf), np.full(len(predictions), np.inf)
    if place >= 1:
        for rows in _blocks(len(predictions), len(out)):
            means = _means_without(predictions[rows], out)
            lower[rows] = np.partition(means - residuals, place - 1, axis=1)[:, place - 1]
            means += residuals
            means.partition(len(out) - place, axis=1)
            upper[rows] = means[:, len(out) - place]
    return lower, upper


def infinitesimal_jackknife(
    counts: NDArray[np.unsignedinteger], predictions: FloatArray, *, replace: bool = True
) -> FloatArray:
    """The variance of the mean of the trees: how much it would vary with other training rows.

    A row matters for a prediction if trees that drew it more often predict more. The variance is the sum over the
    training rows of the squared covariance, over trees, between the number of draws and the prediction. Finitely many
    trees make noise of these covariances, whose squares add up; what they add on average is taken off.

    `counts` have the shape (n_trees, n_rows), `predictions` (n_new, n_trees). Without replacement the variance is
    n (n - 1) / (n - s)**2 times as large, where s of n rows were drawn.

    Examples
    --------
    Row 0 decides: trees that drew it predict 2, the others 0. Draws of row 1 have nothing to do with it.

    >>> counts = np.repeat([[2, 1], [2, 1], [0, 1], [0, 1]], 250, axis=0)
    >>> predictions = np.repeat([2.0, 2.0, 0.0, 0.0], 250)[None, :]
    >>> infinitesimal_jackknife(counts, predictions).round(2)
    array([1.])

    Notes
    -----
    It is about the mean, not about single targets, and does not know of bias. A few trees per row are needed: with
    fewer the correction is as large as what it corrects, and many rows end at zero.

    References
    ----------
    Wager, Hastie and Efron, Confidence intervals for random forests (2014); without replacement, Wager and Athey,
    Estimation and inference of heterogeneous treatment effects using random forests (2018).
    """
    predictions, counts = _floats("predictions", predictions, 2), np.asarray(counts)
    if (
        counts.ndim != 2
        or counts.dtype.kind not in "iu"
        or predictions.shape[1] != len(counts)
        or len(counts) < 2
    ):
        raise InvalidInput(
            f"counts hold {counts.dtype} of shape {counts.shape} and predictions have the shape {predictions.shape}; "
            "expected whole numbers of shape (n_trees, n_rows) and predictions of shape (n_new, n_trees), with two "
            "trees at least."
        )
    n_trees, n_rows = counts.shape
    n_drawn = counts.sum(dtype=np.float64) / n_trees
    centred = predictions - predictions.mean(axis=1, keepdims=True)
    noise, inflation = n_drawn / n_trees, 1.0
    if not replace:
        _check_subsample(counts, n_drawn)
        noise *= 1 - n_drawn / n_rows
        inflation = n_rows * (n_rows - 1) / (n_rows - n_drawn) ** 2
    variance = _squared_covariances(centred, counts) - noise * (centred**2).mean(axis=1)
    return np.asarray(np.maximum(inflation * variance, 0.0))


def _means_without(predictions: FloatArray, out: BoolArray) -> FloatArray:
    """For new rows, the mean of the trees that did not draw each calibration row: shape (n_new, n_rows)."""
    means = np.empty((len(predictions), len(out)))
    for rows in _blocks(len(out), out.shape[1]):
        trees = out[rows].T.astype(np.float64)
        means[:, rows] = predictions @ (trees / trees.sum(axis=0))
    return means


def _squared_covariances(centred: FloatArray, counts: AnyArray) -> FloatArray:
    """The sum over training rows of the squared covariance between draws and predictions, for each new row."""
    n_trees, n_rows = counts.shape
    total = np.zeros(len(centred))
    for some in _blocks(n_rows, n_trees):
        # Centred predictions add up to zero, so that counts need not be centred.
        drawn = counts[:, some].astype(np.float64) / n_trees
        for rows in _blocks(len(centred), drawn.shape[1]):
            covariances = centred[rows] @ drawn
            total[rows] += np.einsum("ij,ij->i", covariances, covariances)
    return total


def _blocks(n_rows: int, width: int) -> Iterator[slice]:
    step = max(1, _BLOCK_VALUES // max(1, width))
    for first in range(0, n_rows, step):
        yield slice(first, min(n_rows, first + step))


def _floats(name: str, values: AnyArray, n_dimensions: int) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != n_dimensions or not np.isfinite(array).all():
        raise InvalidInput(
            f"{name} have the shape {array.shape} and "
            f"{'are finite' if np.isfinite(array).all() else 'are not all finite'}; expected finite numbers in "
            f"{n_dimensions} dimensions."
        )
    return array


def _check_calibration(predictions: FloatArray, out: AnyArray, residuals: FloatArray) -> None:
    if out.dtype != np.bool_ or out.ndim != 2 or out.shape[1] != predictions.shape[1]:
        raise InvalidInput(
            f"out holds {out.dtype} of shape {out.shape}; expected True and False, a row for each calibration row and "
            f"a column for each of the {predictions.shape[1]} trees that predictions have."
        )
    if residuals.shape != (len(out),):
        raise InvalidInput(
            f"residuals have the shape {residuals.shape}; expected ({len(out)},), as many as out has rows."
        )
    if not out.any():
        raise InvalidInput(
            "Every tree drew every calibration row: no row is out of bag, and nothing can be calibrated."
        )


def _check_subsample(counts: AnyArray, n_drawn: float) -> None:
    if counts.max() > 1:
        raise InvalidInput(
            f"A tree drew a row {counts.max()} times, which cannot be without replacement. Use replace=True."
        )
    if n_drawn == counts.shape[1]:
        raise InvalidInput(
            "Every tree drew every row: their predictions do not vary with the rows, and have no variance."
        )
