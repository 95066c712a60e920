"""The votes of scikit-learn's ensembles, asked through what they show in public."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import validate_data

from coterie._typing import BoolArray, FloatArray, RowArray
from coterie.diagnostics.votes.tally import Answer, Ballots, Tally, one_hot, running_tallies
from coterie.errors import InvalidInput, InvalidParameter

__all__ = ["answers_side_by_side", "sklearn_adaboost_ballots", "sklearn_member_ballots", "table_of_adaboost"]


def sklearn_adaboost_ballots(model: Any, X: Any) -> Ballots:
    """Members that vote one after the other, each for a label."""
    table = table_of_adaboost(model, X)
    classes = np.asarray(model.classes_)

    def answers() -> Iterator[Answer]:
        for member, weight in zip(model.estimators_, model.estimator_weights_, strict=False):
            codes = np.searchsorted(classes, member.predict(table))
            yield Answer(one_hot(codes, len(classes)), np.asarray(weight))

    def after(rounds: RowArray) -> Iterator[Tally]:
        return running_tallies(islice(answers(), int(rounds[-1])), rounds)

    return Ballots(classes, len(model.estimators_), after)


def table_of_adaboost(model: Any, X: Any) -> Any:
    """What the members are given: an array, whatever the table was."""
    return validate_data(
        model,
        X,
        reset=False,
        dtype=None,
        accept_sparse=["csr", "csc"],
        allow_nd=True,
        ensure_all_finite=False,
    )


def sklearn_member_ballots(model: Any, X: Any, *, soft: bool, oob: bool) -> Ballots:
    """Members that vote side by side: forests, bagging, voting."""
    table = _table_of_members(model, X)
    left_out = _left_out(model, table) if oob else None
    weights = _weights(model)
    columns = getattr(model, "estimators_features_", None)
    n_classes = len(model.classes_)

    def answers() -> Iterator[Answer]:
        for place, member in enumerate(model.estimators_):
            own = table if columns is None else table[:, columns[place]]
            weight = np.asarray(weights[place])
            if left_out is not None:
                weight = weight * left_out[place]
            yield Answer(_said(member, own, n_classes, soft=soft), weight)

    def after(rounds: RowArray) -> Iterator[Tally]:
        return running_tallies(islice(answers(), int(rounds[-1])), rounds)

    return Ballots(np.asarray(model.classes_), len(model.estimators_), after)


def answers_side_by_side(model: Any, X: Any) -> Iterator[FloatArray]:
    """What each member of a forest, of bagging or of voting says: shares of classes, else votes; or numbers.

    Arrays have the shape (n_rows, n_classes) or (n_rows, 1). The mean over members, by weights, is what forests and
    bagging answer with.
    """
    table = _table_of_members(model, X)
    columns = getattr(model, "estimators_features_", None)
    for place, member in enumerate(model.estimators_):
        own = table if columns is None else table[:, columns[place]]
        if is_classifier(model):
            shared = hasattr(member, "predict_proba") and getattr(model, "voting", "soft") == "soft"
            yield _said(member, own, len(model.classes_), soft=shared)
        else:
            said = np.asarray(member.predict(own), dtype=np.float64)
            yield said.reshape(len(said), -1)


def _table_of_members(model: Any, X: Any) -> Any:
    """What the members are given: forests and bagging turn tables into arrays, voting hands them on."""
    if hasattr(model, "estimators_features_"):  # bagging
        return validate_data(
            model, X, reset=False, dtype=None, accept_sparse=["csr", "csc"], ensure_all_finite=False
        )
    if hasattr(model, "voting"):
        return X
    return validate_data(
        model, X, reset=False, dtype=np.float32, accept_sparse="csr", ensure_all_finite="allow-nan"
    )


def _weights(model: Any) -> FloatArray:
    given = getattr(model, "weights", None)
    if given is None:
        return np.ones(len(model.estimators_))
    used = [weight for (_, member), weight in zip(model.estimators, given, strict=True) if member != "drop"]
    return np.asarray(used, dtype=np.float64)


def _said(member: Any, table: Any, n_classes: int, *, soft: bool) -> FloatArray:
    """A vote for a class, or shares of one; members know classes by their numbers."""
    if not soft:
        return one_hot(np.asarray(member.predict(table)).astype(np.intp), n_classes)
    if not hasattr(member, "predict_proba"):
        raise InvalidParameter(
            f"votes='soft' needs members with predict_proba, and {type(member).__name__} has none: expected 'hard'."
        )
    shares = member.predict_proba(table)
    said = np.zeros((len(shares), n_classes))
    said[:, np.asarray(member.classes_).astype(np.intp)] = shares
    return said


def _left_out(model: Any, table: Any) -> BoolArray:
    """Which rows each member did not draw, shape (n_members, n_rows)."""
    name = type(model).__name__
    if not hasattr(model, "estimators_samples_"):
        raise InvalidParameter(
            f"oob=True has no meaning for {name}, whose members saw every row: expected False."
        )
    n_rows, n_known = table.shape[0], model._n_samples
    if n_rows != n_known:
        raise InvalidInput(
            f"oob=True is for the training table: X has {n_rows} rows and the training table had {n_known}."
        )
    left_out = np.ones((len(model.estimators_), n_rows), dtype=bool)
    for place, rows in enumerate(model.estimators_samples_):
        left_out[place, rows] = False
    if not left_out.any():
        raise InvalidInput(
            f"oob=True needs rows out of bag, and every member of this {name} saw every row. Fit it with "
            "bootstrap=True."
        )
    return left_out
