"""What boosting asks of a loss.

A loss is made for one fit: it knows the targets and weights, keeps the scores of the training rows, and
answers with derivatives. Scores are kept as float32, relative to the best constant and in units that fit
float32 whatever the target's, so the loop never sees a number out of range.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coterie._typing import FloatArray, RowArray

__all__ = [
    "BEST_CONSTANT",
    "BoostingLoss",
    "Derivatives",
    "Float32Array",
    "LeafQuantile",
    "NewtonLoss",
    "Origin",
    "float32_scores",
    "float32_weight",
    "no_hessian",
    "power_of_two_above",
    "safe_mean",
    "weighted",
]

Float32Array: TypeAlias = NDArray[np.float32]
Derivatives: TypeAlias = tuple[Float32Array, Float32Array]


@dataclass(frozen=True)
class Origin:
    """Where the scores of the training rows begin.

    `offset`, of shape (n_rows, n_outputs), is a score that each row has from the start; None means zero. With
    `add_constant` the constant that fits best on top of it is added, and without it the offset is all there is.
    """

    offset: FloatArray | None = None
    add_constant: bool = True


BEST_CONSTANT = Origin()


class LeafQuantile(NamedTuple):
    """What leaves answer instead of Newton's step: a quantile of the residuals of their rows."""

    level: float
    residual: Float32Array
    weight: Float32Array


class BoostingLoss(Protocol):
    """One loss on one training set."""

    @property
    def n_outputs(self) -> int:
        """Trees per round, and scores per row."""

    @property
    def start(self) -> FloatArray:
        """The best constant score of each output, on top of the offset if there is one."""

    @property
    def scale(self) -> float:
        """What a score of the loop's is worth in the user's units."""

    @property
    def scores(self) -> Float32Array:
        """Scores of the training rows, one row per output."""

    def begin_round(self) -> None:
        """Look at the scores of all outputs, before their trees are grown."""

    def derivatives(self, output: int) -> Derivatives:
        """Gradient and hessian of each row for one output; an empty hessian means 1 for every row."""

    @property
    def joint_units(self) -> FloatArray | None:
        """For outputs that share their trees: what a score of the loop's is worth in the user's units, for each."""

    def joint_derivatives(self) -> Derivatives:
        """For outputs that share their trees: gradients, one row per output, and the hessian of all of them."""

    def leaf_quantile(self, output: int) -> LeafQuantile | None:
        """The quantile that leaves answer with, for losses whose derivatives do not say how far to go."""

    def first_scores(self, rows: RowArray) -> FloatArray:
        """The user's scores of some of the training rows before the first tree, shape (len(rows), n_outputs)."""

    def users_scores(self, rows: RowArray) -> FloatArray:
        """The user's scores of some of the training rows, shape (len(rows), n_outputs)."""

    def value(self, scores: FloatArray, y: FloatArray, weight: FloatArray | None) -> float:
        """Mean loss of rows with the user's scores, shape (n_rows, n_outputs)."""


class NewtonLoss:
    """A loss that needs no look at the scores before a round, and whose leaves take Newton's step."""

    start: FloatArray
    scale: float
    scores: Float32Array
    offset: FloatArray | None = None
    joint_units: FloatArray | None = None

    def first_scores(self, rows: RowArray) -> FloatArray:
        start = np.tile(self.start, (len(rows), 1))
        return start if self.offset is None else start + self.offset[rows]

    def users_scores(self, rows: RowArray) -> FloatArray:
        return np.asarray(self.first_scores(rows) + self.scale * self.scores[:, rows].T.astype(np.float64))

    def begin_round(self) -> None:
        pass

    def joint_derivatives(self) -> Derivatives:
        raise AssertionError("each output has trees of its own")

    def leaf_quantile(self, output: int) -> LeafQuantile | None:
        return None


def no_hessian() -> Float32Array:
    """The hessian of a loss whose second derivative is 1 everywhere."""
    return np.empty(0, dtype=np.float32)


def float32_weight(weight: FloatArray | None) -> Float32Array:
    """Weights as the engine takes them; none at all means 1 for every row."""
    return no_hessian() if weight is None else weight.astype(np.float32)


def float32_scores(start: FloatArray, offset: FloatArray | None, n_rows: int) -> Float32Array:
    """What the loop's scores begin with, one row per output, where they are the user's scores themselves."""
    if offset is None:
        return np.repeat(start.astype(np.float32)[:, None], n_rows, axis=1)
    # Beyond 1e30 a probability is 0 or 1 anyway, and float32 ends at 3e38.
    return np.ascontiguousarray(np.clip(start + offset, -1e30, 1e30).T, dtype=np.float32)


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
