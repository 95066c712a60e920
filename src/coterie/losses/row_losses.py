"""Losses as functions of the scores, row by row and in float64, for boosting with any learner.

The losses beside this file keep scores in float32 and answer a tree grower. A learner of any kind asks for less: what
each row costs, which way its scores should go, and how strongly the cost bends along a direction. Targets come with
each call, because rows that only measure have targets of their own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.special import expit

from coterie._params import in_short
from coterie._typing import AnyArray, FloatArray
from coterie.errors import InvalidParameter
from coterie.losses.choices import (
    Absolute,
    CrossEntropy,
    Expectile,
    Gamma,
    Huber,
    LossChoice,
    Poisson,
    Quantile,
    Squared,
    Tweedie,
)
from coterie.losses.custom import CustomLoss
from coterie.losses.derivative_check import call
from coterie.losses.regression import weighted_quantile

__all__ = ["RowLoss", "is_in_units_of_the_target", "row_loss_of_classes", "row_loss_of_numbers"]


class RowLoss(Protocol):
    """A loss of targets `y`, shape (n_rows,), at scores of shape (n_rows, n_outputs)."""

    def values(self, y: AnyArray, scores: FloatArray) -> FloatArray:
        """What each row costs."""

    def gradients(self, y: AnyArray, scores: FloatArray) -> FloatArray:
        """The slope of each row's cost for each of its scores."""

    def curvatures(self, y: AnyArray, scores: FloatArray, direction: FloatArray) -> FloatArray | None:
        """The second derivative of each row's cost along its direction; None if there is none to tell."""


class _SquaredError:
    """Half the square of the difference."""

    def values(self, y: AnyArray, scores: FloatArray) -> FloatArray:
        return np.asarray((scores[:, 0] - y) ** 2 / 2)

    def gradients(self, y: AnyArray, scores: FloatArray) -> FloatArray:
        return np.asarray(scores - y[:, None])

    def curvatures(self, y: AnyArray, scores: FloatArray, direction: FloatArray) -> FloatArray:
        return np.asarray(direction[:, 0] ** 2)


@dataclass(frozen=True)
class _Pinball:
    """The sum over levels; the level 1/2 costs half the absolute difference."""

    levels: tuple[float, ...]

    def values(self, y: AnyArray, scores: FloatArray) -> FloatArray:
        rest, level = y[:, None] - scores, np.array(self.levels)
        return np.asarray(np.maximum(level * rest, (level - 1) * rest).sum(axis=1))

    def gradients(self, y: AnyArray, scores: FloatArray) -> FloatArray:
        rest, level = y[:, None] - scores, np.array(self.levels)
        return np.where(rest > 0, -level, np.where(rest < 0, 1 - level, 0.0))

    def curvatures(self, y: AnyArray, scores: FloatArray, direction: FloatArray) -> None:
        return None


@dataclass(frozen=True)
class _Huber:
    """Half the square up to `turn`, straight beyond."""

    turn: float

    def values(self, y: AnyArray, scores: FloatArray) -> FloatArray:
        size = np.abs(scores[:, 0] - y)
        return np.where(size <= self.turn, size**2 / 2, self.turn * (size - self.turn / 2))

    def gradients(self, y: AnyArray, scores: FloatArray) -> FloatArray:
        return np.clip(scores - y[:, None], -self.turn, self.turn)

    def curvatures(self, y: AnyArray, scores: FloatArray, direction: FloatArray) -> FloatArray:
        return np.where(np.abs(scores[:, 0] - y) <= self.turn, direction[:, 0] ** 2, 0.0)


@dataclass(frozen=True)
class _ExpectileError:
    """Squares, weighted by `level` above the score and by 1 - level below."""

    level: float

    def values(self, y: AnyArray, scores: FloatArray) -> FloatArray:
        return np.asarray(self._part(y, scores) * (y - scores[:, 0]) ** 2)

    def gradients(self, y: AnyArray, scores: FloatArray) -> FloatArray:
        return np.asarray(2 * self._part(y, scores)[:, None] * (scores - y[:, None]))

    def curvatures(self, y: AnyArray, scores: FloatArray, direction: FloatArray) -> FloatArray:
        return np.asarray(2 * self._part(y, scores) * direction[:, 0] ** 2)

    def _part(self, y: AnyArray, scores: FloatArray) -> FloatArray:
        return np.where(y > scores[:, 0], self.level, 1 - self.level)


@dataclass(frozen=True)
class _Tweedie:
    """Deviances of numbers that are not negative, whose mean is the exponential of the score."""

    power: float

    def values(self, y: AnyArray, scores: FloatArray) -> FloatArray:
        score = scores[:, 0]
        rise, fall = self._rise_and_fall(y, score)
        if self.power == 1:
            return np.asarray(rise - y * score)
        if self.power == 2:
            return np.asarray(score + fall)
        return np.asarray(rise / (2 - self.power) - fall / (1 - self.power))

    def gradients(self, y: AnyArray, scores: FloatArray) -> FloatArray:
        rise, fall = self._rise_and_fall(y, scores[:, 0])
        return np.asarray(rise - fall)[:, None]

    def curvatures(self, y: AnyArray, scores: FloatArray, direction: FloatArray) -> FloatArray:
        rise, fall = self._rise_and_fall(y, scores[:, 0])
        return np.asarray(((2 - self.power) * rise + (self.power - 1) * fall) * direction[:, 0] ** 2)

    def _rise_and_fall(self, y: AnyArray, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What pulls the score down and what pulls it up."""
        return np.exp((2 - self.power) * score), np.asarray(y * np.exp((1 - self.power) * score))


class _LogLoss:
    """Two classes, or a share between 0 and 1; the score is the log odds."""

    def values(self, y: AnyArray, scores: FloatArray) -> FloatArray:
        return np.asarray(np.logaddexp(0, scores[:, 0]) - y * scores[:, 0])

    def gradients(self, y: AnyArray, scores: FloatArray) -> FloatArray:
        return np.asarray(expit(scores) - y[:, None])

    def curvatures(self, y: AnyArray, scores: FloatArray, direction: FloatArray) -> FloatArray:
        return np.asarray(expit(scores[:, 0]) * expit(-scores[:, 0]) * direction[:, 0] ** 2)


class _Exponential:
    """Two classes; the exponential of minus the margin, AdaBoost's loss."""

    def values(self, y: AnyArray, scores: FloatArray) -> FloatArray:
        return np.asarray(np.exp(np.where(y == 1, -scores[:, 0], scores[:, 0])))

    def gradients(self, y: AnyArray, scores: FloatArray) -> FloatArray:
        costs = self.values(y, scores)
        return np.where(y == 1, -costs, costs)[:, None]

    def curvatures(self, y: AnyArray, scores: FloatArray, direction: FloatArray) -> FloatArray:
        return np.asarray(self.values(y, scores) * direction[:, 0] ** 2)


class _Multinomial:
    """K classes and K scores, whose exponentials are in proportion to the probabilities."""

    def values(self, y: AnyArray, scores: FloatArray) -> FloatArray:
        highest = scores.max(axis=1)
        log_sum = highest + np.log(np.exp(scores - highest[:, None]).sum(axis=1))
        return np.asarray(log_sum - scores[np.arange(len(y)), y])

    def gradients(self, y: AnyArray, scores: FloatArray) -> FloatArray:
        slopes = _shares(scores)
        slopes[np.arange(len(y)), y] -= 1
        return slopes

    def curvatures(self, y: AnyArray, scores: FloatArray, direction: FloatArray) -> FloatArray:
        shares = _shares(scores)
        mean = (shares * direction).sum(axis=1, keepdims=True)
        return np.asarray((shares * (direction - mean) ** 2).sum(axis=1))


def _shares(scores: FloatArray) -> FloatArray:
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class _Custom:
    """The user's functions; of classes `y` is 0 and 1."""

    choice: CustomLoss

    def values(self, y: AnyArray, scores: FloatArray) -> FloatArray:
        return call("value", self.choice.value, y.astype(np.float64), scores[:, 0])

    def gradients(self, y: AnyArray, scores: FloatArray) -> FloatArray:
        return call("gradient", self.choice.gradient, y.astype(np.float64), scores[:, 0])[:, None]

    def curvatures(self, y: AnyArray, scores: FloatArray, direction: FloatArray) -> FloatArray | None:
        if self.choice.hessian is None:
            return None
        bends = call("hessian", self.choice.hessian, y.astype(np.float64), scores[:, 0])
        return np.asarray(bends * direction[:, 0] ** 2)


def _huber(choice: Huber, y: FloatArray, weight: FloatArray | None) -> _Huber:
    """The turn is where `share` of the distances from the median are shorter, once and for all."""
    distances = np.abs(y - weighted_quantile(y, weight, 0.5))
    return _Huber(max(weighted_quantile(distances, weight, choice.share), np.finfo(np.float64).tiny))


_OF_NUMBERS: dict[type, Callable[[Any], RowLoss]] = {
    Squared: lambda _: _SquaredError(),
    Absolute: lambda _: _Pinball((0.5,)),
    Quantile: lambda choice: _Pinball(choice.levels),
    Expectile: lambda choice: _ExpectileError(choice.level),
    Poisson: lambda _: _Tweedie(1.0),
    Gamma: lambda _: _Tweedie(2.0),
    Tweedie: lambda choice: _Tweedie(float(choice.power)),
    CrossEntropy: lambda _: _LogLoss(),
    CustomLoss: _Custom,
}
_FOLLOWS_UNITS = (Squared, Absolute, Huber, Quantile, Expectile)


def row_loss_of_numbers(choice: LossChoice, y: FloatArray, weight: FloatArray | None) -> RowLoss:
    """The loss of a regressor; `y` and `weight` are those of the training rows.

    Examples
    --------
    >>> loss = row_loss_of_numbers(Quantile(0.9), np.zeros(1), None)
    >>> y, scores = np.array([1.0, 5.0]), np.array([[2.0], [2.0]])
    >>> loss.values(y, scores).round(1), loss.gradients(y, scores).round(1).ravel()
    (array([0.1, 2.7]), array([ 0.1, -0.9]))
    """
    if isinstance(choice, Huber):
        return _huber(choice, y, weight)
    make = _OF_NUMBERS.get(type(choice))
    if make is None:
        raise InvalidParameter(
            f"loss={in_short(choice)} is not known row by row. Choose one of those that coterie.losses names, or give "
            "its value and gradient as a CustomLoss."
        )
    return make(choice)


def is_in_units_of_the_target(choice: LossChoice) -> bool:
    """Whether targets divided by a number only divide the scores by it."""
    return isinstance(choice, _FOLLOWS_UNITS)


def row_loss_of_classes(choice: str | CustomLoss, n_classes: int) -> RowLoss:
    """The loss of a classifier, whose targets are the numbers of classes.

    Examples
    --------
    >>> loss = row_loss_of_classes("exponential", 2)
    >>> loss.gradients(np.array([0, 1]), np.zeros((2, 1))).ravel()
    array([ 1., -1.])
    """
    if isinstance(choice, CustomLoss):
        return _Custom(choice)
    if choice == "exponential":
        return _Exponential()
    return _LogLoss() if n_classes == 2 else _Multinomial()
