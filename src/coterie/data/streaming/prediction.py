"""Predictions of a scan: batch by batch, in the order of its rows."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeVar, cast

from coterie.data.streaming.scan import Scan

F = TypeVar("F", bound=Callable[..., Any])


def by_batches(method: F) -> F:
    """Let a method of predictions take a scan: it returns an iterator of its results for the batches then."""

    @wraps(method)
    def response(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if isinstance(X, Scan):
            return X.mapped(partial(method, self), *args, **options)
        return method(self, X, *args, **options)

    return cast(F, response)
