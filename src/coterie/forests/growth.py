"""Growing the trees of a forest, step by step: until there are enough, or until more would not help."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

import coterie._engine as _engine
from coterie._typing import FloatArray
from coterie.forests.checkpoint_trees import KeptTrees

__all__ = ["grow_trees", "growing_until", "has_settled"]

STEP, LEAST, MOST = 25, 50, 1000
LEAST_GAIN = 0.005
HURRIED_STEP = 8  # trees between two looks at the clock

_LATE: ContextVar[Callable[[], bool] | None] = ContextVar("late", default=None)


@contextmanager
def growing_until(late: Callable[[], bool]) -> Iterator[None]:
    """Forests that are fitted inside grow no more trees once it is late; they have at least a few."""
    token = _LATE.set(late)
    try:
        yield
    finally:
        _LATE.reset(token)


def grow_trees(
    training: _engine.ForestTraining, n_trees: int | None, *, verbose: int, kept: KeptTrees | None = None
) -> None:
    """Grow so many trees, or, for None, until the out-of-bag error has settled; `kept` keeps them in a journal."""
    most = MOST if n_trees is None else n_trees
    step = STEP if n_trees is None else most if verbose == 0 else 1 if verbose > 1 else max(1, most // 10)
    late = _LATE.get()
    while len(training) < most and not (n_trees is None and _is_enough(training)):
        wanted = min(step - len(training) % step, most - len(training))
        if late is not None:
            if len(training) > 0 and late():
                break
            wanted = min(wanted, HURRIED_STEP)
        if kept is None:
            training.grow(wanted)
        else:
            kept.grow(wanted)
        if kept is None or len(training) % step == 0 or len(training) == most:
            _say(training, most, verbose)


def _is_enough(training: _engine.ForestTraining) -> bool:
    """Looked at after every 25 trees."""
    return len(training) % STEP == 0 and has_settled(training.oob_errors)


def has_settled(errors: FloatArray) -> bool:
    """Whether more trees would lower the error by next to nothing.

    The error of k trees is that of infinitely many plus a part that falls like 1/k. So what the last doubling gained is
    what all further trees together would gain. The forest is large enough if that is less than 0.5 % of the error.
    Errors are averaged over the last 25 trees, because those of classes jump.

    Examples
    --------
    >>> trees = np.arange(1, 401)
    >>> [has_settled(1 + 1 / trees[:k]) for k in (25, 50, 100, 200, 400)]
    [False, False, False, False, True]
    """
    n_trees = len(errors)
    if n_trees < LEAST:
        return False
    now, half = (float(np.mean(errors[end - STEP : end])) for end in (n_trees, max(STEP, n_trees // 2)))
    return half - now <= LEAST_GAIN * half


def _say(training: Any, n_trees: int, verbose: int) -> None:
    if verbose == 0:
        return
    errors = training.oob_errors
    error = f", out-of-bag error {errors[-1]:.6g}" if len(errors) else ""
    sys.stdout.write(f"{len(training)} of {n_trees} trees{error}\n")
