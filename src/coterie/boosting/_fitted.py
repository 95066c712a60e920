"""What fitted gradient boosting holds, and what has to hold for a model that was read from a file."""

from typing import Any

from coterie._engine import Forest
from coterie._storage import Fitted, expect
from coterie._value_types import (
    COUNT,
    FLOAT_VECTOR,
    FLOATS,
    INTEGERS,
    LABELS,
    MODEL,
    NONE,
    TEXT,
    dict_of,
    instance,
    list_of,
)
from coterie.data.target_statistics import TargetStatistics
from coterie.fitting.estimator import FitSignature
from coterie.fitting.fitted_state import PRUNED_FITTED, TABLE_FITTED, class_counts, require, verify_columns
from coterie.members.intervals import CalibrationRows

BOOSTING_FITTED: Fitted = {
    **TABLE_FITTED,
    **PRUNED_FITTED,
    "forest_": instance(Forest),
    "n_estimators_": COUNT,
    "n_folds_": COUNT,
    "rounds_": INTEGERS,
    "fold_weights_": FLOAT_VECTOR,
    "baseline_": FLOATS,
    "init_": list_of(MODEL),
    "statistics_": instance(TargetStatistics) | NONE,
    "validation_losses_": FLOATS,
    "validation_scores_": FLOATS,
    "train_losses_": FLOATS,
    "eval_losses_": dict_of(TEXT, FLOATS),
    "eval_scores_": dict_of(TEXT, FLOATS),
    "_as_grown": instance(Forest),
    "_calibration": instance(CalibrationRows),
    "_trace": instance(FitSignature),
}
BOOSTING_CLASSIFIER_FITTED: Fitted = {
    **BOOSTING_FITTED,
    "classes_": LABELS | list_of(LABELS),
    "oof_proba_": FLOATS | list_of(FLOATS),
}
BOOSTING_REGRESSOR_FITTED: Fitted = {**BOOSTING_FITTED, "n_outputs_": COUNT, "oof_prediction_": FLOATS}


def verify_boosting(model: Any) -> None:
    verify_columns(model)
    held = vars(model)
    if "forest_" not in held:
        return
    require(model, "n_features_in_", "schema_", "encoder_", "baseline_", "rounds_", "init_")
    made = [] if held.get("statistics_") is None else model.statistics_.features
    for features in made:
        nominal = all(
            feature < model.n_features_in_ and model.encoder_.n_levels[feature] > 0 for feature in features
        )
        expect(nominal, "has statistics of a column that holds no categories")
    n_features = model.n_features_in_ + len(made)
    for name in ("forest_", "_as_grown"):
        if name in held:
            expect(held[name].n_features == n_features, f"has {name} of another table")
    n_trees, rounds = len(model.forest_), model.rounds_
    expect(((rounds >= 0) & (rounds <= n_trees)).all(), f"has more rounds than its {n_trees} trees")
    expect(held.get("n_estimators_", 0) <= n_trees, f"has n_estimators_ greater than its {n_trees} trees")
    if "_calibration" in held:
        kept = held.get("oof_proba_", held.get("oof_prediction_"))
        expect(
            kept is not None and model._calibration.rows.max() < len(kept),
            "calibrates by rows it never held out",
        )
    n_outputs = model.forest_.n_outputs
    expect(max(1, model.baseline_.size) == n_outputs, f"has {n_outputs} outputs and another baseline")
    if "classes_" in held:
        numbers = class_counts(model)
        of_each = [n_classes if n_classes > 2 else n_classes - 1 for n_classes in numbers]
        expect(n_outputs == max(1, sum(of_each)), "has another number of outputs than its classes")
