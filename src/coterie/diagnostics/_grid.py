"""Places along a column, each of them the value of a row: values that no row holds are not tried."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.data.column import Column
from coterie.data.table import Table
from coterie.errors import InvalidInput


@dataclass(frozen=True)
class Grid:
    """Some values of a column.

    Attributes
    ----------
    values : numbers, ascending, or labels
    rows : for each value a row that holds it
    place : for each row of the table where it lies: its level, or the first value that is not below; -1 if missing
    categorical : bool
    """

    values: AnyArray
    rows: RowArray
    place: RowArray
    categorical: bool

    def reordered(self, order: AnyArray) -> "Grid":
        """The same levels in another order."""
        back = np.empty(len(order) + 1, dtype=np.int64)
        back[order], back[-1] = np.arange(len(order)), -1
        return Grid(self.values[order], self.rows[order], back[self.place], self.categorical)


def grid_of(column: Column, resolution: int) -> Grid:
    """All levels of categories; of numbers all distinct values, or as many of their quantiles."""
    if column.levels is None:
        values = column.values.astype(np.float64)
        known = np.flatnonzero(~np.isnan(values))
        _check_known(known, column)
        order = known[np.argsort(values[known], kind="stable")]
        distinct, first = np.unique(values[order], return_index=True)
        if len(distinct) > resolution:
            chosen = np.linspace(0, len(order) - 1, resolution).round().astype(np.intp)
            distinct, first = np.unique(values[order[chosen]], return_index=True)
            first = chosen[first]
        place = np.searchsorted(distinct, values)
        place[np.isnan(values)] = -1
        return Grid(distinct, order[first], place.astype(np.int64), False)
    codes = column.values.astype(np.int64)
    known = np.flatnonzero(codes >= 0)
    _check_known(known, column)
    present, first = np.unique(codes[known], return_index=True)
    place = np.where(codes >= 0, np.searchsorted(present, codes), -1)
    return Grid(np.asarray(column.levels)[present], known[first], place, True)


def _check_known(known: Any, column: Column) -> None:
    if len(known) == 0:
        raise InvalidInput(
            f"Column {column.name!r} holds nothing but missing values.",
            parameter=str(column.name),
            allowed="a column with values",
        )


def levels_by_likeness(table: Table, column: int, grid: Grid) -> AnyArray:
    """An order in which neighbouring levels have similar rows, by all other columns.

    The distance of two levels is the sum over columns of the mean difference of their distribution functions, taken at
    the quantiles of the column, or of half the differences of their shares. The order is the first coordinate of
    classical scaling.
    """
    n_levels = len(grid.values)
    distance = np.zeros((n_levels, n_levels))
    for other in range(table.n_columns):
        if other != column:
            distance += _distances(table.column(other), grid.place, n_levels)
    centre = np.eye(n_levels) - 1 / n_levels
    scaled = -centre @ distance**2 @ centre / 2
    along = np.linalg.eigh(scaled)[1][:, -1]
    if along[0] > along[-1]:
        along = -along
    return np.argsort(along.round(9), kind="stable")


def _distances(column: Column, place: RowArray, n_levels: int) -> FloatArray:
    shares = np.zeros((n_levels, 0))
    if column.levels is None:
        values = column.values.astype(np.float64)
        known = (place >= 0) & ~np.isnan(values)
        if known.any():
            cuts = np.unique(np.quantile(values[known], np.linspace(0, 1, 101)))
            cell = np.minimum(np.searchsorted(cuts, values[known]), len(cuts) - 1)
            shares = _shares(place[known], cell, n_levels, len(cuts)).cumsum(axis=1)
    else:
        known = (place >= 0) & (column.values >= 0)
        shares = _shares(place[known], column.values[known].astype(np.int64), n_levels, len(column.levels))
    gaps = np.abs(shares[:, None, :] - shares[None, :, :])
    parts = max(1, shares.shape[1]) if column.levels is None else 2
    return np.asarray(gaps.sum(axis=2) / parts)


def _shares(place: RowArray, cell: AnyArray, n_levels: int, n_cells: int) -> FloatArray:
    """How the rows of each level are spread over cells."""
    counts = np.zeros((n_levels, n_cells))
    np.add.at(counts, (place, cell), 1.0)
    return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0))
