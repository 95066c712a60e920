"""scikit-learn's callbacks (progress bars, monitors), told of each round of a fit."""

from typing import Any

__all__ = ["RoundWatchers"]


class RoundWatchers:
    """Tells the estimator's callbacks when rounds begin and end; costs nothing when there are none."""

    def __init__(self, estimator: Any, X: Any, y: Any, max_rounds: int) -> None:
        self._given = {"estimator": estimator, "X": X, "y": y}
        self._context = estimator._init_callback_context(max_subtasks=max_rounds)
        self._context.call_on_fit_task_begin(**self._given)
        self.listening = bool(getattr(estimator, "_skl_callbacks", None))
        self._round: Any = None

    def begin_round(self) -> None:
        if self.listening:
            self._round = self._context.subcontext()
            self._round.call_on_fit_task_begin(**self._given)

    def end_round(self, **fitted: Any) -> bool:
        """True if a callback asks to stop; `fitted` is what a model of the rounds so far needs."""
        if not self.listening:
            return False
        return bool(self._round.call_on_fit_task_end(**self._given, reconstruction_attributes=fitted))

    def end(self) -> None:
        self._context.call_on_fit_task_end(**self._given)
