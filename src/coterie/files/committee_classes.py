"""Committees, and what they keep inside: members on a matrix of numbers, answers out of fold."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from coterie.committee._goal import Rows
from coterie.committee._neighbors import NeighborsClassifier, NeighborsRegressor
from coterie.committee._on_matrix import (
    DesignMatrix,
    OnMatrixClassifier,
    OnMatrixRegressor,
    _Levels,
    _Numbers,
)
from coterie.committee._weights import Answers
from coterie.committee.committee import CommitteeClassifier, CommitteeRegressor
from coterie.data.encoding import Encoder
from coterie.data.schema import Schema
from coterie.files.kinds import (
    FLAG,
    MODEL,
    NONE,
    NUMBER,
    TEXT,
    WHOLE,
    Kind,
    array,
    dict_of,
    instance,
    list_of,
    pair_of,
)
from coterie.files.member_classes import FLOATS, LABELS, ROWS
from coterie.files.spec import Spec, expect
from coterie.members.fold_ensemble import FoldEnsemble
from coterie.members.out_of_fold import Fold
from coterie.members.response import ResponseMethod

__all__ = ["COMMITTEE_CLASSES"]

_COMMITTEE: Mapping[str, Kind] = {
    "n_features_in_": WHOLE,
    "feature_names_in_": array("O", 1),
    "_sklearn_output_config": dict_of(TEXT, TEXT),
    "classes_": LABELS,
    "scoring_": TEXT,
    "members_": list_of(TEXT),
    "weights_": FLOATS,
    "n_iter_": WHOLE,
    "oof_score_": NUMBER,
    "oof_score_error_": NUMBER,
    "member_scores_": dict_of(TEXT, NUMBER),
    "oof_predictions_": dict_of(TEXT, FLOATS),
    "oof_proba_": array("f", 2),
    "oof_prediction_": array("f", 1),
    "temperature_": NUMBER,
    "_temperature_alone": NUMBER,
    "fit_time_": NUMBER,
    "fit_times_": dict_of(TEXT, NUMBER),
    "predict_times_": dict_of(TEXT, NUMBER),
    "skipped_": dict_of(TEXT, TEXT),
    "dropped_": dict_of(TEXT, TEXT),
    "stopped_": list_of(TEXT),
    "interrupted_": FLAG,
    "n_folds_": WHOLE,
    "estimators_": list_of(instance(FoldEnsemble)),
    "named_estimators_": dict_of(TEXT, instance(FoldEnsemble)),
    "_answers": instance(Answers),
    "_truth": instance(Rows),
    "_shares": FLOATS,
    "_questions": list_of(instance(ResponseMethod)),
    "_learners": list_of(pair_of(MODEL, WHOLE | NONE)),
    "_has_folds": FLAG,
}


def _check_committee(model: Any) -> None:
    held = vars(model)
    if "estimators_" not in held:
        return
    n_members = len(model.estimators_)
    for name in ("_shares", "_questions", "_learners"):
        expect(name in held and len(held[name]) == n_members, f"has {name} of other members than its own")
    expect(n_members > 0, "has no members")
    expect("n_folds_" in held and "_has_folds" in held, "does not say how many folds it has")
    n_models = {len(member.models) for member in model.estimators_}
    expect(n_models <= {1, model.n_folds_ if model._has_folds else 1}, "has members of different folds")


def _check_answers(answers: Any) -> None:
    n_rows = len(answers.known)
    same = answers.said.shape[1] == n_rows == len(answers.rows.truth) == len(answers.rows.weight)
    expect(same, "has answers to other rows than those that are known")
    inside = all(
        len(rows) == 0 or 0 <= rows.min() <= rows.max() < n_rows
        for fold in answers.folds
        for rows in (fold.train, fold.test)
    )
    expect(inside, "has folds of rows that do not exist")


def _check_neighbors(model: Any) -> None:
    if "rows_" not in vars(model):
        return
    same = len(model.rows_) == len(model.weights_) == len(model.targets_) > 0
    expect(same, "has neighbours without a target or a weight")
    expect(bool(np.isfinite(model.rows_).all()), "has neighbours that are nowhere")
    expect(bool((model.weights_ > 0).all()), "has neighbours without weight")
    if "classes_" in vars(model):
        expect(model.targets_.shape[1] == len(model.classes_), "has targets of other classes than its own")


def _check_matrix(matrix: Any) -> None:
    expect(len(matrix._parts) == matrix._schema.n_features, "has parts of other columns than its schema")


COMMITTEE_CLASSES = [
    Spec(
        "committee.Rows", Rows, {"truth": array("fiu", 1), "weight": FLOATS, "groups": array("iu", 1) | NONE}
    ),
    Spec(
        "committee.Answers",
        Answers,
        {
            "said": array("f", 3),
            "rows": instance(Rows),
            "known": array("b", 1),
            "folds": list_of(instance(Fold)),
        },
        verify=_check_answers,
    ),
    Spec(
        "committee.Numbers",
        _Numbers,
        {"_largest": NUMBER, "_centre": NUMBER, "_spread": NUMBER, "_shows_gaps": FLAG},
    ),
    Spec("committee.Levels", _Levels, {"_shown": ROWS}),
    Spec(
        "committee.DesignMatrix",
        DesignMatrix,
        {
            "_schema": instance(Schema),
            "_encoder": instance(Encoder),
            "_parts": list_of(instance(_Numbers, _Levels)),
        },
        verify=_check_matrix,
    ),
    *(
        Spec(
            f"committee.{cls.__name__}",
            cls,
            {"matrix_": instance(DesignMatrix), "model_": MODEL},
            optional=None,
            has_params=True,
            param_names=frozenset({"estimator"}),
        )
        for cls in (OnMatrixClassifier, OnMatrixRegressor)
    ),
    *(
        Spec(
            f"committee.{cls.__name__}",
            cls,
            {
                "rows_": array("f", 2),
                "weights_": FLOATS,
                "n_neighbors_": NUMBER,
                "targets_": array("f", 2),
                "classes_": LABELS,
            },
            optional=None,
            dropped=frozenset({"_index"}),
            has_params=True,
            verify=_check_neighbors,
            param_names=frozenset(),
        )
        for cls in (NeighborsClassifier, NeighborsRegressor)
    ),
    *(
        Spec(
            cls.__name__,
            cls,
            _COMMITTEE,
            optional=None,
            dropped=frozenset({"_skl_callbacks", "_parent_callback_ctx", "checkpoint"}),
            has_params=True,
            verify=_check_committee,
            param_names=frozenset(cls._get_param_names()),
        )
        for cls in (CommitteeClassifier, CommitteeRegressor)
    ),
]
