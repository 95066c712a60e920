"""An ensemble of learners that the user names: their list, their parameters by name, and who is given what at `fit`."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn import get_config
from sklearn.base import MetaEstimatorMixin, is_classifier, is_regressor
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from coterie._params import Boolean, EstimatorLike, Integer, OneOf, Params, Seed, unexpected
from coterie._sklearn import BaseComposition, parallel_block
from coterie._storage import Fitted, expect
from coterie._typing import AnyArray, FloatArray, RowArray, Task
from coterie._value_types import FLOATS, INTEGERS, MODEL, NUMBER, TEXT, dict_of, instance, list_of, pair_of
from coterie.data.parts import TableShape, chosen_columns, row_indexable, table_shape
from coterie.data.target import Target, read_target
from coterie.data.weight import combined_weight, read_weight
from coterie.errors import InvalidParameter
from coterie.fitting.estimator import Estimator, forget
from coterie.fitting.fitted_state import verify_columns
from coterie.members.fit_members import Member, in_parallel
from coterie.members.member_predictions import MemberPredictions
from coterie.members.out_of_fold import CrossFit, CrossFitPlan, Fold, cross_fit, splitter_of
from coterie.members.response import ResponseMethod
from coterie.members.weight_parameter import routing_is_off, weight_params
from coterie.trees.tree_sum import labels_by_target


class MemberList:
    """A list of names and learners, each perhaps with the columns it sees."""

    def accepts(self, value: object) -> bool:
        return isinstance(value, list | tuple) and len(value) > 0 and all(map(_is_member, value))

    def describe(self) -> str:
        return "a non-empty list of (string, estimator) tuples, or of (string, estimator, columns)"


def _is_member(item: object) -> bool:
    if not isinstance(item, list | tuple) or len(item) not in (2, 3) or not isinstance(item[0], str):
        return False
    return _is_drop(item[1]) or EstimatorLike().accepts(item[1])


MEMBER_PARAMS: Params = {
    "estimators": [MemberList()],
    "on_error": [OneOf("raise", "drop")],
    "n_jobs": [Integer(), None],
    "random_state": [Seed()],
    "verbose": [Integer(0), Boolean()],
}
OUT_OF_FOLD_FITTED: Fitted = {
    "member_scores_": dict_of(TEXT, NUMBER),
    "oof_coverage_": INTEGERS,
    "oof_predictions_": dict_of(TEXT, FLOATS),
    "oof_score_": NUMBER,
    "oof_score_error_": NUMBER,
}
MEMBERS_FITTED: Fitted = {
    **OUT_OF_FOLD_FITTED,
    "estimators_": list_of(MODEL),
    "named_estimators_": dict_of(TEXT, MODEL | TEXT),
    "dropped_": dict_of(TEXT, TEXT),
    "_asked": list_of(pair_of(instance(Member), instance(ResponseMethod))),
    "_outline": instance(TableShape),
}


def verify_members(model: Any) -> None:
    """Refuse an ensemble of any learners from a file whose parts contradict each other."""
    verify_columns(model)
    held = vars(model)
    if "estimators_" in held:
        expect(len(model.estimators_) > 0, "has no members")
    if "_asked" in held and "estimators_" in held:
        expect(
            len(model._asked) == len(model.estimators_), "has response methods of other members than its own"
        )


@dataclass(frozen=True)
class MemberFitData:
    """What `fit` was given, read and checked; `labels` is y as classifiers and regressors among the members see it."""

    X: Any
    shape: TableShape
    target: Target
    labels: AnyArray
    weight: FloatArray | None = None
    groups: Any = None
    others: dict[str, Any] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        return self.shape.n_rows

    @property
    def classes(self) -> tuple[AnyArray, ...]:
        """Labels of each output; none for numbers."""
        classes = self.target.classes
        return () if classes is None else tuple(classes) if isinstance(classes, list) else (classes,)

    def target_of(self, member: Member) -> AnyArray:
        """Classifiers learn the labels as they are in y; regressors the numbers of the classes."""
        if self.classes and not is_classifier(member.estimator):
            return self.target.values.astype(np.float64)
        return self.labels


class GivenAtFit:
    """What `fit` was given beside X and y, and who is to have it.

    Attributes
    ----------
    weight : the sample weights, checked, or None
    of_members : what `fit` of each member is given, by its name
    of_split : what `split` of the splitter is given
    of_final : what `fit` of the final estimator is given
    """

    def __init__(self, weight: FloatArray | None) -> None:
        self.weight = weight
        self.of_members: dict[str, dict[str, Any]] = {}
        self.of_split: dict[str, Any] = {}
        self.of_final: dict[str, Any] = {}


class NamedMembers(MetaEstimatorMixin, BaseComposition, Estimator):
    """The way of `fit`, parameters of members by name, tags that follow from theirs, and the routing of metadata."""

    PARAMS: ClassVar[Params] = MEMBER_PARAMS
    _has_members = True
    FITTED: ClassVar[Fitted] = MEMBERS_FITTED
    _task: ClassVar[Task]
    _regressors_too: ClassVar[bool] = False  # whether a classifier may have members that predict numbers

    # Weights and groups are handed on: it is for members to request what they need.
    __metadata_request__fit = {"sample_weight": UNUSED, "groups": UNUSED}

    estimators: Any
    estimators_: list[Any]
    named_estimators_: Bunch
    dropped_: dict[str, str]
    _asked: list[tuple[Member, ResponseMethod]]
    _outline: TableShape

    # Fit the members to the data, and what combines them; each family defines it.
    _fit_members: Callable[[MemberFitData, list[Member]], None]

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, **fit_params: Any
    ) -> Self:
        """Fit the members, and what combines their predictions.

        Parameters
        ----------
        X : any table, as the members take it
        y : labels of any type or numbers, one for each row, or several where all that is fitted can learn several
        sample_weight : how often each row counts; all that is fitted must take it
        groups : rows of a group are held out together, by splitters that take groups
        **fit_params : what members request by scikit-learn's metadata routing, if that is on
        """
        with self._fitting(X, y):
            self._check_members()
            data = self._read(X, y, sample_weight, groups, fit_params)
            self._set_target(data.target)
            self._set_shape(data.shape)
            self._fit_members(data, self._members(data.X, data.shape))
        return self

    def _read(self, X: Any, y: Any, sample_weight: Any, groups: Any, others: dict[str, Any]) -> MemberFitData:
        shape = table_shape(X)
        weight = combined_weight(read_weight(sample_weight, shape.n_rows), None)
        target = read_target(
            y,
            task=self._task,
            estimator_name=type(self).__name__,
            n_rows=shape.n_rows,
            multi_output=self._has_outputs(),
        )
        return MemberFitData(row_indexable(X), shape, target, labels_of(target), weight, groups, others)

    @property
    def _pairs(self) -> Any:
        """Names and learners, without the columns: what scikit-learn calls a composition."""
        try:
            return [(item[0], item[1]) for item in self.estimators]
        except (TypeError, IndexError, KeyError):
            return self.estimators

    @_pairs.setter
    def _pairs(self, pairs: Any) -> None:
        self.estimators = [
            (name, learner, *item[2:]) for (name, learner), item in zip(pairs, self.estimators, strict=True)
        ]

    @property
    def named_estimators(self) -> Bunch:
        """The learners that were given, by name."""
        return Bunch(**dict(self._pairs))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of the ensemble, and, if deep, its members by name and their parameters as `name__parameter`."""
        return cast(dict[str, Any], self._get_params("_pairs", deep=deep))

    def set_params(self, **params: Any) -> Any:
        """Set parameters, members by name ("drop" leaves one out), or parameters of members as `name__parameter`."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        self._set_params("_pairs", **params)
        return self

    def _check_members(self) -> list[str]:
        """Names in order, after checking that they and the learners can be used."""
        names = [name for name, _ in self._pairs]
        if len(set(names)) < len(names):
            raise _wrong_estimators(
                f"Names provided are not unique: {names!r}. estimators need a name each.",
                names,
                "unique names",
            )
        for name in names:
            if name in self.get_params(deep=False):
                raise _wrong_estimators(
                    f"Estimator names conflict with constructor arguments: {[name]!r}.",
                    name,
                    "names that are no constructor arguments",
                )
            if "__" in name:
                raise _wrong_estimators(
                    f"Estimator names must not contain __: got {[name]!r}.", name, "names without __"
                )
        learners = [learner for _, learner in self._pairs if not _is_drop(learner)]
        if not learners:
            raise _wrong_estimators(
                "All estimators are dropped. At least one is required to be an estimator.",
                self.estimators,
                "at least one that is not dropped",
            )
        if not self._regressors_too:
            fits, kind = (is_classifier, "classifier") if is_classifier(self) else (is_regressor, "regressor")
            for learner in learners:
                if not fits(learner):
                    raise _wrong_estimators(
                        f"The estimator {type(learner).__name__} should be a {kind}.", learner, f"a {kind}"
                    )
        return names

    def _members(self, X: Any, shape: TableShape) -> list[Member]:
        """The members that are not dropped, with the columns that each sees."""
        found = []
        for name, learner, *columns in self.estimators:
            if not _is_drop(learner):
                chosen = chosen_columns(columns[0], X, shape, f"member {name!r}") if columns else None
                found.append(Member(name, learner, chosen))
        return found

    def _cross_fit(
        self,
        data: MemberFitData,
        members: Sequence[Member],
        responses: Sequence[ResponseMethod],
        given: GivenAtFit,
        folds: Sequence[Fold],
        **ways: Any,
    ) -> CrossFit:
        """Fitted members, and what they predict out of fold; `ways` are those of the plan."""
        plan = CrossFitPlan(
            members,
            responses,
            [data.target_of(member) for member in members],
            [given.of_members[member.name] for member in members],
            n_jobs=self.n_jobs,
            on_error=self.on_error,
            verbose=self._verbosity(),
            owner=type(self).__name__,
            **ways,
        )
        return cross_fit(plan, data.X, folds, data.n_rows)

    def _verbosity(self) -> int:
        """Whether a line is printed for each member."""
        return int(self.verbose)

    def _set_target(self, target: Target) -> None:
        if target.classes is not None:
            self.classes_ = target.classes

    def _set_members(
        self,
        members: Sequence[Member],
        responses: Sequence[ResponseMethod],
        models: Sequence[Any],
        dropped: dict[str, str],
    ) -> None:
        fitted = {member.name: model for member, model in zip(members, models, strict=True)}
        self._asked = [
            (replace(member, estimator=None), response)
            for member, response in zip(members, responses, strict=True)
        ]
        self.dropped_ = dropped
        self.estimators_ = list(models)
        self.named_estimators_ = Bunch(**{name: fitted.get(name, "drop") for name, _ in self._pairs})

    def _set_shape(self, shape: TableShape) -> None:
        self._outline = TableShape(shape.n_rows, shape.n_columns, shape.names)
        if shape.names is not None:
            self.feature_names_in_ = np.array(shape.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    @property
    def n_features_in_(self) -> int:
        """Columns that fit saw."""
        shape = self.__dict__.get("_outline")
        if shape is None or shape.n_columns is None:
            raise AttributeError(f"{type(self).__name__} object has no attribute n_features_in_")
        return int(shape.n_columns)

    def _given(self, data: MemberFitData, learners: Sequence[Member], final: Any = None) -> GivenAtFit:
        """Share out what `fit` was given: by scikit-learn's routing if it is on, else weights go to everybody."""
        given, groups, weight = GivenAtFit(data.weight), data.groups, data.weight
        if get_config()["enable_metadata_routing"]:
            groups = None if self._parts_groups() else groups
            params = {"sample_weight": weight, "groups": groups, **data.others}
            routed = process_routing(self, "fit", **{name: v for name, v in params.items() if v is not None})
            given.of_members = {member.name: dict(routed[member.name].fit) for member in learners}
            splitter, final = routed.get("splitter"), routed.get("final_estimator_")
            given.of_split = {} if splitter is None else dict(splitter.split)
            given.of_final = dict(getattr(final, "fit", {}))
            return given
        if data.others:
            raise routing_is_off(data.others, "sample_weight and groups")
        given.of_members = {member.name: weight_params(member.estimator, weight) for member in learners}
        given.of_split = {} if groups is None else {"groups": groups}
        if final is not None:
            given.of_final = weight_params(final, weight)
            if groups is not None and isinstance(final, NamedMembers):
                given.of_final["groups"] = groups
        return given

    def _parts_groups(self) -> bool:
        """Whether the ensemble itself, and no splitter, says which groups are held out."""
        return False

    def _has_splitter(self) -> bool:
        return not isinstance(self.cv, str)

    def get_metadata_routing(self) -> MetadataRouter:
        """Who may be given what: weights and the like to `fit` of members, groups to `split` of the splitter."""
        router = MetadataRouter(owner=self)
        for name, learner in self._pairs:
            router.add(**{name: learner}, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        if self._has_splitter():
            router.add(
                splitter=splitter_of(self.cv, None, classifier=False),
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
        return router

    def _calls(self, X: Any) -> list[tuple[ResponseMethod, Member, Any, Any]]:
        """What `member_response` takes for each member."""
        check_is_fitted(self, "estimators_")
        return [
            (response, member, model, X)
            for (member, response), model in zip(self._asked, self.estimators_, strict=True)
        ]

    def _stacked(self, X: Any) -> FloatArray:
        """What every member predicts for rows, shape (n_members, n_rows, n_columns)."""
        return np.stack(in_parallel(member_response, self._calls(X), n_jobs=self.n_jobs))

    def _weighted_predictions(self, X: Any, weights: FloatArray) -> MemberPredictions:
        names = tuple(member.name for member, _ in self._asked)
        return MemberPredictions(self._stacked(X), weights, names, labels_by_target(self))

    def _with_named_members(self, places: RowArray) -> Self:
        """A copy with the members at these places; those who are left out are named "drop"."""
        check_is_fitted(self, "estimators_")
        pruned = copy.copy(self)
        forget(pruned, OUT_OF_FOLD_FITTED)  # it is about all members
        kept = np.asarray(places).tolist()
        pruned.estimators_ = [self.estimators_[place] for place in kept]
        pruned._asked = [self._asked[place] for place in kept]
        names = {member.name for member, _ in pruned._asked}
        pruned.named_estimators_ = Bunch(
            **{name: own if name in names else "drop" for name, own in self.named_estimators_.items()}
        )
        return pruned

    def _sk_visual_block_(self) -> Any:
        names, learners = zip(*self._pairs, strict=True)
        return parallel_block(learners, names)

    def _all_members(self, holds: Any) -> bool:
        """Whether something holds for the tags of every member; not for a list that is none."""
        try:
            learners = [learner for _, learner in self._pairs if not _is_drop(learner)]
            return all(holds(get_tags(learner)) for learner in learners)
        except Exception:  # fit explains whatever is wrong with the list
            return False

    def _has_outputs(self) -> bool:
        """Whether several targets can be learned at once."""
        return self._all_members(lambda own: own.target_tags.multi_output)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        for name in ("allow_nan", "sparse", "categorical", "string"):
            setattr(
                tags.input_tags, name, self._all_members(lambda own, name=name: getattr(own.input_tags, name))
            )
        tags.target_tags.multi_output = self._has_outputs()
        return tags


def _wrong_estimators(message: str, received: object, allowed: str) -> InvalidParameter:
    return InvalidParameter(message, parameter="estimators", received=received, allowed=allowed)


def _is_drop(learner: Any) -> bool:
    return isinstance(learner, str) and learner == "drop"


def labels_of(target: Target) -> AnyArray:
    """y as learners see it: labels as they were given, or numbers."""
    classes, codes = target.classes, target.values
    if classes is None:
        return codes
    if isinstance(classes, list):
        return np.column_stack([own[codes[:, output]] for output, own in enumerate(classes)])
    return np.asarray(classes[codes])


def member_response(response: ResponseMethod, member: Member, model: Any, X: Any) -> FloatArray:
    """What one member predicts for rows."""
    return response.predict_with(member.name, model, member.part_of(X))


def member_weights(weights: Any, n_members: int) -> FloatArray:
    """Weights of members as floats, one for each."""
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise unexpected("weights", weights, f"a number for each member ({error})") from error
    if array.ndim != 1 or len(array) != n_members:
        raise InvalidParameter(
            f"Number of `estimators` and weights must be equal; got {array.size} weights, {n_members} estimators.",
            parameter="weights",
            received=weights,
            allowed=f"{n_members} numbers, one for each member",
        )
    if not np.isfinite(array).all() or (array < 0).any() or not array.any():
        raise unexpected("weights", weights, "finite numbers >= 0, not all of them 0")
    return array
