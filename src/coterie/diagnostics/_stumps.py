"""How many stumps are there? As many as predict differently for the rows of a table.

A stump is one split of one column. Two stumps that predict alike on every row are one. To compare predictions
without writing them down, each row has two large random numbers, and a set of rows is known by their sums.
"""

from typing import Any

import numpy as np

from coterie._seeds import spawn_seeds
from coterie._typing import AnyArray, SeedArray
from coterie.data.column import Column
from coterie.data.levels import number_levels
from coterie.data.table import read_table

_MOST_COMPARED_LEVELS = 16


def stump_count(X: Any) -> int:
    """The number of decision stumps that differ in the prediction for a row of the table.

    A stump splits the rows in two and predicts -1 on one side and 1 on the other, or the reverse, or the same on both.

    - A column with an order, of k distinct values, has k - 1 thresholds.
    - Missing values go to either side of a threshold, or are alone on a side.
    - A nominal column (text, categories without order) splits its levels in two in any way; a missing one is a level.
    - Splits of several columns that agree count once, except those of nominal columns of more than 16 levels.

    Parameters
    ----------
    X : any table: data frame, Arrow table, array, sparse matrix or dict of columns

    Returns
    -------
    int

    Notes
    -----
    The bound of `generalization_error` is for members from a class that was chosen before the rows were seen, and
    thresholds between the values of the training rows are chosen after. So with this number it holds as it stands
    where columns have few possible values that all occur; elsewhere the number is a guess at the size that matters.

    Examples
    --------
    Two thresholds, two directions, and the two stumps that always predict the same. A copy of the column adds nothing.

    >>> stump_count({"age": [31, 40, 40, 57]})
    6
    >>> stump_count({"age": [31, 40, 40, 57], "days": [11315, 14610, 14610, 20819]})
    6
    >>> stump_count({"age": [31, 40, 40, 57], "town": ["Rome", "Oslo", "Rome", "Oslo"]})
    8
    """
    table = read_table(X)
    keys = spawn_seeds(0, 2 * table.n_rows).reshape(2, -1)
    whole: SeedArray = np.asarray(keys.sum(axis=1, dtype=np.uint64, keepdims=True))
    seen: set[tuple[int, int]] = set()
    not_compared = 0
    for index in range(table.n_columns):
        codes, is_nominal = _groups(table.column(index))
        n_groups = int(codes.max(initial=-1)) + 1
        if is_nominal and n_groups > _MOST_COMPARED_LEVELS:
            not_compared += 2 ** (n_groups - 1) - 1
            continue
        groups = [np.zeros(n_groups + 1, np.uint64) for _ in keys]
        for sums, key in zip(groups, keys, strict=True):
            np.add.at(sums, codes, key)  # code -1 is the last: the rows without a value
        side = (_sets_of_levels if is_nominal else _thresholds)(np.stack(groups))
        other = whole - side
        seen.update(zip(*np.where(side[0] < other[0], side, other).tolist(), strict=True))
    seen.discard((0, 0))  # everything on one side
    return 2 * (len(seen) + not_compared) + 2


def _groups(column: Column) -> tuple[AnyArray, bool]:
    """The number of each row's value among those that occur, -1 if missing; and whether these have no order."""
    codes = column.values if column.levels is not None else number_levels(column.values)[0]
    used = np.unique(codes[codes >= 0])
    dense = np.where(codes >= 0, np.searchsorted(used, codes), -1)
    if column.kind == "nominal" and (dense < 0).any():
        dense = np.where(dense < 0, len(used), dense)  # a level like the others
    return dense, column.kind == "nominal"


def _thresholds(groups: SeedArray) -> SeedArray:
    """The left side of every threshold, shape (2, n): without the rows that have no value, and with them."""
    left = np.cumsum(groups[:, :-1], axis=1, dtype=np.uint64)
    return np.concatenate([left, left + groups[:, -1:]], axis=1)


def _sets_of_levels(groups: SeedArray) -> SeedArray:
    """Every set of levels, shape (2, n)."""
    sets = np.zeros((2, 1), np.uint64)
    for level in range(groups.shape[1] - 1):
        sets = np.concatenate([sets, sets + groups[:, level : level + 1]], axis=1)
    return sets
