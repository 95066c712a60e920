"""A loss bound to one training set, as a tree grower needs it: gradients and hessians in float32.

A bound loss knows the targets and weights, and keeps the scores of the training rows. Scores are float32, relative to
the best constant and in units that fit float32 whatever the target's, so the loop never meets a number out of range.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coterie._typing import AnyArray, FloatArray, RowArray

__all__ = [
    "BEST_CONSTANT",
    "BoundLoss",
    "Derivatives",
    "Float32Array",
    "InitScore",
    "LeafQuantile",
    "RowLoss",
    "UnscaledBoundLoss",
    "no_hessian",
    "power_of_two_above",
    "safe_mean",
    "weighted",
]

Float32Array: TypeAlias = NDArray[np.float32]
Derivatives: TypeAlias = tuple[Float32Array, Float32Array]


@dataclass(frozen=True)
class InitScore:
    """The raw predictions that the training rows begin with.

    `offset`, of shape (n_rows, n_outputs), is a raw prediction that each row has from the start; None means zero. With
    `add_constant` the constant that fits best on top of it is added, and without it the offset is all there is.
    """

    offset: FloatArray | None = None
    add_constant: bool = True


BEST_CONSTANT = InitScore()


class LeafQuantile(NamedTuple):
    """The values of leaves where Newton's step does not serve: a quantile of the residuals of their rows."""

    level: float
    residual: Float32Array
    weight: Float32Array


class RowLoss(Protocol):
    """A loss of targets `y`, shape (n_rows,), at raw predictions of shape (n_rows, n_outputs), in float64."""

    def values(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        """The loss of each row."""

    def gradients(self, y: AnyArray, raw: FloatArray) -> FloatArray:
        """The derivative of each row's loss by each of its raw predictions."""

    def curvatures(self, y: AnyArray, raw: FloatArray, direction: FloatArray) -> FloatArray | None:
        """The second derivative of each row's loss along its direction; None if the loss does not know it."""


class BoundLoss(ABC):
    """One loss on one training set.

    Attributes
    ----------
    n_outputs : trees per round, and scores per row.
    baseline : the best constant raw prediction of each output, on top of the offset if there is one.
    scale : a score of 1 is a raw prediction of so much.
    scores : of the training rows, one row per output, relative to where they begin and in units of `scale`.
    joint_units : for outputs that share their trees, the scale of each.
    """

    n_outputs: int = 1
    baseline: FloatArray
    scale: float
    scores: Float32Array
    offset: FloatArray | None = None
    joint_units: FloatArray | None = None

    def __init__(
        self, loss: RowLoss, y: AnyArray, weight: FloatArray | None, n_threads: int, init: InitScore
    ) -> None:
        self.loss = loss
        self._n_threads = n_threads
        self.offset = init.offset
        self._weight = no_hessian() if weight is None else weight.astype(np.float32)

    def begin_round(self) -> None:  # noqa: B027  most losses need no look at the scores of all outputs
        """Look at the scores of all outputs, before their trees are grown."""

    @abstractmethod
    def derivatives(self, output: int) -> Derivatives:
        """Gradient and hessian of each row for one output; an empty hessian means 1 for every row."""

    def joint_derivatives(self) -> Derivatives:
        """For outputs that share their trees: gradients, one row per output, and the hessian of all of them."""
        raise AssertionError("each output has trees of its own")

    def leaf_quantile(self, output: int) -> LeafQuantile | None:
        """The quantile that leaves hold, for losses whose derivatives do not tell how far to go."""
        return None

    def init_scores(self, rows: RowArray) -> FloatArray:
        """Raw predictions of some training rows before the first tree, shape (len(rows), n_outputs)."""
        baseline = np.tile(self.baseline, (len(rows), 1))
        return baseline if self.offset is None else baseline + self.offset[rows]

    def raw_predictions(self, rows: RowArray) -> FloatArray:
        """Raw predictions of some training rows, shape (len(rows), n_outputs)."""
        return np.asarray(self.init_scores(rows) + self.scale * self.scores[:, rows].T.astype(np.float64))

    def mean_value(self, y: AnyArray, raw: FloatArray, weight: FloatArray | None) -> float:
        """Mean loss of any rows with these raw predictions, shape (n_rows, n_outputs)."""
        with np.errstate(over="ignore"):
            return float(np.average(self.loss.values(y, raw), weights=weight))


class UnscaledBoundLoss(BoundLoss):
    """A loss whose scores are the raw predictions themselves, which are of moderate size: log odds and their kind."""

    scale = 1.0

    def __init__(
        self, loss: RowLoss, y: AnyArray, weight: FloatArray | None, n_threads: int, init: InitScore
    ) -> None:
        super().__init__(loss, y, weight, n_threads, init)
        self.baseline = np.zeros(self.n_outputs)
        if init.add_constant:
            self.baseline[:] = self.best_constant(y, weight, init.offset)
        if init.offset is None:
            self.scores = np.repeat(self.baseline.astype(np.float32)[:, None], len(y), axis=1)
        else:
            # Beyond 1e30 a probability is 0 or 1 anyway, and float32 ends at 3e38.
            raw = np.clip(self.baseline + init.offset, -1e30, 1e30)
            self.scores = np.ascontiguousarray(raw.T, dtype=np.float32)

    @abstractmethod
    def best_constant(
        self, y: AnyArray, weight: FloatArray | None, offset: FloatArray | None
    ) -> float | FloatArray:
        """The constant that fits best on top of an offset of shape (n_rows, n_outputs)."""

    def raw_predictions(self, rows: RowArray) -> FloatArray:
        return self.scores[:, rows].T.astype(np.float64)


def no_hessian() -> Float32Array:
    """The hessian of a loss whose second derivative is 1 everywhere."""
    return np.empty(0, dtype=np.float32)


def weighted(gradient: Float32Array, hessian: Float32Array, weight: Float32Array) -> Derivatives:
    """Derivatives times weights, of which there may be none; where the hessian is 1, it becomes the weight."""
    if len(weight) == 0:
        return gradient, hessian
    return gradient * weight, (hessian * weight if len(hessian) else weight)


def safe_mean(y: FloatArray, weight: FloatArray | None) -> float:
    """The weighted mean, also of numbers whose sum is too large for a float."""
    largest = float(np.abs(y).max(initial=0.0))
    if not 1e-200 < largest < 1e200:
        scale = power_of_two_above(largest)
        return float(np.average(y / scale, weights=weight)) * scale
    return float(np.average(y, weights=weight))


def power_of_two_above(value: float) -> float:
    """The least power of two above a number, kept inside the range of floats.

    Examples
    --------
    >>> power_of_two_above(5.0), power_of_two_above(0.0)
    (8.0, 1.0)
    """
    exponent = math.frexp(value)[1] if value > 0 else 0
    return 2.0 ** min(max(exponent, -1021), 1023)
