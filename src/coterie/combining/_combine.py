"""Combining: the predictions of many members become one.

Predictions have the shape (n_members, n_rows, n_columns); weights have an entry for each member, or are None.

| | |
|---|---|
| mean | the weighted mean |
| median | the weighted median of each column: half of the weight below, half above |
| rank mean | members' ranks are averaged, and the mean rank is translated back: scales do not matter |
| votes | most weight wins; the first class on a tie |

Weights can be learned: non-negative numbers that sum to 1 and make a convex loss as small as it gets.

The predictions of members, weighted, are compared with the truth. Squared error and log loss are convex in the weights,
and the weights lie on a simplex, so there is one smallest loss, and no member alone can have a smaller one.

Steps (an active set, Newton's steps inside)
  1. Start with equal weights; all of them are free.
  2. Take Newton's step for the free weights with their sum kept, as far as no weight turns negative and the loss falls.
  3. A weight that reached 0 is fixed there.
  4. When the free weights have settled, look at the fixed ones: if a little weight for one of them would lower
     the loss, free the one that would lower it most, and go on from 2; otherwise that is the solution.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from coterie._storage import storable
from coterie._typing import FloatArray, RowArray
from coterie._value_types import array

_N_RANKS = 256


def mean(predictions: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """The weighted mean over members."""
    with np.errstate(over="ignore", invalid="ignore"):
        result = np.asarray(np.average(predictions, axis=0, weights=weights))
    wrong = ~np.isfinite(result)
    if wrong.any():  # the sum, not the mean, was too large for a float
        shares = np.ones(len(predictions)) if weights is None else weights
        result[wrong] = np.tensordot(shares / shares.sum(), predictions, axes=1)[wrong]
    return result


def majority(votes: FloatArray, weights: FloatArray | None = None) -> RowArray:
    """The column with the greatest weight of votes, for each row; the first on a tie.

    Examples
    --------
    >>> votes = np.array([[[1.0, 0.0]], [[0.0, 1.0]], [[0.0, 1.0]]])
    >>> majority(votes), majority(votes, np.array([3.0, 1.0, 1.0]))
    (array([1]), array([0]))
    """
    weights = np.ones(len(votes)) if weights is None else weights
    total = np.zeros(votes.shape[1:])
    for weight, own in zip(weights, votes, strict=True):
        total += weight * own
    return np.asarray(total.argmax(axis=1))


def median(predictions: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """The weighted median over members; between two values that share the middle, their mean.

    Examples
    --------
    >>> predictions = np.array([1.0, 2.0, 4.0, 9.0]).reshape(4, 1, 1)
    >>> median(predictions).item(), median(predictions, np.array([1.0, 1.0, 1.0, 5.0])).item()
    (3.0, 9.0)
    """
    weights = np.ones(len(predictions)) if weights is None else weights
    order = np.argsort(predictions, axis=0, kind="stable")
    ordered = np.take_along_axis(predictions, order, axis=0)
    share = np.cumsum(weights[order], axis=0) / weights.sum()
    low = (share < 0.5 - 1e-12).sum(axis=0, keepdims=True)
    high = (share <= 0.5 + 1e-12).sum(axis=0, keepdims=True)
    last = len(predictions) - 1
    low, high = np.minimum(low, last), np.minimum(high, last)
    middle = (np.take_along_axis(ordered, low, axis=0) + np.take_along_axis(ordered, high, axis=0)) / 2
    return np.asarray(middle[0])


def as_probabilities(predictions: FloatArray) -> FloatArray:
    """Rows that sum to 1; a row of nothing is shared evenly."""
    predictions = np.maximum(predictions, 0.0)
    total = predictions.sum(axis=1, keepdims=True)
    return np.where(total > 0, predictions / np.where(total > 0, total, 1.0), 1 / predictions.shape[1])


@storable("RankScales", {"usual": array("f", 3)})
@dataclass(frozen=True)
class RankScales:
    """What each member's predictions usually are, so that a new one has a rank among them.

    The rank of a prediction is the share of usual predictions below it. Ranks are averaged, and the mean rank is
    translated back by what members usually predict at that rank. `usual` holds values at equal steps of rank, shape
    (n_members, n_columns, 256): a row alone has the same rank as among others.
    """

    usual: FloatArray

    @classmethod
    def of(cls, predictions: FloatArray, row_weight: FloatArray | None = None) -> "RankScales":
        """Learn the scales from predictions for many rows; a row of weight 2 counts as two rows."""
        n_members, n_rows, n_columns = predictions.shape
        weight = np.ones(n_rows) if row_weight is None else row_weight
        wanted = (np.arange(_N_RANKS) + 0.5) / _N_RANKS * weight.sum()
        usual = np.empty((n_members, n_columns, _N_RANKS))
        for i in range(n_members):
            for column in range(n_columns):
                values = predictions[i, :, column]
                order = np.argsort(values, kind="stable")
                below = np.cumsum(weight[order])
                places = np.minimum(np.searchsorted(below, wanted), n_rows - 1)
                usual[i, column] = values[order][places]
        return cls(usual)

    def combined(self, predictions: FloatArray, weights: FloatArray | None = None) -> FloatArray:
        """The weighted mean of ranks, translated back; shape (n_rows, n_columns)."""
        n_members, _, n_columns = predictions.shape
        weights = np.ones(n_members) if weights is None else weights
        shares = weights / weights.sum()
        result = np.empty(predictions.shape[1:])
        for column in range(n_columns):
            ranks = sum(
                share * _rank(predictions[i, :, column], self.usual[i, column])
                for i, share in enumerate(shares)
            )
            back = sum(share * self.usual[i, column] for i, share in enumerate(shares))
            steps = (np.arange(_N_RANKS) + 0.5) / _N_RANKS
            result[:, column] = np.interp(np.asarray(ranks), steps, back)
        return result


def _rank(values: FloatArray, usual: FloatArray) -> FloatArray:
    # Between usual predictions by interpolation: one that differs by rounding must not have another rank.
    known, first, times = np.unique(usual, return_index=True, return_counts=True)
    return np.interp(values, known, (first + times / 2) / len(usual))


# Value, gradient and hessian at certain weights.
_Loss: TypeAlias = Callable[[FloatArray], tuple[float, FloatArray, FloatArray]]
_TOLERANCE = 1e-10
_LEAST_PROBABILITY = 1e-15


def least_squares(
    predictions: FloatArray, truth: FloatArray, row_weight: FloatArray | None = None
) -> FloatArray:
    """Weights of the mean of predictions that is closest to the truth.

    Parameters
    ----------
    predictions : array of shape (n_members, n_rows, n_columns)
    truth : array of shape (n_rows, n_columns)

    Examples
    --------
    The truth is halfway between two members; the third is far off.

    >>> truth = np.array([[1.0], [2.0], [3.0]])
    >>> least_squares(np.stack([truth - 1, truth + 1, 9 * truth]), truth).round(6)
    array([0.5, 0.5, 0. ])
    """
    n_members = len(predictions)
    root = np.sqrt(_shares(row_weight, truth.shape[0]))[:, None]
    design = (predictions * root).reshape(n_members, -1)
    target = (truth * root).ravel()
    scale = max(float(np.abs(design).max(initial=0.0)), float(np.abs(target).max(initial=0.0))) or 1.0
    design, target = design / scale, target / scale
    square, product, constant = design @ design.T, design @ target, float(target @ target)

    def loss(weights: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        return (
            float(weights @ square @ weights - 2 * product @ weights + constant),
            2 * (square @ weights - product),
            2 * square,
        )

    return _smallest(loss, n_members)


def least_log_loss(of_truth: FloatArray, row_weight: FloatArray | None = None) -> FloatArray:
    """Weights of the mixture of members that makes the truth most probable.

    `of_truth` is the probability that each member gives to the true class of each row, shape (n_members, n_rows).

    Examples
    --------
    >>> least_log_loss(np.array([[0.9, 0.2], [0.2, 0.9]])).round(6)
    array([0.5, 0.5])
    """
    probability = np.maximum(of_truth, _LEAST_PROBABILITY)
    shares = _shares(row_weight, of_truth.shape[1])

    def loss(weights: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        mixed = weights @ probability
        ratio = probability / mixed
        return (
            -float(shares @ np.log(mixed)),
            -(ratio @ shares),
            (ratio * shares) @ ratio.T,
        )

    return _smallest(loss, len(of_truth))


def _shares(row_weight: FloatArray | None, n_rows: int) -> FloatArray:
    if row_weight is None:
        return np.full(n_rows, 1 / n_rows)
    return np.asarray(row_weight / row_weight.sum(), dtype=np.float64)


def _smallest(loss: _Loss, n: int) -> FloatArray:
    weights, free = np.full(n, 1 / n), np.ones(n, dtype=bool)
    for _ in range(50 * n + 100):
        value, gradient, hessian = loss(weights)
        scale = max(float(np.abs(gradient).max()), 1e-300)
        step = _newton_step(gradient, hessian, free)
        if -float(gradient @ step) > _TOLERANCE * scale:
            moved = _moved(loss, value, gradient, weights, step)
            if moved is not None:
                weights = moved
                free = weights > 0
                continue
        # The free weights have settled. The gradient of a fixed one is what a little weight would change.
        change = np.where(free, 0.0, gradient - gradient @ weights)
        best = int(change.argmin())
        if change[best] >= -_TOLERANCE * scale:
            break
        free = free.copy()
        free[best] = True
        if _newton_step(gradient, hessian, free)[best] <= 0:
            break
    return _or_one_alone(loss, weights)


def _newton_step(gradient: FloatArray, hessian: FloatArray, free: FloatArray) -> FloatArray:
    """Newton's step of the free weights that keeps their sum; members that predict the same share alike."""
    n_free = int(free.sum())
    system = np.zeros((n_free + 1, n_free + 1))
    system[:n_free, :n_free] = hessian[np.ix_(free, free)]
    size = max(float(np.abs(system).max()), 1e-300)
    system /= size
    system[:n_free, n_free] = system[n_free, :n_free] = 1.0
    right = np.append(-gradient[free] / size, 0.0)
    step = np.zeros(len(gradient))
    step[free] = np.linalg.lstsq(system, right, rcond=1e-13)[0][:n_free]
    step[free] -= step[free].mean()
    return step


def _moved(
    loss: _Loss, value: float, gradient: FloatArray, weights: FloatArray, step: FloatArray
) -> FloatArray | None:
    """The weights after as much of the step as they allow; None if no part of it lowers the loss."""
    falls = step < 0
    length = min(1.0, float((weights[falls] / -step[falls]).min(initial=np.inf)))
    for _ in range(60):
        moved = np.maximum(weights + length * step, 0.0)
        moved[moved < 1e-14] = 0.0
        moved /= moved.sum()
        if loss(moved)[0] <= value + 1e-4 * length * float(gradient @ step):
            return moved
        length /= 2
    return None


def _or_one_alone(loss: _Loss, weights: FloatArray) -> FloatArray:
    """Rounding must not make a single member better than the solution."""
    best, least = weights, loss(weights)[0]
    for alone in np.eye(len(weights)):
        if loss(alone)[0] < least:
            best, least = alone, loss(alone)[0]
    return best
