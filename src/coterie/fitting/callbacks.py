"""Callbacks of a committee, which watch its members."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from coterie.fitting.sklearn_callbacks import callbacks_of_members, managed_callbacks, watching_members

__all__ = ["current_watch", "watched"]

_Fit = TypeVar("_Fit", bound=Callable[..., Any])
current_watch = callbacks_of_members


def watched(fit: _Fit) -> _Fit:
    """Let the callbacks of an ensemble watch its `fit`, member by member."""

    @wraps(fit)
    def with_watch(self: Any, X: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
        with managed_callbacks(self), watching_members(self, X, y):
            return fit(self, X, y, *args, **kwargs)

    return cast(_Fit, with_watch)
