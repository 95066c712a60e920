"""Which candidates hold in one column what the columns of a table say together.

A gradient boosting without interactions, a sum of functions of one column each, predicts rows that it left out. Its
residuals are what no column explains alone. A candidate is worth something if rows with similar values of it have
similar residuals, also rows that took no part in finding out: half of the rows say what the mean residual of each bin
is, and the other half by how much the squared residual falls if that is subtracted.

Candidates are taken one after the other, each time the best, and what it explains is subtracted before the next is
chosen: of two candidates that say the same, one is taken.

The residuals of a boosting with interactions would be no guide: it follows a ratio by many small steps, and what is
left are the errors of the steps, which no smooth function of the ratio explains.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._typing import AnyArray, BoolArray, FloatArray, RowArray, Task
from coterie.boosting.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor

_BOOSTING: dict[str, Any] = {
    "n_estimators": 300,
    "learning_rate": 0.1,
    "max_leaf_nodes": 15,
    "min_samples_leaf": 5,
    "n_folds": 3,
    "early_stopping": True,
    "n_iter_no_change": 15,
    "target_statistics": "columns",
}
_N_BINS = 16
_SHRINKAGE = 10.0  # rows without a residual that are added to those of each bin
_LEAST_ERRORS = 1.5  # by how many standard errors the gain of a candidate is above 0
_LEAST_ERRORS_WITH = 1.0  # by how many a boosting with those that were chosen is better
_MOST_RANKED = 60  # of the candidates that are chosen from one after the other


@dataclass(frozen=True)
class Screening:
    """Residuals of rows, what they count, and the two halves of the rows.

    Attributes
    ----------
    residuals : float array of shape (n_rows, n_outputs)
    weight : float array of shape (n_rows,)
    half : bool array of shape (n_rows,); rows of a group are in the same half
    """

    residuals: FloatArray
    weight: FloatArray
    half: BoolArray

    def explained(self, bins: RowArray) -> FloatArray:
        """What the bins say of each residual: means of the rows of the other half, drawn towards 0."""
        found = np.zeros_like(self.residuals)
        n_bins = int(bins.max(initial=0)) + 1
        for learns in (self.half, ~self.half):
            own, weight = bins[learns], self.weight[learns]
            mass = np.bincount(own, weight, minlength=n_bins) + _SHRINKAGE
            for output in range(self.residuals.shape[1]):
                sums = np.bincount(own, weight * self.residuals[learns, output], minlength=n_bins)
                found[~learns, output] = (sums / mass)[bins[~learns]]
        return found

    def gain(self, bins: RowArray) -> tuple[float, float]:
        """By what share the squared residual falls on rows that said nothing, and the standard error of that."""
        explained = self.explained(bins)
        by_row = self.weight * (explained * (2 * self.residuals - explained)).sum(axis=1)
        whole = float((self.weight[:, None] * self.residuals**2).sum()) or 1.0
        return float(by_row.sum()) / whole, float(np.sqrt(len(by_row) * by_row.var())) / whole

    def without(self, bins: RowArray) -> "Screening":
        """What is left of the residuals."""
        return Screening(self.residuals - self.explained(bins), self.weight, self.half)


def bins_of(values: FloatArray) -> RowArray:
    """Sixteen bins with about as many rows each; missing values have one of their own.

    Examples
    --------
    >>> bins_of(np.array([5.0, 1.0, np.nan, 1.0]))
    array([ 1,  0, 16,  0])
    """
    missing = np.isnan(values)
    known = values[~missing]
    if not len(known):
        return np.full(len(values), _N_BINS)
    ends = np.unique(np.quantile(known, np.arange(1, _N_BINS) / _N_BINS, method="lower"))
    return np.where(missing, _N_BINS, np.searchsorted(ends, values))


def chosen_candidates(
    screening: Screening, bins: Sequence[Callable[[], RowArray]], most: int
) -> list[tuple[int, float]]:
    """The places of the candidates that help, the best first, and by what share of the squared residual each does.

    `bins` gives those of a candidate.
    """
    tried = []
    for place, make in enumerate(bins):
        own = make()
        gain, error = screening.gain(own)
        if gain > _LEAST_ERRORS * error:
            tried.append((-gain, place, own))
    left = {place: own for _, place, own in sorted(tried, key=lambda one: one[:2])[:_MOST_RANKED]}
    chosen: list[tuple[int, float]] = []
    while left and len(chosen) < most:
        gains = {place: screening.gain(own) for place, own in left.items()}
        left = {
            place: own for place, own in left.items() if gains[place][0] > _LEAST_ERRORS * gains[place][1]
        }
        if not left:
            break
        best = max(left, key=lambda place: (gains[place][0], -place))
        chosen.append((best, gains[best][0]))
        screening = screening.without(left.pop(best))
    return chosen


@dataclass(frozen=True)
class SmallFit:
    """All that a small boosting is given beside the table."""

    y: AnyArray
    weight: FloatArray | None
    groups: RowArray | None
    task: Task
    seed: int
    n_jobs: int | None

    def model(self, X: Any, **settings: Any) -> Any:
        """Three boosters that leave a third of the rows out each."""
        kind: Any = GradientBoostingClassifier if self.task == "classification" else GradientBoostingRegressor
        model = kind(**{**_BOOSTING, **settings}, random_state=self.seed, n_jobs=self.n_jobs)
        return model.fit(X, self.y, self.weight, groups=self.groups)

    def losses(self, model: Any) -> FloatArray:
        """The log loss or the squared error of each row, by boosters that left it out; NaN where none did."""
        if self.task == "classification":
            codes = np.searchsorted(model.classes_, self.y)
            predicted = model.oof_proba_[np.arange(len(codes)), codes]
            return np.asarray(-np.log(np.maximum(predicted, np.finfo(np.float64).eps)))
        return np.asarray((self.y - model.oof_prediction_) ** 2)


def is_better(losses: FloatArray, others: FloatArray, weight: FloatArray) -> bool:
    """Whether losses are lower than others of the same rows, by more than the standard error of the difference."""
    fall = others - losses
    known = np.isfinite(fall) & (weight > 0)
    if not known.any():
        return False
    fall, weight = fall[known], weight[known]
    mean = float(np.average(fall, weights=weight))
    error = float(np.sqrt(np.average((fall - mean) ** 2, weights=weight) / weight.sum()))
    return mean > _LEAST_ERRORS_WITH * error


def additive_residuals(fit: SmallFit, X: Any) -> FloatArray:
    """What no column explains alone, shape (n_rows, n_outputs): probabilities, or units of the target."""
    model = fit.model(X, interaction_cst="no_interactions")
    if fit.task == "classification":
        residuals = (np.asarray(fit.y)[:, None] == model.classes_) - model.oof_proba_
        residuals = residuals[:, 1:] if residuals.shape[1] == 2 else residuals
    else:
        residuals = (fit.y - model.oof_prediction_)[:, None]
    known = np.isfinite(residuals).all(axis=1, keepdims=True)
    return np.where(known, residuals, 0.0)
