"""What stacking and blending share: a final estimator learns from what members predict out of fold."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import get_config
from sklearn.base import TransformerMixin
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, process_routing
from sklearn.utils.validation import check_is_fitted

from coterie._params import (
    ArrayLike,
    Boolean,
    EstimatorLike,
    Function,
    Instance,
    OneOf,
    Params,
    check_params,
)
from coterie._seeds import spawn_seeds
from coterie._sklearn import check_feature_names_in
from coterie._storage import Fitted
from coterie._typing import AnyArray, FloatArray, RowArray, Task
from coterie._value_types import ANY, COUNT, MODEL, TEXT, instance, list_of
from coterie.combining._final_estimator import FinalFitData, final_score, fitted_final, score_of
from coterie.combining._leak_guard import guard_against_leaks
from coterie.combining._meta_features import features_of, joined
from coterie.combining._stacking_tags import add_final_to_router, set_stack_tags, stack_block
from coterie.data.parts import Columns, TableShape, chosen_columns, row_indexable, table_shape
from coterie.data.target import Target, read_target
from coterie.data.weight import combined_weight, read_weight
from coterie.errors import InvalidInput, InvalidParameter
from coterie.fitting.fitted_state import forget
from coterie.members.fit_members import Member, in_parallel
from coterie.members.fold_ensemble import FoldEnsemble
from coterie.members.member_predictions import MemberPredictions
from coterie.members.named_members import MEMBER_PARAMS, MEMBERS_FITTED, GivenAtFit, NamedMembers, target_of
from coterie.members.oof_score import Score, predicted_codes
from coterie.members.out_of_fold import CrossFit, CrossFitPlan, Fold, cross_fit, prefit_members
from coterie.members.response import ResponseMethod, method_of
from coterie.members.weight_parameter import weight_params
from coterie.trees.tree_sum import labels_by_target

STACKING_PARAMS: Params = {
    **MEMBER_PARAMS,
    "final_estimator": [EstimatorLike(), None],
    "passthrough": [Boolean(), ArrayLike(), Instance(slice), Function()],
    "members": [OneOf("refit", "folds")],
    "oof_score": [Boolean()],
    "leak_guard": [Boolean()],
}
STACKING_FITTED: Fitted = {
    **MEMBERS_FITTED,
    "final_estimator_": MODEL,
    "stack_method_": list_of(TEXT),
    "leak_guard_": ANY,
    "_features": ANY,
    "_folds_used": list_of(instance(Fold)),
    "_lesson": instance(FinalFitData),
    "_passed": ANY,
    "_widths": list_of(COUNT),
}


@dataclass(frozen=True)
class StackingData:
    """What `fit` was given, read and checked; `labels` is y as members see it."""

    X: Any
    shape: TableShape
    target: Target
    labels: AnyArray
    weight: FloatArray | None
    groups: Any
    others: dict[str, Any]

    @property
    def classes(self) -> tuple[AnyArray, ...]:
        classes = self.target.classes
        return () if classes is None else tuple(classes) if isinstance(classes, list) else (classes,)


class BaseStacking(TransformerMixin, NamedMembers):
    """The way of `fit`, and what the final estimator is shown."""

    PARAMS: ClassVar[Params] = STACKING_PARAMS
    FITTED: ClassVar[Fitted] = STACKING_FITTED
    _task: ClassVar[Task]

    final_estimator: Any
    passthrough: Any

    final_estimator_: Any
    stack_method_: list[str]
    dropped_: dict[str, str]
    _asked: list[tuple[Member, ResponseMethod]]
    _passed: Columns | None
    _features: FloatArray
    _widths: list[int]
    _folds_used: list[Fold]
    _lesson: FinalFitData

    # What those of classes and those of numbers each define.
    _default_final: Callable[[], Any]
    _fits: Callable[[Any], bool]
    _folds: Callable[[StackingData, GivenAtFit, int | None], list[Fold] | None]
    _trial: Callable[[list[Fold]], Any]
    _set_target: Callable[[Target], None]
    _classes_of_target: Callable[[], Any]

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any, others: dict[str, Any]) -> Self:
        with self._fitting(X, y):
            self._check_members()
            final = self._final()
            data = self._read(X, y, sample_weight, groups, others)
            members = self._members(data.X, data.shape)
            given = self._given(members, data.weight, groups, others, final)
            seeds: list[int | None] = [None] * 3
            if self.random_state is not None:
                seeds = [int(seed) for seed in spawn_seeds(self.random_state, 3)]
            folds = self._folds(data, given, seeds[2])
            passed = self._passed_columns(data)
            guard = None
            if self.leak_guard:
                guard = self._guard(data, folds)
            crossed = self._crossed(data, members, given, folds, seeds[0])
            self._set_target(data.target)
            self._set_shape(data.shape)
            self._set_crossed(crossed, data)
            self._passed = passed
            self._learn_final(final, data, given.of_final, seeds[1])
            if guard is not None:
                self.leak_guard_ = guard
        return self

    def _read(self, X: Any, y: Any, sample_weight: Any, groups: Any, others: dict[str, Any]) -> StackingData:
        shape = table_shape(X)
        weight = combined_weight(read_weight(sample_weight, shape.n_rows), None)
        target = read_target(
            y,
            task=self._task,
            estimator_name=type(self).__name__,
            n_rows=shape.n_rows,
            multi_output=self._has_outputs(),
        )
        return StackingData(row_indexable(X), shape, target, _labels(target), weight, groups, others)

    def _crossed(
        self,
        data: StackingData,
        members: list[Member],
        given: GivenAtFit,
        folds: list[Fold] | None,
        seed: int | None,
    ) -> CrossFit:
        classes = data.classes
        responses = [
            ResponseMethod.of(
                member.estimator, method_of(member.name, member.estimator, self._wanted_method()), classes
            )
            for member in members
        ]
        if folds is None:
            return prefit_members(members, responses, data.X, data.shape.n_rows, self.n_jobs)
        codes = data.target.values
        plan = CrossFitPlan(
            members,
            responses,
            [target_of(member, codes, data.labels) if classes else codes for member in members],
            [given.of_members[member.name] for member in members],
            refit=self.members == "refit",
            keeps_folds=self.members == "folds",
            n_jobs=self.n_jobs,
            on_error=self.on_error,
            random_state=seed,
            verbose=int(self.verbose),
            owner=type(self).__name__,
        )
        return cross_fit(plan, data.X, folds, data.shape.n_rows)

    def _set_crossed(self, crossed: CrossFit, data: StackingData) -> None:
        """Keep the members, and what they predict out of fold."""
        models = crossed.models
        if crossed.fold_models:
            models = [
                FoldEnsemble(member.name, own, response.classes)
                for member, own, response in zip(
                    crossed.members, crossed.fold_models, crossed.questions, strict=True
                )
            ]
        self._set_members(crossed.members, models)
        self._asked = [
            (replace(member, estimator=None), response)
            for member, response in zip(crossed.members, crossed.questions, strict=True)
        ]
        self.stack_method_ = [response.method for response in crossed.questions]
        self.dropped_ = crossed.dropped
        self.oof_coverage_ = crossed.coverage
        names = [member.name for member in crossed.members]
        self.oof_predictions_ = Bunch(
            **{
                name: _output(own, response)
                for name, own, response in zip(names, crossed.answers, crossed.questions, strict=True)
            }
        )
        features = [
            features_of(own, response)
            for own, response in zip(crossed.answers, crossed.questions, strict=True)
        ]
        self._widths = [own.shape[1] for own in features]
        self._features = np.hstack(features)
        self._folds_used = crossed.folds
        scores = [
            self._member_score(own, response, data, crossed.coverage)
            for own, response in zip(crossed.answers, crossed.questions, strict=True)
        ]
        self.member_scores_ = Bunch(**{name: score.value for name, score in zip(names, scores, strict=True)})

    def _member_score(
        self, predictions: FloatArray, response: ResponseMethod, data: StackingData, coverage: RowArray
    ) -> Score:
        n_classes = tuple(map(len, data.classes))
        known = coverage > 0
        predicted = (
            predictions if not n_classes else predicted_codes(np.nan_to_num(predictions), response, n_classes)
        )
        predicted = predicted[:, None] if predicted.ndim == 1 else predicted
        truth = data.target.values
        blank = FinalFitData(None, truth, n_classes, known, data.weight, None, {}, None, None)
        return score_of(blank, np.nan_to_num(predicted), known)

    def _learn_final(self, final: Any, data: StackingData, params: dict[str, Any], seed: int | None) -> None:
        """Fit the final estimator to what members predict, and score it on rows that it does not see."""
        table = joined(self._features, self._meta_names(), self._passed_of(data.X))
        known = self.oof_coverage_ > 0
        task = FinalFitData(
            table,
            data.target.values,
            tuple(map(len, data.classes)),
            known,
            data.weight,
            data.groups,
            params,
            self.n_jobs,
            seed,
        )
        self._lesson = replace(task, table=None, params={})
        self.final_estimator_ = fitted_final(final, task)
        forget(self, ("oof_score_", "oof_score_error_"))
        if not self.oof_score:
            return
        if hasattr(self.final_estimator_, "oof_score_"):  # a second layer has scored itself
            self.oof_score_ = self.final_estimator_.oof_score_
            self.oof_score_error_ = getattr(self.final_estimator_, "oof_score_error_", float("nan"))
        else:
            score = final_score(final, task, self._folds_used)
            self.oof_score_, self.oof_score_error_ = score.value, score.error

    def recombined(self, final_estimator: Any, X: Any = None) -> Self:
        """The same fitted members under another final estimator, as a new ensemble; no member is fitted again.

        Parameters
        ----------
        final_estimator : what is to learn from the members' predictions out of fold
        X : the table of `fit`, if columns of it are passed through
        """
        check_is_fitted(self, "final_estimator_")
        other = copy.copy(self)
        other.final_estimator = final_estimator
        check_params(other)
        if self._passed is not None or self._passes_all():
            if X is None:
                raise InvalidInput("recombined needs X, the table of fit: columns of it are passed through.")
            if table_shape(X).n_rows != len(self._features):
                raise InvalidInput(f"recombined needs the X of fit, which had {len(self._features)} rows.")
        kept = self._lesson
        final = other._final()
        target = Target(self._task, kept.truth, self._classes_of_target())
        shape = replace(self._outline)
        data = StackingData(row_indexable(X), shape, target, kept.truth, kept.weight, kept.groups, {})
        other._learn_final(final, data, weight_params(final, kept.weight), kept.seed)
        return other

    def _guard(self, data: StackingData, folds: list[Fold] | None) -> Bunch:
        if folds is None:
            raise InvalidParameter(
                "leak_guard=True fits a trial without some rows, and cv='prefit' fits no member. Set leak_guard=False."
            )
        return guard_against_leaks(self, data.X, data.labels, data.weight, data.groups, data.others, folds)

    def _passed_columns(self, data: StackingData) -> Columns | None:
        """The columns that the final estimator sees too; None for none, or all."""
        if isinstance(self.passthrough, bool | np.bool_):
            return None
        return chosen_columns(self.passthrough, data.X, data.shape, "passthrough")

    def _passed_of(self, X: Any) -> Any:
        if self._passed is not None:
            return self._passed.of(X)
        return X if self._passes_all() else None

    def _passes_all(self) -> bool:
        return isinstance(self.passthrough, bool | np.bool_) and bool(self.passthrough)

    def _meta_names(self) -> list[str]:
        prefix = type(self).__name__.lower()
        names = []
        for (member, _), width in zip(self._asked, self._widths, strict=True):
            own = f"{prefix}_{member.name}"
            names += [own] if width == 1 else [f"{own}{column}" for column in range(width)]
        return names

    def _meta_table(self, X: Any) -> Any:
        """What the final estimator is shown of new rows."""
        check_is_fitted(self, "final_estimator_")
        X = row_indexable(X)
        calls = [
            (response, member, model, X)
            for (member, response), model in zip(self._asked, self.estimators_, strict=True)
        ]
        features = np.hstack(in_parallel(_features_of_member, calls, n_jobs=self.n_jobs))
        return joined(features, self._meta_names(), self._passed_of(X))

    def transform(self, X: Any) -> Any:
        """What the final estimator is shown: predictions of members, and columns of X that are passed through."""
        return self._meta_table(X)

    def member_predictions(self, X: Any) -> MemberPredictions:
        """What each member predicts: a one for the class, or its numbers. Members of a stack have equal weights here.

        The final estimator may use other methods of the members, such as their probabilities; see `transform`.
        """
        check_is_fitted(self, "final_estimator_")
        X, classes = row_indexable(X), labels_by_target(self)
        for member, response in self._asked:
            if classes and not response.classes:
                raise InvalidInput(
                    f"The member {member.name!r} of this {type(self).__name__} predicts numbers, not classes.",
                    parameter="estimators",
                    received=member.name,
                    allowed="classifiers",
                )
        prediction = ResponseMethod("predict", classes, bool(classes))
        values = [
            _predicted(prediction, member, model, X)
            for (member, _), model in zip(self._asked, self.estimators_, strict=True)
        ]
        names = tuple(member.name for member, _ in self._asked)
        return MemberPredictions(np.stack(values), np.ones(len(values)), names, classes)

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Names of the columns of `transform`: the ensemble's class and the member, then the names of columns of X."""
        check_is_fitted(self, "final_estimator_")
        passes = self._passed is not None or self._passes_all()
        own = check_feature_names_in(self, input_features, generate_names=passes)
        names: list[Any] = list(self._meta_names())
        if self._passed is not None:
            names += [own[place] for place in self._passed.places]
        elif passes:
            names += list(own)
        return np.asarray(names, dtype=object)

    def _final_predict(self, X: Any, predict_params: dict[str, Any]) -> Any:
        table = self._meta_table(X)
        if get_config()["enable_metadata_routing"]:
            predict_params = process_routing(self, "predict", **predict_params).final_estimator_.predict
        return self.final_estimator_.predict(table, **predict_params)

    def _final(self) -> Any:
        """The final estimator that `fit` is to fit a copy of, after checking that it is of the right kind."""
        final = self._final_or_default()
        if not self._fits(final):
            kind = "classifier" if self._task == "classification" else "regressor"
            raise InvalidParameter(
                f"'final_estimator' parameter should be a {kind}. Got {type(final).__name__}.",
                parameter="final_estimator",
                received=final,
                allowed=f"a {kind}",
            )
        return final

    def _final_or_default(self) -> Any:
        return self._default_final() if self.final_estimator is None else self.final_estimator

    def get_metadata_routing(self) -> MetadataRouter:
        """Who may be given what: `fit` of members and of the final estimator, and `split` of the splitter."""
        router = self._router()
        fitted = self.__dict__.get("final_estimator_")
        given = self.final_estimator is not None
        add_final_to_router(router, self._final_or_default() if given or fitted is None else fitted)
        self._route_splitter(router)
        return router

    def _sk_visual_block_(self) -> Any:
        return stack_block(self._pairs, self._final_or_default())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        final = self._final_or_default()
        set_stack_tags(tags, passthrough=self.passthrough, final=final, with_final=self._with_final)
        return tags

    def _with_final(self, holds: Callable[[Any], bool]) -> bool:
        """Whether something holds for the tags of every member and of the final estimator."""
        return self._all_members(holds) and bool(holds(get_tags(self._final_or_default())))

    def _route_splitter(self, router: MetadataRouter) -> None:
        """Blending has no splitter."""

    def _wanted_method(self) -> str:
        return "predict"


def _labels(target: Target) -> AnyArray:
    """y as members see it."""
    classes, codes = target.classes, target.values
    if classes is None:
        return codes
    if isinstance(classes, list):
        return np.column_stack([own[codes[:, output]] for output, own in enumerate(classes)])
    return np.asarray(classes[codes])


def _output(predictions: FloatArray, response: ResponseMethod) -> FloatArray:
    settled = response.finalize(predictions)
    return settled[:, 0] if settled.shape[1] == 1 else settled


def _features_of_member(response: ResponseMethod, member: Member, model: Any, X: Any) -> FloatArray:
    return features_of(_predicted(response, member, model, X), response)


def _predicted(response: ResponseMethod, member: Member, model: Any, X: Any) -> FloatArray:
    part = member.part_of(X)
    return (
        model.mean_of(response, part)
        if isinstance(model, FoldEnsemble)
        else response.predict_with(member.name, model, part)
    )
