"""The trainer: boosters that learn from different rows of one table, side by side, in groups that stop together.

A *group* is the boosters whose trees grow alike. After every round an *evaluator* measures the group, on all rows that
its boosters held out or on an eval set, and that decides for the group when to stop: a loss over many rows is far less
noisy than one over a tenth of them, and growth of one kind needs fewer rounds than another.
"""

import math
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from coterie._typing import FloatArray
from coterie.boosting._booster import Booster
from coterie.boosting._evaluators import EvalResult, Evaluator
from coterie.fitting.early_stopping import EarlyStopping

__all__ = ["BoosterGroup", "Trainer"]

_ROUNDS_AT_ONCE = 10
_TRUST = 4  # in the differences between groups


class BoosterGroup:
    """Boosters of one kind; without an evaluator nobody measures them, and without `stopping` all rounds are grown."""

    def __init__(self, boosters: list[Booster]) -> None:
        self.boosters = boosters
        self.done = False
        self.evaluator: Evaluator | None = None
        self.results: list[EvalResult] = []  # before the first round, and after each that was looked at
        self._stopping: EarlyStopping | None = None
        self._limit: int | None = None  # of rounds, if it is not the trainer's

    def grow_to(self, n_rounds: int) -> None:
        """Stop after so many rounds, whatever the others do."""
        self._limit = n_rounds
        self.done = n_rounds == 0

    def evaluate_with(self, evaluator: Evaluator) -> None:
        """Let the evaluator measure every round from now on."""
        self.evaluator = evaluator
        for place in range(len(self.boosters)):
            evaluator.measure(place)
        self.results = [evaluator.result(0)]

    def stop_early(self, patience: int, tolerance: float, least_progress: float) -> None:
        """Stop when the evaluator measures no more progress."""
        self._stopping = EarlyStopping(patience, tolerance, self.results[0].to_minimise, least_progress)

    @property
    def is_watched(self) -> bool:
        """True if something may happen after a round."""
        return self.evaluator is not None or self._limit is not None

    @property
    def final_result(self) -> EvalResult:
        """Of the rounds that are kept."""
        return self.results[self._stopping.best_round if self._stopping else -1]

    def remaining_loss(self) -> float:
        """What is left of the constant's loss, at least a hundredth; 0 if that has no meaning."""
        if self._stopping is None:
            return 0.0
        first, final = self.results[0].loss, self.final_result.loss
        if not 0 < final < math.inf or not 0 < first < math.inf:
            return 0.0
        return max(final / first, 0.01)

    def look_at(self, number: int) -> None:
        """Stop here if the round was the last that was needed."""
        if number == self._limit:
            self.finish()
        if self.evaluator is None or self.done:
            return
        self.results.append(self.evaluator.result(number))
        if self._stopping is not None and self._stopping.reached(self.results[-1].to_minimise):
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


class Trainer:
    """Grows the rounds of several boosters, a thread each."""

    def __init__(self, groups: list[BoosterGroup], n_threads: int) -> None:
        self.groups = groups
        self.boosters = [booster for group in groups for booster in group.boosters]
        self._n_threads = min(n_threads, len(self.boosters))

    def grow(
        self,
        max_rounds: int,
        after_round: Callable[[list[tuple[int, Any]]], bool] | None = None,
        after_pause: Callable[[], None] | None = None,
    ) -> None:
        """Grow until every group is done, or `after_round`, which receives the new trees of each round, returns True.

        Boosters grow some rounds between two pauses; rounds beyond the last one that counts are dropped. If nobody
        looks on, there is no pause. `after_pause` is called at each of them.
        """
        looked_at = after_round is not None or after_pause is not None
        if not looked_at and not any(group.is_watched for group in self.groups):
            self._advance(max_rounds)
            return
        done = 0
        while done < max_rounds and not all(group.done for group in self.groups):
            at_once = 1 if len(self.boosters) == 1 else min(_ROUNDS_AT_ONCE, max_rounds - done)
            self._advance(at_once)
            if after_pause is not None:
                after_pause()
            for number in range(done + 1, done + at_once + 1):
                live = [group for group in self.groups if not group.done]
                stop = after_round is not None and after_round(
                    [tree for group in live for tree in _trees(group.boosters, number - 1)]
                )
                for group in live:
                    group.look_at(number)
                if stop:
                    for group in live:
                        group.truncate(number)
                    max_rounds = 0
                    break
            done += at_once
        for group in self.groups:
            if not group.done:
                group.finish()

    def weights(self) -> FloatArray:
        """The share of each booster in the mean, in the order of `boosters`; groups whose loss fell further count more.

        The rows left out by one group are not those of another, so each is measured by what remains of the loss of the
        constant. The fourth power hardly tells groups apart that are within a few percent, and all but drops one
        that is left with twice the loss.
        """
        fallen = [group.remaining_loss() for group in self.groups]
        worth = [remaining**-_TRUST for remaining in fallen] if all(fallen) else [1.0] * len(fallen)
        total = sum(each * len(group.boosters) for each, group in zip(worth, self.groups, strict=True))
        shares = [
            each / total for each, group in zip(worth, self.groups, strict=True) for _ in group.boosters
        ]
        return np.array(shares)

    def mean_start(self, weights: FloatArray) -> FloatArray:
        """The constant scores of all boosters, averaged."""
        return np.asarray(
            sum(w * booster.loss.baseline for w, booster in zip(weights, self.boosters, strict=True))
        )

    def trees(self, weights: FloatArray) -> Iterable[tuple[int, Any]]:
        """Output and tree, round by round, with leaf values that are a booster's share; of one booster as they grew."""
        for number in range(max(len(booster.rounds) for booster in self.boosters)):
            for weight, booster in zip(weights.tolist(), self.boosters, strict=True):
                trees = booster.rounds[number] if number < len(booster.rounds) else []
                for output, tree in enumerate(trees):
                    yield output, tree if weight == 1 else tree.scaled(weight)

    @property
    def is_evaluated(self) -> bool:
        return all(group.evaluator is not None for group in self.groups)

    def trees_after(self, n_rounds: int) -> list[tuple[int, Any]]:
        """Output and tree of the model of the first rounds."""
        return [
            (output, tree)
            for booster in self.boosters
            for trees in booster.trees_after(n_rounds)
            for output, tree in enumerate(trees)
        ]

    def mean_losses(self) -> FloatArray:
        """The loss after each round, over all groups; a group that is done keeps that of its best round."""
        return self._mean([[result.loss for result in each] for each in self._histories()])

    def mean_scores(self) -> FloatArray | None:
        """The same for the score, if there is one."""
        histories = [[result.score for result in each] for each in self._histories()]
        if any(score is None for history in histories for score in history):
            return None
        return self._mean(histories)

    def _histories(self) -> list[list[EvalResult]]:
        """The results of each group, the first aside, all equally long."""
        longest = max(len(group.results) for group in self.groups)
        return [
            group.results[1:] + [group.final_result] * (longest - len(group.results)) for group in self.groups
        ]

    def _mean(self, histories: list[list[Any]]) -> FloatArray:
        masses = [group.evaluator.mass for group in self.groups if group.evaluator is not None]
        total = np.zeros(len(histories[0]))
        for mass, history in zip(masses, histories, strict=True):
            total += mass * np.array(history, dtype=np.float64)
        return total / sum(masses)

    def _advance(self, n_rounds: int) -> None:
        work = [
            (group, place) for group in self.groups if not group.done for place in range(len(group.boosters))
        ]
        if self._n_threads == 1:
            for group, place in work:
                _grow_one(group, place, n_rounds, None)
            return
        interrupted = threading.Event()
        with ThreadPoolExecutor(self._n_threads, thread_name_prefix="coterie") as pool:
            tasks = [pool.submit(_grow_one, group, place, n_rounds, interrupted) for group, place in work]
            try:
                wait(tasks, return_when=FIRST_EXCEPTION)
            finally:
                if not all(task.done() and task.exception() is None for task in tasks):
                    interrupted.set()
        for task in tasks:
            task.result()


def _grow_one(group: BoosterGroup, place: int, n_rounds: int, interrupted: threading.Event | None) -> None:
    for _ in range(n_rounds):
        if interrupted is not None and interrupted.is_set():
            return
        group.boosters[place].grow_round()
        if group.evaluator is not None:
            group.evaluator.measure(place)


def _trees(boosters: Iterable[Booster], number: int) -> list[tuple[int, Any]]:
    return [
        (output, tree)
        for booster in boosters
        if number < len(booster.rounds)
        for output, tree in enumerate(booster.rounds[number])
    ]
