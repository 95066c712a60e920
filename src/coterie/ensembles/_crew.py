"""A crew: boosters that learn from different rows of one table, side by side, and stop together.

Each leaves some rows out. After every round the crew knows the loss of all rows left out, each by the booster that
did not learn from it, and that sum decides for all when to stop: a loss over the whole table is far less noisy than
one over a tenth of it.
"""

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

from coterie._typing import AnyArray, FloatArray
from coterie.ensembles._booster import Booster

__all__ = ["Crew"]

_ROUNDS_AT_ONCE = 10


class Crew:
    """Grows the rounds of several boosters, a thread each."""

    def __init__(
        self, boosters: list[Booster], y: AnyArray, weight: FloatArray | None, n_threads: int
    ) -> None:
        self.boosters = boosters
        self._y = y
        self._weight = weight
        self._n_threads = min(n_threads, len(boosters))
        self._measures = any(len(booster.left_out) for booster in boosters)
        self._losses: list[list[float]] = [[] for _ in boosters]
        left_out = [booster.left_out for booster in boosters]
        if self._measures:
            for place in range(len(boosters)):
                self._measure(place)
        self._mass = float(sum(len(rows) if weight is None else weight[rows].sum() for rows in left_out))

    def loss(self, n_rounds: int) -> float:
        """The mean loss of the rows left out, after so many rounds."""
        return sum(losses[n_rounds] for losses in self._losses) / self._mass

    def grow(self, max_rounds: int, after_round: Callable[[int], bool]) -> None:
        """Grow until `after_round(number)` asks to stop; it is asked about each round, in order.

        Boosters grow some rounds before they meet again. Rounds after the one that stopped the growth are dropped.
        """
        done = 0
        while done < max_rounds:
            at_once = 1 if len(self.boosters) == 1 else min(_ROUNDS_AT_ONCE, max_rounds - done)
            self._advance(at_once)
            for number in range(done + 1, done + at_once + 1):
                if after_round(number):
                    self.truncate(number)
                    return
            done += at_once

    def truncate(self, n_rounds: int) -> None:
        for booster in self.boosters:
            del booster.rounds[n_rounds:]

    def _advance(self, n_rounds: int) -> None:
        if self._n_threads == 1:
            for place in range(len(self.boosters)):
                self._grow_one(place, n_rounds, None)
            return
        interrupted = threading.Event()
        with ThreadPoolExecutor(self._n_threads, thread_name_prefix="coterie") as pool:
            tasks = [
                pool.submit(self._grow_one, place, n_rounds, interrupted)
                for place in range(len(self.boosters))
            ]
            try:
                wait(tasks, return_when=FIRST_EXCEPTION)
            finally:
                if not all(task.done() and task.exception() is None for task in tasks):
                    interrupted.set()
        for task in tasks:
            task.result()

    def _grow_one(self, place: int, n_rounds: int, interrupted: threading.Event | None) -> None:
        for _ in range(n_rounds):
            if interrupted is not None and interrupted.is_set():
                return
            self.boosters[place].grow_round()
            if self._measures:
                self._measure(place)

    def _measure(self, place: int) -> None:
        self._losses[place].append(self.boosters[place].loss_of_left_out(self._y, self._weight))
