"""What the two estimators of gradient boosting share: from a table to boosters, and from boosters to one forest.

The words of the loop: a *round* grows one tree for each output of the loss (one for regression and for two
classes, K for K classes); a tree sees the *derivatives* of the loss at the current *scores* and answers with
a step, of which the model takes the share `learning_rate`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

import coterie._engine as _engine
from coterie._params import (
    ArrayLike,
    EstimatorLike,
    Flag,
    Fraction,
    MappingLike,
    OneOf,
    Params,
    Real,
    SeedLike,
    Whole,
    check_params,
    resolve_n_jobs,
)
from coterie._seeds import root_seed
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.data.encoding import Encoded
from coterie.data.holdout import fold_numbers, holdout_rows
from coterie.data.offset import read_offset
from coterie.data.prepare import TrainingData, prepare_prediction, prepare_training
from coterie.data.target_statistics import learned_statistics, target_components
from coterie.ensembles._booster import Booster, add_scores, take_rows
from coterie.ensembles._boosting_plan import Plan, Policy, plan_of
from coterie.ensembles._crew import Crew, Squad
from coterie.ensembles._dropout import DroppingBooster, check_dropout
from coterie.ensembles._init_estimator import fitted_init
from coterie.ensembles._interactions import interaction_sets, with_made_features
from coterie.ensembles._row_sampling import sampling_of
from coterie.ensembles._tree_options import set_growth, set_penalties
from coterie.ensembles._watchers import RoundWatchers
from coterie.errors import InvalidParameter
from coterie.losses import BoostingLoss, Origin
from coterie.trees.limits import monotone_of

__all__ = ["BOOSTING_PARAMS", "BoostingBase", "training_weight"]

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
    "validation_fraction": [Real(0, 1, closed="neither")],
    "n_iter_no_change": [Whole(1), OneOf("auto")],
    "tol": [Real(0)],
    "random_state": [SeedLike()],
    "n_jobs": [Whole(), None],
}

# Rare levels of a category are pulled towards the node's mean, and a set of levels must earn its freedom.
_LEVEL_SMOOTHING = 10.0
_LEVEL_L2 = 1.0


class BoostingBase(CallbackSupportMixin, BaseEstimator):
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
        validation_fraction: float = 0.1,
        n_iter_no_change: int | str = "auto",
        tol: float = 1e-7,
        random_state: Any = None,
        n_jobs: int | None = None,
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
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> Self:
        check_params(self)
        n_threads = _engine.usable_threads(resolve_n_jobs(self.n_jobs))
        train = prepare_training(
            self, X, y, sample_weight, task=self._task, multi_output=self._task == "regression"
        )
        seed = root_seed(self.random_state)
        self._take_classes(train)
        plan = plan_of(
            self, train.encoded.n_rows, self._n_outputs(), several_targets=train.target.values.ndim > 1
        )
        check_dropout(self, stops_early=plan.stops_early)
        offset = self._read_offset(offset, train.encoded.n_rows)
        components = target_components(train.target.values, len(getattr(self, "classes_", ())))
        self.statistics_ = learned_statistics(plan.target_statistics, train, components)
        boosters = self._boosters(train, X, offset, plan, seed, n_threads)
        squads = [
            Squad(boosters[place :: len(plan.policies)], train.target.values, train.weight)
            for place in range(len(plan.policies))
        ]
        self.n_bags_ = len(boosters)
        self._grow(Crew(squads, n_threads), plan, RoundWatchers(self, X, y, max_rounds=plan.max_rounds))
        self._keep_left_out(boosters, train, n_threads)
        return self

    def _boosters(
        self, train: TrainingData, X: Any, offset: FloatArray | None, plan: Plan, seed: int, n_threads: int
    ) -> list[Booster]:
        parts = self._parts(train, plan, seed)
        threads_each = max(1, n_threads // len(parts))
        shared = None if self.statistics_ else self._matrix(train.encoded, train, seed, n_threads)
        boosters = []
        self.init_: list[Any] = []
        for number, (rows, left_out) in enumerate(parts):
            encoded: Encoded = train.encoded
            matrix: Any = shared
            if self.statistics_:
                encoded = self.statistics_.extend_training(
                    train.encoded, training_weight(train, rows), seed + number
                )
                matrix = self._matrix(encoded, train, seed, n_threads)
            loss = self._make_loss(train, rows, threads_each, self._origin(train, X, rows, offset))
            policy = plan.policies[number % len(plan.policies)]
            options = self._options(train, loss, plan, policy)
            n_rows = len(rows) or train.encoded.n_rows
            booster = self._booster_kind(policy, threads_each)(
                loss,
                _grower(matrix, options, loss, threads_each),
                encoded=encoded,
                rows=rows,
                left_out=left_out,
                seed=seed + number * 2**40,  # further than any booster's trees reach
                sampling=sampling_of(plan.sampling_method, plan.subsample, n_rows),
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

    def _grow(self, crew: Crew, plan: Plan, watchers: RoundWatchers) -> None:
        n_outputs = crew.boosters[0].loss.n_outputs
        n_features = crew.boosters[0].encoded.n_features
        so_far = _engine.Forest(n_features, max(1, n_outputs))
        if plan.stops_early:
            for squad in crew.squads:
                squad.stop_early(plan.patience, self.tol, plan.least_progress)

        def after_round(trees: list[tuple[Booster, int, Any]]) -> bool:
            if not watchers.listening:
                return False
            watchers.begin_round()
            if self.dropout_rate > 0:  # earlier trees have other weights now
                trees = crew.trees_after(len(so_far) // max(1, n_outputs * self.n_bags_) + 1)
                so_far.truncate(0)
            for _, output, tree in trees:
                so_far.add(tree.scaled(1 / self.n_bags_), output)
            return watchers.end_round(
                forest_=so_far, baseline_=_mean_start(dict.fromkeys(crew.boosters, 1 / self.n_bags_))
            )

        crew.grow(plan.max_rounds if n_outputs else 0, after_round)
        for booster in crew.boosters:
            booster.rounds = booster.trees_after(len(booster.rounds))
        weights = crew.weights()
        self.baseline_ = _mean_start(weights)
        self.forest_ = _engine.Forest(n_features, max(1, n_outputs))
        for booster, output, tree in crew.trees():
            self.forest_.add(tree if self.n_bags_ == 1 else tree.scaled(weights[booster]), output)
        self.n_estimators_ = max(len(booster.rounds) for booster in crew.boosters)
        if plan.stops_early:
            self.validation_losses_ = crew.mean_losses()
        watchers.end()

    def _keep_left_out(self, boosters: list[Booster], train: TrainingData, n_threads: int) -> None:
        """What each booster says of the rows that it did not learn from."""
        if self.n_bags_ == 1:
            return
        scores = np.full((train.encoded.n_rows, len(self.baseline_)), np.nan)
        for booster in boosters:
            own = _engine.Forest(booster.encoded.n_features, len(self.baseline_))
            for trees in booster.rounds:
                for output, tree in enumerate(trees):
                    own.add(tree, output)
            rows = take_rows(booster.encoded, booster.left_out)
            added = add_scores(own, np.zeros(len(self.baseline_)), rows, n_threads)
            scores[booster.left_out] = booster.loss.first_scores(booster.left_out) + added
        self._take_left_out(scores)

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

    def _parts(self, train: TrainingData, plan: Plan, seed: int) -> list[tuple[RowArray, RowArray]]:
        """For each booster, the rows to learn from (none: all of them) and the rows left out."""
        n_rows = train.encoded.n_rows
        kept = np.arange(n_rows) if train.weight is None else np.flatnonzero(train.weight > 0)
        codes = train.target.values[kept] if self._task == "classification" else None
        if plan.n_bags > 1:
            fold = fold_numbers(len(kept), plan.n_bags, seed, codes)
            return [(_as_rows(kept[fold != k]), kept[fold == k]) for k in range(plan.n_bags)]
        if plan.stops_early:
            learn, aside = holdout_rows(len(kept), self.validation_fraction, seed, codes)
            return [(_as_rows(kept[learn]), kept[aside])]
        return [(_as_rows(kept if len(kept) < n_rows else kept[:0]), kept[:0])]

    def _read_offset(self, offset: Any, n_rows: int) -> FloatArray | None:
        if offset is None:
            return None
        return read_offset(offset, n_rows, max(1, self._n_outputs()), one_for_all=self._task == "regression")

    def _origin(self, train: TrainingData, X: Any, rows: AnyArray, offset: FloatArray | None) -> Origin:
        """Where a booster's scores begin: at the offset, and at what a copy of `init`, fitted to its rows, predicts."""
        if self.init is None or isinstance(self.init, str) or self._n_outputs() == 0:
            return Origin(offset, add_constant=self.init is None)
        y = train.target.values if self._task == "regression" else self.classes_[train.target.values]
        self.init_.append(fitted_init(self.init, X, y, train.weight, rows))
        scores = self._init_scores(self.init_[-1], X, train.encoded.n_rows)
        return Origin(scores if offset is None else offset + scores, add_constant=False)

    def _raw_scores(self, X: Any, offset: Any) -> FloatArray:
        check_is_fitted(self, "forest_")
        encoded = prepare_prediction(self, X)
        if self.statistics_:
            encoded = self.statistics_.extend(encoded)
        n_threads = _engine.usable_threads(resolve_n_jobs(self.n_jobs))
        start = self.baseline_
        if (given := self._read_offset(offset, encoded.n_rows)) is not None:
            start = start + given
        if self.init_:
            start = start + np.mean(
                [self._init_scores(model, X, encoded.n_rows) for model in self.init_], axis=0
            )
        return add_scores(self.forest_, start, encoded, n_threads)

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

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _take_classes(self, train: TrainingData) -> None:
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


def training_weight(train: TrainingData, rows: AnyArray) -> FloatArray | None:
    """Weights of all rows, zero for those that do not take part."""
    if len(rows) == 0:
        return train.weight
    weight = np.zeros(train.encoded.n_rows)
    weight[rows] = 1.0 if train.weight is None else train.weight[rows]
    return weight


def _as_rows(rows: AnyArray) -> AnyArray:
    """Row numbers as the engine takes them."""
    return rows.astype(np.uint32)


def _mean_start(weights: dict[Booster, float]) -> FloatArray:
    return np.asarray(sum(weight * booster.loss.start for booster, weight in weights.items()))
