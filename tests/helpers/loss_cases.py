"""Every registered loss with its default settings and some others, and rows that it can take."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.losses import (
    CustomLoss,
    Expectile,
    Focal,
    Huber,
    Loss,
    Quantile,
    Tweedie,
    loss_for_classes,
    loss_for_numbers,
    registered_losses,
)

OTHER_SETTINGS: list[Any] = [
    Huber(0.5), Quantile(0.8), Quantile((0.1, 0.5, 0.9)), Expectile(0.2), Tweedie(1.2),
    Focal(0.5), Focal(3.0, alpha=0.25)
]  # fmt: skip
LOG_COSH = CustomLoss(
    value=lambda y, score: np.logaddexp(score - y, y - score),
    gradient=lambda y, score: np.tanh(score - y),
    hessian=lambda y, score: 1 - np.tanh(score - y) ** 2,
)
TWO_CLASSES = CustomLoss(
    value=lambda y, score: (score - 2 * y + 1) ** 2 / 2, gradient=lambda y, score: score - 2 * y + 1
)


@dataclass(frozen=True)
class LossCase:
    """A loss as the user gives it; `n_classes` is 0 for numbers."""

    given: Any
    n_classes: int

    @property
    def loss(self) -> Any:
        """The loss for the task."""
        return (
            loss_for_classes(self.given, self.n_classes) if self.n_classes else loss_for_numbers(self.given)
        )

    def targets(self, n_rows: int, seed: int = 0) -> Any:
        rng = np.random.default_rng(seed)
        if not self.n_classes:
            return rng.uniform(0.05, 0.95, n_rows)
        return rng.integers(0, self.n_classes, n_rows).astype(np.int32)

    def raw(self, n_rows: int, seed: int = 1) -> Any:
        return np.random.default_rng(seed).normal(size=(n_rows, self.loss.n_outputs))

    def __str__(self) -> str:
        return f"{self.given!r} of {self.n_classes or 'no'} classes"


def _cases(given: Loss) -> list[LossCase]:
    n_classes = {"regression": 0, "binary": 2, "multiclass": 4}
    return [LossCase(given, n_classes[task]) for task in sorted(given.tasks)]


REGISTERED = [
    case for given in [*(loss() for loss in registered_losses()), *OTHER_SETTINGS] for case in _cases(given)
]
CUSTOM = [LossCase(LOG_COSH, 0), LossCase(TWO_CLASSES, 2)]
EVERY_CASE = [*REGISTERED, *CUSTOM]
