"""Committees, and what they keep inside: members on a numeric matrix, out-of-fold predictions."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from coterie.committee.committee import CommitteeClassifier, CommitteeRegressor
from coterie.committee.metrics import RowTargets
from coterie.committee.neighbors import NeighborsClassifier, NeighborsRegressor
from coterie.committee.numeric_pipeline import (
    DesignMatrix,
    IndicatorColumns,
    NumericPipelineClassifier,
    NumericPipelineRegressor,
    ScaledColumn,
)
from coterie.committee.weights import OutOfFoldPredictions
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
from coterie.members.fold_ensemble import FoldModels
from coterie.members.out_of_fold import Fold
from coterie.members.response import Question

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
    "estimators_": list_of(instance(FoldModels)),
    "named_estimators_": dict_of(TEXT, instance(FoldModels)),
    "_answers": instance(OutOfFoldPredictions),
    "_truth": instance(RowTargets),
    "_shares": FLOATS,
    "_questions": list_of(instance(Question)),
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


def _out_of_fold_parts(oof: OutOfFoldPredictions) -> dict[str, Any]:
    return {"said": oof.predictions, "rows": oof.rows, "known": oof.known, "folds": oof.folds}


def _out_of_fold(parts: dict[str, Any]) -> OutOfFoldPredictions:
    return OutOfFoldPredictions(parts["said"], parts["rows"], parts["known"], parts["folds"])


def _check_out_of_fold(oof: Any) -> None:
    n_rows = len(oof.known)
    same = oof.predictions.shape[1] == n_rows == len(oof.rows.truth) == len(oof.rows.weight)
    expect(same, "has predictions for other rows than those that are known")
    inside = all(
        len(rows) == 0 or 0 <= rows.min() <= rows.max() < n_rows
        for fold in oof.folds
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
        "committee.Rows",
        RowTargets,
        {"truth": array("fiu", 1), "weight": FLOATS, "groups": array("iu", 1) | NONE},
    ),
    Spec(
        "committee.Answers",
        OutOfFoldPredictions,
        {
            "said": array("f", 3),
            "rows": instance(RowTargets),
            "known": array("b", 1),
            "folds": list_of(instance(Fold)),
        },
        verify=_check_out_of_fold,
        parts=_out_of_fold_parts,
        build=_out_of_fold,
    ),
    Spec(
        "committee.Numbers",
        ScaledColumn,
        {"_largest": NUMBER, "_centre": NUMBER, "_spread": NUMBER, "_shows_gaps": FLAG},
    ),
    Spec("committee.Levels", IndicatorColumns, {"_shown": ROWS}),
    Spec(
        "committee.DesignMatrix",
        DesignMatrix,
        {
            "_schema": instance(Schema),
            "_encoder": instance(Encoder),
            "_parts": list_of(instance(ScaledColumn, IndicatorColumns)),
        },
        verify=_check_matrix,
    ),
    *(
        Spec(
            name,
            cls,
            {"matrix_": instance(DesignMatrix), "model_": MODEL},
            optional=None,
            has_params=True,
            param_names=frozenset({"estimator"}),
        )
        for name, cls in (
            ("committee.OnMatrixClassifier", NumericPipelineClassifier),
            ("committee.OnMatrixRegressor", NumericPipelineRegressor),
        )
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
