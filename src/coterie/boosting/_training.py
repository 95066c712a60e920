"""Training of gradient boosting: from data and a plan to boosters, and from boosters to one forest.

The words of the loop: a *round* grows one tree for each output of the loss (one for regression and for two classes, K
for K classes); a tree sees the *derivatives* of the loss at the current *raw predictions* and adds a step to them, of
which the model takes the share `learning_rate`. Nothing here knows the estimator.

The rows that each booster leaves out, to be evaluated on:

| | one booster | several |
|---|---|---|
| an eval set | all rows | all rows |
| random | a share, if it stops early | folds: each row is left out by one booster of each folding |
| last rows | the last share, if they stop early | the same last share for all |

Rows of zero weight are on neither side.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from coterie import _engine
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.boosting._checkpoint_rounds import CheckpointedRounds, rounds_in_checkpoint
from coterie.boosting._dropout import DroppingBooster
from coterie.boosting._evaluators import HeldOutEvaluator
from coterie.boosting._init_estimator import InitEstimator
from coterie.boosting._observers import eval_set_evaluator, keep_curves, latest_measures, observe_rounds
from coterie.boosting._prediction import add_scores
from coterie.boosting._replay import ReplayedRounds
from coterie.boosting._trainer import (
    Booster,
    BoosterGroup,
    Evaluator,
    ModelSoFar,
    OnRound,
    Part,
    Trainer,
    up_to_last_split,
)
from coterie.boosting.plan import Plan, Policy, grow_options, n_bins_of, rounds_vary, sampling_of
from coterie.data.encoding import Encoded, take_rows
from coterie.data.holdout import fold_numbers, holdout_rows, last_rows, strata
from coterie.data.parts import rows_of
from coterie.data.prepare import TrainingData
from coterie.data.streaming.training import StreamedTable
from coterie.data.target_statistics import TargetStatistics
from coterie.errors import InvalidInput
from coterie.fitting.checkpoint_writer import CheckpointWriter
from coterie.fitting.early_stopping import StoppingRule
from coterie.fitting.eval_set import EvalSet
from coterie.fitting.scoring import RoundScorer
from coterie.losses import BoundLoss, InitScore
from coterie.metrics import ShownMetric

# A table of so few cells: threads would wait for each other as long as they work, and longer on a busy machine.
_FEW_CELLS = 50_000


class ClusterRows(Protocol):
    """A table on the workers of a cluster: `coterie.distributed`, which this package must not import."""

    def with_levels(self) -> TrainingData:
        """The training data with the codes of nominal features, which target statistics count."""

    def fingerprint(self) -> str:
        """A digest of the features, for checkpoints."""

    def train(self, fit: "BoostingFit", on_round: OnRound | None) -> "TrainedBoosting":
        """Grow the boosters of a plan."""


@dataclass(frozen=True)
class BoostingData:
    """The table as the user gave it, as the engine takes it, and all that came with it.

    Attributes
    ----------
    X : the table as it came, for `init` and for scorers
    train : features, target and weights
    offset : the raw prediction that each row starts from, shape (n_rows, n_outputs), or None
    groups : the number of each row's group, or None
    eval_set : rows to evaluate on, or None
    eval_name : its name
    observed_sets : other rows to evaluate on, by name, which do not decide when to stop
    statistics : target statistics of categories, which are more features, or None
    streamed : the batches of a table that is larger than memory, or None
    cluster : the workers that have the table, and train on it, or None
    """

    X: Any
    train: TrainingData
    offset: FloatArray | None = None
    groups: AnyArray | None = None
    eval_set: EvalSet | None = None
    eval_name: str = ""
    observed_sets: Mapping[str, EvalSet] = field(default_factory=dict)
    statistics: TargetStatistics | None = None
    streamed: StreamedTable | None = None
    cluster: ClusterRows | None = None

    @property
    def n_rows(self) -> int:
        return self.train.n_rows

    def weights_of(self, rows: AnyArray) -> FloatArray | None:
        """What some rows count; None if all count alike."""
        return None if self.train.weight is None else self.train.weight[rows]

    def weight_of(self, rows: AnyArray) -> FloatArray | None:
        """Weights of all rows, zero for those that a booster does not learn from; no rows means all."""
        weight = self.train.weight
        if len(rows) == 0:
            return weight
        chosen = np.zeros(self.n_rows)
        chosen[rows] = 1.0 if weight is None else weight[rows]
        return chosen


@dataclass(frozen=True)
class BoostingFit:
    """What training is given.

    Attributes
    ----------
    loss : the loss before it has seen data
    n_outputs : raw predictions per row, 0 if there is nothing to learn
    init : where raw predictions start, or None for the best constant or zero
    scorer : makes a scorer of some rows, their targets and weights; None if the loss is what is evaluated
    booster : makes the boosters; None for those that the plan calls for
    stopping_rule : when to stop, from what is measured before the first round; None for the patience of the plan
    """

    data: BoostingData
    plan: Plan
    loss: Any
    n_outputs: int
    seed: int
    n_threads: int
    init: InitEstimator | None = None
    scorer: Callable[[Any, Any, FloatArray | None], RoundScorer] | None = None
    checkpoint: CheckpointWriter | None = None
    booster: Callable[..., Booster] | None = None
    stopping_rule: Callable[[float], StoppingRule] | None = None
    measures_training: bool = False
    metric: ShownMetric | None = None
    publish: Callable[[Callable[[], dict[str, float]]], None] | None = None


@dataclass
class TrainedBoosting:
    """What training returns.

    Attributes
    ----------
    forest : the trees of all boosters, round by round, weighted for their mean
    unweighted : the same without weights, if there are several boosters and a warm start may follow
    baseline : the constant raw prediction of each output
    weights : the share of each booster in the mean
    rounds : how many rounds each booster has
    init : the fitted copies of `init`, one for each booster
    losses, scores : after each round, on rows held out or an eval set; None if there were none
    curves : losses and scores after each round on every eval set, by name; the latter only with `scoring`
    training_losses : after each round, on rows that were learned from; None if they were not measured
    held_out : raw predictions of each row by the boosters that held it out, NaN without any; None for one booster
    """

    forest: Any
    baseline: FloatArray
    weights: FloatArray
    rounds: RowArray
    init: list[Any] = field(default_factory=list)
    unweighted: Any = None
    losses: FloatArray | None = None
    scores: FloatArray | None = None
    curves: dict[str, tuple[FloatArray, FloatArray | None]] = field(default_factory=dict)
    training_losses: FloatArray | None = None
    held_out: FloatArray | None = None


def train(
    fit: BoostingFit, known: list[list[list[Any]]], *, on_round: OnRound | None, keep_unweighted: bool
) -> TrainedBoosting:
    """Grow the boosters of a plan; rounds that are known from an earlier fit are not grown again.

    `on_round` is called with the number of rounds that are done and a function that makes the fitted attributes of the
    model so far, and returns whether to stop.
    """
    plan, data = fit.plan, fit.data
    parts = divide_rows(
        data.train,
        plan,
        fit.seed,
        holdout=plan.params["holdout"],
        validation_fraction=plan.params["validation_fraction"],
        groups=data.groups,
        has_eval_set=data.eval_set is not None,
    )
    if fit.checkpoint is not None:
        known = rounds_in_checkpoint(fit.checkpoint, 0, len(parts), max(1, fit.n_outputs))
    trainer, init = _make_trainer(fit, parts, known)
    if fit.n_outputs and (plan.stops_early or data.eval_set is not None):
        _attach_evaluators(trainer, fit, init)
    if fit.n_outputs and (fit.measures_training or data.observed_sets):
        observe_rounds(trainer, fit, init)
    if fit.publish is not None:
        fit.publish(partial(latest_measures, trainer, data.eval_name, fit.metric))
    after_round = None
    if on_round is not None:
        so_far = ModelSoFar(trainer, init, has_dropout=plan.params["dropout_rate"] > 0)
        after_round = partial(so_far.after_round, on_round)
    _grow(trainer, fit, known, plan.max_rounds if fit.n_outputs else 0, after_round=after_round)
    trained = conclude(trainer, init, trainer.weights(), keep_unweighted=keep_unweighted)
    if trainer.is_evaluated:
        trained.losses, trained.scores = trainer.mean_losses(), trainer.mean_scores()
    if trainer.observers() or data.eval_name:
        keep_curves(trained, trainer, data.eval_name)
    if any(len(part.left_out) for part in parts):
        if len(trainer.boosters) > 1:
            trained.held_out = held_out_predictions(trainer.boosters, data.n_rows, fit.n_threads)
        if plan.params["refit"]:
            return _refitted(fit, trainer, trained)
    return trained


def divide_rows(
    train: TrainingData,
    plan: Plan,
    seed: int,
    *,
    holdout: str,
    validation_fraction: float,
    groups: AnyArray | None,
    has_eval_set: bool,
) -> list[Part]:
    """A part for each booster; `groups` is the number of each row's group. Foldings are one after the other."""
    n_boosters = plan.n_folds * plan.n_foldings
    wants_last = holdout == "last_rows"
    leaves_out = not has_eval_set and (plan.stops_early or (plan.n_folds > 1 and not wants_last))
    if groups is not None:
        _check_groups(wants_last, leaves_out, has_eval_set)
    if not leaves_out:
        return [all_rows(train)] * n_boosters
    kept = _kept(train)
    if wants_last:
        learn, aside = last_rows(len(kept), validation_fraction)
        return [_part(kept, learn, aside)] * n_boosters
    codes = strata(train.target.values[kept]) if train.target.task == "classification" else None
    own_groups = None if groups is None else np.unique(groups[kept], return_inverse=True)[1]
    if plan.n_folds > 1:
        foldings = [
            fold_numbers(len(kept), plan.n_folds, seed + number * 2**32, codes, own_groups)
            for number in range(plan.n_foldings)
        ]
        return [
            _part(kept, np.flatnonzero(fold != k), np.flatnonzero(fold == k))
            for fold in foldings
            for k in range(plan.n_folds)
        ]
    learn, aside = holdout_rows(len(kept), validation_fraction, seed, codes, own_groups)
    return [_part(kept, learn, aside)]


def all_rows(train: TrainingData) -> Part:
    """Every row that has weight."""
    kept = _kept(train)
    return _part(kept, np.arange(len(kept) if len(kept) < train.encoded.n_rows else 0), np.arange(0))


def _kept(train: TrainingData) -> RowArray:
    return np.arange(train.encoded.n_rows) if train.weight is None else np.flatnonzero(train.weight > 0)


def _part(kept: RowArray, learn: RowArray, aside: RowArray) -> Part:
    return Part(kept[learn].astype(np.uint32), kept[aside])


def _check_groups(wants_last: bool, leaves_out: bool, has_eval_set: bool) -> None:
    if wants_last:
        raise InvalidInput(
            "groups cannot be kept together by holdout='last_rows', which cuts the table at one row, wherever groups "
            "begin and end.",
            parameter="groups",
            hint="Leave groups out, or choose holdout='random'.",
        )
    if not leaves_out:
        why = (
            "it is evaluated on the eval_set"
            if has_eval_set
            else "there is one booster, and early_stopping is off"
        )
        raise InvalidInput(
            f"groups need a validation split, whose rows are held out group by group, and this fit has none: {why}.",
            parameter="groups",
            hint="Leave groups out" + ("." if has_eval_set else ", or set early_stopping=True."),
        )


def _make_trainer(
    fit: BoostingFit, parts: list[Part], in_order: list[list[list[Any]]]
) -> tuple[Trainer, list[Any]]:
    """Boosters in groups, with the fitted copies of `init`; known rounds are in the order of the trainer."""
    n_groups = len(fit.plan.policies)
    order = [number for place in range(n_groups) for number in range(place, len(parts), n_groups)]
    known = dict(zip(order, in_order, strict=True)) if in_order else {}
    boosters, init = _make_boosters(fit, parts, known)
    groups = [BoosterGroup(boosters[place::n_groups]) for place in range(n_groups)]
    return Trainer(groups, fit.n_threads), init


def _make_boosters(
    fit: BoostingFit, parts: list[Part], known: dict[int, list[list[Any]]]
) -> tuple[list[Booster], list[Any]]:
    data, plan, train = fit.data, fit.plan, fit.data.train
    few = data.n_rows * len(train.encoded.n_levels) <= _FEW_CELLS
    threads = 1 if few else fit.n_threads
    threads_each = max(1, threads // len(parts))
    shared = None if data.statistics else _binned(train.encoded, fit, threads)
    boosters: list[Booster] = []
    init: list[Any] = []
    for number, part in enumerate(parts):
        encoded, matrix = train.encoded, shared
        if data.statistics:
            encoded = data.statistics.extend_training(
                train.encoded, train.target.values, data.weight_of(part.rows), fit.seed + number
            )
            matrix = _binned(encoded, fit, threads)
        init_score = InitScore(data.offset, add_constant=plan.params["init"] is None)
        if fit.init is not None:
            init.append(fit.init.fitted(part.rows))
            init_score = fit.init.init_score(init[-1], data.offset)
        loss = fit.loss.bind(train.target.values, data.weight_of(part.rows), threads_each, init_score)
        policy = plan.policies[number % len(plan.policies)]
        options_of = partial(
            grow_options,
            plan,
            policy,
            train=train,
            made_from=data.statistics.features if data.statistics else (),
            lines_by_default=fit.loss.linear_leaves,
        )

        def make_grower(
            own: BoundLoss, matrix: Any = matrix, options_of: Callable[[BoundLoss], Any] = options_of
        ) -> Any:
            return _grower(matrix, options_of(own), own, threads_each)

        options = options_of(loss)
        sampling = sampling_of(plan.sampling_method, plan.subsample, len(part.rows) or data.n_rows)
        varied = rounds_vary(options, sampling, policy) or plan.params["dropout_rate"] > 0
        seen = None
        if known:
            rounds = known[number] if varied else up_to_last_split(known[number])
            seen = ReplayedRounds(rounds, encoded, units=loss.units, n_threads=threads_each)
        booster = (fit.booster or _booster_class(plan, policy, threads_each))(
            loss,
            growers_of_outputs(loss, policy, make_grower),
            encoded=encoded,
            part=part,
            seed=fit.seed + number * 2**40,  # further than any booster's trees reach
            sampling=sampling,
            linear_leaves=options.linear_leaves,
            known=seen,
            varied=varied,
            shared_trees=policy.shared_trees,
        )
        boosters.append(booster)
    return boosters, init


def _booster_class(plan: Plan, policy: Policy, n_threads: int) -> Callable[..., Booster]:
    if plan.params["dropout_rate"] == 0:
        return Booster
    return partial(
        DroppingBooster,
        rate=float(plan.params["dropout_rate"]),
        skip=float(plan.params["dropout_skip"]),
        learning_rate=policy.learning_rate,
        n_threads=n_threads,
    )


def growers_of_outputs(loss: BoundLoss, policy: Policy, make: Callable[[BoundLoss], Any]) -> list[Any]:
    """The grower of each output, made for its loss; outputs with units of their own share it if these are the same."""
    if policy.shared_trees or loss.joint_units is not None or loss.n_outputs == 0:
        return [make(loss)]
    own = [loss.of_output(output) for output in range(loss.n_outputs)]
    made = {each.scale: each for each in own}
    growers = {scale: make(each) for scale, each in made.items()}
    return [growers[each.scale] for each in own]


def _grower(matrix: Any, options: Any, loss: BoundLoss, n_threads: int) -> Any:
    if loss.joint_units is None:
        return _engine.TreeGrower(matrix, options, n_threads)
    return _engine.JointGrower(matrix, options, loss.joint_units, n_threads)


def _binned(encoded: Encoded, fit: BoostingFit, n_threads: int) -> Any:
    weight = fit.data.train.weight
    n_bins = n_bins_of(fit.plan, encoded.n_rows)
    if fit.data.streamed is not None:
        return fit.data.streamed.binned(encoded, weight, n_bins, fit.seed, n_threads)
    mapper = _engine.BinMapper.fit(
        encoded.values,
        encoded.n_levels,
        np.empty(0) if weight is None else weight,
        n_bins,
        fit.seed,
        n_threads,
    )
    return _engine.BinnedMatrix(encoded.values, encoded.n_levels, mapper, n_threads)


def _attach_evaluators(trainer: Trainer, fit: BoostingFit, init: list[Any]) -> None:
    """Each group is evaluated on the eval set, or on the rows that its boosters hold out."""
    data, plan, target = fit.data, fit.plan, fit.data.train.target.values
    n_groups = len(trainer.groups)
    for place, group in enumerate(trainer.groups):
        evaluator: Evaluator
        if data.eval_set is not None:
            evaluator = eval_set_evaluator(data.eval_set, group.boosters, fit, init[place::n_groups])
        else:
            scorer = None
            if fit.scorer:
                rows = np.concatenate([booster.left_out for booster in group.boosters])
                given = data.train.sample_weight
                scorer = fit.scorer(
                    None if data.streamed is not None else rows_of(data.X, rows),
                    target[rows],
                    None if given is None else given[rows],
                )
            evaluator = HeldOutEvaluator(
                group.boosters,
                [target[booster.left_out] for booster in group.boosters],
                [data.weights_of(booster.left_out) for booster in group.boosters],
                scorer,
            )
        group.evaluate_with(evaluator)
        if plan.stops_early and fit.stopping_rule is not None:
            group.stop_by(fit.stopping_rule)
        elif plan.stops_early:
            group.stop_early(plan.patience, plan.params["tol"], plan.least_progress)


def _grow(
    trainer: Trainer,
    fit: BoostingFit,
    known: list[list[list[Any]]],
    n_rounds: int,
    *,
    stage: int = 0,
    after_round: Callable[[list[tuple[int, Any]]], bool] | None = None,
) -> None:
    """Grow, and write rounds to the checkpoint if there is one."""
    if fit.checkpoint is None:
        trainer.grow(n_rounds, after_round)
        return
    kept = CheckpointedRounds(trainer, stage, fit.checkpoint, known)
    with fit.checkpoint.recording(kept.collect):
        trainer.grow(n_rounds, after_round, kept.look)


def conclude(
    trainer: Trainer, init: list[Any], weights: FloatArray, *, keep_unweighted: bool
) -> TrainedBoosting:
    """The mean of all boosters as one forest."""
    for booster in trainer.boosters:
        booster.settle()
    n_boosters = len(trainer.boosters)
    return TrainedBoosting(
        forest=_forest_of(trainer, weights),
        baseline=trainer.mean_start(weights),
        weights=weights,
        rounds=np.array([len(booster.rounds) for booster in trainer.boosters]),
        init=init,
        unweighted=_forest_of(trainer, np.ones(n_boosters)) if keep_unweighted and n_boosters > 1 else None,
    )


def _forest_of(trainer: Trainer, weights: FloatArray) -> Any:
    first = trainer.boosters[0]
    forest = _engine.Forest(first.encoded.n_features, max(1, first.loss.n_outputs))
    for output, tree in trainer.trees(weights):
        forest.add(tree, output)
    return forest


def _refitted(fit: BoostingFit, found: Trainer, trained: TrainedBoosting) -> TrainedBoosting:
    """The same boosters once more, with no row held out, as many rounds as were found."""
    n_boosters = len(found.boosters)
    known = rounds_in_checkpoint(fit.checkpoint, 1, n_boosters, max(1, fit.n_outputs))
    trainer, init = _make_trainer(fit, [all_rows(fit.data.train)] * n_boosters, known)
    for group, before in zip(trainer.groups, found.groups, strict=True):
        group.grow_to(len(before.boosters[0].rounds))
    _grow(trainer, fit, known, int(trained.rounds.max()), stage=1)
    refitted = conclude(trainer, init, trained.weights, keep_unweighted=False)
    return replace(
        trained,
        forest=refitted.forest,
        baseline=refitted.baseline,
        rounds=refitted.rounds,
        init=refitted.init,
        unweighted=None,
    )


def held_out_predictions(boosters: list[Booster], n_rows: int, n_threads: int) -> FloatArray:
    """The mean raw prediction of each row by the boosters that did not learn from it; NaN without any."""
    n_outputs = len(boosters[0].loss.baseline)
    total, counts = np.zeros((n_rows, n_outputs)), np.zeros(n_rows)
    for booster in boosters:
        own = _engine.Forest(booster.encoded.n_features, n_outputs)
        for trees in booster.rounds:
            for output, tree in enumerate(trees):
                own.add(tree, output)
        rows = take_rows(booster.encoded, booster.left_out)
        added = add_scores(own, np.zeros(n_outputs), rows, n_threads)
        total[booster.left_out] += booster.loss.init_scores(booster.left_out) + added
        counts[booster.left_out] += 1
    total[counts == 0] = np.nan
    return np.asarray(total / np.maximum(counts, 1)[:, None])
