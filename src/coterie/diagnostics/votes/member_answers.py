"""What each member of an ensemble says of rows, and what its word weighs: one function for each kind of ensemble."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from coterie._params import in_short
from coterie._typing import AnyArray, FloatArray
from coterie.adaboost._predictions import AnswersByVote
from coterie.adaboost.adaboost_regressor import AdaBoostRegressor
from coterie.bagging._base import BaggingBase
from coterie.combining._selection_base import SelectionBase
from coterie.combining._stacking_base import StackingBase
from coterie.combining._voting_base import VotingBase
from coterie.combining.output_code import OutputCodeClassifier
from coterie.diagnostics.votes.ballots import _is_from_scikit_learn
from coterie.diagnostics.votes.sklearn_ballots import _weights, answers_side_by_side, table_of_adaboost
from coterie.diagnostics.votes.tally import one_hot
from coterie.errors import InvalidInput, InvalidType
from coterie.forests.base import ForestBase
from coterie.members.fold_ensemble import FoldEnsemble
from coterie.members.response import ResponseMethod

__all__ = ["MemberAnswers", "member_answers"]


@dataclass(frozen=True)
class MemberAnswers:
    """What members say.

    Attributes
    ----------
    said : array of shape (n_members, n_rows, n_columns): what each gives to each class, or one column of numbers
    votes : array of shape (n_members,), the weight of each word
    names : of the members
    classes : the labels, in the order of the columns; None for numbers
    """

    said: FloatArray
    votes: FloatArray
    names: tuple[str, ...]
    classes: AnyArray | None

    @property
    def codes(self) -> AnyArray:
        """The class that each member names, shape (n_members, n_rows); on a tie the first."""
        return np.asarray(self.said.argmax(axis=2))


def member_answers(model: Any, X: Any) -> MemberAnswers:
    """Ask the members of a fitted ensemble, or of a list or dict of fitted models, which then have equal votes."""
    if isinstance(model, list | tuple | Mapping):
        return _of_models(model, X)
    check_is_fitted(model)
    name = type(model).__name__
    classes = getattr(model, "classes_", None) if is_classifier(model) else None
    if isinstance(classes, list):
        raise InvalidInput(
            f"Members are compared on one target, and this {name} was fitted to {len(classes)}."
        )
    said, votes, names = _asker(model)(model, X, classes)
    if classes is None and said.shape[2] > 1:
        raise InvalidInput(
            f"Members are compared on one target, and this {name} was fitted to {said.shape[2]}."
        )
    if classes is not None and said.shape[2] == 1:  # one score for two classes
        said = np.concatenate([-said, said], axis=2)
    if len(said) < 2:
        raise InvalidInput(f"Members are compared with each other, and this {name} has {len(said)}.")
    return MemberAnswers(said, np.asarray(votes, dtype=np.float64), names, classes)


_Asked = tuple[FloatArray, FloatArray, tuple[str, ...]]


def _asker(model: Any) -> Callable[[Any, Any, Any], _Asked]:
    ours: list[tuple[type, Callable[[Any, Any, Any], _Asked]]] = [
        (ForestBase, _trees),
        (BaggingBase, _copies),
        (VotingBase, _named),
        (SelectionBase, _named),
        (StackingBase, _stacked),
        (AnswersByVote, _adaboost),
        (AdaBoostRegressor, _adaboost_of_numbers),
    ]
    for kind, ask in ours:
        if isinstance(model, kind):
            return ask
    if _is_from_scikit_learn(model, ("BaseForest", "BaseBagging", "_BaseVoting")):
        return _side_by_side
    if _is_from_scikit_learn(model, ("_BaseStacking",)):
        return _their_stack
    if _has_whole_members(model):
        return _any_members
    raise InvalidType(
        f"{in_short(model)} has no members that answer by themselves. Expected a fitted forest, bagging, voting, "
        "stacking, selection or AdaBoost, of coterie or scikit-learn, or a list of fitted models. Rounds of gradient "
        "boosting correct each other, and mean nothing alone."
    )


def _has_whole_members(model: Any) -> bool:
    """Whether members answer what the model answers: those of output codes and the like answer another question."""
    members = getattr(model, "estimators_", None)
    if not isinstance(members, list) or not all(hasattr(member, "predict") for member in members):
        return False
    if not is_classifier(model):
        return True
    if isinstance(model, OutputCodeClassifier) or type(model).__module__.startswith("sklearn.multiclass"):
        return False
    return any(np.array_equal(getattr(member, "classes_", ()), model.classes_) for member in members)


def _numbered(what: str, n: int) -> tuple[str, ...]:
    return tuple(f"{what} {number}" for number in range(1, n + 1))


def _trees(model: Any, X: Any, _: Any) -> _Asked:
    said = np.concatenate([own for _, own in model._answers_of(X)]).transpose(1, 0, 2)
    return said, np.ones(len(said)), _numbered("tree", len(said))


def _copies(model: Any, X: Any, _: Any) -> _Asked:
    said = np.stack(list(model._answers_of(X)))
    return said, np.ones(len(said)), _numbered("member", len(said))


def _named(model: Any, X: Any, _: Any) -> _Asked:
    votes = model._shares if isinstance(model, SelectionBase) else model.weights_
    return model._stacked(X), votes, tuple(member.name for member, _ in model._asked)


def _stacked(model: Any, X: Any, classes: Any) -> _Asked:
    """Members have no votes of their own in a stack; they count alike here."""
    found, names = [], []
    for (member, asked), fitted in zip(model._asked, model.estimators_, strict=True):
        if classes is not None and not asked.classes:
            raise InvalidInput(
                f"The member {member.name!r} of this {type(model).__name__} says numbers and no classes."
            )
        question = ResponseMethod("predict", () if classes is None else (classes,), classes is not None)
        part = member.part_of(X)
        mean = isinstance(fitted, FoldEnsemble)
        said = fitted.mean_of(question, part) if mean else question.predict_with(member.name, fitted, part)
        found.append(said)
        names.append(member.name)
    return np.stack(found), np.ones(len(found)), tuple(names)


def _adaboost(model: Any, X: Any, _: Any) -> _Asked:
    said = np.stack(list(model._all_shares(X)))
    return said, model.estimator_weights_, _numbered("round", len(said))


def _adaboost_of_numbers(model: Any, X: Any, _: Any) -> _Asked:
    said = model._said(X).T[:, :, None]
    return said, model.estimator_weights_, _numbered("round", len(said))


def _side_by_side(model: Any, X: Any, _: Any) -> _Asked:
    said = np.stack(list(answers_side_by_side(model, X)))
    votes = _weights(model) if hasattr(model, "estimators") else np.ones(len(said))
    names = _their_names(model) if hasattr(model, "named_estimators_") else _numbered("member", len(said))
    return said, votes, names


def _their_names(model: Any) -> tuple[str, ...]:
    return tuple(name for name, member in model.estimators if member != "drop")


def _their_stack(model: Any, X: Any, classes: Any) -> _Asked:
    """Members of scikit-learn's stacks know classes by their numbers, unless they were fitted before."""
    known = classes if classes is None or model.cv == "prefit" else np.arange(len(classes))
    said = np.stack(
        [_labels_or_numbers(member.predict(X), known, "a member") for member in model.estimators_]
    )
    return said, np.ones(len(said)), _their_names(model)


def _any_members(model: Any, X: Any, classes: Any) -> _Asked:
    votes = np.asarray(getattr(model, "estimator_weights_", np.ones(len(model.estimators_))))
    if _is_from_scikit_learn(model, ("BaseWeightBoosting",)):
        X = table_of_adaboost(model, X)
    said = [_labels_or_numbers(member.predict(X), classes, "a member") for member in model.estimators_]
    return np.stack(said), votes[: len(said)], _numbered("member", len(said))


def _of_models(models: Any, X: Any) -> MemberAnswers:
    pairs = list(models.items() if isinstance(models, Mapping) else enumerate(models, start=1))
    if len(pairs) < 2:
        raise InvalidInput(f"Members are compared with each other, and there are {len(pairs)} here.")
    for _, model in pairs:
        check_is_fitted(model)
    speak = {is_classifier(model) for _, model in pairs}
    if len(speak) > 1:
        raise InvalidInput("Some of the models are classifiers and some are not: they cannot be compared.")
    classes = np.unique(np.concatenate([own.classes_ for _, own in pairs])) if speak == {True} else None
    names = tuple(
        f"{place} {type(model).__name__}" if isinstance(place, int) else str(place) for place, model in pairs
    )
    said = [
        _labels_or_numbers(model.predict(X), classes, name)
        for name, (_, model) in zip(names, pairs, strict=True)
    ]
    return MemberAnswers(np.stack(said), np.ones(len(said)), names, classes)


def _labels_or_numbers(given: Any, classes: AnyArray | None, name: str) -> FloatArray:
    array = np.asarray(given)
    if classes is None:
        return array.astype(np.float64).reshape(len(array), -1)
    codes = np.minimum(np.searchsorted(classes, array), len(classes) - 1)
    if array.ndim != 1 or (classes[codes] != array).any():
        raise InvalidInput(
            f"{name} says {in_short(np.unique(array).tolist())}, and the classes are {in_short(classes.tolist())}."
        )
    return one_hot(codes, len(classes))
