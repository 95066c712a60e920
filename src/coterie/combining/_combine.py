"""Combining: the predictions of many members become one.

Predictions have the shape (n_members, n_rows, n_columns); weights have an entry for each member, or are None.

| | |
|---|---|
| mean | the weighted mean |
| median | the weighted median of each column: half of the weight below, half above |
| rank mean | members' ranks are averaged, and the mean rank is translated back: scales do not matter |
| votes | most weight wins; the first class on a tie |
"""

from dataclasses import dataclass

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
