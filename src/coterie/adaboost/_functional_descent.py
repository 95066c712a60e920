"""Functional gradient descent: AnyBoost from its first scores to its last, round by round.

Words
  slopes     the derivative of each row's loss by its scores
  direction  what a new member predicts for each row; with several scores there is a member for each
  inner product  of slopes and direction, each row counted by its share of the weight: the slope of the mean loss
             along the direction. The loss falls as long as it is negative.
Steps of a round: fit the members to where the slopes point, look at the inner product, choose how far to go, go.

How far to go along a direction is found by a line search. Words
  slope    the derivative of the loss by the length of the step; it is negative at zero and rises on the way
  bend     its second derivative, NaN where nobody knows it
  bracket  a step at which the loss still falls, and a longer one at which it does not
Steps: a first guess by Newton; twice as far until the slope is no longer negative; then Newton's steps inside the
bracket, which is halved whenever they leave it or get nowhere. A slope that is not a number counts as rising, so a
loss that overflows far away does no harm.

A loss may fall without end: a member without errors deserves every vote. There is no best step then, and the one that
is taken goes to where 99 of 100 parts of the slope are gone.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.data.parts import rows_of
from coterie.errors import InvalidInput, InvalidParameter
from coterie.losses import RowLoss
from coterie.members.base_learner import BaseLearner

_NOTHING_LEFT = 1e-12  # of the slope: it will not rise above zero any more
_ENOUGH = 0.01
_FINE = 4e-16
_MOST_DOUBLINGS = 2100  # from the smallest float to the largest


def best_step(derivatives: Callable[[float], tuple[float, float]], unit: float) -> float:
    """The step at which the slope is zero; 0 if the loss does not fall at all.

    Parameters
    ----------
    derivatives : function from a step to (slope, bend)
    unit : the first guess where there is no bend

    Examples
    --------
    Down the parabola (step - 3)**2, whose slope is 2 * (step - 3):

    >>> best_step(lambda step: (2 * (step - 3), 2.0), unit=1.0)
    3.0
    """
    slope, bend = derivatives(0.0)
    if not slope < 0:
        return 0.0
    nothing = -_NOTHING_LEFT * slope
    guess = -slope / bend if bend > 0 else math.inf
    step, low = guess if 0 < guess < math.inf else unit, 0.0
    for _ in range(_MOST_DOUBLINGS):
        here, bend = derivatives(step)
        if (
            abs(here) <= nothing
        ):  # at the bottom, or far out where the loss only just falls: look twice as far
            if abs(derivatives(2 * step)[0]) <= nothing:
                return _where_enough_is_gone(derivatives, slope, step)
            return step - here / bend if bend > 0 else step
        if not here < 0 or not math.isfinite(2 * step):
            break
        low, step = step, 2 * step
    return _zero_between(derivatives, low, step)


def _where_enough_is_gone(
    derivatives: Callable[[float], tuple[float, float]], first: float, step: float
) -> float:
    def beyond(at: float) -> tuple[float, float]:
        slope, bend = derivatives(at)
        return slope - _ENOUGH * first, bend

    return _zero_between(beyond, 0.0, step)


def _zero_between(derivatives: Callable[[float], tuple[float, float]], low: float, high: float) -> float:
    """Newton's steps from the middle, kept inside a bracket that shrinks; at a corner, the last step that falls."""
    at, before, last = low + (high - low) / 2, high - low, high - low
    for _ in range(400):
        slope, bend = derivatives(at)
        if slope == 0:
            return at
        low, high = (at, high) if slope < 0 else (low, at)
        newton = at - slope / bend if bend > 0 else math.nan
        # A step that is not half of the last but one gets nowhere.
        if not (low < newton < high and abs(newton - at) <= before / 2):
            newton = low + (high - low) / 2
        before, last, at = last, abs(newton - at), newton
        if last <= _FINE * at:
            break
    return low if high - low <= 4 * _FINE * high else at


_ROUNDING = 1e-12  # an inner product this small beside its parts is the rounding error of zero
_MOST_HALVINGS = 60


@dataclass
class Rows:
    """Some rows and their scores, shape (n_rows, n_outputs); `weight` is None or above zero."""

    X: Any
    y: AnyArray
    weight: FloatArray | None
    scores: FloatArray

    def __post_init__(self) -> None:
        n_rows = len(self.y)
        self.parts: FloatArray = (
            np.full(n_rows, 1 / n_rows) if self.weight is None else self.weight / self.weight.sum()
        )

    def mean_loss(self, loss: RowLoss, scores: FloatArray) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            return float(self.parts @ loss.values(self.y, scores))


@dataclass(frozen=True)
class StepRule:
    """How far to go: where the loss is least, or always the same; and which share of that."""

    length: float | None
    share: float


@dataclass
class Descent:
    """The state of a fit; what is remembered grows by one entry a round."""

    loss: RowLoss
    learner: BaseLearner
    rows: Rows
    eval_rows: Rows | None
    rule: StepRule
    subsample: float
    members: list[list[Any]] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    inner_products: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    eval_losses: list[float] = field(default_factory=list)
    stopped_because: str = ""

    def __post_init__(self) -> None:
        self.first_loss = self.rows.mean_loss(self.loss, self.rows.scores)

    def go_on(self, seed: int) -> bool:
        """One more round; False if there is none worth taking, and `stopped_because` says why."""
        slopes = self._slopes()
        members = self._fitted_to(-slopes, seed)
        direction = self._predicted_by(members, self.rows)
        pulls = self.rows.parts @ (slopes * direction)
        self.inner_products.append(float(pulls.sum()))
        if not self.inner_products[-1] < -_ROUNDING * float(
            (self.rows.parts @ np.abs(slopes * direction)).sum()
        ):
            self.stopped_because = "the inner product of slopes and the new member is no longer negative"
            return False
        step = self._step(direction)
        if step == 0:
            self.stopped_because = (
                "the step found is zero: no step along the new member lowers the training loss"
            )
            return False
        self._take(members, step, direction)
        return True

    def repeat(self, members: list[Any], step: float) -> None:
        """A round that is known from an earlier fit to the same rows."""
        direction = self._predicted_by(members, self.rows)
        self.inner_products.append(float((self.rows.parts @ (self._slopes() * direction)).sum()))
        self._take(members, step, direction)

    def _slopes(self) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            slopes = self.loss.gradients(self.rows.y, self.rows.scores)
        wrong = np.argwhere(~np.isfinite(slopes))
        if len(wrong):
            row, output = wrong[0]
            raise InvalidInput(
                f"The slope of the loss is {slopes[row, output]} in row {row}, where y is {self.rows.y[row]:g} and the "
                f"score {self.rows.scores[row, output]:g}. Shorter steps help, and targets of moderate size."
            )
        return slopes

    def _fitted_to(self, wanted: FloatArray, seed: int) -> list[Any]:
        """A member for each score: numbers like those wanted, or their signs, the larger the weightier."""
        seeds = np.random.SeedSequence(seed).generate_state(wanted.shape[1] + 1, np.uint64)
        X, y, weight = self.rows.X, wanted, self.rows.weight
        if self.subsample < 1:
            order = np.random.Generator(np.random.PCG64(int(seeds[-1]))).permutation(len(y))
            drawn = np.sort(order[: max(1, round(self.subsample * len(y)))])
            X, y, weight = rows_of(X, drawn), y[drawn], None if weight is None else weight[drawn]
        if not self.learner.is_classifier:
            return [
                self.learner.fitted(X, own, weight, int(own_seed))
                for own, own_seed in zip(y.T, seeds, strict=False)
            ]
        sizes = np.abs(y[:, 0]) / np.abs(y).max() if y.any() else np.ones(len(y))
        signs = np.where(y[:, 0] > 0, 1, -1)
        total = len(y) if weight is None else weight.sum()
        sizes = sizes if weight is None else sizes * weight
        return [self.learner.fitted(X, signs, sizes * (total / sizes.sum()), int(seeds[0]))]

    def _predicted_by(self, members: list[Any], rows: Rows) -> FloatArray:
        return np.column_stack([self.learner.predict(member, rows.X, len(rows.y)) for member in members])

    def _step(self, direction: FloatArray) -> float:
        if self.rule.length is not None:
            return self.rule.length * self.rule.share
        step = self.rule.share * best_step(
            lambda step: self._derivatives(step, direction), 1 / float(np.abs(direction).max())
        )
        before = self.losses[-1] if self.losses else self.first_loss
        for _ in range(_MOST_HALVINGS):  # a loss that is not convex may be higher beyond a hill
            with np.errstate(over="ignore", invalid="ignore"):
                there = self.rows.scores + step * direction
            if -np.inf < self.rows.mean_loss(self.loss, there) < before:
                return step
            step /= 2
        return 0.0

    def _derivatives(self, step: float, direction: FloatArray) -> tuple[float, float]:
        """Slope and bend of the mean loss along the direction."""
        rows = self.rows
        with np.errstate(over="ignore", invalid="ignore"):
            scores = rows.scores + step * direction
            slope = float((rows.parts @ (self.loss.gradients(rows.y, scores) * direction)).sum())
            bends = self.loss.curvatures(rows.y, scores, direction)
            return slope, np.nan if bends is None else float(rows.parts @ bends)

    def _take(self, members: list[Any], step: float, direction: FloatArray) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            self.rows.scores = self.rows.scores + step * direction
        self.losses.append(self.rows.mean_loss(self.loss, self.rows.scores))
        if not np.isfinite(self.losses[-1]):
            raise InvalidParameter(
                f"The training loss is {self.losses[-1]} after round {len(self.losses)}: a step of {step:g} goes too "
                "far. Choose a smaller step or learning_rate, or step='line_search'."
            )
        if self.eval_rows is not None:
            self.eval_rows.scores = self.eval_rows.scores + step * self._predicted_by(members, self.eval_rows)
            self.eval_losses.append(self.eval_rows.mean_loss(self.loss, self.eval_rows.scores))
        self.members.append(members)
        self.steps.append(step)
