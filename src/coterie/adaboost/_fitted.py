"""What fitted AdaBoost and AnyBoost hold, and what has to hold for a model that was read from a file."""

from typing import Any

from coterie._engine import StumpTable
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
    instance,
    list_of,
)
from coterie.adaboost._training import AdaBoostSettings, RoundLog
from coterie.fitting.estimator import FitSignature
from coterie.fitting.fitted_state import CLASSES_FITTED, TABLE_FITTED, require, verify_columns

_ADABOOST: Fitted = {
    **TABLE_FITTED,
    "estimators_": list_of(MODEL | list_of(MODEL)),
    "estimator_weights_": FLOAT_VECTOR,
    "estimator_errors_": FLOAT_VECTOR,
    "n_estimators_": COUNT,
    "stopped_because_": TEXT,
}
ADABOOST_CLASSIFIER_FITTED: Fitted = {
    **_ADABOOST,
    **CLASSES_FITTED,
    "edges_": FLOAT_VECTOR,
    "exponential_loss_": FLOAT_VECTOR,
    "method_": TEXT,
    "normalizers_": FLOAT_VECTOR,
    "row_weights_": FLOATS,
    "train_errors_": FLOAT_VECTOR,
    "validation_errors_": FLOATS,
    "vote_history_": FLOATS | list_of(FLOATS),
    "_algorithm": TEXT,
    "_by_stumps": BOOL,
    "_log": instance(RoundLog),
    "_settings": instance(AdaBoostSettings),
    "_table": instance(StumpTable) | NONE,
    "_trace": instance(FitSignature),
}
ADABOOST_REGRESSOR_FITTED: Fitted = {**_ADABOOST, "largest_errors_": FLOAT_VECTOR}
ANYBOOST_FITTED: Fitted = {
    **TABLE_FITTED,
    "estimators_": array("O", 2) | list_of(MODEL),
    "estimator_weights_": FLOATS,
    "n_estimators_": COUNT,
    "baseline_": FLOATS,
    "stopped_because_": TEXT,
    "inner_products_": FLOATS,
    "steps_": FLOATS,
    "train_losses_": FLOATS,
    "validation_losses_": FLOATS,
    "_first_loss": NUMBER,
    "_trace": instance(FitSignature),
    "_unit": NUMBER,
}
ANYBOOST_CLASSIFIER_FITTED: Fitted = {**ANYBOOST_FITTED, "classes_": LABELS}


def verify_votes(model: Any) -> None:
    """AdaBoost: votes of members, and the table of stumps."""
    verify_columns(model)
    if "estimators_" not in vars(model):
        return
    require(model, "estimator_weights_", "n_features_in_")
    expect(
        len(model.estimator_weights_) == len(model.estimators_), "has another number of votes than of members"
    )
    table = vars(model).get("_table")
    if table is not None:
        n_levels = table.__getstate__()[1]
        expect(len(n_levels) == model.n_features_in_, "has stumps of another table")
        known = model.encoder_.n_levels
        expect(((n_levels == -1) | (n_levels == known)).all(), "has stumps of other categories")
