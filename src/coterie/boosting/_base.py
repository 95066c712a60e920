"""What the two estimators of gradient boosting share: the path of a fit, and raw predictions."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coterie._optional import need
from coterie._params import (
    ArrayLike,
    Boolean,
    EstimatorLike,
    Fraction,
    Function,
    Integer,
    MappingLike,
    OneOf,
    Params,
    Real,
    Seed,
    check_first,
)
from coterie._storage import Fitted
from coterie._typing import AnyArray, FloatArray, RowArray, Task
from coterie.boosting._dropout import check_dropout
from coterie.boosting._fitted import BOOSTING_FITTED
from coterie.boosting._init_estimator import InitEstimator, RawPredictor
from coterie.boosting._prediction import add_scores, check_staged, first_rounds, staged_scores
from coterie.boosting._replay import BoostingState
from coterie.boosting._streamed import prepare_streamed, with_features
from coterie.boosting._training import BoostingData, BoostingFit, TrainedBoosting, train
from coterie.boosting._tree_sum import boosting_features, boosting_split_counts, boosting_tree_sum
from coterie.boosting.forest_rounds import n_trees_of
from coterie.boosting.plan import EFFORTS, Plan, make_plan
from coterie.data.encoding import Encoded
from coterie.data.groups import read_groups
from coterie.data.holdout import rows_held_out
from coterie.data.offset import read_offset
from coterie.data.prepare import TrainingData, prepare_prediction, prepare_training
from coterie.data.streaming.scan import Scan
from coterie.data.target_statistics import learned_statistics
from coterie.errors import InvalidInput, InvalidParameter
from coterie.explain.tree_models import ExplainedOutputs, ShapInputs
from coterie.explain.tree_models import explain as explain_trees
from coterie.fitting.checkpoint import CheckpointLike
from coterie.fitting.estimator import Estimator, FitRun, FitSignature, signature_of
from coterie.fitting.eval_set import named_eval_sets, read_eval_set
from coterie.fitting.fingerprint import data_fingerprint
from coterie.fitting.monitor import FitEvent, print_kept_rounds, printed_progress
from coterie.fitting.scoring import RoundScorer, ScorerName
from coterie.fitting.warm_start import PreviousFit, check_continues, check_number_given, check_same_settings
from coterie.members.intervals import CalibrationRows
from coterie.metrics import shown_metric
from coterie.trees.tree_sum import TreeSum

BOOSTING_PARAMS: Params = {
    "n_estimators": [Integer(1), OneOf("auto")],
    "effort": [OneOf(*EFFORTS)],
    "learning_rate": [Real(0, None, closed="neither"), OneOf("auto")],
    "n_folds": [Integer(1), OneOf("auto")],
    "growth": [OneOf("auto", "leaf", "level", "oblivious", "mixed")],
    "max_leaf_nodes": [Integer(2), OneOf("auto"), None],
    "max_depth": [Integer(1), None],
    "min_samples_leaf": [Integer(1), OneOf("auto")],
    "min_child_weight": [Real(0)],
    "l2_regularization": [Real(0), OneOf("auto")],
    "l1_regularization": [Real(0)],
    "min_gain_to_split": [Real(0)],
    "leaf_penalty": [Real(0)],
    "max_step": [Real(0, None, closed="neither"), None],
    "path_smoothing": [Real(0)],
    "split_noise": [Real(0)],
    "linear_leaves": [Boolean(), OneOf("auto")],
    "linear_l2": [Real(0)],
    "max_features": [Fraction(), OneOf("auto")],
    "max_features_per_level": [Fraction()],
    "max_features_per_tree": [Fraction()],
    "subsample": [Fraction(), OneOf("auto")],
    "sampling_method": [OneOf("auto", "uniform", "gradient_based", "bayesian")],
    "dropout_rate": [Real(0, 1)],
    "dropout_skip": [Real(0, 1)],
    "max_bins": [Integer(2, 255)],
    "monotonic_cst": [ArrayLike(), MappingLike(), None],
    "interaction_cst": [ArrayLike(), OneOf("pairwise", "no_interactions"), None],
    "categorical_features": [ArrayLike(), OneOf("auto"), None],
    "unknown_category": [OneOf("missing", "error")],
    "target_statistics": [OneOf("auto", "none", "columns", "pairs")],
    "init": [EstimatorLike(), OneOf("zero"), None],
    "early_stopping": [Boolean(), OneOf("auto")],
    "holdout": [OneOf("random", "last_rows")],
    "validation_fraction": [Real(0, 1, closed="neither")],
    "scoring": [ScorerName(), Function(), None],
    "n_iter_no_change": [Integer(1), OneOf("auto")],
    "tol": [Real(0)],
    "refit": [Boolean()],
    "warm_start": [Boolean()],
    "random_state": [Seed()],
    "n_jobs": [Integer(), None],
    "verbose": [Integer(0), Boolean()],
    "checkpoint": [CheckpointLike(), None],
}


_MOST_CALIBRATION_ROWS = 10_000  # that intervals and sets are calibrated by
_CONTINUE_OTHERWISE = (
    "To go on with other data, start a new model from this one: init=FrozenEstimator(model). To begin anew, set "
    "warm_start=False."
)


class BaseGradientBoosting(Estimator):
    """The path of a fit, from a table to trees, and the raw predictions of the trees."""

    PARAMS: ClassVar[Params] = BOOSTING_PARAMS
    _takes_any_table = True
    _takes_several_targets: ClassVar[bool] = True
    _task: ClassVar[Task]
    FITTED: ClassVar[Fitted] = BOOSTING_FITTED

    # What the classifier and the regressor each define.
    _set_target: Callable[[TrainingData], None]  # the classes, or the number of outputs
    _decoded: Callable[[AnyArray], AnyArray]  # the target as the user gave it
    _set_held_out: Callable[[FloatArray], None]  # predictions for rows held out, from raw predictions
    _loss: Callable[[], Any]  # before it has seen data, with a part for each of several targets
    _n_outputs: Callable[[], int]  # raw predictions per row; 0 if there is nothing to learn
    _init_scores: RawPredictor

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        eval_set: Any = None,
        groups: Any = None,
        resume: bool = False,
    ) -> Self:
        """Fit to a table and its target: labels, or numbers, of which a regressor takes several columns.

        A weight of 2 counts a row twice, an offset is a row's score to start from. `eval_set`, a tuple (X, y), (X, y,
        weight) or (X, y, weight, offset), is evaluated after each round and decides when to stop; no row of the table
        is left out then. Of several, a list of them or a dict by name, the last decides, and `eval_losses_` has the
        losses of all. Rows of one of `groups` are left out together or not at all. A table that is larger than
        memory is given alone, as `coterie.scan(...)`, which names the columns of all these. Collections of Dask are
        trained on where they are, by the workers of its cluster.
        `resume`: go on from `checkpoint`, or begin anew if there is nothing yet.
        """
        with self._fitting(X, y, resume=resume) as run:
            eval_sets = {} if eval_set is None else named_eval_sets(eval_set)
            if isinstance(X, Scan):
                data = prepare_streamed(
                    self, run, X, {"y": y, "sample_weight": sample_weight, "offset": offset, "groups": groups}
                )
            elif type(X).__module__.startswith("dask."):
                for package in ("dask", "distributed"):
                    need(package, purpose="Training on collections of Dask", extra="dask")
                # Above this package: it trains with what is here.
                cluster = import_module("coterie.distributed.on_dask.fit")
                given = {"y": y, "sample_weight": sample_weight, "offset": offset, "groups": groups}
                sets = list(eval_sets.values()) or None
                data, sets = cluster.prepare_collections(self, run, X, given, sets)
                eval_sets = dict(zip(eval_sets, sets or (), strict=True))
            else:
                data = self._prepare(X, y, sample_weight, offset, groups)
            plan = self._plan(data, has_eval_set=bool(eval_sets))
            data = self._add_evaluation(data, plan, eval_sets)
            signature = self._begin(run, data, plan)
            every = self._rounds_of_a_line()
            with printed_progress(every, run.owner, "round", every) if every else nullcontext():
                trained = self._train(run, self._boosting_fit(run, data, plan))
            self._conclude(trained, replace(signature, seed=run.seed))
            if every:
                kept = FitEvent(run.owner, "round", self.n_estimators_, measures=run.measures())
                print_kept_rounds(kept, run.elapsed)
            self._set_calibration(data.train)
        return self

    _records_curves: ClassVar[bool] = True  # of the training loss and of each eval set

    def _rounds_of_a_line(self) -> int:
        """How many rounds there are for each line that is printed; 0: nothing is printed."""
        return int(self.verbose)

    def _train(self, run: FitRun, fit: BoostingFit) -> TrainedBoosting:
        if fit.data.cluster is not None:
            return fit.data.cluster.train(fit, self._on_round(run))
        return train(
            fit,
            [] if run.previous is None else run.previous.state.trees(),
            on_round=self._on_round(run),
            keep_unweighted=bool(self.warm_start),
        )

    def _check_parameters(self) -> None:
        if self.warm_start:
            check_number_given(self, "the rows left out gain no more")
        if self.warm_start and self.refit:
            raise InvalidParameter(
                "warm_start=True cannot be combined with refit=True: the trees that were kept have seen all rows, so "
                "the rows left out could no longer decide when to stop.",
                parameter="refit",
                received=self.refit,
                allowed="False",
                hint="Set one of them to False.",
            )

    def _prepare(self, X: Any, y: Any, sample_weight: Any, offset: Any, groups: Any) -> BoostingData:
        """Read and check what was given."""
        train = prepare_training(
            self, X, y, sample_weight, task=self._task, multi_output=self._takes_several_targets
        )
        self._set_target(train)
        own_groups = None if groups is None else read_groups(groups, train.n_rows)
        return BoostingData(X, train, self._read_offset(offset, train.n_rows), own_groups)

    def _plan(self, data: BoostingData, *, has_eval_set: bool) -> Plan:
        """What parameters that are left to us stand for, on this table."""
        return self._plan_of(self.get_params(deep=False), data, has_eval_set=has_eval_set)

    def _plan_of(self, params: Mapping[str, Any], data: BoostingData, *, has_eval_set: bool) -> Plan:
        plan = make_plan(
            params,
            self._task,
            n_rows=data.n_rows,
            n_outputs=self._n_outputs(),
            n_targets=data.train.target.n_outputs,
            may_join=self._joint_loss(data.train.target.n_outputs) is not None,
            has_eval_set=has_eval_set,
        )
        if self.dropout_rate > 0:
            check_dropout(plan.params, stops_early=plan.stops_early, has_eval_set=has_eval_set)
        return plan

    def _add_evaluation(self, data: BoostingData, plan: Plan, eval_sets: Mapping[str, Any]) -> BoostingData:
        """The same data with target statistics, and the eval sets as the model sees them; the last one decides."""
        self.statistics_ = None
        if data.cluster is not None and len(eval_sets) > 1:
            raise InvalidInput.expecting(
                f"eval_set has {len(eval_sets)} sets, and the table is on a cluster",
                "one set",
                "eval_set",
                list(eval_sets),
                hint="Give the one that decides when to stop.",
            )
        if data.streamed is not None:
            data = with_features(self, data, plan)
        if plan.target_statistics != "none" and data.train.encoded.n_levels.any():
            several = data.train.target.n_outputs > 1
            n_classes = 0 if several else len(getattr(self, "classes_", ()))
            counted = data.train if data.cluster is None else data.cluster.with_levels()
            self.statistics_ = learned_statistics(plan.target_statistics, counted, n_classes)
        read = {
            name: read_eval_set(own, self, data.train, needs_offset=data.offset is not None)
            for name, own in eval_sets.items()
        }
        known = {name: own for name, own in read.items() if own is not None}
        if not known:
            return replace(data, statistics=self.statistics_)
        last = list(known)[-1]
        own = known.pop(last)
        return replace(data, statistics=self.statistics_, eval_set=own, eval_name=last, observed_sets=known)

    def _begin(self, run: FitRun, data: BoostingData, plan: Plan) -> FitSignature:
        """Check that the fit continues the last one, if it is to, and open the checkpoint, if there is one."""
        others = {"offset": data.offset, "groups": data.groups}
        signature = signature_of(self, data.train, run.seed, **others, has_eval_set=data.eval_set is not None)
        if run.previous is not None:
            run.previous.state.check(self.n_estimators)
            check_same_settings(run.previous.signature, signature, "Or set warm_start=False to begin anew.")
            check_continues(
                run.previous,
                signature,
                schema=self.schema_,
                classes=getattr(self, "classes_", None),
                hint=_CONTINUE_OTHERWISE,
            )
        features = {} if data.cluster is None else {"rows of X": data.cluster.fingerprint()}
        run.open_checkpoint(
            lambda: data_fingerprint(data.train, **others, **features, eval_set=data.eval_set)
        )
        run.begin_steps(plan.max_rounds)
        return signature

    def _boosting_fit(self, run: FitRun, data: BoostingData, plan: Plan) -> BoostingFit:
        init = None
        if self.init is not None and not isinstance(self.init, str) and self._n_outputs():
            y = self._decoded(data.train.target.values)
            init = InitEstimator(self.init, data.X, y, data.train.weight, self._init_scores)
        return BoostingFit(
            data,
            plan,
            self._joint_loss(data.train.target.n_outputs) if plan.joint else self._loss(),
            self._n_outputs(),
            run.seed,
            run.n_threads,
            init=init,
            scorer=None if self.scoring is None else self._scorer,
            checkpoint=run.checkpoint,
            measures_training=self._records_curves
            and bool(data.eval_set is not None or self._rounds_of_a_line()),
            metric=shown_metric(self.scoring) if isinstance(self.scoring, str) else None,
            publish=run.publish_measures if run.is_watched else None,
        )

    def _joint_loss(self, n_targets: int) -> Any:
        """One loss of all targets, for trees that gain for all of them at once; None if there is none."""
        return None

    def _scorer(self, X: Any, target: AnyArray, weight: FloatArray | None) -> RoundScorer:
        return RoundScorer(self, X, self._decoded(target), weight)

    def _on_round(self, run: FitRun) -> Any:
        if not run.is_watched:
            return None
        return lambda done, fitted: run.emit("round", done, fitted=fitted)

    def _conclude(self, trained: TrainedBoosting, signature: FitSignature) -> None:
        """Set the fitted attributes."""
        self.forest_ = trained.forest
        self.baseline_ = trained.baseline
        self.init_ = trained.init
        self.rounds_: RowArray = trained.rounds
        self.n_estimators_ = int(trained.rounds.max())
        self.n_folds_ = len(trained.rounds)
        self.fold_weights_ = trained.weights
        if trained.unweighted is not None:
            self._as_grown = trained.unweighted
        if trained.losses is not None:
            self.validation_losses_ = trained.losses
        if trained.scores is not None:
            self.validation_scores_ = trained.scores
        if trained.training_losses is not None:
            self.train_losses_ = trained.training_losses
        if trained.curves and self._records_curves:
            self.eval_losses_ = {name: losses for name, (losses, _) in trained.curves.items()}
            scored = {name: scores for name, (_, scores) in trained.curves.items() if scores is not None}
            if scored:
                self.eval_scores_ = scored
        if trained.held_out is not None:
            self._set_held_out(trained.held_out)
        self._trace = signature

    def _set_calibration(self, train: TrainingData) -> None:
        """Keep the targets of some rows that were held out, which intervals and sets are calibrated by."""
        held_out = getattr(self, "oof_proba_", getattr(self, "oof_prediction_", None))
        if held_out is None or train.target.values.ndim > 1:
            return
        rows, weight = rows_held_out(held_out, train.weight, _MOST_CALIBRATION_ROWS), train.weight
        if len(rows):
            own = np.ones(len(rows)) if weight is None else weight[rows]
            self._calibration = CalibrationRows(rows, train.target.values[rows], own)

    def _previous_fit(self) -> PreviousFit[BoostingState] | None:
        if not hasattr(self, "_trace"):
            return None
        state = BoostingState(self.rounds_, self.forest_, getattr(self, "_as_grown", None))
        return PreviousFit(self._trace, self.schema_, getattr(self, "classes_", None), state)

    def _read_offset(self, offset: Any, n_rows: int) -> FloatArray | None:
        if offset is None:
            return None
        return read_offset(offset, n_rows, max(1, self._n_outputs()), one_for_all=self._task == "regression")

    def _raw_scores(self, X: Any, offset: Any, n_rounds: int | None = None) -> FloatArray:
        start, encoded, n_threads = self._start_of(X, offset)
        if n_rounds is None:
            return add_scores(self.forest_, start, encoded, n_threads)
        n_rounds = check_first("n_rounds", n_rounds, self.n_estimators_)
        if n_rounds < self.n_estimators_:
            check_staged(self.dropout_rate)
        n_first = n_trees_of(self.forest_, int(np.minimum(self.rounds_, n_rounds).sum()))
        return add_scores(self.forest_, start, encoded, n_threads, (0, n_first))

    def _staged_scores(self, X: Any, offset: Any) -> Iterator[FloatArray]:
        check_staged(self.dropout_rate)
        start, encoded, n_threads = self._start_of(X, offset)
        return staged_scores(self.forest_, self.rounds_, start, encoded, n_threads)

    def _start_of(self, X: Any, offset: Any) -> tuple[FloatArray, Encoded, int]:
        """The raw predictions of new rows before the first tree, their features, and the threads to use."""
        if "forest_" not in self.__dict__:
            check_is_fitted(self, "forest_")
        encoded = prepare_prediction(self, X)
        if self.statistics_:
            encoded = self.statistics_.extend(encoded)
        start = self.baseline_
        given = self._read_offset(offset, encoded.n_rows)
        if given is not None or self.init_:
            own = np.zeros((encoded.n_rows, len(start))) if given is None else given
            if self.init_:
                models = [self._init_scores(model, X, encoded.n_rows) for model in self.init_]
                own = own + np.mean(models, axis=0)
            start = start + own
        return start, encoded, self._n_threads()

    _explained_outputs: ExplainedOutputs
    explain = explain_trees

    def _shap_inputs(self, X: Any, background: Any) -> ShapInputs:
        start, encoded, n_threads = self._start_of(X, None)
        others = None if background is None else self._start_of(background, None)[1]
        made_from = tuple(map(tuple, self.statistics_.features)) if self.statistics_ else ()
        return ShapInputs(
            self.forest_, encoded, 1.0, start, self.n_features_in_, n_threads, made_from, others
        )

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

    def split_counts(self) -> FloatArray:
        """How often each column is split on, over all trees."""
        return boosting_split_counts(self)

    def tree_sum(self) -> TreeSum:
        """The model as parts that other formats are written from: readings of columns, trees, a start and a link."""
        return boosting_tree_sum(self)

    def tree_features(self, X: Any) -> FloatArray:
        """The matrix that trees see of a table: categories are codes, target statistics are the last columns."""
        return boosting_features(self, X)

    def with_rounds(self, n_rounds: int) -> Self:
        """A copy with only the first rounds; what was known of training rows left out is gone."""
        return first_rounds(self, n_rounds)
