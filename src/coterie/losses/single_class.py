"""The loss where there is nothing to learn: every row has the same class."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._typing import AnyArray, CodeArray, FloatArray
from coterie.losses.loss import BoundLoss
from coterie.losses.tasks import ClassificationLoss


class BoundSingleClass(BoundLoss):
    """It has no score."""

    by_row = ("scores",)
    n_outputs = 0
    scale = 1.0

    def __init__(self, loss: Any, y: AnyArray, *_: Any) -> None:
        self.baseline = np.zeros(1)
        self.scores = np.zeros((0, len(y)), dtype=np.float32)

    def derivatives(self, output: int) -> Any:
        raise AssertionError("there is no output to learn")

    def mean_value(self, y: AnyArray, raw: FloatArray, weight: FloatArray | None) -> float:
        return 0.0


@dataclass(frozen=True)
class SingleClass(ClassificationLoss):
    """One class, which has the probability 1 in every row."""

    bound = BoundSingleClass

    @property
    def n_outputs(self) -> int:
        return 0

    def probabilities(self, raw: FloatArray) -> FloatArray:
        return np.ones((len(raw), 1))

    def most_probable(self, raw: FloatArray) -> CodeArray:
        return np.zeros(len(raw), dtype=np.intp)

    def link(self, probabilities: FloatArray) -> FloatArray:
        return np.zeros((len(probabilities), 0))
