"""What the two estimators of gradient boosting share: from a table to boosters, and from boosters to one forest.

The words of the loop: a *round* grows one tree for each output of the loss (one for regression and for two
classes, K for K classes); a tree sees the *derivatives* of the loss at the current *scores* and answers with
a step, of which the model takes the share `learning_rate`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin
from sklearn.utils.validation import check_is_fitted

import coterie._engine as _engine
from coterie._params import (
    ArrayLike,
    EstimatorLike,
    Flag,
    Fraction,
    Function,
    MappingLike,
    OneOf,
    Params,
    Real,
    SeedLike,
    Whole,
    check_params,
    is_auto,
    resolve_n_jobs,
)
from coterie._reported import Reported
from coterie._seeds import root_seed
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.boosting._booster import Booster, add_scores, units_of
from coterie.boosting._checkpoint_rounds import KeptRounds, kept_rounds
from coterie.boosting._dropout import DroppingBooster, check_dropout, check_staged
from coterie.boosting._evaluators import EvalSetJudge, Judge, LeftOutJudge
from coterie.boosting._holdouts import Part, all_rows, divide_rows
from coterie.boosting._init_estimator import fitted_init
from coterie.boosting._replay import KnownRounds
from coterie.boosting._row_sampling import sampling_of
from coterie.boosting._staged import staged_scores
from coterie.boosting._trainer import Crew, Squad
from coterie.boosting._tree_options import set_growth, set_lines, set_penalties, takes_several_targets
from coterie.boosting.plan import Plan, Policy, plan_of
from coterie.data.any_table import TakesAnyTable
from coterie.data.encoding import Encoded, take_rows
from coterie.data.groups import read_groups
from coterie.data.offset import read_offset
from coterie.data.parts import rows_of
from coterie.data.prepare import TrainingData, prepare_prediction, prepare_training
from coterie.data.target_statistics import learned_statistics
from coterie.data.weight import read_weight
from coterie.errors import InvalidParameter
from coterie.explain.explained import Explained
from coterie.explain.shap import TreeGame
from coterie.fitting.callbacks import RoundWatchers
from coterie.fitting.checkpoint import CheckpointLike
from coterie.fitting.checkpoint_writer import Journal, check_resume, opened_journal
from coterie.fitting.eval_set import EvalSet, read_eval_set
from coterie.fitting.fingerprint import about_data, about_fit
from coterie.fitting.first_rounds import check_n_trees
from coterie.fitting.monitor import FitEvent, emit, is_monitored
from coterie.fitting.scoring import RoundScorer, ScorerName
from coterie.fitting.warm_start import (
    check_same,
    check_warm_start,
    known_rounds,
    left_as_it_was,
    trace_of,
)
from coterie.losses import BoostingLoss, Origin
from coterie.trees.interactions import interaction_sets, with_made_features
from coterie.trees.limits import monotone_of

__all__ = ["BOOSTING_PARAMS", "BoostingBase", "shared_parameters", "training_weight"]

BOOSTING_PARAMS: Params = {
    "n_estimators": [Whole(1), OneOf("auto")],
    "learning_rate": [Real(0, None, closed="neither"), OneOf("auto")],
    "n_bags": [Whole(1), OneOf("auto")],
    "growth": [OneOf("auto", "leaf", "level", "oblivious", "mixed")],
    "max_leaf_nodes": [Whole(2), OneOf("auto"), None],
    "max_depth": [Whole(1), None],
    "min_samples_leaf": [Whole(1), OneOf("auto")],
    "min_child_weight": [Real(0)],
    "l2_regularization": [Real(0), OneOf("auto")],
    "l1_regularization": [Real(0)],
    "min_gain_to_split": [Real(0)],
    "leaf_penalty": [Real(0)],
    "max_step": [Real(0, None, closed="neither"), None],
    "path_smoothing": [Real(0)],
    "split_noise": [Real(0)],
    "linear_leaves": [Flag(), OneOf("auto")],
    "linear_l2": [Real(0)],
    "max_features": [Fraction(), OneOf("auto")],
    "max_features_per_level": [Fraction()],
    "max_features_per_tree": [Fraction()],
    "subsample": [Fraction(), OneOf("auto")],
    "sampling_method": [OneOf("auto", "uniform", "gradient_based", "bayesian")],
    "dropout_rate": [Real(0, 1)],
    "dropout_skip": [Real(0, 1)],
    "max_bins": [Whole(2, 255)],
    "monotonic_cst": [ArrayLike(), MappingLike(), None],
    "interaction_cst": [ArrayLike(), OneOf("pairwise", "no_interactions"), None],
    "categorical_features": [ArrayLike(), OneOf("auto"), None],
    "unknown_category": [OneOf("missing", "error")],
    "target_statistics": [OneOf("auto", "none", "columns", "pairs")],
    "init": [EstimatorLike(), OneOf("zero"), None],
    "early_stopping": [Flag(), OneOf("auto")],
    "holdout": [OneOf("random", "last_rows")],
    "validation_fraction": [Real(0, 1, closed="neither")],
    "scoring": [ScorerName(), Function(), None],
    "n_iter_no_change": [Whole(1), OneOf("auto")],
    "tol": [Real(0)],
    "refit": [Flag()],
    "warm_start": [Flag()],
    "random_state": [SeedLike()],
    "n_jobs": [Whole(), None],
    "checkpoint": [CheckpointLike(), None],
}

# Rare levels of a category are pulled towards the node's mean, and a set of levels must earn its freedom.
_LEVEL_SMOOTHING = 10.0
_LEVEL_L2 = 1.0
_FEW_CELLS = (
    50_000  # of a table: threads would wait for each other as long as they work, and longer on a busy machine
)


# What a fit leaves behind only if it was asked for.
_OF_SOME_FITS = (
    "validation_losses_",
    "validation_scores_",
    "oob_prediction_",
    "oob_decision_function_",
    "_as_grown",
    "_trace",
)


@dataclass(frozen=True)
class Task:
    """What the boosters of one fit have in common."""

    X: Any
    train: TrainingData
    offset: FloatArray | None
    plan: Plan
    seed: int
    n_threads: int
    journal: Journal | None


class BoostingBase(Reported, Explained, TakesAnyTable, CallbackSupportMixin, BaseEstimator):
    """What the classifier and the regressor share: the loop, and the walk down the trees."""

    PARAMS: ClassVar[Params] = BOOSTING_PARAMS
    _task: ClassVar[Any]

    def __init__(
        self,
        *,
        n_estimators: int | str = "auto",
        learning_rate: float | str = "auto",
        n_bags: int | str = "auto",
        growth: str = "auto",
        max_leaf_nodes: int | str | None = "auto",
        max_depth: int | None = None,
        min_samples_leaf: int | str = "auto",
        min_child_weight: float = 1e-3,
        l2_regularization: float | str = "auto",
        l1_regularization: float = 0.0,
        min_gain_to_split: float = 0.0,
        leaf_penalty: float = 0.0,
        max_step: float | None = None,
        path_smoothing: float = 0.0,
        split_noise: float = 0.0,
        linear_leaves: bool | str = "auto",
        linear_l2: float = 0.01,
        max_features: float | str = "auto",
        max_features_per_level: float = 1.0,
        max_features_per_tree: float = 1.0,
        subsample: float | str = "auto",
        sampling_method: str = "auto",
        dropout_rate: float = 0.0,
        dropout_skip: float = 0.5,
        max_bins: int = 255,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        categorical_features: Any = "auto",
        unknown_category: str = "missing",
        target_statistics: str = "auto",
        init: Any = None,
        early_stopping: bool | str = "auto",
        holdout: str = "random",
        validation_fraction: float = 0.1,
        scoring: Any = None,
        n_iter_no_change: int | str = "auto",
        tol: float = 1e-7,
        refit: bool = False,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.n_bags = n_bags
        self.growth = growth
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_child_weight = min_child_weight
        self.l2_regularization = l2_regularization
        self.l1_regularization = l1_regularization
        self.min_gain_to_split = min_gain_to_split
        self.leaf_penalty = leaf_penalty
        self.max_step = max_step
        self.path_smoothing = path_smoothing
        self.split_noise = split_noise
        self.linear_leaves = linear_leaves
        self.linear_l2 = linear_l2
        self.max_features = max_features
        self.max_features_per_level = max_features_per_level
        self.max_features_per_tree = max_features_per_tree
        self.subsample = subsample
        self.sampling_method = sampling_method
        self.dropout_rate = dropout_rate
        self.dropout_skip = dropout_skip
        self.max_bins = max_bins
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.categorical_features = categorical_features
        self.unknown_category = unknown_category
        self.target_statistics = target_statistics
        self.init = init
        self.early_stopping = early_stopping
        self.holdout = holdout
        self.validation_fraction = validation_fraction
        self.scoring = scoring
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.refit = refit
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, offset: Any, eval_set: Any, groups: Any, resume: bool
    ) -> Self:
        check_params(self)
        check_warm_start(self)
        check_resume(self, resume)
        if self.warm_start and hasattr(self, "_trace"):
            with left_as_it_was(self) as before:
                return self._fit_from(before, X, y, sample_weight, offset, eval_set, groups)
        for name in _OF_SOME_FITS:
            self.__dict__.pop(name, None)
        return self._fit_from(None, X, y, sample_weight, offset, eval_set, groups, resume=resume)

    def _fit_from(
        self,
        before: dict[str, Any] | None,
        X: Any,
        y: Any,
        sample_weight: Any,
        offset: Any,
        eval_set: Any,
        groups: Any,
        *,
        resume: bool = False,
    ) -> Self:
        """Fit anew, or go on from what the estimator held before, or from a checkpoint."""
        n_threads = _engine.usable_threads(resolve_n_jobs(self.n_jobs))
        several = self._task == "regression" and takes_several_targets(self, y)
        train = prepare_training(self, X, y, sample_weight, task=self._task, multi_output=several)
        seed = before["_trace"].seed if before else root_seed(self.random_state)
        self._take_classes(train)
        n_rows, judged = train.encoded.n_rows, eval_set is not None
        own_offset = self._read_offset(offset, n_rows)
        own_groups = None if groups is None else read_groups(groups, n_rows)
        trace = trace_of(self, train, seed, offset=own_offset, groups=own_groups, has_eval_set=judged)
        if before:
            check_same(before["_trace"], trace, before, self)
        plan = self._plan(n_rows, judged, several_targets=train.target.values.ndim > 1)
        check_dropout(self, stops_early=plan.stops_early, has_eval_set=judged)
        self.statistics_ = learned_statistics(
            plan.target_statistics, train, len(getattr(self, "classes_", ()))
        )
        own_eval_set = read_eval_set(eval_set, self, train, needs_offset=offset is not None)
        journal = None
        if self.checkpoint is not None:
            about = about_data(train, offset=own_offset, groups=own_groups, eval_set=own_eval_set)
            journal = opened_journal(self, about_fit(self) | about, seed, resume=resume)
            seed = journal.seed
        task = Task(X, train, own_offset, plan, seed, n_threads, journal)
        parts = divide_rows(self, train, plan, seed, groups=own_groups, has_eval_set=judged)
        n_outputs = max(1, self._n_outputs())
        known = known_rounds(before, n_outputs) if before else kept_rounds(journal, 0, len(parts), n_outputs)
        crew = self._crew(task, parts, known)
        if plan.stops_early or judged:
            own_weight = None if self.scoring is None else read_weight(sample_weight, n_rows)
            self._appoint_judges(crew, task, own_weight, own_eval_set)
        self._grow(crew, task, RoundWatchers(self, X, y, max_rounds=plan.max_rounds), known)
        if any(len(part.left_out) for part in parts):
            self._keep_left_out(crew.boosters, train, n_threads)
            if self.refit:
                self._grow_on_all_rows(crew, task)
        self._trace = replace(trace, seed=seed)
        return self

    def _plan(self, n_rows: int, judged: bool, *, several_targets: bool) -> Plan:
        plan = plan_of(self, n_rows, self._n_outputs(), several_targets=several_targets)
        if judged and is_auto(self.early_stopping):
            plan = replace(plan, stops_early=True)
        # Scores have their own scale, on which a thousandth of the score may be far.
        return plan if self.scoring is None else replace(plan, least_progress=0.0)

    def _crew(self, task: Task, parts: list[Part], in_order: list[list[list[Any]]]) -> Crew:
        """Boosters in squads; those of an earlier fit, in the order of the crew, begin with the rounds they had."""
        n_squads = len(task.plan.policies)
        # Squad by squad, as the crew and its forest have them.
        order = [number for place in range(n_squads) for number in range(place, len(parts), n_squads)]
        known = dict(zip(order, in_order, strict=True)) if in_order else {}
        boosters = self._boosters(task, parts, known)
        self.n_bags_ = len(boosters)
        return Crew([Squad(boosters[place::n_squads]) for place in range(n_squads)], task.n_threads)

    def _boosters(self, task: Task, parts: list[Part], known: dict[int, list[list[Any]]]) -> list[Booster]:
        train, plan, seed = task.train, task.plan, task.seed
        few = train.encoded.n_rows * len(train.encoded.n_levels) <= _FEW_CELLS
        threads = 1 if few else task.n_threads
        threads_each = max(1, threads // len(parts))
        shared = None if self.statistics_ else self._matrix(train.encoded, train, seed, threads)
        boosters = []
        self.init_: list[Any] = []
        for number, part in enumerate(parts):
            encoded: Encoded = train.encoded
            matrix: Any = shared
            if self.statistics_:
                encoded = self.statistics_.extend_training(
                    train.encoded, train.target.values, training_weight(train, part.rows), seed + number
                )
                matrix = self._matrix(encoded, train, seed, threads)
            origin = self._origin(train, task.X, part.rows, task.offset)
            loss = self._make_loss(train, part.rows, threads_each, origin)
            policy = plan.policies[number % len(plan.policies)]
            options = self._options(train, loss, plan, policy)
            n_rows = len(part.rows) or train.encoded.n_rows
            booster = self._booster_kind(policy, threads_each)(
                loss,
                _grower(matrix, options, loss, threads_each),
                encoded=encoded,
                part=part,
                seed=seed + number * 2**40,  # further than any booster's trees reach
                sampling=sampling_of(plan.sampling_method, plan.subsample, n_rows),
                linear_leaves=options.linear_leaves,
                known=KnownRounds(known[number], encoded, units=units_of(loss), n_threads=threads_each)
                if known
                else None,
            )
            boosters.append(booster)
        return boosters

    def _booster_kind(self, policy: Policy, n_threads: int) -> Callable[..., Booster]:
        if self.dropout_rate == 0:
            return Booster
        return partial(
            DroppingBooster,
            rate=float(self.dropout_rate),
            skip=float(self.dropout_skip),
            learning_rate=policy.learning_rate,
            n_threads=n_threads,
        )

    def _appoint_judges(
        self, crew: Crew, task: Task, weight: FloatArray | None, eval_set: EvalSet | None
    ) -> None:
        """Each squad is judged by the eval set, or by the rows that its boosters left out."""
        if self._n_outputs() == 0:
            return  # one class, and nothing to judge
        train, n_squads = task.train, len(crew.squads)
        judge: Judge
        for place, squad in enumerate(crew.squads):
            if eval_set is not None:
                start = self._first_scores(
                    eval_set.X, eval_set.encoded.n_rows, eval_set.offset, self.init_[place::n_squads]
                )
                scorer = self._scorer(eval_set.X, eval_set.target, eval_set.given_weight)
                judge = EvalSetJudge(eval_set, squad.boosters, start, scorer, task.n_threads)
            else:
                scorer = None
                if self.scoring is not None:
                    rows = np.concatenate([booster.left_out for booster in squad.boosters])
                    own_weight = None if weight is None else weight[rows]
                    scorer = self._scorer(rows_of(task.X, rows), train.target.values[rows], own_weight)
                judge = LeftOutJudge(squad.boosters, train.target.values, train.weight, scorer)
            squad.watch(judge)
            if task.plan.stops_early:
                squad.stop_early(task.plan.patience, self.tol, task.plan.least_progress)

    def _scorer(self, X: Any, target: AnyArray, weight: FloatArray | None) -> RoundScorer | None:
        if self.scoring is None:
            return None
        return RoundScorer(self, X, self._users_target(target), weight)

    def _grow(self, crew: Crew, task: Task, watchers: RoundWatchers, known: list[list[list[Any]]]) -> None:
        n_outputs = crew.boosters[0].loss.n_outputs
        so_far = _engine.Forest(crew.boosters[0].encoded.n_features, max(1, n_outputs))
        alike = np.full(self.n_bags_, 1 / self.n_bags_)

        max_rounds = task.plan.max_rounds if n_outputs else 0
        n_done = 0

        def after_round(trees: list[tuple[int, Any]]) -> bool:
            nonlocal n_done
            n_done += 1
            stop = emit(FitEvent(type(self).__name__, "round", n_done, max_rounds))
            if not watchers.listening:
                return stop
            watchers.begin_round()
            if self.dropout_rate > 0:  # earlier trees have other weights now
                trees = crew.trees_after(len(so_far) // max(1, n_outputs * self.n_bags_) + 1)
                so_far.truncate(0)
            for output, tree in trees:
                so_far.add(tree.scaled(alike[0]), output)
            return watchers.end_round(forest_=so_far, baseline_=crew.mean_start(alike)) or stop

        self._grow_crew(
            crew,
            max_rounds,
            task.journal,
            known,
            after_round=after_round if watchers.listening or is_monitored() else None,
        )
        self._take_trees(crew, crew.weights())
        if crew.is_judged:
            self.validation_losses_ = crew.mean_losses()
            if self.scoring is not None:
                self.validation_scores_ = crew.mean_scores()
        watchers.end()

    def _grow_crew(
        self,
        crew: Crew,
        n_rounds: int,
        journal: Journal | None,
        known: list[list[list[Any]]],
        *,
        stage: int = 0,
        after_round: Callable[[list[tuple[int, Any]]], bool] | None = None,
    ) -> None:
        """Grow, and keep a journal if there is one."""
        if journal is None:
            crew.grow(n_rounds, after_round)
            return
        kept = KeptRounds(crew, stage, journal, known)
        with journal.keeps(kept.collect):
            crew.grow(n_rounds, after_round, kept.look)

    def _take_trees(self, crew: Crew, weights: FloatArray) -> None:
        for booster in crew.boosters:
            booster.settle()
        self.bag_weights_ = weights
        self.baseline_ = crew.mean_start(weights)
        self.forest_ = self._forest_of(crew, weights)
        if self.warm_start and self.n_bags_ > 1:
            self._as_grown = self._forest_of(crew, np.ones(self.n_bags_))
        self.rounds_: RowArray = np.array([len(booster.rounds) for booster in crew.boosters])
        self.n_estimators_ = int(self.rounds_.max())

    def _forest_of(self, crew: Crew, weights: FloatArray) -> Any:
        first = crew.boosters[0]
        forest = _engine.Forest(first.encoded.n_features, max(1, first.loss.n_outputs))
        for output, tree in crew.trees(weights):
            forest.add(tree, output)
        return forest

    def _grow_on_all_rows(self, found: Crew, task: Task) -> None:
        """The same boosters once more, with no row left out, as many rounds as were found."""
        n_outputs = max(1, self._n_outputs())
        known = kept_rounds(task.journal, 1, self.n_bags_, n_outputs)
        crew = self._crew(task, [all_rows(task.train)] * self.n_bags_, known)
        for squad, before in zip(crew.squads, found.squads, strict=True):
            squad.grow_to(len(before.boosters[0].rounds))
        self._grow_crew(crew, self.n_estimators_, task.journal, known, stage=1)
        self._take_trees(crew, self.bag_weights_)

    def _keep_left_out(self, boosters: list[Booster], train: TrainingData, n_threads: int) -> None:
        """What the boosters say of the rows that they did not learn from."""
        if self.n_bags_ == 1:
            return
        n_rows, n_outputs = train.encoded.n_rows, len(self.baseline_)
        scores, counts = np.zeros((n_rows, n_outputs)), np.zeros(n_rows)
        for booster in boosters:
            own = _engine.Forest(booster.encoded.n_features, n_outputs)
            for trees in booster.rounds:
                for output, tree in enumerate(trees):
                    own.add(tree, output)
            rows = take_rows(booster.encoded, booster.left_out)
            added = add_scores(own, np.zeros(n_outputs), rows, n_threads)
            scores[booster.left_out] += booster.loss.first_scores(booster.left_out) + added
            counts[booster.left_out] += 1
        scores[counts == 0] = np.nan
        self._take_left_out(scores / np.maximum(counts, 1)[:, None])

    def _matrix(self, encoded: Encoded, train: TrainingData, seed: int, n_threads: int) -> Any:
        weight = np.empty(0) if train.weight is None else train.weight
        n_bins = min(self.max_bins, max(32, encoded.n_rows // 8))
        mapper = _engine.BinMapper.fit(encoded.values, encoded.n_levels, weight, n_bins, seed, n_threads)
        return _engine.BinnedMatrix(encoded.values, encoded.n_levels, mapper, n_threads)

    def _options(self, train: TrainingData, loss: BoostingLoss, plan: Plan, policy: Policy) -> Any:
        encoded = train.encoded
        options = _engine.GrowOptions()
        set_growth(options, self, policy)
        set_penalties(options, self, loss.scale)
        set_lines(options, self, policy, loss)
        options.min_child_weight = float(self.min_child_weight)
        options.max_features = plan.max_features
        options.level_smoothing = _LEVEL_SMOOTHING
        options.level_l2 = _LEVEL_L2
        options.learning_rate = policy.learning_rate
        options.answer_unit = loss.scale
        if self._task == "classification" and loss.n_outputs > 1 and self.monotonic_cst is not None:
            raise InvalidParameter(
                f"monotonic_cst is not supported with multiclass classification: y has {loss.n_outputs} classes, and "
                "constraints on the score of each would not order the probabilities. Fit one class against the rest."
            )
        if loss.joint_units is not None and self.monotonic_cst is not None:
            raise InvalidParameter(
                f"monotonic_cst is not supported with several targets: y has {loss.n_outputs} columns, and their trees "
                "are shared. Fit one model per column."
            )
        made_from = self.statistics_.features if self.statistics_ else []
        monotone = monotone_of(self.monotonic_cst, train.schema, encoded.n_levels > 0).tolist()
        options.monotone = monotone + [0] * len(made_from) if monotone else monotone
        options.interaction_sets = with_made_features(
            interaction_sets(self.interaction_cst, encoded.n_features), encoded.n_features, made_from
        )
        return options

    def _read_offset(self, offset: Any, n_rows: int) -> FloatArray | None:
        if offset is None:
            return None
        return read_offset(offset, n_rows, max(1, self._n_outputs()), one_for_all=self._task == "regression")

    def _origin(self, train: TrainingData, X: Any, rows: AnyArray, offset: FloatArray | None) -> Origin:
        """Where a booster's scores begin: at the offset, and at what a copy of `init`, fitted to its rows, predicts."""
        if self.init is None or isinstance(self.init, str) or self._n_outputs() == 0:
            return Origin(offset, add_constant=self.init is None)
        y = self._users_target(train.target.values)
        self.init_.append(fitted_init(self.init, X, y, train.weight, rows))
        scores = self._init_scores(self.init_[-1], X, train.encoded.n_rows)
        return Origin(scores if offset is None else offset + scores, add_constant=False)

    def _raw_scores(self, X: Any, offset: Any, n_trees: int | None = None) -> FloatArray:
        start, encoded, n_threads = self._start_of(X, offset)
        if n_trees is None:
            return add_scores(self.forest_, start, encoded, n_threads)
        n_rounds = check_n_trees(n_trees, self.n_estimators_)
        if n_rounds < self.n_estimators_:
            check_staged(self)
        n_first = self.forest_.n_outputs * int(np.minimum(self.rounds_, n_rounds).sum())
        return add_scores(self.forest_, start, encoded, n_threads, (0, n_first))

    def _staged_scores(self, X: Any, offset: Any) -> Iterator[FloatArray]:
        check_staged(self)
        start, encoded, n_threads = self._start_of(X, offset)
        return staged_scores(self.forest_, self.rounds_, start, encoded, n_threads)

    def _start_of(self, X: Any, offset: Any) -> tuple[FloatArray, Encoded, int]:
        """The scores of new rows before the first tree, their features, and how many threads may walk them."""
        if "forest_" not in self.__dict__:
            check_is_fitted(self, "forest_")
        encoded = prepare_prediction(self, X)
        if self.statistics_:
            encoded = self.statistics_.extend(encoded)
        given = self._read_offset(offset, encoded.n_rows)
        start = self.baseline_
        if given is not None or self.init_:
            start = start + self._first_scores(X, encoded.n_rows, given, self.init_)
        return start, encoded, _engine.usable_threads(resolve_n_jobs(self.n_jobs))

    def _first_scores(self, X: Any, n_rows: int, offset: FloatArray | None, models: list[Any]) -> FloatArray:
        """What the offset and the mean of the fitted `init` say of each row."""
        scores = np.zeros((n_rows, max(1, self._n_outputs())))
        if offset is not None:
            scores = scores + offset
        if models:
            scores = scores + np.mean([self._init_scores(model, X, n_rows) for model in models], axis=0)
        return scores

    def _game_of(self, X: Any, background: Any) -> TreeGame:
        start, encoded, n_threads = self._start_of(X, None)
        others = None if background is None else self._start_of(background, None)[1]
        made_from = tuple(map(tuple, self.statistics_.features)) if self.statistics_ else ()
        return TreeGame(self.forest_, encoded, 1.0, start, self.n_features_in_, n_threads, made_from, others)

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of the total gain that each feature's splits brought; sums to 1, or to 0 without splits."""
        check_is_fitted(self, "forest_")
        made_from = self.statistics_.features if self.statistics_ else []
        gains = np.zeros(self.n_features_in_ + len(made_from))
        for i in range(len(self.forest_)):
            tree = self.forest_.tree(i)
            split = tree.feature >= 0
            np.add.at(gains, tree.feature[split], tree.gain[split])
        made, gains = gains[self.n_features_in_ :], gains[: self.n_features_in_]
        for gain, features in zip(made, made_from, strict=True):
            gains[list(features)] += gain / len(features)
        total = gains.sum()
        return gains / total if total > 0 else gains

    def _take_classes(self, train: TrainingData) -> None:
        raise AssertionError("the classifier and the regressor each say what to do")

    def _users_target(self, target: AnyArray) -> AnyArray:
        raise AssertionError("the classifier and the regressor each say what to do")

    def _take_left_out(self, scores: FloatArray) -> None:
        raise AssertionError("the classifier and the regressor each say what to do")

    def _make_loss(self, train: TrainingData, rows: AnyArray, n_threads: int, origin: Origin) -> BoostingLoss:
        raise AssertionError("the classifier and the regressor each say what to do")

    def _n_outputs(self) -> int:
        raise AssertionError("the classifier and the regressor each say what to do")

    def _init_scores(self, model: Any, X: Any, n_rows: int) -> FloatArray:
        raise AssertionError("the classifier and the regressor each say what to do")


def _grower(matrix: Any, options: Any, loss: BoostingLoss, n_threads: int) -> Any:
    if loss.joint_units is None:
        return _engine.TreeGrower(matrix, options, n_threads)
    return _engine.JointGrower(matrix, options, loss.joint_units, n_threads)


def shared_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Of the arguments of an estimator's constructor, those that both estimators have."""
    return {name: given[name] for name in BOOSTING_PARAMS}


def training_weight(train: TrainingData, rows: AnyArray) -> FloatArray | None:
    """Weights of all rows, zero for those that do not take part."""
    if len(rows) == 0:
        return train.weight
    weight = np.zeros(train.encoded.n_rows)
    weight[rows] = 1.0 if train.weight is None else train.weight[rows]
    return weight
