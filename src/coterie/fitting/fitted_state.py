"""What a fit leaves behind: what families declare in `FITTED`, and how a model from a file is verified."""

from typing import Any

import numpy as np

from coterie._storage import Fitted, expect
from coterie._value_types import ANY, COUNT, INTEGERS, LABELS, TEXT, dict_of, instance, list_of
from coterie.data.prepare import Encoder
from coterie.data.table import Schema

# What `prepare_training` sets.
TABLE_FITTED: Fitted = {"schema_": instance(Schema), "encoder_": instance(Encoder)}
CLASSES_FITTED: Fitted = {
    "classes_": LABELS | list_of(LABELS),
    "n_classes_": COUNT | list_of(COUNT) | INTEGERS,
}
# What `coterie.prune` sets.
PRUNED_FITTED: Fitted = {"pruning_path_": dict_of(TEXT, ANY)}


def require(model: Any, *names: str) -> None:
    """Refuse a model that lacks one of these attributes."""
    for name in names:
        expect(name in vars(model), f"has no {name!r}")


def class_counts(model: Any) -> list[int]:
    """The number of classes of each output."""
    classes = model.classes_
    counts = [len(own) for own in classes] if isinstance(classes, list) else [len(classes)]
    expect(counts and min(counts) > 0, "has no classes")
    return counts


def verify_columns(model: Any) -> None:
    """Refuse a model whose schema, encoder, names of features, members or classes contradict each other."""
    held = vars(model)
    schema = held.get("schema_", held.get("_schema"))
    n_features = held.get("n_features_in_")
    if schema is not None:
        expect(
            n_features == schema.n_features, f"has {n_features} features and a schema of {schema.n_features}"
        )
    if "encoder_" in held:
        n_encoded = len(model.encoder_.n_levels)
        unused = n_encoded == 0 and all(held.get(name) is None for name in ("forest_", "tree_", "_table"))
        expect(n_encoded == n_features or unused, f"has {n_features} features and an encoder of {n_encoded}")
    names = held.get("feature_names_in_")
    if names is not None:
        expect(all(type(name) is str for name in names), "has names of features that are no text")
        expect(n_features is None or len(names) == n_features, "has names of other features than its own")
    if "_saw_missing" in held:
        expect(len(model._saw_missing) == n_features, "has missing values in other features than its own")
    if "estimators_" in held and "n_estimators_" in held:
        n_members, n_declared = len(model.estimators_), model.n_estimators_
        expect(n_declared == n_members, f"has n_estimators_ = {n_declared} and {n_members} members")
    if isinstance(held.get("n_classes_"), int) and isinstance(held.get("classes_"), np.ndarray):
        expect(model.n_classes_ == len(model.classes_), "has another number of classes than of labels")
