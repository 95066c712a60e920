"""When to stop adding members: a loss on rows set aside has not improved for a while."""

from dataclasses import dataclass, field

__all__ = ["EarlyStopping"]


@dataclass
class EarlyStopping:
    """Watches a loss, round by round, from `best_loss` before the first.

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
    best_loss: float = float("inf")
    best_round: int = 0
    losses: list[float] = field(default_factory=list)

    def reached(self, loss: float) -> bool:
        """Take in the loss after one more round; True if it is time to stop."""
        self.losses.append(loss)
        if loss < self.best_loss - self.tolerance:
            self.best_loss = loss
            self.best_round = len(self.losses)
        return len(self.losses) - self.best_round >= self.patience
