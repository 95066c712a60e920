"""Means of scores of folds, with intervals that know that folds learn from the same rows.

Scores of folds vary less than those of tables drawn anew: any two folds share most of the rows they learn from. Nadeau
and Bengio's correction adds what that hides: the variance of the mean of K scores is not s^2 / K but
(1 / K + n_test / n_train) s^2.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from coterie._typing import FloatArray


@dataclass(frozen=True)
class FoldMean:
    """A mean, the half width of its interval, and the chance to be so far from 0 if the truth is 0."""

    value: float
    half_width: float
    p_value: float

    @property
    def low(self) -> float:
        return self.value - self.half_width

    @property
    def high(self) -> float:
        return self.value + self.half_width


def fold_mean(scores: FloatArray, test_per_train: float, alpha: float) -> FoldMean:
    """The mean of scores of folds, or of differences of scores, and its interval at the level 1 - alpha.

    Parameters
    ----------
    scores : array of shape (n_folds,)
    test_per_train : float, rows held out for each row learned from: 1 / 4 with five folds
    alpha : float in (0, 1)

    Examples
    --------
    >>> mean = fold_mean(np.array([0.8, 0.9, 0.7, 0.8, 0.8]), 0.25, 0.05)
    >>> round(mean.value, 3), round(mean.half_width, 3)
    (0.8, 0.132)

    References
    ----------
    Nadeau and Bengio, Inference for the generalization error (2003).
    """
    n_folds, middle = len(scores), float(np.mean(scores))
    if n_folds < 2:
        return FoldMean(middle, float("nan"), float("nan"))
    error = float(np.sqrt((1 / n_folds + test_per_train) * np.var(scores, ddof=1)))
    if error == 0:
        return FoldMean(middle, 0.0, 1.0 if middle == 0 else 0.0)
    half_width = float(stats.t.ppf(1 - alpha / 2, n_folds - 1)) * error
    return FoldMean(middle, half_width, float(2 * stats.t.sf(abs(middle) / error, n_folds - 1)))
