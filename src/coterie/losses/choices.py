"""What `loss=` of the regressor accepts: a name, or one of these with its own settings."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, logit

from coterie._typing import FloatArray
from coterie.errors import InvalidInput, InvalidParameter
from coterie.losses.base import BEST_CONSTANT, BoostingLoss, Origin
from coterie.losses.log_link import TweedieDeviance
from coterie.losses.optimum import LEAST_SHARE
from coterie.losses.probability import CrossEntropyOfShares
from coterie.losses.regression import ExpectileError, HuberError, QuantileError, SquaredError, SquaredErrors

__all__ = [
    "LOSS_NAMES",
    "Absolute",
    "CrossEntropy",
    "Expectile",
    "Gamma",
    "Huber",
    "LossChoice",
    "Poisson",
    "Quantile",
    "Squared",
    "Tweedie",
    "loss_of",
]


def _check_between(loss: str, parameter: str, value: object) -> None:
    if not (isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1):
        raise InvalidParameter(
            f"{loss}({parameter}={value!r}): {parameter} must be a number between 0 and 1."
        )


def _refuse_below(y: FloatArray, name: str, *, zero_is_fine: bool) -> None:
    wrong = np.flatnonzero(y < 0 if zero_is_fine else y <= 0)
    if len(wrong):
        allowed = "that are not negative" if zero_is_fine else "above zero"
        raise InvalidInput(f"loss='{name}' needs targets {allowed}; y is {y[wrong[0]]:g} in row {wrong[0]}.")


def _refuse_zeros(y: FloatArray, weight: FloatArray | None, name: str) -> None:
    if not (y if weight is None else y * weight).any():
        raise InvalidInput(f"loss='{name}' needs at least one target above zero; all of y is zero.")


class LossChoice(ABC):
    """A loss before it has seen data."""

    name: ClassVar[str]

    @property
    def n_outputs(self) -> int:
        """Scores per row."""
        return 1

    @abstractmethod
    def begin(
        self, y: FloatArray, weight: FloatArray | None, n_threads: int, origin: Origin = BEST_CONSTANT
    ) -> BoostingLoss:
        """The loss on one training set; refuses targets that it cannot take."""

    @abstractmethod
    def answers(self, scores: FloatArray) -> FloatArray:
        """From scores, shape (n_rows, n_outputs), to what `predict` returns."""

    def of_targets(self, n_targets: int) -> "LossChoice":
        """The same loss of several targets at once; only squared error has one."""
        raise InvalidParameter(
            f"loss={self.name!r} takes one target, and y has {n_targets} columns. Several targets at once are learned "
            "with loss='squared_error'; for another loss fit one model per column."
        )

    def check_targets(self, y: FloatArray) -> None:  # noqa: B027  most losses take any number
        """Refuse targets that the loss has no value for."""

    def scores_of(self, answers: FloatArray) -> FloatArray:
        """From answers of another model, any shape, to scores of this loss; refuses those that no score gives."""
        return answers


class _ScoreIsAnswer(LossChoice):
    def answers(self, scores: FloatArray) -> FloatArray:
        return scores[:, 0]


@dataclass(frozen=True)
class Squared(_ScoreIsAnswer):
    """Squared error: predicts the mean."""

    name: ClassVar[str] = "squared_error"

    def begin(
        self, y: FloatArray, weight: FloatArray | None, n_threads: int, origin: Origin = BEST_CONSTANT
    ) -> BoostingLoss:
        return SquaredError(y, weight, n_threads, origin)

    def of_targets(self, n_targets: int) -> LossChoice:
        return SquaredOfSeveral(n_targets)


@dataclass(frozen=True)
class SquaredOfSeveral(LossChoice):
    """Squared error of several targets, each in units of its spread: predicts the mean of each."""

    n_targets: int
    name: ClassVar[str] = "squared_error"

    @property
    def n_outputs(self) -> int:
        return self.n_targets

    def begin(
        self, y: FloatArray, weight: FloatArray | None, n_threads: int, origin: Origin = BEST_CONSTANT
    ) -> BoostingLoss:
        return SquaredErrors(y, weight, n_threads, origin)

    def answers(self, scores: FloatArray) -> FloatArray:
        return scores


@dataclass(frozen=True)
class Absolute(_ScoreIsAnswer):
    """Absolute error: predicts the median, and outliers do not pull."""

    name: ClassVar[str] = "absolute_error"

    def begin(
        self, y: FloatArray, weight: FloatArray | None, n_threads: int, origin: Origin = BEST_CONSTANT
    ) -> BoostingLoss:
        return QuantileError(y, weight, (0.5,), origin)


@dataclass(frozen=True)
class Huber(_ScoreIsAnswer):
    """Squared up to the quantile `share` of the residuals' sizes, absolute beyond."""

    share: float = 0.9
    name: ClassVar[str] = "huber"

    def __post_init__(self) -> None:
        _check_between("Huber", "share", self.share)

    def begin(
        self, y: FloatArray, weight: FloatArray | None, n_threads: int, origin: Origin = BEST_CONSTANT
    ) -> BoostingLoss:
        return HuberError(y, weight, float(self.share), origin)


@dataclass(frozen=True)
class Quantile(LossChoice):
    """The pinball loss: predicts a quantile, or several at once, which never cross."""

    level: float | tuple[float, ...] = 0.5
    name: ClassVar[str] = "quantile"

    def __post_init__(self) -> None:
        levels = self.levels
        if not levels or list(levels) != sorted(set(levels)):
            raise InvalidParameter(f"Quantile(level={self.level!r}): levels must ascend, each given once.")
        for level in levels:
            _check_between("Quantile", "level", level)

    @property
    def levels(self) -> tuple[float, ...]:
        return tuple(self.level) if isinstance(self.level, tuple | list) else (self.level,)

    @property
    def n_outputs(self) -> int:
        return len(self.levels)

    def begin(
        self, y: FloatArray, weight: FloatArray | None, n_threads: int, origin: Origin = BEST_CONSTANT
    ) -> BoostingLoss:
        return QuantileError(y, weight, tuple(float(level) for level in self.levels), origin)

    def answers(self, scores: FloatArray) -> FloatArray:
        # Sorting quantiles that cross never makes the pinball loss larger.
        ordered = np.sort(scores, axis=1)
        return ordered if isinstance(self.level, tuple | list) else ordered[:, 0]


@dataclass(frozen=True)
class Expectile(_ScoreIsAnswer):
    """Asymmetric squared error: predicts an expectile, of which the level 1/2 is the mean."""

    level: float = 0.5
    name: ClassVar[str] = "expectile"

    def __post_init__(self) -> None:
        _check_between("Expectile", "level", self.level)

    def begin(
        self, y: FloatArray, weight: FloatArray | None, n_threads: int, origin: Origin = BEST_CONSTANT
    ) -> BoostingLoss:
        return ExpectileError(y, weight, float(self.level), origin)


class _LogLink(LossChoice):
    _zero_is_fine: ClassVar[bool] = True

    def check_targets(self, y: FloatArray) -> None:
        _refuse_below(y, self.name, zero_is_fine=self._zero_is_fine)

    def answers(self, scores: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(scores[:, 0]))

    def scores_of(self, answers: FloatArray) -> FloatArray:
        wrong = np.flatnonzero(answers <= 0)
        if len(wrong):
            raise InvalidInput(
                f"loss='{self.name}' starts from the logarithm of predictions, which must be above zero; init predicts "
                f"{answers.flat[wrong[0]]:g} in row {wrong[0]}. Choose an init that predicts a positive mean, such as "
                "scikit-learn's PoissonRegressor."
            )
        return np.asarray(np.log(answers))


@dataclass(frozen=True)
class Poisson(_LogLink):
    """For counts: predicts the mean of numbers that are not negative, on a log scale."""

    name: ClassVar[str] = "poisson"

    def begin(
        self, y: FloatArray, weight: FloatArray | None, n_threads: int, origin: Origin = BEST_CONSTANT
    ) -> BoostingLoss:
        self.check_targets(y)
        _refuse_zeros(y, weight, self.name)
        return TweedieDeviance(y, weight, 1.0, origin)


@dataclass(frozen=True)
class Gamma(_LogLink):
    """For amounts above zero: errors count in proportion."""

    name: ClassVar[str] = "gamma"
    _zero_is_fine: ClassVar[bool] = False

    def begin(
        self, y: FloatArray, weight: FloatArray | None, n_threads: int, origin: Origin = BEST_CONSTANT
    ) -> BoostingLoss:
        self.check_targets(y)
        _refuse_zeros(y, weight, self.name)
        return TweedieDeviance(y, weight, 2.0, origin)


@dataclass(frozen=True)
class Tweedie(_LogLink):
    """For amounts that are often zero, such as claims; `power` between 1 (counts) and 2 (amounts)."""

    power: float = 1.5
    name: ClassVar[str] = "tweedie"

    def __post_init__(self) -> None:
        if not (isinstance(self.power, int | float) and 1 <= self.power < 2):
            raise InvalidParameter(f"Tweedie(power={self.power!r}): power must be at least 1 and below 2.")

    def begin(
        self, y: FloatArray, weight: FloatArray | None, n_threads: int, origin: Origin = BEST_CONSTANT
    ) -> BoostingLoss:
        self.check_targets(y)
        _refuse_zeros(y, weight, self.name)
        return TweedieDeviance(y, weight, float(self.power), origin)


@dataclass(frozen=True)
class CrossEntropy(LossChoice):
    """For targets that are probabilities or shares, from 0 to 1."""

    name: ClassVar[str] = "cross_entropy"

    def begin(
        self, y: FloatArray, weight: FloatArray | None, n_threads: int, origin: Origin = BEST_CONSTANT
    ) -> BoostingLoss:
        self.check_targets(y)
        return CrossEntropyOfShares(y, weight, origin)

    def check_targets(self, y: FloatArray) -> None:
        wrong = np.flatnonzero((y < 0) | (y > 1))
        if len(wrong):
            raise InvalidInput(
                f"loss='cross_entropy' needs targets from 0 to 1; y is {y[wrong[0]]:g} in row {wrong[0]}."
            )

    def answers(self, scores: FloatArray) -> FloatArray:
        return np.asarray(expit(scores[:, 0]))

    def scores_of(self, answers: FloatArray) -> FloatArray:
        wrong = np.flatnonzero((answers < 0) | (answers > 1))
        if len(wrong):
            raise InvalidInput(
                "loss='cross_entropy' starts from the log odds of predictions, which must be from 0 to 1; init "
                f"predicts {answers.flat[wrong[0]]:g} in row {wrong[0]}. Choose an init that predicts shares."
            )
        return np.asarray(logit(np.clip(answers, LEAST_SHARE, 1 - LEAST_SHARE)))


_CHOICES = {
    choice.name: choice
    for choice in (
        Squared(), Absolute(), Huber(), Quantile(), Expectile(), Poisson(), Gamma(), Tweedie(), CrossEntropy()
    )
}  # fmt: skip


LOSS_NAMES = tuple(_CHOICES)


def loss_of(choice: str | LossChoice) -> LossChoice:
    """The loss behind a name; a loss that was made by hand is itself."""
    return _CHOICES[choice] if isinstance(choice, str) else choice
