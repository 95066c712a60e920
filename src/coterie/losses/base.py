"""What boosting asks of a loss.

A loss is made for one fit: it knows the targets and weights, keeps the scores of the training rows, and
answers with derivatives. Scores are kept as float32, relative to the best constant and in units that fit
float32 whatever the target's, so the loop never sees a number out of range.
"""

from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coterie._typing import FloatArray

__all__ = ["BoostingLoss", "Derivatives", "Float32Array", "float32_weight", "no_hessian"]

Float32Array: TypeAlias = NDArray[np.float32]
Derivatives: TypeAlias = tuple[Float32Array, Float32Array]


class BoostingLoss(Protocol):
    """One loss on one training set."""

    @property
    def n_outputs(self) -> int:
        """Trees per round, and scores per row."""

    @property
    def start(self) -> FloatArray:
        """The best constant score of each output."""

    @property
    def scale(self) -> float:
        """A score of the user's is `start + scale *` a score of the loop's."""

    @property
    def scores(self) -> Float32Array:
        """Scores of the training rows, one row per output."""

    def begin_round(self) -> None:
        """Look at the scores of all outputs, before their trees are grown."""

    def derivatives(self, output: int) -> Derivatives:
        """Gradient and hessian of each row for one output; an empty hessian means 1 for every row."""

    def value(self, scores: FloatArray, y: FloatArray, weight: FloatArray | None) -> float:
        """Mean loss of rows with the user's scores, shape (n_rows, n_outputs)."""


def no_hessian() -> Float32Array:
    """The hessian of a loss whose second derivative is 1 everywhere."""
    return np.empty(0, dtype=np.float32)


def float32_weight(weight: FloatArray | None) -> Float32Array:
    """Weights as the engine takes them; none at all means 1 for every row."""
    return no_hessian() if weight is None else weight.astype(np.float32)
