"""Losses for numbers that are not negative: the prediction is the exponential of the raw prediction.

All are deviances of Tweedie's family, whose variance is a power of the mean: 1 for counts (Poisson), 2 for amounts
(gamma), between them for amounts that are often zero (Tweedie).

An offset multiplies the mean of a row by its exponential. For the derivatives that is the same as dividing the target
by it and weighting the row by its power `2 - power`: counts with the log of their exposure as the offset are rates
weighted by exposure.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from coterie._typing import AnyArray, FloatArray
from coterie.errors import InvalidInput, InvalidParameter
from coterie.losses.loss import BoundLoss, Derivatives, InitScore, safe_mean
from coterie.losses.tasks import RegressionLoss

_MOST = 40.0  # a raw prediction beyond e^40 above the mean is a step too far, not a prediction


class BoundDeviance(BoundLoss):
    """Its best constant is the log of the mean."""

    by_row: ClassVar[tuple[str, ...]] = ("scores", "_weight", "_rise", "_fall")
    scale = 1.0

    def __init__(
        self, loss: "Deviance", y: FloatArray, weight: FloatArray | None, n_threads: int, init: InitScore
    ) -> None:
        super().__init__(loss, y, weight, n_threads, init)
        if not (y if weight is None else y * weight).any():
            raise InvalidInput(
                f"loss='{loss.name}' needs at least one target above zero; all of y is zero.", parameter="y"
            )
        self.scores = np.zeros((1, len(y)), dtype=np.float32)
        self._power = float(loss.power)
        if init.offset is None and init.add_constant:
            mean = safe_mean(y, weight)
            self.baseline = np.array([np.log(mean)])
            self._rise = self._weight
            self._fall = (y / mean if weight is None else y / mean * weight).astype(np.float32)
        else:
            self._begin_at(init, y, weight)

    def _begin_at(self, init: InitScore, y: FloatArray, weight: FloatArray | None) -> None:
        """The same with an offset, in logarithms, because its exponential may be any number."""
        offset = np.zeros(len(y)) if init.offset is None else init.offset[:, 0]
        with np.errstate(divide="ignore"):
            log_weight = np.zeros(len(y)) if weight is None else np.log(weight)
            rise = log_weight + (2 - self._power) * offset
            fall = log_weight + np.log(y) + (1 - self._power) * offset
        self.baseline = np.zeros(1)
        if init.add_constant:
            self.baseline[:] = logsumexp(fall) - logsumexp(rise)
            fall -= self.baseline[0]
        # A common factor changes no split and no leaf; it is left alone where numbers are ordinary.
        largest = max(rise.max(), fall.max())
        unit = largest if abs(largest) > _MOST else 0.0
        self._rise = np.exp(rise - unit).astype(np.float32)
        self._fall = np.exp(fall - unit).astype(np.float32)

    def begin_round(self) -> None:
        np.clip(self.scores, -_MOST, _MOST, out=self.scores)

    def derivatives(self, output: int) -> Derivatives:
        # In units of the mean: the deviance only changes by a factor, which no split and no leaf depends on.
        power, score = np.float32(self._power), self.scores[0]
        rise = self._rise if len(self._rise) else np.float32(1)
        predicted = rise * np.exp((2 - power) * score)
        observed = self._fall * np.exp((1 - power) * score)
        gradient = predicted - observed
        hessian = (2 - power) * predicted + (power - 1) * observed
        np.maximum(hessian, np.float32(1e-12) * rise, out=hessian)
        return gradient, hessian


class Deviance(RegressionLoss):
    """Half the deviance with variance mean ** power, for 1 <= power <= 2, on a log scale."""

    power: float
    bound = BoundDeviance

    def value(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        power = float(self.power)
        rise, fall = self._rise_and_fall(y, raw)
        if power == 1:
            return np.asarray(rise - y * raw)
        if power == 2:
            return np.asarray(raw + fall)
        return np.asarray(rise / (2 - power) - fall / (1 - power))

    def gradient(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        rise, fall = self._rise_and_fall(y, raw)
        return np.asarray(rise - fall)

    def hessian(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        rise, fall = self._rise_and_fall(y, raw)
        return np.asarray((2 - float(self.power)) * rise + (float(self.power) - 1) * fall)

    def _rise_and_fall(self, y: AnyArray, raw: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What pulls the raw prediction down and what pulls it up."""
        power = float(self.power)
        return np.exp((2 - power) * raw), np.asarray(y * np.exp((1 - power) * raw))

    def check_targets(self, y: FloatArray) -> None:
        wrong = np.flatnonzero(y < 0 if self.power < 2 else y <= 0)
        if len(wrong):
            allowed = "targets that are not negative" if self.power < 2 else "targets above zero"
            raise InvalidInput(
                f"loss='{self.name}' needs {allowed}; y is {y[wrong[0]]:g} in row {wrong[0]}.",
                parameter="y",
                received=float(y[wrong[0]]),
                allowed=allowed,
            )

    def inverse_link(self, raw: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(raw))

    def link(self, predictions: FloatArray) -> FloatArray:
        wrong = np.flatnonzero(predictions <= 0)
        if len(wrong):
            raise InvalidInput(
                f"loss='{self.name}' starts from the logarithm of predictions, which must be above zero; init predicts "
                f"{predictions.flat[wrong[0]]:g} in row {wrong[0]}.",
                parameter="init",
                received=float(predictions.flat[wrong[0]]),
                allowed="predictions above zero",
                hint="Choose an init that predicts a positive mean, such as scikit-learn's PoissonRegressor.",
            )
        return np.asarray(np.log(predictions))

    @property
    def export_link(self) -> str:
        return "exp"


@dataclass(frozen=True)
class Poisson(Deviance, name="poisson"):
    """For counts: predicts the mean of numbers that are not negative, on a log scale."""

    power = 1.0


@dataclass(frozen=True)
class Gamma(Deviance, name="gamma"):
    """For amounts above zero: errors count in proportion."""

    power = 2.0


@dataclass(frozen=True)
class Tweedie(Deviance, name="tweedie"):
    """For amounts that are often zero, such as claims; `power` between 1 (counts) and 2 (amounts).

    Parameters
    ----------
    power : float
        At least 1 and below 2: the variance grows as this power of the mean. Default 1.5: the middle between counts
        and amounts.
    """

    power: float = 1.5

    def __post_init__(self) -> None:
        if not (isinstance(self.power, int | float) and 1 <= self.power < 2):
            raise InvalidParameter(
                f"Tweedie(power={self.power!r}): power must be at least 1 and below 2.",
                parameter="power",
                received=self.power,
                allowed="a number in [1, 2)",
            )
