"""Evaluators: they measure a group of boosters after each round, on rows held out or on an eval set."""

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

import coterie._engine as _engine
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.boosting._trainer import Booster, EvalResult
from coterie.fitting.eval_set import EvalSet
from coterie.fitting.scoring import RoundScorer


def _as_they_are(scores: FloatArray) -> FloatArray:
    return scores


class HeldOutEvaluator:
    """Each booster is measured on the rows that it left out; a score is taken of all these rows together.

    Parameters
    ----------
    rows : of each booster, if they are not those that it left out
    targets, weights : of the rows that each booster left out; no weights means that all count alike.
    gather : from raw predictions of the rows left out that are here to those of all workers.
    """

    def __init__(
        self,
        boosters: list[Booster],
        targets: list[AnyArray],
        weights: list[FloatArray | None],
        scorer: RoundScorer | None,
        gather: Callable[[FloatArray], FloatArray] = _as_they_are,
        *,
        rows: list[RowArray] | None = None,
    ) -> None:
        self._boosters = boosters
        self._rows = [booster.left_out for booster in boosters] if rows is None else rows
        self._y = targets
        self._weight = weights
        self._scorer = scorer
        self._gather = gather
        self._masses = [
            len(own_y) if own is None else float(own.sum())
            for own_y, own in zip(self._y, self._weight, strict=True)
        ]
        self.mass = float(sum(self._masses))
        self._losses: list[list[float]] = [[] for _ in boosters]
        # Boosters are some rounds ahead of the result; scores wait for it.
        self._scores: list[deque[FloatArray]] = [deque() for _ in boosters]

    def measure(self, place: int) -> None:
        booster = self._boosters[place]
        if len(self._y[place]) == 0:
            self._losses[place].append(0.0)
            return
        scores = self._gather(booster.loss.raw_predictions(self._rows[place]))
        loss = booster.loss.mean_value(self._y[place], scores, self._weight[place])
        self._losses[place].append(loss * self._masses[place])
        if self._scorer is not None:
            self._scores[place].append(scores)

    def result(self, number: int) -> EvalResult:
        loss = sum(losses[number] for losses in self._losses) / self.mass
        if self._scorer is None:
            return EvalResult(loss)
        scores = np.concatenate([waiting.popleft() for waiting in self._scores if waiting])
        return EvalResult(loss, self._scorer.score(scores))


class EvalSetEvaluator:
    """The mean of the group's boosters is measured on rows of their own; only the new trees are walked.

    Parameters
    ----------
    start : the raw predictions of `init` and the offset for these rows, shape (n_rows, n_outputs).
    gather : from raw predictions of the rows that are here to those of all workers, whose targets the eval set has.
    """

    def __init__(
        self,
        eval_set: EvalSet,
        boosters: list[Booster],
        start: FloatArray,
        scorer: RoundScorer | None,
        n_threads: int,
        gather: Callable[[FloatArray], FloatArray] = _as_they_are,
    ) -> None:
        self.mass = float(len(boosters))
        self._gather = gather
        self._eval_set = eval_set
        self._boosters = boosters
        self._scorer = scorer
        self._start = start + np.mean([booster.loss.baseline for booster in boosters], axis=0)
        self._added = np.zeros_like(self._start)
        self._n_threads = n_threads

    def measure(self, place: int) -> None:
        pass

    def result(self, number: int) -> EvalResult:
        if number > 0:
            self._add_round(number - 1)
        scores = self._gather(self._start + self._added / len(self._boosters))
        own = self._eval_set
        loss = self._boosters[0].loss.mean_value(own.target, scores, own.weight)
        return EvalResult(loss, None if self._scorer is None else self._scorer.score(scores))

    def _add_round(self, number: int) -> None:
        encoded = self._eval_set.encoded
        forest: Any = _engine.Forest(encoded.n_features, self._added.shape[1])
        for booster in self._boosters:
            for output, tree in enumerate(booster.rounds[number]):
                forest.add(tree, output)
        forest.add_scores(encoded.values, encoded.n_levels, self._added.reshape(-1), self._n_threads)
