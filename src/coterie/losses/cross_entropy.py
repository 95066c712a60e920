"""The loss for targets that are shares: log loss with y anywhere between 0 and 1."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, logit

from coterie._typing import FloatArray
from coterie.errors import InvalidInput
from coterie.losses.log_loss import LogOddsFormulas, best_log_odds
from coterie.losses.loss import LEAST_SHARE, Derivatives, InitScore, RowLoss, UnscaledBoundLoss, weighted
from coterie.losses.tasks import RegressionLoss


class BoundCrossEntropy(UnscaledBoundLoss):
    """Its best constant is the log odds of the mean."""

    by_row: ClassVar[tuple[str, ...]] = ("scores", "_weight", "_y")

    def __init__(
        self, loss: RowLoss, y: FloatArray, weight: FloatArray | None, n_threads: int, init: InitScore
    ) -> None:
        super().__init__(loss, y, weight, n_threads, init)
        self._y = y.astype(np.float32)

    def best_constant(self, y: FloatArray, weight: FloatArray | None, offset: FloatArray | None) -> float:
        share = float(np.average(y, weights=weight))
        return best_log_odds(share, None if offset is None else offset[:, 0], weight)

    def derivatives(self, output: int) -> Derivatives:
        small = np.exp(-np.abs(self.scores[0]))
        likely = 1 / (1 + small)
        unlikely = small * likely
        gradient = np.where(self.scores[0] > 0, likely, unlikely) - self._y
        hessian = likely * unlikely
        return weighted(gradient, hessian, self._weight)


@dataclass(frozen=True)
class CrossEntropy(LogOddsFormulas, RegressionLoss, name="cross_entropy"):
    """For targets that are probabilities or shares, from 0 to 1; the raw prediction is the log odds."""

    bound = BoundCrossEntropy

    def check_targets(self, y: FloatArray) -> None:
        wrong = np.flatnonzero((y < 0) | (y > 1))
        if len(wrong):
            raise InvalidInput(
                f"loss='cross_entropy' needs targets from 0 to 1; y is {y[wrong[0]]:g} in row {wrong[0]}.",
                parameter="y",
                received=float(y[wrong[0]]),
                allowed="targets from 0 to 1",
            )

    def inverse_link(self, raw: FloatArray) -> FloatArray:
        return np.asarray(expit(raw))

    def link(self, predictions: FloatArray) -> FloatArray:
        wrong = np.flatnonzero((predictions < 0) | (predictions > 1))
        if len(wrong):
            raise InvalidInput(
                "loss='cross_entropy' starts from the log odds of predictions, which must be from 0 to 1; init "
                f"predicts {predictions.flat[wrong[0]]:g} in row {wrong[0]}.",
                parameter="init",
                received=float(predictions.flat[wrong[0]]),
                allowed="predictions from 0 to 1",
                hint="Choose an init that predicts shares.",
            )
        return np.asarray(logit(np.clip(predictions, LEAST_SHARE, 1 - LEAST_SHARE)))

    @property
    def export_link(self) -> str:
        return "logistic"
