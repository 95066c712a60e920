"""scikit-learn's models with the methods of `coterie.members.protocols`.

`with_protocols` is the one place that knows them. Other models stay as they are: they have the methods, or have not.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import validate_data

from coterie._params import in_short
from coterie._typing import AnyArray, BoolArray, FloatArray, RowArray
from coterie.errors import InvalidInput, InvalidParameter
from coterie.members.member_predictions import MemberPredictions, numbered, predictions_after
from coterie.members.votes import (
    CastVotes,
    Votes,
    check_training_table,
    check_vote_choices,
    one_hot,
    refuse_soft_or_oob,
    votes_in_order,
)
from coterie.trees.split_counts import split_counts_of
from coterie.trees.tree_sum import labels_by_target

SKLEARN_VOTERS = (
    "AdaBoostClassifier",
    "BaggingClassifier",
    "RandomForestClassifier",
    "ExtraTreesClassifier",
    "VotingClassifier",
)


def with_protocols(model: Any) -> Any:
    """The model itself, or an object that gives a model of scikit-learn the methods of ours."""
    ancestors = type(model).__mro__
    if any(kind.__module__.startswith("coterie.") for kind in ancestors):
        return model
    theirs = {kind.__name__ for kind in ancestors if kind.__module__.startswith("sklearn.")}
    if theirs & {"BaseForest", "BaseBagging"}:
        return _ResampledClassifiers(model) if is_classifier(model) else _ResampledMembers(model)
    if "_BaseVoting" in theirs:
        return _ParallelClassifiers(model) if is_classifier(model) else _ParallelMembers(model)
    if "_BaseStacking" in theirs:
        return _StackedMembers(model)
    if "AdaBoostClassifier" in theirs:
        return _AdaBoostedClassifiers(model)
    if "BaseDecisionTree" in theirs:
        return _SingleTree(model)
    return _ListedMembers(model) if _has_whole_members(model) else model


def _has_whole_members(model: Any) -> bool:
    """Whether members predict what the model predicts: those of one-versus-rest and the like have other targets."""
    members = getattr(model, "estimators_", None)
    if hasattr(model, "member_predictions") or not isinstance(members, list):
        return False
    if not all(hasattr(member, "predict") for member in members):
        return False
    if not is_classifier(model):
        return True
    if type(model).__module__.startswith("sklearn.multiclass"):
        return False
    return any(np.array_equal(getattr(member, "classes_", ()), model.classes_) for member in members)


class _SingleTree:
    """A decision tree."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def split_counts(self) -> FloatArray:
        return split_counts_of([np.asarray(self._model.tree_.feature)], self._model.n_features_in_)


class _ListedMembers:
    """An ensemble whose `estimators_` predict the target, labels if it has classes."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def member_predictions(self, X: Any) -> MemberPredictions:
        model, table = self._model, self._table(X)
        classes = labels_by_target(model) if is_classifier(model) else ()
        values = [
            labels_or_numbers(member.predict(table), classes[0] if classes else None, "a member")
            for member in model.estimators_
        ]
        weights = np.asarray(getattr(model, "estimator_weights_", np.ones(len(values))), dtype=np.float64)
        return MemberPredictions(
            np.stack(values), weights[: len(values)], numbered("member", len(values)), classes
        )

    def _table(self, X: Any) -> Any:
        """What the members are given: AdaBoost makes an array of any table."""
        if not any(kind.__name__ == "BaseWeightBoosting" for kind in type(self._model).__mro__):
            return X
        return validate_data(
            self._model,
            X,
            reset=False,
            dtype=None,
            accept_sparse=["csr", "csc"],
            allow_nd=True,
            ensure_all_finite=False,
        )


class _AdaBoostedClassifiers(_ListedMembers):
    """Members that vote one after the other, each for a label."""

    def votes(self, X: Any, *, votes: str = "hard", oob: bool = False) -> Votes:
        model = self._model
        check_vote_choices(votes, oob)
        refuse_soft_or_oob(type(model).__name__, votes, oob)
        table = self._table(X)
        classes = np.asarray(model.classes_)

        def members() -> Iterator[CastVotes]:
            for member, weight in zip(model.estimators_, model.estimator_weights_, strict=False):
                codes = np.searchsorted(classes, member.predict(table))
                yield CastVotes(one_hot(codes, len(classes)), np.asarray(weight))

        return votes_in_order(classes, len(model.estimators_), members)


class _StackedMembers:
    """Members of a stack: they know classes by their codes, unless they were fitted before."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def member_predictions(self, X: Any) -> MemberPredictions:
        model = self._model
        classes = labels_by_target(model) if is_classifier(model) else ()
        known = None
        if classes:
            known = classes[0] if model.cv == "prefit" else np.arange(len(classes[0]))
        values = [labels_or_numbers(member.predict(X), known, "a member") for member in model.estimators_]
        return MemberPredictions(np.stack(values), np.ones(len(values)), _names(model), classes)


class _ParallelMembers:
    """Members that each predict numbers from the same table: voting."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def member_predictions(self, X: Any) -> MemberPredictions:
        values = np.stack(list(self._values(X)))
        names = _names(self._model) if self._is_voting else numbered("member", len(values))
        classes = labels_by_target(self._model) if is_classifier(self._model) else ()
        return MemberPredictions(values, self._weights(), names, classes)

    @property
    def _is_voting(self) -> bool:
        return hasattr(self._model, "named_estimators_")

    def _values(self, X: Any) -> Iterator[FloatArray]:
        """What one member after the other predicts, shape (n_rows, n_columns)."""
        for member, own in self._members(self._table(X)):
            numbers = np.asarray(member.predict(own), dtype=np.float64)
            yield numbers.reshape(len(numbers), -1)

    def _members(self, table: Any) -> Iterator[tuple[Any, Any]]:
        """Each member and its columns of the table."""
        columns = getattr(self._model, "estimators_features_", None)
        for place, member in enumerate(self._model.estimators_):
            yield member, table if columns is None else table[:, columns[place]]

    def _table(self, X: Any) -> Any:
        """What the members are given: forests and bagging make an array of any table, voting hands it on."""
        model = self._model
        if self._is_voting:
            return X
        if hasattr(model, "estimators_features_"):  # bagging
            return validate_data(
                model, X, reset=False, dtype=None, accept_sparse=["csr", "csc"], ensure_all_finite=False
            )
        return validate_data(
            model, X, reset=False, dtype=np.float32, accept_sparse="csr", ensure_all_finite="allow-nan"
        )

    def _weights(self) -> FloatArray:
        model = self._model
        given = getattr(model, "weights", None)
        if given is None:
            return np.ones(len(model.estimators_))
        used = [weight for (_, own), weight in zip(model.estimators, given, strict=True) if own != "drop"]
        return np.asarray(used, dtype=np.float64)


class _ParallelClassifiers(_ParallelMembers):
    """Members that each vote for a class; they know classes by their codes."""

    def votes(self, X: Any, *, votes: str = "hard", oob: bool = False) -> Votes:
        check_vote_choices(votes, oob)
        model, table = self._model, self._table(X)
        left_out = self._left_out(table) if oob else None
        weights = self._weights()

        def members() -> Iterator[CastVotes]:
            for place, (member, own) in enumerate(self._members(table)):
                weight = np.asarray(weights[place])
                if left_out is not None:
                    weight = weight * left_out[place]
                yield CastVotes(self._shares(member, own, soft=votes == "soft"), weight)

        return votes_in_order(model.classes_, len(model.estimators_), members)

    def _values(self, X: Any) -> Iterator[FloatArray]:
        """Probabilities where the ensemble averages them, else votes."""
        for member, own in self._members(self._table(X)):
            soft = hasattr(member, "predict_proba") and getattr(self._model, "voting", "soft") == "soft"
            yield self._shares(member, own, soft=soft)

    def _shares(self, member: Any, table: Any, *, soft: bool) -> FloatArray:
        """A vote for a class, or shares of one."""
        n_classes = len(self._model.classes_)
        if not soft:
            return one_hot(np.asarray(member.predict(table)).astype(np.intp), n_classes)
        if not hasattr(member, "predict_proba"):
            raise InvalidParameter.expecting(
                f"votes='soft' needs members with predict_proba, and {type(member).__name__} has none",
                "'hard'",
                "votes",
                "soft",
            )
        known = member.predict_proba(table)
        shares = np.zeros((len(known), n_classes))
        shares[:, np.asarray(member.classes_).astype(np.intp)] = known
        return shares

    def _left_out(self, table: Any) -> BoolArray:
        """Which rows each member did not draw, shape (n_members, n_rows)."""
        model, name = self._model, type(self._model).__name__
        if not hasattr(model, "estimators_samples_"):
            raise InvalidParameter.expecting(
                f"oob=True has no meaning for {name}, whose members saw every row", "False", "oob", True
            )
        n_rows = table.shape[0]
        check_training_table(n_rows, model._n_samples)
        left_out = np.ones((len(model.estimators_), n_rows), dtype=bool)
        for place, rows in enumerate(model.estimators_samples_):
            left_out[place, rows] = False
        if not left_out.any():
            raise InvalidInput(
                f"oob=True needs rows out of bag, and every member of this {name} saw every row.",
                parameter="oob",
                received=True,
                hint="Fit it with bootstrap=True.",
            )
        return left_out


class _ResampledMembers(_ParallelMembers):
    """Forests and bagging of numbers, whose first members make a smaller ensemble."""

    @property
    def n_estimators_(self) -> int:
        return len(self._model.estimators_)

    def predict_after(self, X: Any, stages: RowArray) -> Iterator[AnyArray]:
        return predictions_after(self._values(X), stages, None)


class _ResampledClassifiers(_ParallelClassifiers):
    """Forests and bagging of classes, whose first members make a smaller ensemble."""

    @property
    def n_estimators_(self) -> int:
        return len(self._model.estimators_)

    def predict_after(self, X: Any, stages: RowArray) -> Iterator[AnyArray]:
        return predictions_after(self._values(X), stages, self._model.classes_)


def _names(model: Any) -> tuple[str, ...]:
    return tuple(name for name, member in model.estimators if member != "drop")


def labels_or_numbers(given: Any, classes: AnyArray | None, name: str) -> FloatArray:
    """Labels as votes for classes, shape (n_rows, n_classes); without classes numbers, a column for each target."""
    array = np.asarray(given)
    if classes is None:
        return array.astype(np.float64).reshape(len(array), -1)
    codes = np.minimum(np.searchsorted(classes, array), len(classes) - 1)
    if array.ndim != 1 or (classes[codes] != array).any():
        found = np.unique(array).tolist()
        raise InvalidInput(
            f"{name} predicts {in_short(found)}, and the classes are {in_short(classes.tolist())}.",
            parameter=name,
            received=found,
            allowed=in_short(classes.tolist()),
        )
    return one_hot(codes, len(classes))
