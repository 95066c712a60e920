"""Boosters, and the trainer that grows them side by side, in groups that stop together.

A *booster* grows trees one after the other, each from where the ones before it left off. Boosters learn from different
rows of one table; a *group* is those whose trees grow alike. After every round an *evaluator* measures the group, on
all rows that its boosters held out or on an eval set, and that decides for the group when to stop: a loss over many
rows is far less noisy than one over a tenth of them, and growth of one kind needs fewer rounds than another.

A booster is *exhausted* after a round whose trees are all a single leaf: nothing gained more than the rounding of the
derivatives, and as the scores stay what they are, no later round would find more. A group ends when all its boosters
are exhausted. Where rounds draw rows, features or noise, the next draw may find something, and they go on.
"""

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from coterie import _engine
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.boosting._replay import ReplayedRounds
from coterie.data.encoding import Encoded
from coterie.fitting.early_stopping import EarlyStopping, StoppingRule
from coterie.losses import BoundLoss
from coterie.losses.loss import Float32Array

OnRound = Callable[[int, Callable[[], dict[str, Any]]], bool]

_ROUNDS_AT_ONCE = 10
_TRUST = 4  # in the differences between groups


@dataclass(frozen=True)
class Part:
    """Row numbers of one booster; no rows to learn from means all of them."""

    rows: AnyArray  # uint32, as the engine takes them
    left_out: RowArray


class Booster:
    """Grows round after round on one binned matrix, from some of its rows.

    A *round* is one tree for each output of the loss; those of outputs that share their trees have the same splits,
    and those of classes that do are one tree with a value for each class, unless leaves have lines.
    The scores of the loss follow, for all rows of the matrix: those that took part and those that were left out.

    Parameters
    ----------
    encoded : the features, as the matrix has them.
    growers : of each output, or one that grows trees for all of them.
    part : the rows to learn from, and those to measure on.
    seed : the first of the numbers that the trees take as seeds; the engine hashes them.
    linear_leaves : whether the grower makes lines, for which it needs the features themselves beside the matrix.
    known : rounds of an earlier fit, which need not be grown again.
    nobody : whether no row takes part here, though rows of other workers do.
    shared_trees : whether a round has one tree's splits for all outputs, grown along a random direction over them.
    varied : whether rounds draw what they look at, so that one without a split says nothing of the next.
    """

    def __init__(
        self,
        loss: BoundLoss,
        growers: Sequence[Any],
        *,
        encoded: Encoded,
        part: Part,
        seed: int,
        sampling: tuple[Any, float],
        linear_leaves: bool = False,
        known: ReplayedRounds | None = None,
        varied: bool = False,
        nobody: bool = False,
        shared_trees: bool = False,
    ) -> None:
        self.loss = loss
        self.encoded = encoded
        self.left_out = part.left_out
        self.rounds: list[list[Any]] = []
        self.exhausted_after: int | None = None  # rounds, the last of which found nothing
        self._varied = varied or shared_trees
        self._shared_trees = shared_trees
        self._growers, self._grower = growers, growers[0]
        self.part_rows = part.rows
        self._rows = part.rows
        self._seed = seed
        self._sampling = sampling
        self._nobody = {"nobody": True} if nobody else {}
        self._values = (encoded.values, encoded.n_levels) if linear_leaves else ()
        self._known = known

    def grow_round(self) -> None:
        """One more tree for each output."""
        if self.exhausted_after is not None:
            self.rounds.append(self.rounds[-1])
            return
        is_new = self._known is None or len(self.rounds) >= len(self._known)
        self.rounds.append(self._next_round())
        if is_new and not self._varied and not splits(self.rounds[-1]):
            self.exhausted_after = len(self.rounds)

    def _next_round(self) -> list[Any]:
        loss, number = self.loss, len(self.rounds)
        is_known = self._known is not None and number < len(self._known)
        if not self._shared_trees or is_known:
            loss.begin_round()
        if self._known is not None and is_known:
            return self._known.repeat(number, loss.scores)
        if loss.joint_units is not None:
            return self._joint_trees()
        if self._shared_trees:
            return self._trees_of_one_direction()
        trees = []
        for output in range(loss.n_outputs):
            gradient, hessian = loss.derivatives(output)
            grower = self._growers[output]
            drawn = number if loss.is_separate else number * loss.n_outputs + output
            seed = (self._seed + drawn) % 2**64
            tree = grower.grow(
                gradient, hessian, self._rows, seed, *self._sampling, *self._values, **self._nobody
            )
            if refined := loss.leaf_quantile(output):
                grower.set_quantile_values(tree, refined.residual, refined.weight, refined.level)
            grower.add_predictions(loss.scores[output])
            trees.append(tree)
        return trees

    def _joint_trees(self) -> list[Any]:
        """One tree with leaf values for each output."""
        gradients, hessian = self.loss.joint_derivatives()
        seed = (self._seed + len(self.rounds)) % 2**64
        trees = self._grower.grow(
            gradients.reshape(-1), hessian, self._rows, seed, *self._sampling, **self._nobody
        )
        for output in range(self.loss.n_outputs):
            self._grower.add_predictions(output, self.loss.scores[output])
        return list(trees)

    def _trees_of_one_direction(self) -> list[Any]:
        """Splits that serve all outputs, with values that are each output's own."""
        loss = self.loss
        seed = (self._seed + len(self.rounds)) % 2**64
        direction = random_direction(seed, loss.n_outputs, centred=loss.is_relative)
        splits = self._grower.grow_splits(
            *loss.direction_derivatives(direction), self._rows, seed, *self._sampling, **self._nobody
        )
        trees = []
        for output, unit in enumerate((loss.units / loss.scale).tolist()):
            tree = self._grower.tree_for(splits, *loss.derivatives(output), *self._values)
            if refined := loss.leaf_quantile(output):
                self._grower.set_quantile_values(tree, refined.residual, refined.weight, refined.level)
            self._grower.add_predictions(loss.scores[output])
            trees.append(tree if unit == 1 else tree.scaled(unit))
        has_lines = any(len(tree.linear_first_term) for tree in trees)
        return trees if has_lines else [_engine.Tree.joined(trees)]

    def trees_after(self, n_rounds: int) -> list[list[Any]]:
        """The model of so many rounds: their trees."""
        return self.rounds[:n_rounds]

    def settle(self) -> None:
        """Give the trees their final leaf values; no round comes after that."""


def random_direction(seed: int, n_outputs: int, *, centred: bool) -> Float32Array:
    """What each output counts in the splits of a tree that serves all: normal numbers, zero on average if `centred`."""
    drawn = np.random.Generator(np.random.PCG64(seed)).standard_normal(n_outputs)
    return np.asarray(drawn - drawn.mean() if centred else drawn, dtype=np.float32)


def splits(trees: list[Any]) -> bool:
    """True if a tree of a round has more than one leaf; a single leaf predicts nothing."""
    return any(tree.n_nodes > 1 for tree in trees)


def up_to_last_split(rounds: list[list[Any]]) -> list[list[Any]]:
    """The rounds without those at the end that found nothing, which are cheap to grow again.

    With the same settings they find nothing again, and the fit ends where it ended; with others, which a warm start may
    have, they may find something.
    """
    n_rounds = max((number for number, trees in enumerate(rounds, 1) if splits(trees)), default=0)
    return rounds[:n_rounds]


@dataclass(frozen=True)
class EvalResult:
    """What is known after a round; without `scoring` there is no score."""

    loss: float
    score: float | None = None

    @property
    def to_minimise(self) -> float:
        return self.loss if self.score is None else -self.score


class Evaluator(Protocol):
    """Measures the boosters of one group."""

    @property
    def mass(self) -> float:
        """What the group counts in the mean over groups."""

    def measure(self, place: int) -> None:
        """After each round of one booster, in its thread."""

    def result(self, number: int) -> EvalResult:
        """After so many rounds; called once for each number, from zero up."""


class BoosterGroup:
    """Boosters of one kind; without an evaluator nobody measures them, and without `stopping` all rounds are grown."""

    def __init__(self, boosters: list[Booster]) -> None:
        self.boosters = boosters
        self.done = False
        self.evaluator: Evaluator | None = None
        self.results: list[EvalResult] = []  # before the first round, and after each that was looked at
        self.observers: dict[str, Evaluator] = {}  # they measure, and decide nothing
        self.observed: dict[str, list[EvalResult]] = {}
        self._stopping: StoppingRule | None = None
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

    def observe_with(self, name: str, evaluator: Evaluator) -> None:
        """Let another evaluator measure every round, which has no say in when to stop."""
        self.observers[name] = evaluator
        for place in range(len(self.boosters)):
            evaluator.measure(place)
        self.observed[name] = [evaluator.result(0)]

    def measure(self, place: int) -> None:
        """After each round of one booster, in its thread."""
        for evaluator in (self.evaluator, *self.observers.values()):
            if evaluator is not None:
                evaluator.measure(place)

    def stop_early(self, patience: int, tolerance: float, least_progress: float) -> None:
        """Stop when the evaluator measures no more progress."""
        self._stopping = EarlyStopping(patience, tolerance, self.results[0].to_minimise, least_progress)

    def stop_by(self, rule: Callable[[float], StoppingRule]) -> None:
        """Stop when a rule says so, which is made from what the evaluator measures before the first round."""
        self._stopping = rule(self.results[0].to_minimise)

    @property
    def is_watched(self) -> bool:
        """True if something may happen after a round."""
        return self.evaluator is not None or self._limit is not None or bool(self.observers)

    @property
    def final_result(self) -> EvalResult:
        """Of the rounds that are kept."""
        return self.final_of(self.results)

    def final_of(self, results: list[EvalResult]) -> EvalResult:
        """The result after the rounds that are kept."""
        return results[self._stopping.best_round if self._stopping else -1]

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
        if not self.done:
            for name, observer in self.observers.items():
                self.observed[name].append(observer.result(number))
        if self.evaluator is not None and not self.done:
            self.results.append(self.evaluator.result(number))
            if self._stopping is not None and self._stopping.reached(self.results[-1].to_minimise):
                self.finish()
        if number == self.exhausted_after and not self.done:
            self.truncate(number)
            self.finish()

    def finish(self) -> None:
        """Keep the rounds up to the best one."""
        self.done = True
        kept = self._limit if self._stopping is None else self._stopping.best_round
        if kept is not None:
            self.truncate(kept)

    @property
    def exhausted_after(self) -> int | None:
        """Rounds after which no booster finds any more, if that is so."""
        ends = [booster.exhausted_after for booster in self.boosters]
        return None if None in ends else max(end for end in ends if end is not None)

    def even_out(self) -> None:
        """Give boosters that were exhausted before the others as many rounds."""
        longest = max(len(booster.rounds) for booster in self.boosters)
        for booster in self.boosters:
            while len(booster.rounds) < longest:
                booster.grow_round()

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
            max_rounds = 0
        done = 0
        while done < max_rounds and not all(group.done for group in self.groups):
            at_once = 1 if len(self.boosters) == 1 else min(_ROUNDS_AT_ONCE, max_rounds - done)
            self._advance(at_once)
            if after_pause is not None:
                after_pause()
            for number in range(done + 1, done + at_once + 1):
                live = [group for group in self.groups if not group.done]
                new = [tree for group in live for tree in _trees(group.boosters, number - 1)]
                for group in live:
                    group.look_at(number)
                if after_round is not None and after_round(new):
                    for group in live:
                        group.truncate(number)
                    max_rounds = 0
                    break
            done += at_once
        for group in self.groups:
            if not group.done:
                group.finish()
            group.even_out()

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

    def mean_losses(self, observer: str | None = None) -> FloatArray:
        """The loss after each round, over all groups; a group that is done keeps that of its best round."""
        return self._mean([[result.loss for result in each] for each in self._histories(observer)], observer)

    def mean_scores(self, observer: str | None = None) -> FloatArray | None:
        """The same for the score, if there is one."""
        histories = [[result.score for result in each] for each in self._histories(observer)]
        if any(score is None for history in histories for score in history):
            return None
        return self._mean(histories, observer)

    def observers(self) -> list[str]:
        """The names of those that measure every round and decide nothing."""
        return list(self.groups[0].observers)

    def latest(self, observer: str | None = None) -> EvalResult:
        """What is known after the last round, over all groups."""
        ends = []
        for group in self.groups:
            results = group.results if observer is None else group.observed[observer]
            ends.append(group.final_of(results) if group.done else results[-1])
        losses = self._mean([[end.loss] for end in ends], observer)
        scored = all(end.score is not None for end in ends)
        return EvalResult(
            float(losses[0]),
            float(self._mean([[end.score] for end in ends], observer)[0]) if scored else None,
        )

    def _histories(self, observer: str | None) -> list[list[EvalResult]]:
        """The results of each group, the first aside, all equally long."""
        known = [group.results if observer is None else group.observed[observer] for group in self.groups]
        longest = max(map(len, known))
        return [
            results[1:] + [group.final_of(results)] * (longest - len(results))
            for group, results in zip(self.groups, known, strict=True)
        ]

    def _mean(self, histories: list[list[Any]], observer: str | None) -> FloatArray:
        evaluators = [
            group.evaluator if observer is None else group.observers[observer] for group in self.groups
        ]
        masses = [evaluator.mass for evaluator in evaluators if evaluator is not None]
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
        booster = group.boosters[place]
        if interrupted is not None and interrupted.is_set():
            return
        if booster.exhausted_after is not None and not group.is_watched:
            return
        booster.grow_round()
        group.measure(place)


def _trees(boosters: Iterable[Booster], number: int) -> list[tuple[int, Any]]:
    return [
        (output, tree)
        for booster in boosters
        if number < len(booster.rounds)
        for output, tree in enumerate(booster.rounds[number])
    ]


class ModelSoFar:
    """The mean of all boosters after each round, as fitted attributes of an estimator; made when needed."""

    def __init__(self, trainer: Trainer, init: list[Any], *, has_dropout: bool) -> None:
        self._trainer = trainer
        self._init = init
        self._has_dropout = has_dropout
        self._n_rounds = 0
        self._waiting: list[tuple[int, Any]] = []
        first = trainer.boosters[0]
        self._forest = _engine.Forest(first.encoded.n_features, max(1, first.loss.n_outputs))
        self._shares = np.full(len(trainer.boosters), 1 / len(trainer.boosters))

    def after_round(self, on_round: OnRound, trees: list[tuple[int, Any]]) -> bool:
        self._n_rounds += 1
        self._waiting += trees
        return on_round(self._n_rounds, self._attributes)

    def _attributes(self) -> dict[str, Any]:
        trees, self._waiting = self._waiting, []
        if self._has_dropout:  # earlier trees have other weights now
            trees = self._trainer.trees_after(self._n_rounds)
            self._forest.truncate(0)
        for output, tree in trees:
            self._forest.add(tree.scaled(self._shares[0]), output)
        return {
            "forest_": self._forest,
            "baseline_": self._trainer.mean_start(self._shares),
            "init_": self._init,
        }
