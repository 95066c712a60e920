"""What a fitted committee holds, and what has to hold for one that was read from a file."""

from typing import Any

from coterie._storage import Fitted, expect
from coterie._value_types import (
    BOOL,
    COUNT,
    FLOAT_VECTOR,
    FLOATS,
    LABELS,
    MODEL,
    NONE,
    NUMBER,
    TEXT,
    array,
    dict_of,
    instance,
    list_of,
    pair_of,
)
from coterie.committee.metrics import RowTargets
from coterie.committee.weights import OutOfFoldPredictions
from coterie.members.fold_ensemble import FoldEnsemble
from coterie.members.response import ResponseMethod

_COMMITTEE: Fitted = {
    "scoring_": TEXT,
    "members_": list_of(TEXT),
    "weights_": FLOATS,
    "n_iter_": COUNT,
    "oof_score_": NUMBER,
    "oof_score_error_": NUMBER,
    "member_scores_": dict_of(TEXT, NUMBER),
    "oof_predictions_": dict_of(TEXT, FLOATS),
    "fit_time_": NUMBER,
    "fit_times_": dict_of(TEXT, NUMBER),
    "predict_times_": dict_of(TEXT, NUMBER),
    "skipped_": dict_of(TEXT, TEXT),
    "dropped_": dict_of(TEXT, TEXT),
    "stopped_": list_of(TEXT),
    "interrupted_": BOOL,
    "n_folds_": COUNT,
    "estimators_": list_of(instance(FoldEnsemble)),
    "named_estimators_": dict_of(TEXT, instance(FoldEnsemble)),
    "_answers": instance(OutOfFoldPredictions),
    "_truth": instance(RowTargets),
    "_shares": FLOATS,
    "_questions": list_of(instance(ResponseMethod)),
    "_learners": list_of(pair_of(MODEL, COUNT | NONE)),
    "_has_folds": BOOL,
}
COMMITTEE_CLASSIFIER_FITTED: Fitted = {
    **_COMMITTEE,
    "classes_": LABELS,
    "oof_proba_": array("f", 2),
    "temperature_": NUMBER,
    "_temperature_alone": NUMBER,
}
COMMITTEE_REGRESSOR_FITTED: Fitted = {**_COMMITTEE, "oof_prediction_": FLOAT_VECTOR}


def verify_committee(model: Any) -> None:
    held = vars(model)
    if "estimators_" not in held:
        return
    n_members = len(model.estimators_)
    for name in ("_shares", "_questions", "_learners"):
        expect(name in held and len(held[name]) == n_members, f"has {name} of other members than its own")
    expect(n_members > 0, "has no members")
    expect("n_folds_" in held and "_has_folds" in held, "lacks the number of its folds")
    n_models = {len(member.models) for member in model.estimators_}
    expect(n_models <= {1, model.n_folds_ if model._has_folds else 1}, "has members of different folds")
