"""How often each member of an ensemble drew each row, and which rows it left out."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coterie._params import in_short
from coterie._typing import FloatArray, RowArray
from coterie.data.parts import table_shape
from coterie.errors import InvalidInput, InvalidType

_EXPECTED = "a fitted bagging ensemble or forest, of coterie or scikit-learn"


@dataclass(frozen=True, repr=False, eq=False)
class BagCounts:
    """The bags of an ensemble.

    Attributes
    ----------
    counts : array of ints of shape (n_members, n_rows), how often each member drew each row

    Examples
    --------
    >>> found = BagCounts(np.array([[2, 0, 1], [0, 0, 3], [1, 1, 1]]))
    >>> found
    BagCounts(3 members, 3 rows; 33.3 % of the rows are out of a bag)
    >>> found.share_left_out.round(2), found.coverage
    (array([0.33, 0.67, 0.  ]), array([1, 2, 0]))
    >>> found.share_covered.round(2)
    array([0.33, 0.67, 0.67])
    """

    counts: RowArray

    @property
    def share_left_out(self) -> FloatArray:
        """The share of the rows that each member did not draw: for a bootstrap sample about 1/e, which is 37 %."""
        return np.asarray((self.counts == 0).mean(axis=1))

    @property
    def coverage(self) -> RowArray:
        """How many members left out each row."""
        return np.asarray((self.counts == 0).sum(axis=0))

    @property
    def share_covered(self) -> FloatArray:
        """The share of the rows that at least one of the first members left out, for each number of them."""
        return np.asarray(np.logical_or.accumulate(self.counts == 0, axis=0).mean(axis=1))

    @property
    def expected_left_out(self) -> float:
        """The chance of a row to be left out by as many draws as members made: (1 - 1/n)^m, or 1 - m/n.

        The former is for draws with replacement, which there are if some row was drawn twice.
        """
        n_rows = self.counts.shape[1]
        n_draws = float(self.counts.sum(axis=1).mean())
        if (self.counts > 1).any():
            return float((1 - 1 / n_rows) ** n_draws)
        return float(1 - n_draws / n_rows)

    def __repr__(self) -> str:
        n_members, n_rows = self.counts.shape
        share = f"{100 * self.share_left_out.mean():.1f} %"
        return f"BagCounts({n_members} members, {n_rows:,} rows; {share} of the rows are out of a bag)"


def bag_counts(model: Any, X: Any) -> BagCounts:
    """How often each member drew each row of the training table.

    Parameters
    ----------
    model : a fitted bagging ensemble or forest, of coterie or scikit-learn, whose members drew rows
    X : the training table

    Returns
    -------
    BagCounts

    Examples
    --------
    >>> from coterie import RandomForestClassifier
    >>> from coterie.datasets import load_table
    >>> table, kind = load_table("wine")
    >>> found = bag_counts(RandomForestClassifier(100, random_state=0).fit(table, kind), table)
    >>> found.counts.shape, found.share_left_out.mean().round(2), round(found.expected_left_out, 2)
    ((100, 178), np.float64(0.37), 0.37)
    """
    check_is_fitted(model)
    try:
        samples = list(model.estimators_samples_)
    except AttributeError:
        raise InvalidType.expecting(f"{in_short(model)} has no bags", _EXPECTED, "model", model) from None
    n_rows = table_shape(X).n_rows
    last = max((int(rows.max()) for rows in samples if len(rows)), default=-1)
    if last >= n_rows:
        raise InvalidInput.expecting(
            f"X has {n_rows:,} rows, and a member drew row {last:,}", "the training table", "X", n_rows
        )
    counts = np.stack([np.bincount(rows, minlength=n_rows) for rows in samples])
    return BagCounts(counts.astype(np.int64))
