"""A fit in shards: workers that each have a slice of the rows grow the boosters of one fit together.

Whatever follows from all rows before the first round (constants of the loss, folds, rows set aside) is found by one
process, which has the target, weights and offsets of all rows, and each worker is given its slice. Every worker then
runs the same program: it grows the same trees, because the engine sums histograms over all workers, and measures the
same losses, because the raw predictions of rows to measure on are gathered. So every worker decides alike when to stop,
and holds the whole model at the end.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from coterie import _engine
from coterie._typing import AnyArray, CodeArray, FloatArray
from coterie.boosting._checkpoint_rounds import rounds_in_checkpoint
from coterie.boosting._evaluators import EvalSetEvaluator, HeldOutEvaluator
from coterie.boosting._replay import ReplayedRounds
from coterie.boosting._trainer import (
    Booster,
    BoosterGroup,
    Evaluator,
    OnRound,
    Part,
    Trainer,
    up_to_last_split,
)
from coterie.boosting._training import (
    BoostingData,
    BoostingFit,
    TrainedBoosting,
    all_rows,
    conclude,
    divide_rows,
    growers_of_outputs,
    held_out_predictions,
)
from coterie.boosting.plan import Plan, grow_options, n_bins_of, rounds_vary, sampling_of
from coterie.data.encoding import Encoded, take_rows
from coterie.data.prepare import TrainingData
from coterie.fitting.eval_set import EvalSet
from coterie.fitting.fingerprint import digest_of
from coterie.fitting.scoring import RoundScorer
from coterie.losses import BoundLoss, InitScore
from coterie.losses.loss import Float32Array

__all__ = [
    "BoosterSlice",
    "BoostingData",
    "BoostingFit",
    "Collective",
    "DividedFit",
    "OnRound",
    "Rounds",
    "Shard",
    "ShardFeatures",
    "ShardTrainer",
    "StatisticColumns",
    "TrainedBoosting",
    "Words",
]

Words = NDArray[np.uint64]
Rounds = list[list[Any]]  # a tree for each output, round by round

_ROWS_AT_ONCE = 65_536
_ROUNDS_AT_ONCE = 4


class Collective(Protocol):
    """How workers exchange whole numbers: every worker makes the same calls, and all get the same result."""

    def sum(self, words: Words) -> Words:
        """The sums over all workers, element by element, modulo 2^64."""

    def max(self, words: Words) -> Words:
        """The largest of all workers, element by element."""

    def gather(self, words: Words) -> Words:
        """The words of all workers, in the order of their rows."""


@dataclass(frozen=True)
class StatisticColumns:
    """Target statistics of some rows, for one booster: found where the target of all rows is.

    Attributes
    ----------
    values : a column for each source and component
    cuts : of each, from all rows
    """

    values: list[FloatArray]
    cuts: list[list[float]]

    def of_rows(self, rows: slice) -> "StatisticColumns":
        """Those of a slice."""
        return StatisticColumns([column[rows] for column in self.values], self.cuts)


@dataclass(frozen=True)
class BoosterSlice:
    """What a worker has of one booster.

    Attributes
    ----------
    loss : with the constants of all rows and the scores of these
    part : rows of the slice to learn from and to measure on; none to learn from means all, unless `nobody`
    n_learning : how many rows of all workers it learns from
    target, weight : of all workers' rows to measure on
    statistics : further features, or None
    """

    loss: BoundLoss
    part: Part
    nobody: bool
    n_learning: int
    target: AnyArray
    weight: FloatArray | None
    statistics: StatisticColumns | None = None


@dataclass(frozen=True)
class Shard:
    """What a worker is given of a fit, features aside.

    Attributes
    ----------
    train : the schema and the levels; neither features nor targets
    stages : the boosters of each stage: those that hold rows out, then those of a refit
    eval_set : its slice of the features, and the target and weights of all its rows
    scorer : of the rows to measure on, by the place of the group; None if the loss is what is measured
    made_from : for each column of target statistics the features that it was made from
    """

    first_row: int
    n_rows: int
    plan: Plan
    train: TrainingData
    loss: Any
    n_outputs: int
    seed: int
    stages: tuple[tuple[BoosterSlice, ...], ...]
    eval_set: EvalSet | None
    scorers: tuple[RoundScorer | None, ...]
    made_from: tuple[tuple[int, ...], ...] = ()

    @property
    def n_features(self) -> int:
        """Of the trees, statistics included."""
        return int(self.train.encoded.n_features) + len(self.made_from)


class DividedFit:
    """A fit of which every worker gets a slice; knows what follows from all rows.

    `levels` has the codes of nominal features that target statistics count, and no values.
    """

    def __init__(self, fit: BoostingFit, levels: Encoded | None = None) -> None:
        plan, data = fit.plan, fit.data
        self._fit, self._levels = fit, levels
        statistics = data.statistics
        self._made_from = () if statistics is None else tuple(statistics.features)
        parts = divide_rows(
            data.train,
            plan,
            fit.seed,
            holdout=plan.params["holdout"],
            validation_fraction=plan.params["validation_fraction"],
            groups=data.groups,
            has_eval_set=data.eval_set is not None,
        )
        stages = [parts]
        if plan.params["refit"] and any(len(part.left_out) for part in parts):
            stages.append([all_rows(data.train)] * len(parts))
        self._parts = stages
        self._losses = [[self._bound(part) for part in each] for each in stages]
        self._statistics = [
            [self._statistic_columns(number, part) for number, part in enumerate(each)] for each in stages
        ]

    @property
    def n_boosters(self) -> int:
        return len(self._parts[0])

    @property
    def n_features(self) -> int:
        return int(self._fit.data.train.encoded.n_features) + len(self._made_from)

    @property
    def n_outputs(self) -> int:
        return max(1, self._fit.n_outputs)

    def known_rounds(self) -> list[list[Rounds]]:
        """The rounds of each stage and booster that the checkpoint holds."""
        known = []
        for stage in range(len(self._parts)):
            rounds = rounds_in_checkpoint(self._fit.checkpoint, stage, self.n_boosters, self.n_outputs)
            if not rounds:
                break
            known.append(rounds)
        return known

    def start_digest(self, stage: int) -> str:
        """A digest of the raw predictions before the first round, as checkpoints hold it."""
        n_groups, rows = len(self._fit.plan.policies), np.arange(self._fit.data.n_rows)
        in_order = [loss for place in range(n_groups) for loss in self._losses[stage][place::n_groups]]
        return digest_of([loss.init_scores(rows) for loss in in_order])

    def mean_baseline(self) -> FloatArray:
        """The constant scores of all boosters, averaged."""
        return np.asarray(np.mean([loss.baseline for loss in self._losses[0]], axis=0))

    @property
    def n_bins(self) -> int:
        return n_bins_of(self._fit.plan, self._fit.data.n_rows)

    def _bound(self, part: Part) -> BoundLoss:
        fit, train = self._fit, self._fit.data.train
        init = InitScore(fit.data.offset, add_constant=fit.plan.params["init"] is None)
        bound: BoundLoss = fit.loss.bind(
            train.target.values, fit.data.weight_of(part.rows), fit.n_threads, init
        )
        return bound

    def _statistic_columns(self, number: int, part: Part) -> StatisticColumns | None:
        fit, train = self._fit, self._fit.data.train
        if not self._made_from:
            return None
        assert fit.data.statistics is not None
        assert self._levels is not None
        weight = fit.data.weight_of(part.rows)
        found = fit.data.statistics.extend_training(
            self._levels, train.target.values, weight, fit.seed + number
        )
        assert isinstance(found.values, list)
        own = np.empty(0) if train.weight is None else train.weight
        mapper = _engine.BinMapper.fit(
            found.values, _no_levels(found.values), own, self.n_bins, fit.seed, fit.n_threads
        )
        return StatisticColumns(
            found.values, [mapper.cuts(place).tolist() for place in range(len(found.values))]
        )

    def shard(self, first_row: int, n_rows: int, eval_rows: slice) -> Shard:
        """What the worker of these rows is given; `eval_rows` is its slice of the eval set."""
        fit = self._fit
        train = fit.data.train
        rows = slice(first_row, first_row + n_rows)
        return Shard(
            first_row,
            n_rows,
            fit.plan,
            train.without_rows(n_rows),
            fit.loss,
            fit.n_outputs,
            fit.seed,
            tuple(
                tuple(self._slice(*own, rows) for own in zip(*of_stage, strict=True))
                for of_stage in zip(self._parts, self._losses, self._statistics, strict=True)
            ),
            None if fit.data.eval_set is None else _eval_slice(fit.data.eval_set, eval_rows),
            self._scorers(),
            self._made_from,
        )

    def _slice(
        self, part: Part, loss: BoundLoss, statistics: StatisticColumns | None, rows: slice
    ) -> BoosterSlice:
        train = self._fit.data.train
        learning = _within(part.rows, rows).astype(np.uint32)
        return BoosterSlice(
            loss.of_rows(rows),
            Part(learning, _within(part.left_out, rows).astype(np.int64)),
            nobody=len(part.rows) > 0 and len(learning) == 0,
            n_learning=len(part.rows) or train.n_rows,
            target=train.target.values[part.left_out],
            weight=None if train.weight is None else train.weight[part.left_out],
            statistics=None if statistics is None else statistics.of_rows(rows),
        )

    def _scorers(self) -> tuple[RoundScorer | None, ...]:
        fit, n_groups = self._fit, len(self._fit.plan.policies)
        if fit.scorer is None:
            return (None,) * n_groups
        if (own := fit.data.eval_set) is not None:
            return (fit.scorer(None, own.target, own.given_weight),) * n_groups
        found = []
        for place in range(n_groups):
            rows = np.concatenate([part.left_out for part in self._parts[0][place::n_groups]])
            given = fit.data.train.sample_weight
            found.append(
                fit.scorer(None, fit.data.train.target.values[rows], None if given is None else given[rows])
            )
        return tuple(found)


def _no_levels(columns: Sequence[AnyArray]) -> CodeArray:
    return np.zeros(len(columns), dtype=np.int32)


def _within(rows: AnyArray, own: slice) -> AnyArray:
    """Those of ascending row numbers that are in a slice, counted from its first."""
    begin, end = np.searchsorted(rows, [own.start, own.stop])
    return np.asarray(rows[begin:end] - rows.dtype.type(own.start))


def _eval_slice(eval_set: EvalSet, rows: slice) -> EvalSet:
    encoded = take_rows(eval_set.encoded, np.arange(rows.start, rows.stop))
    offset = None if eval_set.offset is None else eval_set.offset[rows]
    return replace(eval_set, X=None, encoded=encoded, offset=offset)


class ShardFeatures:
    """The features of a shard: bins, and the values themselves if the fit reads them.

    `matrix_of` makes the matrix of these features, and of further ones whose bins it is given, with a mapper of all;
    that takes exchanges with the other workers.
    """

    def __init__(
        self,
        matrix_of: Callable[[Any, list[AnyArray]], Any],
        mapper: Any,
        n_levels: AnyArray,
        encoded: Encoded | None,
        more: Sequence[AnyArray] = (),
    ) -> None:
        self.encoded, self.n_levels = encoded, n_levels
        self._matrix_of, self._mapper, self._more = matrix_of, mapper, list(more)
        self._matrix: Any = None

    @property
    def matrix(self) -> Any:
        """The bins; made when needed. (A cached property has one lock for all workers of a process.)"""
        if self._matrix is None:
            self._matrix = self._matrix_of(self._mapper, self._more)
        return self._matrix

    def with_statistics(self, own: StatisticColumns) -> "ShardFeatures":
        """These features and the statistics."""
        none, n_known = _no_levels(own.values), len(self.n_levels)
        n_levels = np.concatenate([self.n_levels, none])
        cuts = [*(self._mapper.cuts(feature).tolist() for feature in range(n_known)), *own.cuts]
        more = list(_engine.BinMapper.from_cuts(own.cuts, none).bins(own.values, none))
        encoded = self.encoded
        if encoded is not None:
            values = encoded.values if isinstance(encoded.values, list) else list(encoded.values.T)
            encoded = Encoded([*values, *own.values], encoded.n_rows, len(n_levels), n_levels)
        mapper = _engine.BinMapper.from_cuts(cuts, n_levels)
        return ShardFeatures(self._matrix_of, mapper, n_levels, encoded, more)

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Values that reach the leaves that the rows reach, some rows at a time."""
        n_rows = self.matrix.n_rows
        stand_ins = None if self.encoded is not None else self._stand_ins()
        columns = (
            [] if stand_ins is None else [self.matrix.column(feature) for feature in range(len(stand_ins))]
        )
        for begin in range(0, n_rows, _ROWS_AT_ONCE):
            rows = slice(begin, min(n_rows, begin + _ROWS_AT_ONCE))
            if self.encoded is not None:
                values = self.encoded.values
                yield rows, [column[rows] for column in values] if isinstance(values, list) else values[rows]
            else:
                assert stand_ins is not None
                yield rows, [own[column[rows]] for own, column in zip(stand_ins, columns, strict=True)]

    def _stand_ins(self) -> list[AnyArray]:
        """For each feature a value of each bin: thresholds of trees are cuts, so any value of a bin goes its way."""
        found: list[AnyArray] = []
        for feature, levels in enumerate(self.n_levels):
            if levels:
                found.append(np.arange(-1, levels, dtype=np.int32))
            else:
                found.append(np.concatenate([[np.nan], self._mapper.cuts(feature), [np.inf]]))
        return found


class _ShardReplay(ReplayedRounds):
    """Rounds that are known, added to the scores of a shard; few at a time, because the shard may be large."""

    def __init__(
        self, rounds: Rounds, features: ShardFeatures, encoded: Encoded, units: FloatArray, n_threads: int
    ) -> None:
        super().__init__(rounds, encoded, units=units, n_threads=n_threads)
        self._features = features
        self._added: Float32Array = np.empty((0, 0), dtype=np.float32)

    def repeat(self, number: int, scores: Float32Array) -> list[Any]:
        place = number % _ROUNDS_AT_ONCE
        if place == 0:
            self._add_up(self._rounds[number : number + _ROUNDS_AT_ONCE], scores.shape[1])
        for output in range(len(scores)):
            scores[output] += self._added[place * len(scores) + output]
        return self._rounds[number]

    def _add_up(self, rounds: Rounds, n_rows: int) -> None:
        forest = self._side_by_side(rounds)
        units = np.tile(self._units, len(rounds))
        self._added = np.empty((len(units), n_rows), dtype=np.float32)
        for rows, values in self._features.blocks():
            found = np.zeros((rows.stop - rows.start, len(units)))
            forest.add_scores(values, self._encoded.n_levels, found.reshape(-1), self._n_threads)
            self._added[:, rows] = (found / units).T.astype(np.float32)


class ShardTrainer:
    """Runs the program that all workers of a fit run, on one shard.

    Parameters
    ----------
    known : by stage and booster, the rounds that a gang before this one has grown
    after_pause : called whenever there are new rounds, with the stage and the rounds of each booster so far
    after_round : called after each round of the first stage with its number; returns whether to stop there
    """

    def __init__(
        self,
        shard: Shard,
        features: ShardFeatures,
        collective: Collective,
        n_threads: int,
        *,
        known: Sequence[Sequence[Rounds]] = (),
        after_pause: Callable[[int, list[Rounds]], None] | None = None,
        after_round: Callable[[int], bool] | None = None,
    ) -> None:
        self._shard, self._features, self._n_threads = shard, features, n_threads
        self._collective = collective
        self._communicator = _engine.Communicator(collective)
        self._known, self._after_pause, self._after_round = known, after_pause, after_round

    def train(self) -> TrainedBoosting:
        """The model, which is the same on every worker; predictions of rows held out are those of the shard."""
        shard, plan = self._shard, self._shard.plan
        trainer = self._trainer(0)
        if shard.n_outputs and (plan.stops_early or shard.eval_set is not None):
            self._attach_evaluators(trainer)
        self._grow(trainer, 0, plan.max_rounds if shard.n_outputs else 0)
        trained = conclude(trainer, [], trainer.weights(), keep_unweighted=False)
        if trainer.is_evaluated:
            trained.losses, trained.scores = trainer.mean_losses(), trainer.mean_scores()
        has_rows_out = any(len(booster.target) for booster in shard.stages[0])
        if has_rows_out and len(trainer.boosters) > 1:
            trained.held_out = held_out_predictions(trainer.boosters, shard.n_rows, self._n_threads)
        return self._refitted(trainer, trained) if len(shard.stages) > 1 else trained

    def _trainer(self, stage: int) -> Trainer:
        shard = self._shard
        n_groups = len(shard.plan.policies)
        order = [
            number for place in range(n_groups) for number in range(place, len(shard.stages[stage]), n_groups)
        ]
        in_order = self._known[stage] if stage < len(self._known) else ()
        known = dict(zip(order, in_order, strict=True)) if in_order else {}
        boosters = [
            self._booster(number, own, known.get(number, []))
            for number, own in enumerate(shard.stages[stage])
        ]
        # One thread: workers have to make their calls in the same order.
        return Trainer([BoosterGroup(boosters[place::n_groups]) for place in range(n_groups)], 1)

    def _booster(self, number: int, own: BoosterSlice, known: Rounds) -> Booster:
        shard, plan = self._shard, self._shard.plan
        loss = own.loss
        loss.workers = self._collective
        policy = plan.policies[number % len(plan.policies)]
        options_of = partial(
            grow_options,
            plan,
            policy,
            train=shard.train,
            made_from=shard.made_from,
            lines_by_default=shard.loss.linear_leaves,
        )
        options = options_of(loss)
        sampling = sampling_of(plan.sampling_method, plan.subsample, own.n_learning)
        varied = rounds_vary(options, sampling, policy)
        features = (
            self._features if own.statistics is None else self._features.with_statistics(own.statistics)
        )
        encoded = features.encoded or Encoded([], shard.n_rows, shard.n_features, features.n_levels)
        seen = None
        if known:
            rounds = known if varied else up_to_last_split(known)
            seen = _ShardReplay(rounds, features, encoded, loss.units, self._n_threads)
        return Booster(
            loss,
            growers_of_outputs(loss, policy, lambda own: self._grower(features.matrix, options_of(own), own)),
            encoded=encoded,
            part=own.part,
            seed=shard.seed + number * 2**40,
            sampling=sampling,
            linear_leaves=options.linear_leaves,
            known=seen,
            varied=varied,
            nobody=own.nobody,
            shared_trees=policy.shared_trees,
        )

    def _grower(self, matrix: Any, options: Any, loss: BoundLoss) -> Any:
        where = self._communicator, self._shard.first_row
        if loss.joint_units is None:
            return _engine.TreeGrower(matrix, options, self._n_threads, *where)
        return _engine.JointGrower(matrix, options, loss.joint_units, self._n_threads, *where)

    def _attach_evaluators(self, trainer: Trainer) -> None:
        shard, plan, n_groups = self._shard, self._shard.plan, len(trainer.groups)
        for place, group in enumerate(trainer.groups):
            evaluator: Evaluator
            if shard.eval_set is not None:
                own = shard.eval_set
                start = np.zeros((own.encoded.n_rows, max(1, shard.n_outputs)))
                start = start if own.offset is None else start + own.offset
                evaluator = EvalSetEvaluator(
                    own, group.boosters, start, shard.scorers[place], self._n_threads, self._gather
                )
            else:
                slices = shard.stages[0][place::n_groups]
                evaluator = HeldOutEvaluator(
                    group.boosters,
                    [each.target for each in slices],
                    [each.weight for each in slices],
                    shard.scorers[place],
                    self._gather,
                )
            group.evaluate_with(evaluator)
            if plan.stops_early:
                group.stop_early(plan.patience, plan.params["tol"], plan.least_progress)

    def _gather(self, scores: FloatArray) -> FloatArray:
        """Raw predictions of some rows of every worker, one after the other."""
        words = np.ascontiguousarray(scores).reshape(-1).view(np.uint64)
        return self._collective.gather(words).view(np.float64).reshape(-1, scores.shape[1])

    def _grow(self, trainer: Trainer, stage: int, n_rounds: int) -> None:
        def pause() -> None:
            if self._after_pause is not None:
                self._after_pause(stage, [booster.rounds for booster in trainer.boosters])

        after_round = None
        if self._after_round is not None and stage == 0:
            numbers = iter(range(1, n_rounds + 1))
            ask = self._after_round

            def after_round(_: Any) -> bool:
                return ask(next(numbers))

        trainer.grow(n_rounds, after_round, pause)

    def _refitted(self, found: Trainer, trained: TrainedBoosting) -> TrainedBoosting:
        trainer = self._trainer(1)
        for group, before in zip(trainer.groups, found.groups, strict=True):
            group.grow_to(len(before.boosters[0].rounds))
        self._grow(trainer, 1, int(trained.rounds.max()))
        refitted = conclude(trainer, [], trained.weights, keep_unweighted=False)
        return replace(refitted, losses=trained.losses, scores=trained.scores, held_out=trained.held_out)
