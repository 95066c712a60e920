"""scikit-learn's callbacks (progress bars, monitors), told of each round of a fit, or of each member."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, cast

from sklearn.callback._callback_support import callback_management_context

__all__ = ["MemberWatch", "RoundWatchers", "current_watch", "watched"]

_Fit = TypeVar("_Fit", bound=Callable[..., Any])


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


@dataclass(frozen=True)
class MemberWatch:
    """A fit of members that callbacks watch: who fits them, and the context of it all."""

    owner: Any
    context: Any

    def of_member(self, name: str) -> "MemberWatch":
        """The watch over one member, which may be in another process."""
        return MemberWatch(self.owner, self.context.subcontext(task_name=name))

    @contextmanager
    def over(self, model: Any, X: Any, y: Any) -> Iterator[None]:
        """Tell the callbacks of the fit inside; a member that knows callbacks tells them more."""
        given = {"estimator": self.owner, "X": X, "y": y}
        knows = hasattr(model, "set_callbacks")
        with self.context.propagate_callback_context(model) if knows else nullcontext():
            self.context.call_on_fit_task_begin(**given)
            yield
            self.context.call_on_fit_task_end(**given)


_WATCH: ContextVar[MemberWatch | None] = ContextVar("watch", default=None)


def current_watch() -> MemberWatch | None:
    """Who watches the fit that is going on in this thread."""
    return _WATCH.get()


def watched(fit: _Fit) -> _Fit:
    """Let the callbacks of an ensemble watch its `fit`, member by member."""

    @wraps(fit)
    def with_watch(self: Any, X: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
        if not getattr(self, "_skl_callbacks", None):
            token = _WATCH.set(None)  # that of an ensemble around this one
            try:
                return fit(self, X, y, *args, **kwargs)
            finally:
                _WATCH.reset(token)
        with callback_management_context(self):
            context = self._init_callback_context(max_subtasks=None)
            token = _WATCH.set(MemberWatch(self, context))
            try:
                context.call_on_fit_task_begin(estimator=self, X=X, y=y)
                fit(self, X, y, *args, **kwargs)
                context.call_on_fit_task_end(estimator=self, X=X, y=y)
            finally:
                _WATCH.reset(token)
        return self

    return cast(_Fit, with_watch)
