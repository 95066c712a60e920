"""The exponential loss of AdaBoost."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from coterie._typing import AnyArray, CodeArray, FloatArray
from coterie.losses.log_loss import best_log_odds, class_shares
from coterie.losses.loss import Derivatives, InitScore, RowLoss, UnscaledBoundLoss, weighted
from coterie.losses.tasks import ClassificationLoss

_MOST = 40.0  # a margin of -40 pulls no harder than it must: its exponential times a weight fits float32


class BoundExponential(UnscaledBoundLoss):
    """Its best constant is half the log odds of the second class."""

    by_row: ClassVar[tuple[str, ...]] = ("scores", "_weight", "_sign")

    def __init__(
        self, loss: RowLoss, y: CodeArray, weight: FloatArray | None, n_threads: int, init: InitScore
    ) -> None:
        super().__init__(loss, y, weight, n_threads, init)
        self._sign = (2 * y - 1).astype(np.float32)

    def best_constant(self, y: CodeArray, weight: FloatArray | None, offset: FloatArray | None) -> float:
        return _best_half_log_odds(y, offset, weight)

    def derivatives(self, output: int) -> Derivatives:
        hessian = np.exp(np.minimum(-self._sign * self.scores[0], np.float32(_MOST)))
        return weighted(-self._sign * hessian, hessian, self._weight)


@dataclass(frozen=True)
class Exponential(ClassificationLoss, name="exponential"):
    """exp(-margin): the margin is the raw prediction of a row of the second class, and minus that of the first.

    The raw prediction is half the log odds of the second class.
    """

    log_odds_scale = 2.0
    bound = BoundExponential

    def value(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        return np.asarray(np.exp(np.where(y == 1, -raw, raw)))

    def gradient(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        values = self.value(y, raw)
        return np.where(y == 1, -values, values)

    def hessian(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        return self.value(y, raw)


def _best_half_log_odds(codes: CodeArray, offset: FloatArray | None, weight: FloatArray | None) -> float:
    """Where the pulls of both classes balance, each row's being the exponential of minus its margin so far."""
    if offset is None:
        return best_log_odds(class_shares(codes, 2, weight)[1], None, None) / 2
    with np.errstate(divide="ignore"):
        pull = np.zeros(len(codes)) if weight is None else np.log(weight)
    up = logsumexp(np.where(codes == 1, pull - offset[:, 0], -np.inf))
    down = logsumexp(np.where(codes == 0, pull + offset[:, 0], -np.inf))
    if np.isinf(up) or np.isinf(down):  # a class without weight
        return best_log_odds(float(up > down), None, None) / 2
    return float(up - down) / 2
