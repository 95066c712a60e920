"""A crew: boosters that learn from different rows of one table, side by side, in squads that stop together.

Each booster leaves some rows out. A *squad* is the boosters whose trees grow alike. After every round a squad knows the
loss of all rows that its boosters left out, and that sum decides for the squad when to stop: a loss over many rows is
far less noisy than one over a tenth of them, and growth of one kind needs fewer rounds than another.
"""

import math
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.ensembles._booster import Booster
from coterie.ensembles._early_stopping import EarlyStopping

__all__ = ["Crew", "Squad"]

_ROUNDS_AT_ONCE = 10
_TRUST = 4  # in the differences between squads


class Squad:
    """Boosters of one kind; without `stopping` they grow as long as they are asked to."""

    def __init__(self, boosters: list[Booster], y: AnyArray, weight: FloatArray | None) -> None:
        self.boosters = boosters
        self.stopping: EarlyStopping | None = None
        self.done = False
        self._y = y
        self._weight = weight
        self._losses: list[list[float]] = [[] for _ in boosters]
        left_out = [booster.left_out for booster in boosters]
        self.mass = float(sum(len(rows) if weight is None else weight[rows].sum() for rows in left_out))

    def stop_early(self, patience: int, tolerance: float, least_progress: float) -> None:
        """Watch the rows left out from now on."""
        for place in range(len(self.boosters)):
            self.measure(place)
        self.stopping = EarlyStopping(patience, tolerance, self.loss(0), least_progress)

    def measure(self, place: int) -> None:
        self._losses[place].append(self.boosters[place].loss_of_left_out(self._y, self._weight))

    def loss(self, n_rounds: int) -> float:
        """The mean loss of the rows left out, after so many rounds."""
        return sum(losses[n_rounds] for losses in self._losses) / self.mass

    @property
    def losses(self) -> list[float]:
        """After each round that was looked at."""
        return self.stopping.losses if self.stopping else []

    @property
    def best_loss(self) -> float:
        return self.stopping.best_loss if self.stopping else math.nan

    def remaining_loss(self) -> float:
        """What is left of the constant's loss, at least a hundredth; 0 if that has no meaning."""
        if self.stopping is None or not 0 < self.best_loss < math.inf or not 0 < self.loss(0) < math.inf:
            return 0.0
        return max(self.best_loss / self.loss(0), 0.01)

    def look_at(self, number: int) -> None:
        """Stop here if the round was the last that was needed."""
        if self.stopping is not None and not self.done and self.stopping.reached(self.loss(number)):
            self.finish()

    def finish(self) -> None:
        """Keep the rounds up to the best one."""
        self.done = True
        if self.stopping is not None:
            self.truncate(self.stopping.best_round)

    def truncate(self, n_rounds: int) -> None:
        for booster in self.boosters:
            del booster.rounds[n_rounds:]


class Crew:
    """Grows the rounds of several boosters, a thread each."""

    def __init__(self, squads: list[Squad], n_threads: int) -> None:
        self.squads = squads
        self.boosters = [booster for squad in squads for booster in squad.boosters]
        self._n_threads = min(n_threads, len(self.boosters))

    def grow(self, max_rounds: int, after_round: Callable[[list[tuple[Booster, int, Any]]], bool]) -> None:
        """Grow until every squad is done, or `after_round`, told of the new trees of each round, asks to stop.

        Boosters grow some rounds before they meet again; rounds beyond the last one that counts are dropped.
        """
        done = 0
        while done < max_rounds and not all(squad.done for squad in self.squads):
            at_once = 1 if len(self.boosters) == 1 else min(_ROUNDS_AT_ONCE, max_rounds - done)
            self._advance(at_once)
            for number in range(done + 1, done + at_once + 1):
                live = [squad for squad in self.squads if not squad.done]
                stop = after_round([tree for squad in live for tree in _trees(squad.boosters, number - 1)])
                for squad in live:
                    squad.look_at(number)
                if stop:
                    for squad in live:
                        squad.truncate(number)
                    max_rounds = 0
                    break
            done += at_once
        for squad in self.squads:
            if not squad.done:
                squad.finish()

    def weights(self) -> dict[Booster, float]:
        """The share of each booster in the mean; squads whose loss fell further count more.

        The rows left out by one squad are not those of another, so each is measured by what remains of the loss of the
        constant. The fourth power hardly tells squads apart that are within a few percent, and all but drops one
        that is left with twice the loss.
        """
        fallen = [squad.remaining_loss() for squad in self.squads]
        worth = [remaining**-_TRUST for remaining in fallen] if all(fallen) else [1.0] * len(fallen)
        total = sum(each * len(squad.boosters) for each, squad in zip(worth, self.squads, strict=True))
        return {
            booster: each / total
            for each, squad in zip(worth, self.squads, strict=True)
            for booster in squad.boosters
        }

    def trees(self) -> Iterable[tuple[Booster, int, Any]]:
        """Booster, output and tree, round by round."""
        for number in range(max(len(booster.rounds) for booster in self.boosters)):
            yield from _trees(self.boosters, number)

    def trees_after(self, n_rounds: int) -> list[tuple[Booster, int, Any]]:
        """Booster, output and tree of the model of the first rounds."""
        return [
            (booster, output, tree)
            for booster in self.boosters
            for trees in booster.trees_after(n_rounds)
            for output, tree in enumerate(trees)
        ]

    def mean_losses(self) -> FloatArray:
        """The loss of the rows left out after each round, over all squads; a squad that is done keeps its best."""
        longest = max(len(squad.losses) for squad in self.squads)
        mass = sum(squad.mass for squad in self.squads)
        total = np.zeros(longest)
        for squad in self.squads:
            total += squad.mass * np.append(squad.losses, [squad.best_loss] * (longest - len(squad.losses)))
        return total / mass

    def _advance(self, n_rounds: int) -> None:
        work = [
            (squad, place) for squad in self.squads if not squad.done for place in range(len(squad.boosters))
        ]
        if self._n_threads == 1:
            for squad, place in work:
                _grow_one(squad, place, n_rounds, None)
            return
        interrupted = threading.Event()
        with ThreadPoolExecutor(self._n_threads, thread_name_prefix="coterie") as pool:
            tasks = [pool.submit(_grow_one, squad, place, n_rounds, interrupted) for squad, place in work]
            try:
                wait(tasks, return_when=FIRST_EXCEPTION)
            finally:
                if not all(task.done() and task.exception() is None for task in tasks):
                    interrupted.set()
        for task in tasks:
            task.result()


def _grow_one(squad: Squad, place: int, n_rounds: int, interrupted: threading.Event | None) -> None:
    for _ in range(n_rounds):
        if interrupted is not None and interrupted.is_set():
            return
        squad.boosters[place].grow_round()
        if squad.stopping is not None:
            squad.measure(place)


def _trees(boosters: Iterable[Booster], number: int) -> list[tuple[Booster, int, Any]]:
    return [
        (booster, output, tree)
        for booster in boosters
        if number < len(booster.rounds)
        for output, tree in enumerate(booster.rounds[number])
    ]
