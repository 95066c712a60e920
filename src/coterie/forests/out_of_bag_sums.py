"""What trees that grew elsewhere predict out of bag, added up tree by tree: the bits of the engine's sums."""

import numpy as np
from numpy.typing import NDArray

import coterie._engine as _engine
from coterie._typing import AnyArray, FloatArray, RowArray

_ROWS_AT_ONCE = 16_384  # losses are added up in pieces of so many rows, as the engine does


class OutOfBagSums:
    """Sums of leaf values, and the error after each tree, of the rows of a forest.

    A *place* is a row's position in the forest's own order of rows, which is that of `ForestMemory`.

    Examples
    --------
    >>> from coterie import RandomForestRegressor
    >>> model = RandomForestRegressor(1, random_state=0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> sums = OutOfBagSums(model._memories[0])
    >>> sums.add(np.array([0, 2]), np.array([[1.0], [1.5]]))
    >>> sums.sums.tolist(), sums.counts.ravel().tolist(), sums.errors
    ([[1.0], [0.0], [1.5]], [1, 0, 1], [0.625])
    """

    def __init__(self, memory: _engine.ForestMemory) -> None:
        self.rows: RowArray = memory.rows.astype(np.int64)
        self._n_rows = memory.n_table_rows
        self._targets, self._weight = memory.targets, memory.weight
        self._n_classes = [int(n) for n in memory.n_classes]
        n_places, n_outputs = self._targets.shape
        self._sums = np.zeros((n_places, sum(self._n_classes) or n_outputs))
        self._counts = np.zeros(n_places, dtype=np.uint32)
        self._loss = np.zeros(n_places)
        self._total_loss = self._total_weight = 0.0
        self.errors: list[float] = []

    def add(self, places: AnyArray, values: FloatArray) -> None:
        """Take a tree: the places that it is measured on, ascending, and the values of the leaves they reach."""
        self._sums[places] += values
        is_new = self._counts[places] == 0
        self._counts[places] += 1
        now, weight = self._losses(places), self._weight[places]
        more, heavier = weight * (now - self._loss[places]), np.where(is_new, weight, 0.0)
        self._loss[places] = now
        for begin in range(0, len(places), _ROWS_AT_ONCE):
            self._total_loss += _total(more[begin : begin + _ROWS_AT_ONCE])
            self._total_weight += _total(heavier[begin : begin + _ROWS_AT_ONCE])
        known = self._total_weight > 0
        self.errors.append(max(0.0, self._total_loss) / self._total_weight if known else np.nan)

    def resume(
        self, sums: FloatArray, counts: AnyArray, errors: FloatArray, totals: FloatArray | None = None
    ) -> None:
        """Go on from the sums, flat, and counts by row of other trees; with their totals to the last bit."""
        self._counts = counts[self.rows].astype(np.uint32)
        known = np.flatnonzero(self._counts)
        self._sums[known] = sums.reshape(self._n_rows, -1)[self.rows[known]]
        self._loss[known] = self._losses(known)
        if totals is None:
            weight = self._weight[known]
            totals = np.array([_total(weight * self._loss[known]), _total(weight)])
        self._total_loss, self._total_weight = float(totals[0]), float(totals[1])
        self.errors = list(errors)

    @property
    def sums(self) -> FloatArray:
        """By row of the table, shape (n_rows, n_columns); zeros for rows without weight."""
        found = np.zeros((self._n_rows, self._sums.shape[1]))
        found[self.rows] = self._sums
        return found

    @property
    def counts(self) -> NDArray[np.uint32]:
        """By row of the table, shape (n_rows, 1)."""
        found = np.zeros((self._n_rows, 1), dtype=np.uint32)
        found[self.rows, 0] = self._counts
        return found

    @property
    def totals(self) -> FloatArray:
        """The loss and the weight of all rows that some tree did not draw."""
        return np.array([self._total_loss, self._total_weight])

    def _losses(self, places: AnyArray) -> FloatArray:
        """What the mean prediction of each row is off: a wrong class, or the squared distance."""
        sums, targets = self._sums[places], self._targets[places]
        loss = np.zeros(len(places))
        if self._n_classes:
            parts = np.split(sums, np.cumsum(self._n_classes)[:-1], axis=1)
            for place, part in enumerate(parts):
                loss += part.argmax(axis=1) != targets[:, place]
        else:
            distance = sums / self._counts[places, None] - targets
            for squared in (distance * distance).T:
                loss += squared
        loss /= targets.shape[1]
        return loss


def _total(values: FloatArray) -> float:
    """One after the other: numpy's own sums go by pairs."""
    return float(np.add.accumulate(values)[-1]) if len(values) else 0.0
