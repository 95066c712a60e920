"""Shapley values of any function of a table, estimated from orders in which its columns become known.

A row starts as a row of the background, and its columns take their own values one after the other. What the function
changes by when a column's turn comes is the contribution of that column, and over all orders and rows of the background
the mean is the interventional Shapley value. Here the orders are drawn, each together with its reverse: whatever two
columns do together is then divided evenly, so that only interactions of three columns and more leave an error.
For each order the contributions add up to the difference of the two rows, and so does their mean.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.data.mixed_rows import MixedRows

TableFunction: TypeAlias = Callable[
    [Any], FloatArray
]  # from a table to an array of shape (n_rows, n_outputs)

_MOST_ROWS, _MOST_CELLS = 20_000, 4_000_000  # of a table that is predicted for at once


@dataclass(frozen=True)
class ColumnOrders:
    """Orders of the columns, several for each row of the background; the reverse of each belongs to it.

    Attributes
    ----------
    rank : int array of shape (n_background, n_orders, n_columns), the position of each column in each order
    """

    rank: RowArray

    @classmethod
    def drawn(cls, n_columns: int, n_background: int, n_permutations: int, seed: int) -> "ColumnOrders":
        """At least two orders for each row of the background, and at least so many in all."""
        each = max(2, -(-n_permutations // n_background))
        rng = np.random.default_rng(seed)
        ordered = np.broadcast_to(np.arange(n_columns), (n_background, each, n_columns))
        return cls(rng.permuted(ordered, axis=2))

    @property
    def n_permutations(self) -> int:
        """Orders in all, their reverses not counted."""
        return int(self.rank.shape[0] * self.rank.shape[1])


def sampled_values(
    function: TableFunction,
    mixed: MixedRows,
    at_rows: FloatArray,
    at_background: FloatArray,
    orders: ColumnOrders,
) -> tuple[FloatArray, FloatArray]:
    """Estimated Shapley values of a function, and their standard errors.

    Parameters
    ----------
    function : a function of tables like those of `mixed`
    mixed : the rows to explain and those of the background
    at_rows, at_background : what the function gives for them, of shapes (n_rows, n_outputs) and
        (n_background, n_outputs)
    orders : orders of the columns

    Returns
    -------
    two arrays of shape (n_rows, n_columns, n_outputs)
        For each row, the values of the columns add up to its own value less the mean of the background. The standard
        errors are those of the choice of orders, for this background.
    """
    n_background, each, n_columns = orders.rank.shape
    shape = (len(at_rows), n_columns, at_rows.shape[1])
    values, errors = np.zeros(shape), np.zeros(shape)
    per_block = max(1, _MOST_CELLS // (orders.n_permutations * n_columns * shape[2]))
    for first in range(0, len(at_rows), per_block):
        rows = np.arange(first, min(first + per_block, len(at_rows)))
        single = np.concatenate(list(_contributions(function, mixed, at_rows, at_background, orders, rows)))
        single = single.reshape(len(rows), n_background, each, n_columns, shape[2])
        values[rows] = single.mean(axis=(1, 2))
        errors[rows] = np.sqrt((single.var(axis=2, ddof=1) / each).sum(axis=1)) / n_background
    return values, errors


def _contributions(
    function: TableFunction,
    mixed: MixedRows,
    at_rows: FloatArray,
    at_background: FloatArray,
    orders: ColumnOrders,
    rows: RowArray,
) -> Iterator[FloatArray]:
    """For each row and each order the mean over the order and its reverse, shape (a part, n_columns, n_outputs)."""
    n_background, each, n_columns = orders.rank.shape
    rank = orders.rank.reshape(-1, n_columns)
    others = np.repeat(np.arange(n_background), each)
    jobs = [part.ravel() for part in np.meshgrid(rows, np.arange(len(rank)), indexing="ij")]
    n_steps = n_columns - 1
    at_once = max(1, min(_MOST_ROWS, _MOST_CELLS // n_columns) // max(1, 2 * n_steps))
    for first in range(0, len(jobs[0]), at_once):
        row, order = (part[first : first + at_once] for part in jobs)
        start, end = at_background[others[order]][:, None], at_rows[row][:, None]
        between = np.zeros((len(row), 2 * n_steps, at_rows.shape[1]))
        if n_steps:
            known = _known_columns(rank[order])
            points = mixed.of(
                np.repeat(row, 2 * n_steps),
                np.repeat(others[order], 2 * n_steps),
                known.reshape(-1, n_columns),
            )
            between = function(points).reshape(between.shape)
        forth = np.diff(np.concatenate([start, between[:, :n_steps], end], axis=1), axis=1)
        back = np.diff(np.concatenate([start, between[:, n_steps:], end], axis=1), axis=1)
        place = rank[order][:, :, None]
        own = np.take_along_axis(forth, place, axis=1) + np.take_along_axis(back, n_steps - place, axis=1)
        yield own / 2


def _known_columns(rank: RowArray) -> AnyArray:
    """Which columns are known after each step but the last, along each order and then along its reverse."""
    n_columns = rank.shape[1]
    step = np.arange(1, n_columns)[:, None]
    return np.concatenate([rank[:, None, :] < step, rank[:, None, :] >= n_columns - step], axis=1)
