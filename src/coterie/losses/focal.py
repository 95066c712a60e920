"""The focal loss: log loss that counts rows the less, the better they are predicted already."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from coterie._params import Real, unexpected
from coterie._typing import AnyArray, FloatArray
from coterie.losses.loss import check_between
from coterie.losses.tasks import ClassificationLoss


@dataclass(frozen=True)
class Focal(ClassificationLoss, name="focal"):
    """(1 - p) ** gamma times the log loss of a row, where p is the probability of its true class.

    For two classes of which one is rare: many easy rows of the other no longer drown the hard ones. The raw prediction
    is the log odds, but its probabilities are not calibrated: they are drawn towards 1/2. The labels are meant.

    Parameters
    ----------
    gamma : float
        How fast the weight of a row falls; 0 is log loss. Default 2.0: what the paper found best.
    alpha : float or None
        The weight of the second class, and 1 - alpha that of the first; None is 1 for both. Default None: classes are
        weighted by `class_weight`, if at all.

    Examples
    --------
    A row that is right with probability 0.9 counts a hundredth of what it does in log loss.

    >>> odds = np.array([np.log(0.9 / 0.1)])
    >>> (Focal(gamma=2.0).value(np.ones(1), odds) / Focal(gamma=0.0).value(np.ones(1), odds)).round(6)
    array([0.01])

    References
    ----------
    Lin, Goyal, Girshick, He and Dollar, Focal loss for dense object detection (2017).
    """

    gamma: float = 2.0
    alpha: float | None = None

    may_be_concave = True

    def __post_init__(self) -> None:
        if not Real(0).accepts(self.gamma):
            raise unexpected("gamma", self.gamma, Real(0).describe(), owner="Focal")
        if self.alpha is not None:
            check_between(self, "alpha", self.alpha)

    def value(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        _, wrong, cost = _at_margin(y, raw)
        return np.asarray(self._weight(y) * wrong**self.gamma * cost)

    def gradient(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        right, wrong, cost = _at_margin(y, raw)
        slope = -(wrong**self.gamma) * (self.gamma * right * cost + wrong)
        return np.asarray(self._weight(y) * np.where(y == 1, slope, -slope))

    def hessian(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        right, wrong, cost = _at_margin(y, raw)
        bend = wrong * (1 + 2 * self.gamma) + self.gamma * cost * (self.gamma * right - wrong)
        return np.asarray(self._weight(y) * right * wrong**self.gamma * bend)

    def _weight(self, y: AnyArray) -> FloatArray | float:
        return 1.0 if self.alpha is None else np.where(y == 1, self.alpha, 1 - self.alpha)


def _at_margin(y: AnyArray, raw: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The probability of the true class, that of the other, and the log loss."""
    margin = np.where(y == 1, raw, -raw)
    return expit(margin), expit(-margin), np.logaddexp(0, -margin)
