"""One fit on its way: its seed, its checkpoint, and those who watch it."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from coterie._seeds import root_seed
from coterie.fitting.checkpoint_writer import CheckpointWriter, open_checkpoint
from coterie.fitting.fingerprint import fit_fingerprint
from coterie.fitting.monitor import FitEvent, Step, emit, is_monitored
from coterie.fitting.sklearn_callbacks import StepCallbacks

__all__ = ["FitRun"]


class FitRun:
    """What a family's training has from the common life of a fit (`Estimator._fitting`).

    Attributes
    ----------
    owner : the name of the estimator's class
    previous : what the last fit left behind, if this one continues it
    n_threads : how many threads the fit may use
    seed : of everything that is drawn; that of the fit that is continued or resumed
    checkpoint : where steps are written while the fit goes on, or None
    """

    def __init__(
        self, estimator: Any, X: Any, y: Any, *, previous: Any, resume: bool, n_threads: int
    ) -> None:
        self.owner = type(estimator).__name__
        self.previous = previous
        self.n_threads = n_threads
        self.checkpoint: CheckpointWriter | None = None
        self._estimator, self._X, self._y = estimator, X, y
        self._resume = resume
        self._callbacks: StepCallbacks | None = None
        self._total: int | None = None

    @cached_property
    def seed(self) -> int:
        if self.previous is not None:
            return int(self.previous.signature.seed)
        return root_seed(getattr(self._estimator, "random_state", None))

    def open_checkpoint(
        self,
        data_fingerprint: Callable[[], Mapping[str, str]],
        *,
        learner: Any = None,
        every: int | None = None,
    ) -> CheckpointWriter | None:
        """Open the folder of `checkpoint=`, if there is one, and learn what an interrupted fit has written.

        Parameters
        ----------
        data_fingerprint : digests of all that the fit learns from, by name; called only if there is a checkpoint
        learner : what members are copies of, to find out now whether they can be stored
        every : how often to write if the user gave a path only
        """
        if self._estimator.checkpoint is None:
            return None
        about = fit_fingerprint(self._estimator) | dict(data_fingerprint())
        self.checkpoint = open_checkpoint(
            self._estimator, about, self.seed, resume=self._resume, learner=learner, every=every
        )
        self.seed = self.checkpoint.seed
        return self.checkpoint

    def begin_steps(self, max_steps: int | None) -> None:
        """Tell callbacks that rounds or trees begin, so many at most."""
        self._total = max_steps
        self._callbacks = StepCallbacks(self._estimator, self._X, self._y, max_steps)

    @property
    def is_watched(self) -> bool:
        """Whether anybody receives the steps of this fit."""
        return bool(self._callbacks) or is_monitored()

    def emit(
        self,
        step: Step,
        done: int,
        *,
        measures: Mapping[str, float] | None = None,
        fitted: Callable[[], dict[str, Any]] | None = None,
    ) -> bool:
        """Send a step to callbacks and monitors; True if one of them requests a stop.

        `fitted` makes the fitted attributes of a model of the steps so far.
        """
        event = FitEvent(self.owner, step, done, self._total, measures=measures or {}, fitted=fitted)
        wishes = [bool(self._callbacks) and self._callbacks(event), emit(event)]  # type: ignore[misc]
        return True in wishes

    def end(self) -> None:
        """Tell callbacks that the fit is done."""
        if self._callbacks is not None:
            self._callbacks.end()
