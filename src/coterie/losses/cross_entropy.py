"""The loss for targets that are shares: log loss with y anywhere between 0 and 1."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from coterie._typing import AnyArray, FloatArray
from coterie.errors import InvalidInput
from coterie.losses.base import BEST_CONSTANT, BoundLoss, Derivatives, InitScore, UnscaledBoundLoss, weighted
from coterie.losses.log_loss import LogOddsFormulas
from coterie.losses.loss import RegressionLoss
from coterie.losses.optimum import LEAST_SHARE, best_log_odds

__all__ = ["CrossEntropy"]


@dataclass(frozen=True)
class CrossEntropy(LogOddsFormulas, RegressionLoss, name="cross_entropy"):
    """For targets that are probabilities or shares, from 0 to 1; the raw prediction is the log odds."""

    def check_targets(self, y: FloatArray) -> None:
        wrong = np.flatnonzero((y < 0) | (y > 1))
        if len(wrong):
            raise InvalidInput(
                f"loss='cross_entropy' needs targets from 0 to 1; y is {y[wrong[0]]:g} in row {wrong[0]}.",
                parameter="y",
                received=float(y[wrong[0]]),
                allowed="targets from 0 to 1",
            )

    def bind(
        self, y: AnyArray, weight: FloatArray | None, n_threads: int, init: InitScore = BEST_CONSTANT
    ) -> BoundLoss:
        self.check_targets(y)
        return BoundCrossEntropy(self, y, weight, init)

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


class BoundCrossEntropy(UnscaledBoundLoss):
    """Its best constant is the log odds of the mean."""

    def __init__(self, loss: CrossEntropy, y: FloatArray, weight: FloatArray | None, init: InitScore) -> None:
        offset = None if init.offset is None else init.offset[:, 0]
        super().__init__(
            loss,
            y,
            weight,
            init,
            lambda: best_log_odds(float(np.average(y, weights=weight)), offset, weight),
        )
        self._y = y.astype(np.float32)

    def derivatives(self, output: int) -> Derivatives:
        small = np.exp(-np.abs(self.scores[0]))
        likely = 1 / (1 + small)
        unlikely = small * likely
        gradient = np.where(self.scores[0] > 0, likely, unlikely) - self._y
        hessian = likely * unlikely
        return weighted(gradient, hessian, self._weight)
