"""Growing the trees of a forest, step by step, until there are enough, or until more would not help; and checkpoints of
them.
"""

import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from coterie._typing import FloatArray
from coterie.errors import ModelFileError
from coterie.fitting.checkpoint_writer import CheckpointWriter, reading_checkpoint
from coterie.fitting.monitor import FitEvent, active_monitors, emit, printed_progress
from coterie.forests.tree_ranges import GrowingForest


class CheckpointedTrees:
    """Gathers the trees that a forest has grown since the last part; begins by giving it those that are known.

    What is known out of bag is a sum over trees for each row: it stands beside the parts, and the last one counts.
    """

    def __init__(
        self,
        checkpoint: CheckpointWriter,
        training: GrowingForest,
        n_threads: int,
        *,
        track_oob: bool,
    ) -> None:
        self._checkpoint = checkpoint
        self._training = training
        self._track_oob = track_oob
        self._n_threads = n_threads
        self._seconds_per_tree: float | None = None
        with reading_checkpoint():
            self._give_known()
        self._kept = len(training)

    def _give_known(self) -> None:
        parts = self._checkpoint.known
        if not parts:
            return
        forest = parts[0]["forest"]
        for part in parts[1:]:
            forest = forest.joined(part["forest"])
        both = (
            np.concatenate([part[name].ravel() for part in parts])
            for name in ("importances", "oob_importances")
        )
        self._training.take(forest, *both)
        state = self._checkpoint.state
        if (state is not None) != self._track_oob:
            raise ModelFileError("The checkpoint does not hold what such a fit knows out of bag.")
        if state is not None:
            sums, counts, errors, totals = (state[name] for name in ("sums", "counts", "errors", "totals"))
            if totals is None or len(errors) != len(self._training):
                raise ModelFileError("The checkpoint knows other trees out of bag than it holds.")
            self._training.resume_out_of_bag(sums.ravel(), counts.ravel(), errors, totals)

    def grow(self, most: int, grow: Callable[[int], None] | None = None) -> None:
        """Grow some trees, as many as there is time for until the next part, and write that if it is time."""
        n_trees, begun = min(most, self._at_once(most)), time.monotonic()
        (grow or self._training.grow)(n_trees)
        self._seconds_per_tree = (time.monotonic() - begun) / n_trees
        self.look()

    def look(self) -> None:
        self._checkpoint.look(len(self._training) - self._kept)

    def _at_once(self, most: int) -> int:
        """Trees to the next part; how many that are does not change them."""
        every, seconds = self._checkpoint.every, self._checkpoint.seconds_left
        chosen = [] if every is None else [every - (len(self._training) - self._kept)]
        if seconds is not None and self._seconds_per_tree is None:
            chosen.append(self._n_threads)
        elif seconds is not None and self._seconds_per_tree:
            rounds = int(seconds / self._seconds_per_tree) // self._n_threads
            chosen.append(max(1, rounds) * self._n_threads)
        return max(1, min(chosen, default=most))

    def collect(self) -> tuple[int, Any, Any]:
        """What a part shall hold, and what stands beside it; it is not new after that."""
        training, first = self._training, self._kept
        n_new, self._kept = len(training) - first, len(training)
        if n_new == 0:
            return 0, None, None
        content = {
            "forest": training.grown_since(first),
            "importances": training.importances[first:],
            "oob_importances": training.oob_importances[first:],
        }
        if not self._track_oob:
            return n_new, content, None
        state = {
            "sums": training.oob_sums,
            "counts": training.oob_counts,
            "errors": training.oob_errors,
            "totals": training.oob_totals,
        }
        return n_new, content, state


STEP, LEAST, MOST = 25, 50, 1000
LEAST_GAIN = 0.005
MONITORED_STEP = 8  # trees between two events, if a monitor may request a stop


def grow_trees(
    training: GrowingForest,
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
    largest_step = MONITORED_STEP if active_monitors() else most
    with printed_progress(verbose, owner, "tree", every=step) if verbose else nullcontext():
        while len(training) < most and not (n_trees is None and _is_enough(training)):
            wanted = min(step - len(training) % step, most - len(training), largest_step)
            (training if kept is None else kept).grow(wanted)
            if active_monitors() and emit(_progress(training, most, owner)):
                break


def _progress(training: GrowingForest, n_trees: int, owner: str) -> FitEvent:
    errors = training.oob_errors
    measures = {"out-of-bag error": float(errors[-1])} if len(errors) else {}
    return FitEvent(owner, "tree", len(training), n_trees, measures=measures)


def _is_enough(training: GrowingForest) -> bool:
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
