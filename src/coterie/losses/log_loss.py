"""Log loss: minus the logarithm of the probability of the true class."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, logsumexp, softmax

import coterie._engine as _engine
from coterie._typing import AnyArray, CodeArray, FloatArray
from coterie.losses.formulas import crossing
from coterie.losses.loss import (
    LEAST_SHARE,
    BoundLoss,
    Derivatives,
    Float32Array,
    InitScore,
    Loss,
    LossTask,
    RowLoss,
    UnscaledBoundLoss,
)
from coterie.losses.tasks import ClassificationLoss


class LogOddsFormulas(Loss):
    """Log loss of y from 0 to 1, where the raw prediction is the log odds."""

    def value(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        return np.asarray(np.logaddexp(0, raw) - y * raw)

    def gradient(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        return np.asarray(expit(raw) - y)

    def hessian(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        return np.asarray(expit(raw) * expit(-raw))


class BoundLogLoss(UnscaledBoundLoss):
    """Two classes: one score, the log odds of the second."""

    by_row: ClassVar[tuple[str, ...]] = ("scores", "_weight", "_y", "_gradient", "_hessian")

    def __init__(
        self, loss: RowLoss, y: CodeArray, weight: FloatArray | None, n_threads: int, init: InitScore
    ) -> None:
        super().__init__(loss, y, weight, n_threads, init)
        self._y = y.astype(np.float32)
        self._gradient = np.empty(len(y), dtype=np.float32)
        self._hessian = np.empty(len(y), dtype=np.float32)

    def best_constant(self, y: CodeArray, weight: FloatArray | None, offset: FloatArray | None) -> float:
        share = class_shares(y, 2, weight)[1]
        return best_log_odds(share, None if offset is None else offset[:, 0], weight)

    def derivatives(self, output: int) -> Derivatives:
        _engine.log_loss_derivatives(
            self.scores[0], self._y, self._weight, self._gradient, self._hessian, self._n_threads
        )
        return self._gradient, self._hessian


class BoundMultinomialLogLoss(UnscaledBoundLoss):
    """K classes: a score for each."""

    is_relative = True
    by_row: ClassVar[tuple[str, ...]] = ("scores", "_weight", "_codes", "_log_sum", "_gradient", "_hessian")

    def __init__(
        self,
        loss: "MultinomialLogLoss",
        y: CodeArray,
        weight: FloatArray | None,
        n_threads: int,
        init: InitScore,
    ) -> None:
        self.n_outputs = loss.n_classes
        super().__init__(loss, y, weight, n_threads, init)
        self._codes = np.ascontiguousarray(y, dtype=np.int32)
        self._log_sum = np.empty(len(y), dtype=np.float32)
        self._gradient = np.empty(len(y), dtype=np.float32)
        self._hessian = np.empty(len(y), dtype=np.float32)

    def best_constant(self, y: CodeArray, weight: FloatArray | None, offset: FloatArray | None) -> FloatArray:
        return best_log_shares(class_shares(y, self.n_outputs, weight), offset, weight)

    def begin_round(self) -> None:
        _engine.log_sum_exp(self.scores.reshape(-1), self.n_outputs, self._log_sum, self._n_threads)

    def direction_derivatives(self, direction: Float32Array) -> Derivatives:
        _engine.softmax_direction_derivatives(
            self.scores.reshape(-1),
            direction,
            self._codes,
            self._weight,
            self._log_sum,
            self._gradient,
            self._hessian,
            self._n_threads,
        )
        return self._gradient, self._hessian

    def derivatives(self, output: int) -> Derivatives:
        _engine.softmax_derivatives(
            self.scores[output],
            self._log_sum,
            self._codes,
            output,
            self._weight,
            self._gradient,
            self._hessian,
            self._n_threads,
        )
        return self._gradient, self._hessian


@dataclass(frozen=True)
class LogLoss(LogOddsFormulas, ClassificationLoss, name="log_loss"):
    """Log loss, whose probabilities are calibrated: of two classes, or of any number."""

    tasks: ClassVar[frozenset[LossTask]] = frozenset({"binary", "multiclass"})
    linear_leaves = True
    bound: ClassVar[type[BoundLoss]] = BoundLogLoss

    def for_classes(self, n_classes: int) -> ClassificationLoss:
        return self if n_classes <= 2 else MultinomialLogLoss(n_classes)


@dataclass(frozen=True)
class MultinomialLogLoss(LogLoss):
    """K classes, K raw predictions; probabilities are their exponentials divided by the sum."""

    n_classes: int

    bound = BoundMultinomialLogLoss

    @property
    def n_outputs(self) -> int:
        return self.n_classes

    @property
    def export_link(self) -> str:
        return "softmax"

    def probabilities(self, raw: FloatArray) -> FloatArray:
        exponentials = np.exp(raw - raw.max(axis=1, keepdims=True))
        return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))

    def link(self, probabilities: FloatArray) -> FloatArray:
        logs = np.log(np.clip(probabilities, LEAST_SHARE, 1.0))
        return np.asarray(logs - logs.mean(axis=1, keepdims=True))

    def values(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        highest = raw.max(axis=1)
        log_sum = highest + np.log(np.exp(raw - highest[:, None]).sum(axis=1))
        return np.asarray(log_sum - raw[np.arange(len(y)), y])

    def gradients(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        gradients = self.probabilities(raw)
        gradients[np.arange(len(y)), y] -= 1
        return gradients

    def curvatures(self, y: AnyArray, raw: FloatArray, direction: FloatArray) -> FloatArray:
        shares = self.probabilities(raw)
        mean = (shares * direction).sum(axis=1, keepdims=True)
        return np.asarray((shares * (direction - mean) ** 2).sum(axis=1))


def class_shares(codes: CodeArray, n_classes: int, weight: FloatArray | None) -> FloatArray:
    """The weighted share of each class."""
    counts = np.bincount(codes, weights=weight, minlength=n_classes).astype(np.float64)
    return np.asarray(counts / counts.sum())


def best_log_odds(share: float, offset: FloatArray | None, weight: FloatArray | None) -> float:
    """The constant that makes the mean probability of rows with these log odds equal to `share`."""
    share = min(max(share, LEAST_SHARE), 1 - LEAST_SHARE)
    alone = float(np.log(share / (1 - share)))
    if offset is None:
        return alone
    part = _parts(weight, len(offset))
    offset, part = offset[part > 0], part[part > 0]
    return crossing(
        lambda constant: float(part @ expit(offset + constant)) - share,
        alone - float(offset.max()),
        alone - float(offset.min()),
    )


def best_log_shares(shares: FloatArray, offset: FloatArray | None, weight: FloatArray | None) -> FloatArray:
    """The constants, zero on average, that make the mean probabilities of K classes equal to `shares`."""
    shares = np.clip(shares, LEAST_SHARE, 1.0)
    if offset is None:
        return np.asarray(np.log(shares) - np.log(shares).mean())
    part = _parts(weight, len(offset))
    offset, part = offset[part > 0], part[part > 0]
    offset = offset - offset.max(axis=1, keepdims=True)
    shares = shares / shares.sum()
    constants = np.log(shares) - np.log(shares).mean()
    for _ in range(200):
        better = _step_to_shares(constants, shares, offset, part)
        moved = np.abs(better - constants).max()
        constants = better
        if moved < 1e-13 * max(1.0, float(np.abs(constants).max())):
            break
    return np.asarray(constants)


def _step_to_shares(
    constants: FloatArray, shares: FloatArray, offset: FloatArray, part: FloatArray
) -> FloatArray:
    """Newton's step, halved until the loss does not grow."""

    def cost(at: FloatArray) -> float:
        return float(part @ logsumexp(offset + at, axis=1) - shares @ at)

    p = softmax(offset + constants, axis=1)
    expected = part @ p
    curvature = np.diag(expected) - (p * part[:, None]).T @ p
    # Scores shifted together give the same probabilities: that direction is flat, and is left alone.
    step = np.linalg.pinv(curvature, rcond=1e-12, hermitian=True) @ (shares - expected)
    step -= step.mean()
    here = cost(constants)
    for _ in range(60):
        if cost(constants + step) <= here:
            return np.asarray(constants + step)
        step /= 2
    return constants


def _parts(weight: FloatArray | None, n_rows: int) -> FloatArray:
    """What each row counts, in all 1."""
    return np.full(n_rows, 1 / n_rows) if weight is None else weight / weight.sum()
