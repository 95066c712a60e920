"""What stacking and blending share: a final estimator learns from what members predict out of fold.

The table that the final estimator learns from holds what members predict, and perhaps columns of X beside it.
A data frame stays a data frame: predictions come first, under names of their own, then the columns of X as they are,
text and categories included. Arrays become arrays, sparse matrices sparse matrices, dicts dicts.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import TransformerMixin
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
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
from coterie._sklearn import check_feature_names_in, parallel_block, serial_block
from coterie._storage import Fitted
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie._value_types import ANY, COUNT, MODEL, TEXT, instance, list_of
from coterie.combining._final_estimator import (
    FinalFitData,
    final_score,
    fitted_final,
    guard_against_leaks,
    score_of,
)
from coterie.data.frames import eager_frame, is_frame
from coterie.data.parts import Columns, chosen_columns, row_indexable, table_shape
from coterie.data.target import Target
from coterie.errors import InvalidInput, InvalidParameter
from coterie.fitting.estimator import forget
from coterie.members.fit_members import Member, in_parallel
from coterie.members.member_predictions import MemberPredictions
from coterie.members.named_members import (
    MEMBER_PARAMS,
    MEMBERS_FITTED,
    GivenAtFit,
    MemberFitData,
    NamedMembers,
    member_response,
)
from coterie.members.oof_score import Score, predicted_codes
from coterie.members.out_of_fold import CrossFit, Fold, FoldEnsemble, prefit_members, seeds_or_none
from coterie.members.response import ResponseMethod, method_of
from coterie.members.weight_parameter import weight_params
from coterie.trees.tree_sum import labels_by_target


def features_of(predictions: FloatArray, response: ResponseMethod) -> FloatArray:
    """Answers as features: of two probabilities the second is enough; votes become the number of the class."""
    if response.is_vote:
        return response.finalize(predictions)
    if response.method == "predict_proba" and len(response.classes) == 1 and predictions.shape[1] == 2:
        return predictions[:, 1:]
    return predictions


def joined(features: FloatArray, names: Sequence[str], X: Any) -> Any:
    """Predictions and the columns of X in one table of X's own type; without X, the predictions alone."""
    if X is None:
        return features
    if sparse.issparse(X):
        return sparse.hstack([sparse.csr_array(features), X], format="csr")
    if isinstance(X, Mapping):
        _refuse_same_names(names, X)
        return {**{name: features[:, i] for i, name in enumerate(names)}, **X}
    if is_frame(X):
        frame = eager_frame(nw.to_native(X, pass_through=True))
        if all(isinstance(name, str) for name in frame.columns):
            return _joined_frame(features, names, frame)
        X = frame.to_numpy()
    array = np.asarray(X)
    if array.dtype.kind not in "biuf":
        array = np.asarray(X, dtype=object)  # text beside numbers keeps them numbers
    return np.hstack([features, array])


def _joined_frame(features: FloatArray, names: Sequence[str], frame: Any) -> Any:
    _refuse_same_names(names, frame.columns)
    added = [
        nw.new_series(name, np.ascontiguousarray(features[:, i]), backend=frame.implementation)
        for i, name in enumerate(names)
    ]
    return nw.to_native(frame.with_columns(*added).select([*names, *frame.columns]))


def _refuse_same_names(names: Sequence[str], columns: Any) -> None:
    both = sorted(set(names) & set(columns))
    if both:
        raise InvalidInput(
            f"X has a column {both[0]!r}, and so is called the prediction of a member.",
            parameter="X",
            column=str(both[0]),
            hint="Rename one of them.",
        )


def add_final_to_router(router: MetadataRouter, final: Any) -> None:
    """Let the final estimator be given what its `fit` and its `predict` request."""
    mapping = MethodMapping().add(caller="predict", callee="predict").add(caller="fit", callee="fit")
    router.add(final_estimator_=final, method_mapping=mapping)


def stack_block(pairs: Any, final: Any) -> Any:
    """The members side by side, and the final estimator under them."""
    names, learners = zip(*pairs, strict=True)
    members = parallel_block(learners, names, dash_wrapped=False)
    return serial_block(
        (members, parallel_block([final], ["final_estimator"], dash_wrapped=False)), dash_wrapped=False
    )


def set_stack_tags(tags: Any, *, passthrough: Any, final: Any, with_final: Callable[[Any], bool]) -> None:
    """If the final estimator sees columns of the table, the stack takes the tables that it and all members take."""
    tags.transformer_tags.preserves_dtype = []
    if passthrough is False or not EstimatorLike().accepts(final):
        return
    for name in ("allow_nan", "sparse", "categorical", "string"):
        setattr(tags.input_tags, name, with_final(lambda own, name=name: getattr(own.input_tags, name)))


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


class BaseStacking(TransformerMixin, NamedMembers):
    """The way of `fit`, and what the final estimator is shown."""

    PARAMS: ClassVar[Params] = STACKING_PARAMS
    FITTED: ClassVar[Fitted] = STACKING_FITTED

    final_estimator_: Any
    stack_method_: list[str]
    _passed: Columns | None
    _features: FloatArray
    _widths: list[int]
    _folds_used: list[Fold]
    _lesson: FinalFitData

    # What those of classes and those of numbers each define.
    _default_final: Callable[[], Any]
    _fits: Callable[[Any], bool]
    _folds: Callable[..., list[Fold] | None]
    _trial: Callable[..., Any]

    def _check_members(self) -> list[str]:
        names = super()._check_members()
        self._final()
        return names

    def _fit_members(self, data: MemberFitData, members: list[Member]) -> None:
        final = self._final()
        given = self._given(data, members, final)
        seeds = seeds_or_none(self.random_state, 3)
        folds = self._folds(data, given, seeds[2])
        self._passed = self._passed_columns(data)
        if self.leak_guard:
            self.leak_guard_ = self._guard(data, folds)
        self._set_crossed(self._crossed(data, members, given, folds, seeds[0]), data)
        self._learn_final(final, data, given.of_final, seeds[1])

    def _crossed(
        self,
        data: MemberFitData,
        members: list[Member],
        given: GivenAtFit,
        folds: list[Fold] | None,
        seed: int | None,
    ) -> CrossFit:
        wanted = self._wanted_method()
        responses = [
            ResponseMethod.of(
                member.estimator, method_of(member.name, member.estimator, wanted), data.classes
            )
            for member in members
        ]
        if folds is None:
            return prefit_members(members, responses, data.X, data.n_rows, self.n_jobs)
        ways = {"refit": self.members == "refit", "keeps_folds": self.members == "folds"}
        return self._cross_fit(data, members, responses, given, folds, random_state=seed, **ways)

    def _set_crossed(self, crossed: CrossFit, data: MemberFitData) -> None:
        """Keep the members, and what they predict out of fold."""
        models = crossed.models
        if crossed.fold_models:
            models = [
                FoldEnsemble(member.name, own, response.classes)
                for member, own, response in zip(
                    crossed.members, crossed.fold_models, crossed.questions, strict=True
                )
            ]
        self._set_members(crossed.members, crossed.questions, models, crossed.dropped)
        self.stack_method_ = [response.method for response in crossed.questions]
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
        self, predictions: FloatArray, response: ResponseMethod, data: MemberFitData, coverage: RowArray
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

    def _learn_final(self, final: Any, data: MemberFitData, params: dict[str, Any], seed: int | None) -> None:
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
        target = Target(self._task, kept.truth, getattr(self, "classes_", None))
        data = MemberFitData(row_indexable(X), self._outline, target, kept.truth, kept.weight, kept.groups)
        other._learn_final(final, data, weight_params(final, kept.weight), kept.seed)
        return other

    def _guard(self, data: MemberFitData, folds: list[Fold] | None) -> Bunch:
        if folds is None:
            raise InvalidParameter(
                "leak_guard=True fits a trial without some rows, and cv='prefit' fits no member. Set leak_guard=False."
            )
        return guard_against_leaks(self, data, folds)

    def _passed_columns(self, data: MemberFitData) -> Columns | None:
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
        features = np.hstack(in_parallel(_features_of_member, self._calls(X), n_jobs=self.n_jobs))
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
        values = [_predicted(prediction, member, model, X) for _, member, model, _ in self._calls(X)]
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
        router = super().get_metadata_routing()
        fitted = self.__dict__.get("final_estimator_")
        given = self.final_estimator is not None
        add_final_to_router(router, self._final_or_default() if given or fitted is None else fitted)
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

    def _wanted_method(self) -> str:
        return "predict"


def _output(predictions: FloatArray, response: ResponseMethod) -> FloatArray:
    settled = response.finalize(predictions)
    return settled[:, 0] if settled.shape[1] == 1 else settled


def _features_of_member(response: ResponseMethod, member: Member, model: Any, X: Any) -> FloatArray:
    return features_of(_predicted(response, member, model, X), response)


def _predicted(response: ResponseMethod, member: Member, model: Any, X: Any) -> FloatArray:
    if isinstance(model, FoldEnsemble):
        return model.mean_of(response, member.part_of(X))
    return member_response(response, member, model, X)
