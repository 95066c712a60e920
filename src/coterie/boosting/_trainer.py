"""A crew: boosters that learn from different rows of one table, side by side, in squads that stop together.

A *squad* is the boosters whose trees grow alike. After every round a *judge* says how good the squad is, on all rows
that its boosters left out or on an eval set, and that decides for the squad when to stop: a loss over many rows is far
less noisy than one over a tenth of them, and growth of one kind needs fewer rounds than another.
"""

import math
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from coterie._typing import FloatArray
from coterie.boosting._booster import Booster
from coterie.boosting._evaluators import Judge, Verdict
from coterie.fitting.early_stopping import EarlyStopping

__all__ = ["Crew", "Squad"]

_ROUNDS_AT_ONCE = 10
_TRUST = 4  # in the differences between squads


class Squad:
    """Boosters of one kind; without a judge nobody looks on, and without `stopping` they grow as long as asked to."""

    def __init__(self, boosters: list[Booster]) -> None:
        self.boosters = boosters
        self.done = False
        self.judge: Judge | None = None
        self.verdicts: list[Verdict] = []  # before the first round, and after each that was looked at
        self._stopping: EarlyStopping | None = None
        self._limit: int | None = None  # of rounds, if it is not the crew's

    def grow_to(self, n_rounds: int) -> None:
        """Stop after so many rounds, whatever the others do."""
        self._limit = n_rounds
        self.done = n_rounds == 0

    def watch(self, judge: Judge) -> None:
        """Let the judge look at every round from now on."""
        self.judge = judge
        for place in range(len(self.boosters)):
            judge.measure(place)
        self.verdicts = [judge.verdict(0)]

    def stop_early(self, patience: int, tolerance: float, least_progress: float) -> None:
        """Stop when the judge sees no more progress."""
        self._stopping = EarlyStopping(patience, tolerance, self.verdicts[0].to_minimise, least_progress)

    @property
    def is_watched(self) -> bool:
        """True if something may happen after a round."""
        return self.judge is not None or self._limit is not None

    @property
    def final_verdict(self) -> Verdict:
        """Of the rounds that are kept."""
        return self.verdicts[self._stopping.best_round if self._stopping else -1]

    def remaining_loss(self) -> float:
        """What is left of the constant's loss, at least a hundredth; 0 if that has no meaning."""
        if self._stopping is None:
            return 0.0
        first, final = self.verdicts[0].loss, self.final_verdict.loss
        if not 0 < final < math.inf or not 0 < first < math.inf:
            return 0.0
        return max(final / first, 0.01)

    def look_at(self, number: int) -> None:
        """Stop here if the round was the last that was needed."""
        if number == self._limit:
            self.finish()
        if self.judge is None or self.done:
            return
        self.verdicts.append(self.judge.verdict(number))
        if self._stopping is not None and self._stopping.reached(self.verdicts[-1].to_minimise):
            self.finish()

    def finish(self) -> None:
        """Keep the rounds up to the best one."""
        self.done = True
        kept = self._limit if self._stopping is None else self._stopping.best_round
        if kept is not None:
            self.truncate(kept)

    def truncate(self, n_rounds: int) -> None:
        for booster in self.boosters:
            del booster.rounds[n_rounds:]


class Crew:
    """Grows the rounds of several boosters, a thread each."""

    def __init__(self, squads: list[Squad], n_threads: int) -> None:
        self.squads = squads
        self.boosters = [booster for squad in squads for booster in squad.boosters]
        self._n_threads = min(n_threads, len(self.boosters))

    def grow(
        self,
        max_rounds: int,
        after_round: Callable[[list[tuple[int, Any]]], bool] | None = None,
        after_meeting: Callable[[], None] | None = None,
    ) -> None:
        """Grow until every squad is done, or `after_round`, told of the new trees of each round, asks to stop.

        Boosters grow some rounds before they meet again; rounds beyond the last one that counts are dropped. If nobody
        looks on, they meet once. `after_meeting` is called each time that they have met.
        """
        looked_at = after_round is not None or after_meeting is not None
        if not looked_at and not any(squad.is_watched for squad in self.squads):
            self._advance(max_rounds)
            return
        done = 0
        while done < max_rounds and not all(squad.done for squad in self.squads):
            at_once = 1 if len(self.boosters) == 1 else min(_ROUNDS_AT_ONCE, max_rounds - done)
            self._advance(at_once)
            if after_meeting is not None:
                after_meeting()
            for number in range(done + 1, done + at_once + 1):
                live = [squad for squad in self.squads if not squad.done]
                stop = after_round is not None and after_round(
                    [tree for squad in live for tree in _trees(squad.boosters, number - 1)]
                )
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

    def weights(self) -> FloatArray:
        """The share of each booster in the mean, in the order of `boosters`; squads whose loss fell further count more.

        The rows left out by one squad are not those of another, so each is measured by what remains of the loss of the
        constant. The fourth power hardly tells squads apart that are within a few percent, and all but drops one
        that is left with twice the loss.
        """
        fallen = [squad.remaining_loss() for squad in self.squads]
        worth = [remaining**-_TRUST for remaining in fallen] if all(fallen) else [1.0] * len(fallen)
        total = sum(each * len(squad.boosters) for each, squad in zip(worth, self.squads, strict=True))
        shares = [
            each / total for each, squad in zip(worth, self.squads, strict=True) for _ in squad.boosters
        ]
        return np.array(shares)

    def mean_start(self, weights: FloatArray) -> FloatArray:
        """The constant scores of all boosters, averaged."""
        return np.asarray(
            sum(w * booster.loss.baseline for w, booster in zip(weights, self.boosters, strict=True))
        )

    def trees(self, weights: FloatArray) -> Iterable[tuple[int, Any]]:
        """Output and tree, round by round, with answers that are a booster's share; of one booster as they grew."""
        for number in range(max(len(booster.rounds) for booster in self.boosters)):
            for weight, booster in zip(weights.tolist(), self.boosters, strict=True):
                trees = booster.rounds[number] if number < len(booster.rounds) else []
                for output, tree in enumerate(trees):
                    yield output, tree if weight == 1 else tree.scaled(weight)

    @property
    def is_judged(self) -> bool:
        return all(squad.judge is not None for squad in self.squads)

    def trees_after(self, n_rounds: int) -> list[tuple[int, Any]]:
        """Output and tree of the model of the first rounds."""
        return [
            (output, tree)
            for booster in self.boosters
            for trees in booster.trees_after(n_rounds)
            for output, tree in enumerate(trees)
        ]

    def mean_losses(self) -> FloatArray:
        """The loss after each round, over all squads; a squad that is done keeps that of its best round."""
        return self._mean([[verdict.loss for verdict in each] for each in self._histories()])

    def mean_scores(self) -> FloatArray | None:
        """The same for the score, if there is one."""
        histories = [[verdict.score for verdict in each] for each in self._histories()]
        if any(score is None for history in histories for score in history):
            return None
        return self._mean(histories)

    def _histories(self) -> list[list[Verdict]]:
        """The verdicts of each squad, the first aside, all equally long."""
        longest = max(len(squad.verdicts) for squad in self.squads)
        return [
            squad.verdicts[1:] + [squad.final_verdict] * (longest - len(squad.verdicts))
            for squad in self.squads
        ]

    def _mean(self, histories: list[list[Any]]) -> FloatArray:
        masses = [squad.judge.mass for squad in self.squads if squad.judge is not None]
        total = np.zeros(len(histories[0]))
        for mass, history in zip(masses, histories, strict=True):
            total += mass * np.array(history, dtype=np.float64)
        return total / sum(masses)

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
        if squad.judge is not None:
            squad.judge.measure(place)


def _trees(boosters: Iterable[Booster], number: int) -> list[tuple[int, Any]]:
    return [
        (output, tree)
        for booster in boosters
        if number < len(booster.rounds)
        for output, tree in enumerate(booster.rounds[number])
    ]
