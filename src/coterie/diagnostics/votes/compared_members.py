"""What each member predicts, of an ensemble or of a list of models, so that members can be compared."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from coterie._params import in_short
from coterie.diagnostics.sklearn_adapters import labels_or_numbers, with_protocols
from coterie.errors import InvalidInput, InvalidType
from coterie.members.member_predictions import MemberPredictions

_EXPECTED = (
    "a fitted forest, bagging, voting, stacking, selection, committee or AdaBoost, of coterie or scikit-learn, or a "
    "list of fitted models"
)


def is_list_of_models(model: Any) -> bool:
    """Whether several models were given instead of an ensemble."""
    return isinstance(model, list | tuple | Mapping)


def member_predictions_of(model: Any, X: Any) -> MemberPredictions:
    """The predictions of the members of a fitted ensemble, or of a list or dict of models, which have equal weights.

    There is one target and there are two members at least. Of classes there is a column for each.
    """
    if is_list_of_models(model):
        return _of_models(model, X)
    check_is_fitted(model)
    name = type(model).__name__
    classes = getattr(model, "classes_", None) if is_classifier(model) else None
    if isinstance(classes, list):
        raise _several_targets(name, len(classes))
    ensemble = with_protocols(model)
    if not hasattr(ensemble, "member_predictions"):
        raise InvalidType(
            f"{in_short(model)} has no members that predict by themselves. Expected {_EXPECTED}. Rounds of gradient "
            "boosting correct each other, and mean nothing alone.",
            parameter="model",
            received=model,
            allowed=_EXPECTED,
        )
    found: MemberPredictions = ensemble.member_predictions(X)
    if found.n_targets > 1:
        raise _several_targets(name, found.n_targets)
    if found.classes and found.values.shape[2] == 1:  # one score for two classes
        found = replace(found, values=np.concatenate([-found.values, found.values], axis=2))
    if len(found.values) < 2:
        raise _too_few(f"this {name} has", len(found.values))
    return found


def _of_models(models: Any, X: Any) -> MemberPredictions:
    pairs = list(models.items() if isinstance(models, Mapping) else enumerate(models, start=1))
    if len(pairs) < 2:
        raise _too_few("the list has", len(pairs))
    for _, model in pairs:
        check_is_fitted(model)
    kinds = {is_classifier(model) for _, model in pairs}
    if len(kinds) > 1:
        raise InvalidInput(
            "Some of the models are classifiers and some are not: they cannot be compared.",
            parameter="model",
            allowed="classifiers only, or regressors only",
        )
    classes = None
    if kinds == {True}:
        classes = np.unique(np.concatenate([own.classes_ for _, own in pairs]))
    names = tuple(
        f"{place} {type(model).__name__}" if isinstance(place, int) else str(place) for place, model in pairs
    )
    values = [
        labels_or_numbers(model.predict(X), classes, name)
        for name, (_, model) in zip(names, pairs, strict=True)
    ]
    return MemberPredictions(
        np.stack(values), np.ones(len(values)), names, () if classes is None else (classes,)
    )


def _several_targets(name: str, n_targets: int) -> InvalidInput:
    return InvalidInput(
        f"Members are compared on one target, and this {name} was fitted to {n_targets}.",
        parameter="model",
        received=n_targets,
        allowed="a model of one target",
    )


def _too_few(owner: str, n_members: int) -> InvalidInput:
    return InvalidInput(
        f"Members are compared with each other, and {owner} {n_members}.",
        parameter="model",
        received=n_members,
        allowed="two members at least",
    )
