"""Growing the trees of a forest, step by step: until there are enough, or until more would not help."""

import sys
from typing import Any

import numpy as np

import coterie._engine as _engine
from coterie._typing import FloatArray

__all__ = ["grow_trees", "has_settled"]

STEP, LEAST, MOST = 25, 50, 1000
LEAST_GAIN = 0.005


def grow_trees(training: _engine.ForestTraining, n_trees: int | None, *, verbose: int) -> None:
    """Grow so many trees, or, for None, until the out-of-bag error has settled."""
    if n_trees is None:
        while len(training) < MOST and not has_settled(training.oob_errors):
            training.grow(STEP)
            _say(training, MOST, verbose)
        return
    step = n_trees if verbose == 0 else 1 if verbose > 1 else max(1, n_trees // 10)
    while len(training) < n_trees:
        training.grow(min(step, n_trees - len(training)))
        _say(training, n_trees, verbose)


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
