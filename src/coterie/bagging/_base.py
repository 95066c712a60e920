"""What bagging of classes and of numbers share: bags, members that each learn from one, and their mean prediction."""

import copy
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import check_is_fitted

from coterie._params import Params, in_short, is_auto, spawn_seeds
from coterie._typing import AnyArray, FloatArray, RowArray, SeedArray, Task
from coterie.bagging._bagged_trees import KnownOob, forest_on_bags, grow_together, tree_predictions
from coterie.bagging._bags import Bag, Bags, ColumnDraws, OobSums
from coterie.bagging._plan import (
    BAGGING_PARAMS,
    BagFitSignature,
    BaggingData,
    bags_for,
    check_continues,
    check_together,
    contents_of,
)
from coterie.data.parts import Columns, TableShape, row_indexable, rows_of, table_shape
from coterie.data.prepare import read_table
from coterie.data.table import Schema
from coterie.data.target import Target, read_target
from coterie.data.weight import combined_weight, read_weight
from coterie.errors import InvalidInput, InvalidParameter
from coterie.explain import Explanation
from coterie.fitting.checkpoint_lists import CheckpointedLists, lists_in_checkpoint
from coterie.fitting.checkpoint_writer import CheckpointWriter
from coterie.fitting.estimator import Estimator, FitRun
from coterie.fitting.fingerprint import digest_of
from coterie.fitting.warm_start import PreviousFit
from coterie.forests.base import BaseForest
from coterie.forests.growth import MOST, STEP, has_settled
from coterie.forests.out_of_bag import OutOfBag, oob_score
from coterie.forests.tree_members import Members
from coterie.members.fit_members import (
    Budget,
    FitTask,
    Member,
    MemberProgress,
    Outcome,
    dropped_members,
    fit_all,
    in_parallel,
)
from coterie.members.member_predictions import MemberPredictions, numbered, predictions_after
from coterie.members.named_members import labels_of
from coterie.members.response import ResponseMethod
from coterie.members.weight_parameter import params_of_learner, router_of, take_input_tags, weight_params
from coterie.trees.tree_sum import TreeSum, labels_by_target

_MOST_AT_ONCE = 64  # members whose bags are drawn and held at a time
_ROWS_AT_ONCE = 2**23  # rows of all these bags


@dataclass(frozen=True)
class BaggingState:
    """What a longer fit needs of the last one.

    Attributes
    ----------
    members, features, columns, numbers : the members, the features and columns that each saw, and their numbers
    n_tried : how many members were fitted, those that failed included
    dropped : why members failed, by name
    bags : how rows were drawn
    out_of_bag : what is known out of bag
    trees : the forest whose trees the members are, if they grew together
    """

    members: Sequence[Any] = ()
    features: Sequence[RowArray] = ()
    columns: Sequence[Columns | None] = ()
    numbers: Sequence[int] = ()
    n_tried: int = 0
    dropped: Mapping[str, str] = field(default_factory=dict)
    bags: Bags | None = None
    out_of_bag: OobSums | KnownOob | None = None
    trees: BaseForest | None = None


class BaseBagging(Estimator):
    """The path of a fit, and the predictions of the members."""

    _has_members = True

    PARAMS: ClassVar[Params] = BAGGING_PARAMS
    _task: ClassVar[Task]

    estimators_: Sequence[Any]
    estimators_features_: list[RowArray]
    dropped_: dict[str, str]
    _numbers: list[int]
    _columns: list[Columns | None]
    _bags: Bags
    _seeds: SeedArray
    _question: ResponseMethod
    _schema: Schema | None
    _oob: OobSums | KnownOob | None
    _trees: BaseForest | None  # whose trees are the members, if they grew together

    # What those of classes and those of numbers each define.
    _default: Callable[[], Any]
    _response_method: Callable[[Any], ResponseMethod]
    _set_target: Callable[[Target], None]
    _truth: Callable[[Target], AnyArray]
    _n_columns: Callable[[], int]

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, resume: bool = False, **fit_params: Any
    ) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : any table, as the learner takes it
        y : labels of any type, or numbers, one for each row; several numbers where the learner can learn several
        sample_weight : array of shape (n_rows,), default=None
            How often each row counts: a row of weight 2 is drawn as two rows are, and rows of weight 0 are left out.
        resume : bool, default=False
            Go on from `checkpoint`, or begin anew if there is nothing yet.
        **fit_params : what the learner requests by scikit-learn's metadata routing, if that is on
        """
        with self._fitting(X, y, resume=resume) as run:
            data = self._prepare(X, y, sample_weight, fit_params)
            learner = self._learner()
            bags = bags_for(self, data, learner)
            columns = ColumnDraws.of(self.max_features, data.outline, replace=bool(self.bootstrap_features))
            check_together(self, bags.plan)
            track_oob = bags.plan.leaves_rows_out and (bool(self.oob_score) or is_auto(self.n_estimators))
            signature = BagFitSignature.of(run.seed, data, bags.plan, columns, track_oob=track_oob)
            state = None if run.previous is None else run.previous.state
            if run.previous is not None:
                check_continues(self.n_estimators, run.previous, signature, bags)
            run.open_checkpoint(
                lambda: {
                    "X, y or sample_weight": f"#{signature.data}",
                    "fit_params": digest_of(data.params),
                },
                learner=learner,
            )
            self._begin(state)
            self._trace, self._bags, self.estimator_ = replace(signature, seed=run.seed), bags, learner
            self._seeds = spawn_seeds(
                run.seed, MOST if is_auto(self.n_estimators) else int(self.n_estimators)
            )
            self._set_target(data.target)
            self._set_outline(data.outline)
            self._question = self._response_method(learner)
            self._train(run, state, data, columns, track_oob=track_oob)
            self._score_out_of_bag(data)
        return self

    def _train(
        self,
        run: FitRun,
        state: BaggingState | None,
        data: BaggingData,
        columns: ColumnDraws | None,
        *,
        track_oob: bool,
    ) -> None:
        """Let the engine grow all members together, if they are trees that it can grow so, or fit them one by one."""
        learner, trees = self.estimator_, None if state is None else state.trees
        together = (state is None or trees is not None) and columns is None
        if together and grow_together(self, learner, data, self._bags.plan):
            self._grow_together(trees, learner, data, run.checkpoint, track_oob=track_oob)
            return
        if track_oob and not isinstance(self._oob, OobSums):
            self._oob = OobSums(self._truth(data.target), data.row_weight, self._n_columns())
        self._grow(learner, data, columns, run.checkpoint)

    def _score_out_of_bag(self, data: BaggingData) -> None:
        if self._oob is None:
            return
        score = oob_score(self, data.X, data.labels, data.weight, self._oob.known, members="members")
        if score is not None:
            self.oob_score_ = score

    def _previous_fit(self) -> PreviousFit[BaggingState] | None:
        if not hasattr(self, "_trace"):
            return None
        state = BaggingState(
            members=self.estimators_,
            features=self.estimators_features_,
            columns=self._columns,
            numbers=self._numbers,
            n_tried=self._n_tried,
            dropped=self.dropped_,
            bags=self._bags,
            out_of_bag=self._oob,
            trees=self._trees,
        )
        return PreviousFit(self._trace, self._schema, getattr(self, "classes_", None), state)

    def _prepare(self, X: Any, y: Any, sample_weight: Any, others: dict[str, Any]) -> BaggingData:
        """Read and check what was given."""
        outline = table_shape(X)
        X = row_indexable(X)
        target = read_target(
            y,
            task=self._task,
            estimator_name=type(self).__name__,
            n_rows=outline.n_rows,
            multi_output=self._has_outputs(self._learner()),
        )
        weight = combined_weight(read_weight(sample_weight, outline.n_rows), None)
        contents = contents_of(X, outline, target)
        return BaggingData(
            X, outline, target, labels_of(target), weight, params_of_learner(self, others), contents
        )

    def _begin(self, state: BaggingState | None) -> None:
        """Start without members, or with copies of the lists of those that are known."""
        known = BaggingState() if state is None else state
        self.estimators_ = list(known.members)
        self.estimators_features_ = list(known.features)
        self.dropped_ = dict(known.dropped)
        self._numbers, self._columns = list(known.numbers), list(known.columns)
        self._n_tried, self._trees = known.n_tried, None
        self._oob = copy.deepcopy(known.out_of_bag)
        self.__dict__.pop("oob_score_", None)
        if state is not None and self.n_estimators == self._n_tried:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new members.",
                UserWarning,
                stacklevel=4,
            )

    def _grow(
        self, learner: Any, data: BaggingData, draws: ColumnDraws | None, checkpoint: CheckpointWriter | None
    ) -> None:
        """Fit members, and keep a checkpoint if there is one; members that it knows are not fitted again."""
        if checkpoint is None:
            self._fit_enough(learner, data, draws)
            return
        assert isinstance(self.estimators_, list)
        held = lists_in_checkpoint(checkpoint, "numbers", "members")
        known = dict(zip(held["numbers"], held["members"], strict=True))
        kept = CheckpointedLists(
            checkpoint, {"numbers": self._numbers, "members": self.estimators_}, len(known)
        )
        with checkpoint.recording(kept.collect):
            self._fit_enough(learner, data, draws, known, kept)

    def _fit_enough(
        self,
        learner: Any,
        data: BaggingData,
        draws: ColumnDraws | None,
        known: Mapping[int, Any] = MappingProxyType({}),
        kept: CheckpointedLists | None = None,
    ) -> None:
        """Fit members until there are enough, or until more would not help."""
        errors: dict[str, Exception] = {}
        first, most = self._n_tried, len(self._seeds)
        while self._n_tried < most and not self._is_enough():
            step = STEP - self._n_tried % STEP if is_auto(self.n_estimators) else most
            at_once = self._at_once(data.n_rows) if kept is None else self._workers()
            numbers = range(self._n_tried, min(self._n_tried + min(step, at_once), most))
            errors |= self._fit_members(numbers, learner, data, draws, known)
            self._n_tried = numbers.stop
            if kept is not None:
                kept.look()
        names = [_name(number) for number in range(first, self._n_tried)]
        self.dropped_ |= dropped_members(names, errors, type(self).__name__)
        self.n_estimators_ = len(self.estimators_)

    def _grow_together(
        self,
        known: BaseForest | None,
        learner: Any,
        data: BaggingData,
        checkpoint: CheckpointWriter | None,
        *,
        track_oob: bool,
    ) -> None:
        """Let the engine grow all members, which are trees."""
        trees = forest_on_bags(
            self,
            learner,
            data,
            self._bags,
            known=known,
            track_oob=track_oob,
            at_once=self._at_once(data.n_rows),
            checkpoint=checkpoint,
        )
        self._trees, self.estimators_ = trees, Members(trees)
        self._oob = KnownOob(trees._oob) if trees._oob is not None else None
        n_members = len(self.estimators_)
        self._numbers, self._columns = list(range(n_members)), [None] * n_members
        self.estimators_features_ = [np.arange(data.outline.n_columns or 0)] * n_members
        self.n_estimators_ = self._n_tried = n_members

    def _is_enough(self) -> bool:
        """Whether the out-of-bag error has settled, looked at after every 25 members; or whether every member fails."""
        if not is_auto(self.n_estimators) or self._n_tried % STEP:
            return False
        assert self._oob is not None
        return has_settled(np.array(self._oob.errors)) or (self._n_tried > 0 and not self.estimators_)

    def _at_once(self, n_rows: int) -> int:
        return max(self._workers(), min(_MOST_AT_ONCE, _ROWS_AT_ONCE // n_rows))

    def _workers(self) -> int:
        return Budget.of(self.n_jobs, _MOST_AT_ONCE).workers

    def _fit_members(
        self,
        numbers: range,
        learner: Any,
        data: BaggingData,
        draws: ColumnDraws | None,
        known: Mapping[int, Any],
    ) -> dict[str, Exception]:
        bags = [self._bags.draw(number, self._seeds) for number in numbers]
        columns = [None if draws is None else draws.draw(number, self._seeds) for number in numbers]
        tasks = [
            self._fit_task(number, learner, data, bag, own)
            for number, bag, own in zip(numbers, bags, columns, strict=True)
        ]
        predict = _PredictMember(self._question)
        new = [task for number, task in zip(numbers, tasks, strict=True) if number not in known]
        total = None if is_auto(self.n_estimators) else self.n_estimators
        progress = MemberProgress(type(self).__name__, total, self.verbose, len(self.estimators_))
        fitted = iter(
            fit_all(
                new, data.X, n_jobs=self.n_jobs, on_error=self.on_error, predict=predict, progress=progress
            )
        )
        outcomes = [
            _known_outcome(task, known[number], data.X, predict) if number in known else next(fitted)
            for number, task in zip(numbers, tasks, strict=True)
        ]
        errors = {}
        assert isinstance(self.estimators_, list)
        assert not isinstance(self._oob, KnownOob)
        for number, task, own, outcome in zip(numbers, tasks, columns, outcomes, strict=True):
            if outcome.error is not None:
                errors[_name(number)] = outcome.error
                continue
            self.estimators_.append(outcome.model)
            self._numbers.append(number)
            self._columns.append(own)
            n_columns = data.outline.n_columns or 0
            self.estimators_features_.append(np.arange(n_columns) if own is None else np.array(own.places))
            if self._oob is not None and task.predict_rows is not None:
                self._oob.add(task.predict_rows, outcome.predictions)
            elif self._oob is not None:
                self._oob.add(np.zeros(0, dtype=np.int64), np.zeros((0, self._n_columns())))
        return errors

    def _fit_task(
        self, number: int, learner: Any, data: BaggingData, bag: Bag, columns: Columns | None
    ) -> FitTask:
        rows, params = bag.rows, dict(data.params)
        if not self._bags.takes_weight:
            rows = bag.repeated()
        elif data.weight is not None or (bag.counts > 1).any():
            weight = np.zeros(data.n_rows)
            weight[rows] = bag.weight
            params |= weight_params(learner, weight)
        predict_rows = None
        if self._oob is not None:
            out = data.row_weight > 0
            out[bag.rows] = False
            # A learner may refuse a table without rows.
            predict_rows = np.flatnonzero(out) if out.any() else None
        return FitTask(
            Member(_name(number), learner, columns),
            data.labels,
            rows=rows,
            predict_rows=predict_rows,
            params=params,
            seed=int(self._seeds[number]),
        )

    def _member_predictions(self, X: Any, response: ResponseMethod | None = None) -> Iterator[FloatArray]:
        """What one member after the other predicts, arrays of shape (n_rows, n_columns)."""
        check_is_fitted(self, "estimators_")
        if self._schema is not None:
            self._schema.check(read_table(X), type(self).__name__)
        if self._trees is not None and response is None:
            yield from tree_predictions(self._trees, X)
            return
        X = row_indexable(X)
        predict = _PredictMember(self._question if response is None else response)
        calls = [
            (Member(_name(number), None, columns), model, X)
            for number, columns, model in zip(self._numbers, self._columns, self.estimators_, strict=True)
        ]
        for first in range(0, len(calls), _MOST_AT_ONCE):
            yield from in_parallel(predict, calls[first : first + _MOST_AT_ONCE], n_jobs=self.n_jobs)

    def _mean_predictions(self, X: Any) -> FloatArray:
        """The mean prediction of the members, shape (n_rows, n_columns)."""
        check_is_fitted(self, "estimators_")
        if self._trees is not None:
            assert self._schema is not None
            self._schema.check(read_table(X), type(self).__name__)
            return self._trees._mean_predictions(X)
        return self._mean(lambda: self._member_predictions(X))

    def _mean(self, predictions: Callable[[], Iterable[FloatArray]]) -> FloatArray:
        """The mean over members, summed up in their order."""
        with np.errstate(over="ignore", invalid="ignore"):
            mean = np.asarray(sum(predictions()) / len(self.estimators_))
        if not np.isfinite(mean).all():  # the sum, not the mean, was too large for a float
            mean = np.asarray(sum(own / len(self.estimators_) for own in predictions()))
        return mean

    def _means_and_spreads(self, X: Any) -> tuple[FloatArray, FloatArray]:
        predictions = np.stack(list(self._member_predictions(X)))
        return self._mean(lambda: predictions), predictions.std(axis=0)

    def explain(self, X: Any, *, background: Any = None, interactions: bool = False) -> Explanation:
        """The contribution of each column to the predictions; for members that are plain trees on columns of numbers.

        See `RandomForestClassifier.explain`.
        """
        check_is_fitted(self, "estimators_")
        if self._trees is None:
            raise InvalidInput(
                f"{type(self).__name__} can only explain members that are plain trees of coterie on columns of "
                "numbers, and its members are others.",
                hint="diagnostics.importance and diagnostics.dependence take any model.",
            )
        return self._trees.explain(X, background=background, interactions=interactions)

    @property
    def estimators_samples_(self) -> list[RowArray]:
        """The rows that each member drew, as often as it drew them."""
        check_is_fitted(self, "estimators_")
        return [self._bags.draw(number, self._seeds).repeated() for number in self._numbers]

    @property
    def feature_importances_(self) -> FloatArray:
        """The mean of the members' importances, as shares; for members that have them, such as trees."""
        check_is_fitted(self, "estimators_")
        if self._schema is None or not all(hasattr(own, "feature_importances_") for own in self.estimators_):
            raise AttributeError(
                f"{type(self).__name__} has no feature_importances_: its members do not have them."
            )
        if self._trees is not None:
            return np.asarray(self._trees.feature_importances_)
        total = np.zeros(self._schema.n_features)
        for places, own in zip(self.estimators_features_, self.estimators_, strict=True):
            total[places] += own.feature_importances_
        return total / total.sum() if total.sum() > 0 else total

    @property
    def oob_coverage_(self) -> RowArray:
        """How many members did not draw each row."""
        return self._known_oob("oob_coverage_").coverage

    @property
    def oob_errors_(self) -> FloatArray:
        """The out-of-bag error after each member: the share of wrong classes, or the mean squared error."""
        return self._known_oob("oob_errors_").errors

    def _known_oob(self, what: str) -> OutOfBag:
        check_is_fitted(self, "estimators_")
        if self._oob is None:
            raise AttributeError(
                f"{what} is not known: this {type(self).__name__} was fitted without out-of-bag predictions. "
                "Fit it with bootstrap=True and oob_score=True."
            )
        return self._oob.known

    def member_predictions(self, X: Any) -> MemberPredictions:
        """What each member predicts: a value for each class, or a number for each target."""
        values = np.stack(list(self._member_predictions(X)))
        return MemberPredictions(
            values, np.ones(len(values)), numbered("member", len(values)), labels_by_target(self)
        )

    def predict_after(self, X: Any, stages: RowArray) -> Iterator[AnyArray]:
        """What `predict` would be with only the first members, for each of these ascending numbers of them."""
        return predictions_after(self._member_predictions(X), stages, getattr(self, "classes_", None))

    def with_members(self, places: RowArray) -> Self:
        """A copy with only the members at these ascending places; what was known of training rows is gone."""
        check_is_fitted(self, "estimators_")
        pruned = copy.copy(self)
        for name in ("oob_score_", "_trace"):
            pruned.__dict__.pop(name, None)
        for name in ("estimators_", "estimators_features_", "_numbers", "_columns"):
            setattr(pruned, name, [getattr(self, name)[place] for place in places])
        pruned.n_estimators_, pruned._oob, pruned._trees = len(places), None, None
        return pruned

    def tree_sum(self) -> TreeSum:
        """Trees that grew together as parts that other formats are written from; refuses other members."""
        return replace(self._grown_together().tree_sum(), name=type(self).__name__)

    def tree_features(self, X: Any) -> FloatArray:
        """The matrix that trees that grew together see of a table."""
        return self._grown_together().tree_features(X)

    def _grown_together(self) -> BaseForest:
        check_is_fitted(self, "estimators_")
        if self._trees is None:
            raise InvalidInput(
                f"The members of this {type(self).__name__} did not grow together, and are models of their own. Export "
                "takes bagged DecisionTree* of coterie that see all columns, as numbers, and vote with probabilities.",
                parameter="estimator",
                received=self.estimator,
                allowed="None, or a DecisionTree* of coterie that sees all columns",
                hint="Leave estimator=None, max_features=1.0 and voting='auto'. For categories use RandomForest*.",
            )
        return self._trees

    def _learner(self) -> Any:
        learner = self._default() if self.estimator is None else self.estimator
        fits, kind = (
            (is_classifier, "classifier") if self._task == "classification" else (is_regressor, "regressor")
        )
        if not fits(learner):
            raise InvalidParameter(
                f"{type(self).__name__}(estimator={in_short(learner)}): expected a {kind}, or None for a decision tree."
            )
        return learner

    def _set_outline(self, outline: TableShape) -> None:
        self._schema = None if outline.table is None else Schema.of(outline.table)
        if self._schema is not None:
            self._schema.set_feature_names(self)

    def get_metadata_routing(self) -> MetadataRouter:
        """Who may be given what: weights to this estimator, everything else to `fit` of the learner."""
        return router_of(self, self._default() if self.estimator is None else self.estimator)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        learner = self._default() if self.estimator is None else self.estimator
        take_input_tags(tags, learner)
        tags.target_tags.multi_output = self._has_outputs(learner)
        return tags

    def _has_outputs(self, learner: Any) -> bool:
        """Whether several targets can be learned at once."""
        try:
            return self._task == "regression" and bool(get_tags(learner).target_tags.multi_output)
        except Exception:  # fit reports whatever is wrong with the learner
            return False


@dataclass(frozen=True)
class _PredictMember:
    """Calls a response method of members; a class, because it is sent to workers."""

    response: ResponseMethod

    def __call__(self, member: Member, model: Any, X: Any) -> FloatArray:
        return self.response.predict_with(member.name, model, member.part_of(X))


def _known_outcome(task: FitTask, model: Any, X: Any, predict: _PredictMember) -> Outcome:
    """What became of a task before the fit was interrupted; the member predicts again."""
    if task.predict_rows is None:
        return Outcome(model)
    return Outcome(model, predict(task.member, model, rows_of(X, task.predict_rows)))


def _name(number: int) -> str:
    return f"member {number}"
