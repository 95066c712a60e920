"""scikit-learn's callbacks, of which only its version 1.9 and later know: the one place that imports them.

A callback of scikit-learn is a monitor like any other (`fitting/monitor.py`): it receives the steps of a fit, and may
request a stop. Ensembles of learners hand their callbacks on to members, also to those in other processes.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from coterie.fitting.monitor import FitEvent

CallbackSupport: type
managed_callbacks: Callable[[Any], AbstractContextManager[None]]

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback._callback_support import callback_management_context

    CallbackSupport, managed_callbacks = CallbackSupportMixin, callback_management_context
except ImportError:

    class _NoCallbacks:
        """Nothing to support."""

    CallbackSupport, managed_callbacks = _NoCallbacks, nullcontext


class StepCallbacks:
    """The callbacks of an estimator, of which there are some, as a monitor of its rounds or trees.

    Parameters
    ----------
    max_steps : how many steps there will be at most, or None if that is not known
    """

    def __init__(self, estimator: Any, X: Any, y: Any, max_steps: int | None) -> None:
        self._given = {"estimator": estimator, "X": X, "y": y}
        self._context = estimator._init_callback_context(max_subtasks=max_steps)
        self._context.call_on_fit_task_begin(**self._given)

    def __call__(self, event: FitEvent) -> bool:
        """Tell the callbacks of a step; True if one of them requests a stop."""
        step = self._context.subcontext()
        step.call_on_fit_task_begin(**self._given)
        fitted = {} if event.fitted is None else event.fitted()
        return bool(step.call_on_fit_task_end(**self._given, reconstruction_attributes=fitted))

    def end(self) -> None:
        self._context.call_on_fit_task_end(**self._given)


@dataclass(frozen=True)
class MemberCallbacks:
    """The callbacks of an ensemble while its members are fitted: who fits them, and the context of it all."""

    owner: Any
    context: Any

    def of_member(self, name: str) -> "MemberCallbacks":
        """For one member, which may be fitted in another process."""
        return MemberCallbacks(self.owner, self.context.subcontext(task_name=name))

    @contextmanager
    def over(self, model: Any, X: Any, y: Any) -> Iterator[None]:
        """Tell the callbacks of the fit inside; a member that supports callbacks tells them more."""
        given = {"estimator": self.owner, "X": X, "y": y}
        knows = hasattr(model, "set_callbacks")
        with self.context.propagate_callback_context(model) if knows else nullcontext():
            self.context.call_on_fit_task_begin(**given)
            yield
            self.context.call_on_fit_task_end(**given)


_OF_MEMBERS: ContextVar[MemberCallbacks | None] = ContextVar("callbacks_of_members", default=None)
callbacks_of_members = (
    _OF_MEMBERS.get
)  # of the ensemble whose members are fitted in this thread, if it has any


@contextmanager
def watching_members(ensemble: Any, X: Any, y: Any) -> Iterator[None]:
    """Let the callbacks of an ensemble watch the members that are fitted inside, and those of no other ensemble."""
    if not getattr(ensemble, "_skl_callbacks", None):
        token = _OF_MEMBERS.set(None)
        try:
            yield
        finally:
            _OF_MEMBERS.reset(token)
        return
    context = ensemble._init_callback_context(max_subtasks=None)
    token = _OF_MEMBERS.set(MemberCallbacks(ensemble, context))
    try:
        context.call_on_fit_task_begin(estimator=ensemble, X=X, y=y)
        yield
        context.call_on_fit_task_end(estimator=ensemble, X=X, y=y)
    finally:
        _OF_MEMBERS.reset(token)
