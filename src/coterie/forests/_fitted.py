"""What a fitted forest holds, and what has to hold for one that was read from a file."""

from typing import Any

import numpy as np

from coterie._engine import ForestMemory, PackedForest
from coterie._storage import Fitted, expect
from coterie._value_types import COUNT, FLOAT_VECTOR, NONE, NUMBER, RECOMPUTED, array, instance, list_of
from coterie.fitting.estimator import FitSignature
from coterie.fitting.fitted_state import (
    CLASSES_FITTED,
    PRUNED_FITTED,
    TABLE_FITTED,
    class_counts,
    require,
    verify_columns,
)
from coterie.forests.out_of_bag import OutOfBag
from coterie.forests.plan import BagPlan

FOREST_FITTED: Fitted = {
    **TABLE_FITTED,
    **PRUNED_FITTED,
    "forest_": instance(PackedForest),
    "n_estimators_": COUNT,
    "n_outputs_": COUNT,
    "max_features_": COUNT,
    "oob_score_": NUMBER,
    "_bag": instance(BagPlan),
    "_importance_sum": FLOAT_VECTOR,
    "_leaf_targets": RECOMPUTED,
    "_memories": list_of(instance(ForestMemory)) | NONE,
    "_oob": instance(OutOfBag) | NONE,
    "_oob_importance_sum": FLOAT_VECTOR | NONE,
    "_saw_missing": array("b", 1),
    "_trace": instance(FitSignature),
    "_unit": NUMBER,
}
FOREST_CLASSIFIER_FITTED: Fitted = {**FOREST_FITTED, **CLASSES_FITTED}


def verify_forest(model: Any) -> None:
    verify_columns(model)
    if "forest_" not in vars(model):
        return
    require(model, "n_features_in_", "schema_", "encoder_", "n_outputs_", "_unit", "n_estimators_")
    forest, n_trees = model.forest_, len(model.forest_)
    n_columns = sum(class_counts(model)) if "classes_" in vars(model) else int(model.n_outputs_)
    expect(forest.n_features == model.n_features_in_, "has trees of another table")
    expect(forest.n_columns == n_columns, "has trees with another number of outputs")
    expect(
        np.array_equal(forest.n_levels, model.encoder_.n_levels),
        "has trees of other categories than its encoder's",
    )
    expect(model.n_estimators_ == n_trees, f"has n_estimators_ = {model.n_estimators_} and {n_trees} trees")
    for memory in vars(model).get("_memories") or []:
        _verify_memory(model, memory)


def _verify_memory(model: Any, memory: Any) -> None:
    expect(
        np.array_equal(memory.n_levels, model.encoder_.n_levels),
        "keeps rows of other categories than its encoder's",
    )
    if "classes_" in vars(model):
        same = memory.n_classes.tolist() == class_counts(model)
    else:
        same = len(memory.n_classes) == 0 and memory.n_outputs == model.n_outputs_
    expect(same, "keeps rows with other targets than its own")
    first = model._memories[0]
    expect(
        memory.n_table_rows == first.n_table_rows and memory.n_places == first.n_places,
        "keeps rows of two tables",
    )
