"""When to stop adding members: a loss on rows set aside has not improved for a while."""

import math
from dataclasses import dataclass, field
from typing import Protocol


class StoppingRule(Protocol):
    """Decides after each round whether to stop, and how many rounds are kept."""

    best_round: int

    def reached(self, loss: float) -> bool: ...


@dataclass
class EarlyStopping:
    """Watches a loss, round by round, from `best_loss` before the first.

    A round is progress if it improves on the last progress by more than `tolerance`, and by more than the share
    `least_progress` of the loss. It is time to stop after `patience` rounds without any; the best round is the one
    of the lowest loss, progress or not.

    Examples
    --------
    >>> stopping = EarlyStopping(patience=2, tolerance=0.0)
    >>> [stopping.reached(loss) for loss in (1.0, 0.8, 0.9, 0.85)]
    [False, False, False, True]
    >>> stopping.best_round
    2
    """

    patience: int
    tolerance: float
    best_loss: float = math.inf
    least_progress: float = 0.0
    best_round: int = 0
    losses: list[float] = field(default_factory=list)
    _last_progress: int = 0
    _mark: float = math.nan

    def reached(self, loss: float) -> bool:
        """Take in the loss after one more round; True if it is time to stop."""
        if not self.losses:
            self._mark = self.best_loss
        self.losses.append(loss)
        if loss < self.best_loss - self.tolerance:
            self.best_loss = loss
            self.best_round = len(self.losses)
        needed = self.tolerance + (
            self.least_progress * abs(self._mark) if math.isfinite(self._mark) else 0.0
        )
        if loss < self._mark - needed:
            self._mark = loss
            self._last_progress = len(self.losses)
        return len(self.losses) - self._last_progress >= self.patience
