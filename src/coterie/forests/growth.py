"""Growing the trees of a forest, step by step: until there are enough, or until more would not help."""

import numpy as np

import coterie._engine as _engine
from coterie._typing import FloatArray
from coterie.fitting.monitor import FitEvent, emit, is_monitored
from coterie.fitting.printed_progress import printed_progress
from coterie.forests.checkpoint_trees import CheckpointedTrees

STEP, LEAST, MOST = 25, 50, 1000
LEAST_GAIN = 0.005
MONITORED_STEP = 8  # trees between two events, if a monitor may request a stop


def grow_trees(
    training: _engine.ForestTraining,
    n_trees: int | None,
    *,
    owner: str,
    verbose: int = 0,
    kept: CheckpointedTrees | None = None,
) -> None:
    """Grow so many trees, or, for None, until the out-of-bag error has settled; `kept` writes them to a checkpoint.

    Monitors receive an event after every few trees and may request a stop: the forest is then made of the trees so far.
    If there are none, all trees are grown in one go.
    """
    most = MOST if n_trees is None else n_trees
    step = STEP if n_trees is None else most if verbose == 0 else 1 if verbose > 1 else max(1, most // 10)
    largest_step = MONITORED_STEP if is_monitored() else most
    with printed_progress(verbose, owner, "tree", every=step):
        while len(training) < most and not (n_trees is None and _is_enough(training)):
            wanted = min(step - len(training) % step, most - len(training), largest_step)
            (training if kept is None else kept).grow(wanted)
            if is_monitored() and emit(_progress(training, most, owner)):
                break


def _progress(training: _engine.ForestTraining, n_trees: int, owner: str) -> FitEvent:
    errors = training.oob_errors
    measures = {"out-of-bag error": float(errors[-1])} if len(errors) else {}
    return FitEvent(owner, "tree", len(training), n_trees, measures=measures)


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
