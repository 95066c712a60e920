"""Predictions of a scan, batch by batch in the order of its rows, and of collections of Dask."""

from collections.abc import Callable
from functools import partial, wraps
from importlib import import_module
from typing import Any, TypeVar, cast

from coterie.data.streaming.scan import Scan

F = TypeVar("F", bound=Callable[..., Any])


def by_batches(method: F) -> F:
    """Let a method of predictions take a scan, for an iterator of results, or a collection of Dask, for another."""

    @wraps(method)
    def response(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if isinstance(X, Scan):
            return X.mapped(partial(method, self), *args, **options)
        if type(X).__module__.startswith("dask."):  # for those who are above this package
            collections = import_module("coterie.distributed.on_dask.collections")
            return collections.predict_collection(method, self, X, *args, **options)
        return method(self, X, *args, **options)

    return cast(F, response)
