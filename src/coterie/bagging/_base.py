"""What bagging of classes and of numbers share: bags, members that each learn from one, and their mean prediction."""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import check_is_fitted

from coterie._params import Params, in_short, is_auto, spawn_seeds
from coterie._typing import AnyArray, FloatArray, RowArray, SeedArray, Task
from coterie.bagging._bagged_trees import KnownOob, grow_together, is_grown_together, tree_predictions
from coterie.bagging._bags import Bag, Bags, ColumnDraws, OobSums
from coterie.bagging._member_training import (
    MOST_AT_ONCE,
    BaggedMembers,
    MemberTraining,
    PredictMember,
    grow_members,
    known_members,
    member_name,
)
from coterie.bagging._plan import (
    BAGGING_PARAMS,
    BagFitSignature,
    BaggingData,
    bags_for,
    check_continues,
    check_together,
    contents_of,
)
from coterie.data.parts import Columns, TableShape, check_columns, row_indexable, schema_of, table_shape
from coterie.data.prepare import read_table
from coterie.data.table import Schema
from coterie.data.target import Target, read_target
from coterie.data.weight import combined_weight, read_weight
from coterie.errors import InvalidInput, InvalidParameter
from coterie.explain import Explanation
from coterie.fitting.estimator import Estimator
from coterie.fitting.fingerprint import digest_of
from coterie.fitting.warm_start import PreviousFit
from coterie.forests.base import BaseForest
from coterie.forests.growth import MOST
from coterie.forests.out_of_bag import OutOfBag, oob_score, required_oob
from coterie.members.fit_members import FitTask, Member, in_parallel
from coterie.members.member_predictions import MemberPredictions, numbered, predictions_after
from coterie.members.named_members import labels_of
from coterie.members.response import ResponseMethod
from coterie.members.weight_parameter import params_of_learner, router_of, take_input_tags
from coterie.trees.tree_sum import TreeSum, labels_by_target

# What members are called in their training, and in the model.
_ATTRIBUTES = {
    "members": "estimators_",
    "features": "estimators_features_",
    "columns": "_columns",
    "numbers": "_numbers",
    "n_tried": "_n_tried",
    "dropped": "dropped_",
    "bags": "_bags",
    "out_of_bag": "_oob",
    "oob_member_errors": "_oob_member_errors",
    "trees": "_trees",
}


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
    _oob_member_errors: FloatArray | None
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
            bags = self._bags_for(data, learner)
            columns = ColumnDraws.of(self.max_features, data.outline, replace=bool(self.bootstrap_features))
            check_together(self, bags.plan)
            track_oob = bags.plan.leaves_rows_out and (bool(self.oob_score) or is_auto(self.n_estimators))
            signature = BagFitSignature.of(run.seed, data, bags.plan, columns, track_oob=track_oob)
            state = None if run.previous is None else run.previous.state
            if run.previous is not None:
                self._check_continued(run.previous, signature, bags)
            run.open_checkpoint(
                lambda: {
                    "X, y or sample_weight": f"#{signature.data}",
                    "fit_params": digest_of(data.params),
                },
                learner=learner,
            )
            found = known_members(state, self.n_estimators)
            self._trace, found.bags, self.estimator_ = replace(signature, seed=run.seed), bags, learner
            self._seeds = spawn_seeds(
                run.seed, MOST if is_auto(self.n_estimators) else int(self.n_estimators)
            )
            self._set_target(data.target)
            self._schema = schema_of(data.outline)
            if self._schema is not None:
                self._schema.set_feature_names(self)
            self._question = self._response_method(learner)
            if found.can_grow_together and columns is None and grow_together(self, learner, data, bags.plan):
                grow_members(self, found, data, run.checkpoint, track_oob=track_oob)
            else:
                if track_oob and not isinstance(found.out_of_bag, OobSums):
                    found.out_of_bag = OobSums(self._truth(data.target), data.row_weight, self._n_columns())
                MemberTraining(self, found, data, columns, self._n_columns()).run(run.checkpoint)
            self._set_members(found)
            self.__dict__.pop("oob_score_", None)
            if self._oob is not None:
                score = oob_score(self, data.X, data.labels, data.weight, self._oob.known, members="members")
                if score is not None:
                    self.oob_score_ = score
        return self

    def _previous_fit(self) -> PreviousFit[BaggedMembers] | None:
        if not hasattr(self, "_trace"):
            return None
        # Files of earlier versions do not hold the errors of single members.
        held = {"_oob_member_errors": None, **vars(self)}
        state = BaggedMembers(**{own: held[name] for own, name in _ATTRIBUTES.items()})
        return PreviousFit(self._trace, self._schema, getattr(self, "classes_", None), state)

    def _prepare(self, X: Any, y: Any, sample_weight: Any, others: dict[str, Any]) -> BaggingData:
        """Read and check what was given."""
        outline, learner = table_shape(X), self._learner()
        X = row_indexable(X)
        if outline.table is None and outline.n_columns is not None and is_grown_together(learner):
            outline = replace(outline, table=read_table(X))
        target = read_target(
            y,
            task=self._task,
            estimator_name=type(self).__name__,
            n_rows=outline.n_rows,
            multi_output=self._has_outputs(learner),
        )
        weight = combined_weight(read_weight(sample_weight, outline.n_rows), None)
        contents = self._contents(X, outline, target)
        return BaggingData(
            X, outline, target, labels_of(target), weight, params_of_learner(self, others), contents
        )

    def _contents(self, X: Any, outline: TableShape, target: Target) -> SeedArray:
        """What each row holds as one number: draws follow from these."""
        return contents_of(X, outline, target)

    def _bags_for(self, data: BaggingData, learner: Any) -> Bags:
        return bags_for(self, data, learner)

    def _task_of(self, task: FitTask, bag: Bag, data: BaggingData) -> FitTask:
        """How a member is fitted to a bag."""
        return task

    def _check_continued(
        self, previous: PreviousFit[BaggedMembers], signature: BagFitSignature, bags: Bags
    ) -> None:
        check_continues(self.n_estimators, previous, signature, bags)

    def _set_members(self, found: BaggedMembers) -> None:
        for field_name, name in _ATTRIBUTES.items():
            setattr(self, name, getattr(found, field_name))
        self.n_estimators_ = len(self.estimators_)

    def _member_predictions(
        self,
        X: Any,
        response: ResponseMethod | None = None,
        params: Mapping[str, Any] = MappingProxyType({}),
    ) -> Iterator[FloatArray]:
        """What one member after the other predicts, arrays of shape (n_rows, n_columns).

        `params` are given to the method of the members by name.
        """
        check_is_fitted(self, "estimators_")
        if self._schema is not None:
            check_columns(self._schema, X, type(self).__name__)
        if self._trees is not None and response is None:
            yield from tree_predictions(self._trees, X)
            return
        X = row_indexable(X)
        predict = PredictMember(self._question if response is None else response, dict(params))
        calls = [
            (Member(member_name(number), None, columns), model, X)
            for number, columns, model in zip(self._numbers, self._columns, self.estimators_, strict=True)
        ]
        for first in range(0, len(calls), MOST_AT_ONCE):
            yield from in_parallel(predict, calls[first : first + MOST_AT_ONCE], n_jobs=self.n_jobs)

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
        explanation: Explanation = self._trees.explain(X, background=background, interactions=interactions)
        return explanation

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

    @property
    def oob_member_errors_(self) -> FloatArray:
        """The error of each member on the rows that it did not draw; NaN for a member that drew all."""
        self._known_oob("oob_member_errors_")
        errors = vars(self).get("_oob_member_errors")
        if errors is None:
            raise AttributeError(
                f"oob_member_errors_ is not known: this {type(self).__name__} was fitted by a version that did not "
                "keep it. Fit it again."
            )
        return np.asarray(errors)

    def _known_oob(self, what: str) -> OutOfBag:
        check_is_fitted(self, "estimators_")
        return required_oob(self, None if self._oob is None else self._oob.known, what)

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
        pruned._oob_member_errors = None
        return pruned

    def tree_sum(self) -> TreeSum:
        """Trees that grew together as parts that other formats are written from; refuses other members."""
        parts: TreeSum = self._grown_together().tree_sum()
        return replace(parts, name=type(self).__name__)

    def tree_features(self, X: Any) -> FloatArray:
        """The matrix that trees that grew together see of a table."""
        features: FloatArray = self._grown_together().tree_features(X)
        return features

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
        # One that does not declare what it is may be anything.
        is_other, kind = (
            (is_regressor, "classifier") if self._task == "classification" else (is_classifier, "regressor")
        )
        if is_other(learner):
            raise InvalidParameter(
                f"{type(self).__name__}(estimator={in_short(learner)}): expected a {kind}, or None for a decision tree."
            )
        return learner

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
