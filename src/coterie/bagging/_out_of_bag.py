"""Out of bag, for members of any kind: predictions for rows that they did not draw, added up member by member."""

from typing import Any

import numpy as np

from coterie._storage import expect, storable
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie._value_types import FLOAT_VECTOR, INTEGERS, NUMBER, array, list_of
from coterie.forests.out_of_bag import OutOfBag


def _verify_sums(sums: Any) -> None:
    n_rows = len(sums.sums)
    same = all(len(own) == n_rows for own in (sums.counts, sums._truth, sums._weight, sums._losses))
    expect(same, "has arrays of different rows")


@storable(
    "OobSums",
    {
        "sums": array("f", 2),
        "counts": INTEGERS,
        "errors": list_of(NUMBER),
        "_truth": array("fiu", 1, 2),
        "_weight": FLOAT_VECTOR,
        "_losses": FLOAT_VECTOR,
    },
    verify=_verify_sums,
)
class OobSums:
    """Sums of the predictions for each row, by the members that did not draw it, and the error after each member.

    Parameters
    ----------
    truth : codes of classes of shape (n_rows,), or numbers of shape (n_rows, n_outputs)
    weight : what rows count in the error, shape (n_rows,)
    n_columns : columns of a prediction
    """

    def __init__(self, truth: AnyArray, weight: FloatArray, n_columns: int) -> None:
        n_rows = len(truth)
        self.sums = np.zeros((n_rows, n_columns))
        self.counts: RowArray = np.zeros(n_rows, dtype=np.int64)
        self.errors: list[float] = []
        self._truth, self._weight = truth, weight
        self._losses = np.zeros(n_rows)

    def add(self, rows: RowArray, predictions: FloatArray) -> None:
        """Add what the next member predicts for the rows that it did not draw."""
        self.sums[rows] += predictions
        self.counts[rows] += 1
        with np.errstate(over="ignore", invalid="ignore"):  # squares of numbers near the largest float
            self._losses[rows] = self._loss(self.sums[rows] / self.counts[rows, None], self._truth[rows])
            weight = np.where(self.counts > 0, self._weight, 0.0)
            self.errors.append(float(weight @ self._losses / weight.sum()) if weight.any() else np.nan)

    @staticmethod
    def _loss(means: FloatArray, truth: AnyArray) -> FloatArray:
        if truth.ndim == 1:
            return np.asarray(means.argmax(axis=1) != truth, dtype=np.float64)
        return np.asarray(((means - truth) ** 2).mean(axis=1))

    @property
    def known(self) -> OutOfBag:
        with np.errstate(invalid="ignore"):
            means = self.sums / self.counts[:, None]
        return OutOfBag(means, self.counts.copy(), np.array(self.errors))
