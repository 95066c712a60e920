"""A mean of members that grows by one member at a time, and what each adds to it, cross-fitted.

How much weight a new member gets is chosen for each fifth of the rows by the other four, so that no row is scored by a
weight that it helped to choose. A member that only fits the noise of the rows held out gains nothing here: this is
what ends the portfolio, and what a variation has to pass before it becomes a member.
"""

from dataclasses import dataclass

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.committee.metrics import LogLossMetric, RowTargets, SquaredErrorMetric
from coterie.members.decision_rule import parts_of_rows

_SHARES = np.array([0.0, 0.03, 0.07, 0.15, 0.25, 0.4, 0.6, 0.8, 1.0])  # of a new member in the mean
_MOST_ROWS = 50_000
_TINY = 1e-300


@dataclass(frozen=True)
class Growth:
    """What a member adds.

    Attributes
    ----------
    gain : by what share of itself the cross-fitted loss falls; below 0 it rises
    predictions : the cross-fitted mean with the member
    """

    gain: float
    predictions: FloatArray


class GrowingMean:
    """The cross-fitted mean of the members so far.

    Parameters
    ----------
    targets : the true targets of all rows
    is_classification : whether predictions are probabilities, with the log loss, or numbers, with the squared error

    Examples
    --------
    >>> targets = RowTargets(np.tile([0.0, 1.0], 10), np.ones(20))
    >>> mean = GrowingMean(targets, is_classification=False)
    >>> mean.add(np.full((20, 1), 0.5)) > 0
    True
    >>> round(mean.growth(targets.truth[:, None]).gain, 3), round(mean.growth(np.full((20, 1), 9.0)).gain, 3)
    (1.0, 0.0)
    """

    def __init__(self, targets: RowTargets, *, is_classification: bool) -> None:
        self._metric = LogLossMetric() if is_classification else SquaredErrorMetric()
        self._targets = targets
        self.predictions: FloatArray | None = None

    def add(self, predictions: FloatArray) -> float:
        """The gain of a member, which is part of the mean from now on; infinite for the first."""
        if self.predictions is None:
            self.predictions = np.array(predictions)
            return float("inf")
        growth = self.growth(predictions)
        if growth.gain > 0:
            self.predictions = growth.predictions
        return growth.gain

    def growth(self, predictions: FloatArray) -> Growth:
        """What a member would add, measured on the rows that it and the mean have predictions for."""
        assert self.predictions is not None
        known = ~np.isnan(predictions).any(axis=1) & ~np.isnan(self.predictions).any(axis=1)
        rows = np.flatnonzero(known & (self._targets.weight > 0))
        if len(rows) > _MOST_ROWS:
            rows = rows[np.linspace(0, len(rows) - 1, _MOST_ROWS).astype(np.int64)]
        before, new = self.predictions[rows], predictions[rows]
        targets = self._targets.take(rows)
        with np.errstate(over="ignore", invalid="ignore"):  # squares of large numbers may be no floats
            gain, shares = self._gain(before, new, targets)
        mixed = np.array(self.predictions)
        mixed[rows] = before + shares[:, None] * (new - before)
        return Growth(gain, mixed)

    def _gain(self, before: FloatArray, new: FloatArray, targets: RowTargets) -> tuple[float, FloatArray]:
        """The gain, and the share of the new member in each row."""
        losses = np.stack(
            [self._metric.losses(before + share * (new - before), targets.truth) for share in _SHARES]
        )
        chosen = _cross_fitted(losses * targets.weight, parts_of_rows(len(before), targets.groups))
        old = float(losses[0] @ targets.weight)
        found = float(losses[chosen, np.arange(len(before))] @ targets.weight)
        return (old - found) / max(abs(old), _TINY), _SHARES[chosen]


def _cross_fitted(losses: FloatArray, part: AnyArray) -> AnyArray:
    """For each row the place of the share that is best for the rows of the other parts."""
    totals = np.stack([losses[:, part == own].sum(axis=1) for own in range(int(part.max(initial=0)) + 1)])
    of_others = totals.sum(axis=0) - totals
    return np.asarray(of_others.argmin(axis=1)[part])
