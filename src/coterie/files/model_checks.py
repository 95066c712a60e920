"""What has to fit together in a fitted model: columns, classes, trees, members. Each check is given a whole model."""

from typing import Any

import numpy as np

from coterie.files.spec import expect

__all__ = [
    "check_boosting",
    "check_columns",
    "check_forest",
    "check_members",
    "check_stumps",
    "check_tree",
]


def check_columns(model: Any) -> None:
    """The same columns everywhere."""
    held = vars(model)
    schema = held.get("schema_", held.get("_schema"))
    n_features = held.get("n_features_in_")
    if schema is not None:
        expect(
            n_features == schema.n_features, f"has {n_features} features and a schema of {schema.n_features}"
        )
    if "encoder_" in held:
        n_coded = len(model.encoder_.n_levels)
        unused = n_coded == 0 and all(held.get(name) is None for name in ("forest_", "tree_", "_table"))
        expect(n_coded == n_features or unused, f"has {n_features} features and an encoder of {n_coded}")
    names = held.get("feature_names_in_")
    if names is not None:
        expect(all(type(name) is str for name in names), "has names of features that are no text")
        expect(n_features is None or len(names) == n_features, "has names of other features than its own")
    if "_saw_missing" in held:
        expect(len(model._saw_missing) == n_features, "knows missing values of other features than its own")
    if "estimators_" in held and "n_estimators_" in held:
        n_members = len(model.estimators_)
        expect(model.n_estimators_ == n_members, f"says {model.n_estimators_} members and has {n_members}")
    if isinstance(held.get("n_classes_"), int) and isinstance(held.get("classes_"), np.ndarray):
        expect(model.n_classes_ == len(model.classes_), "has another number of classes than of labels")


def _class_counts(model: Any) -> list[int]:
    classes = model.classes_
    counts = [len(own) for own in classes] if isinstance(classes, list) else [len(classes)]
    expect(counts and min(counts) > 0, "has no classes")
    return counts


def _n_answers(model: Any) -> int:
    """Columns of an answer of a tree that speaks of classes, or of numbers."""
    return sum(_class_counts(model)) if "classes_" in vars(model) else int(model.n_outputs_)


def _need(model: Any, *names: str) -> None:
    for name in names:
        expect(name in vars(model), f"has no {name!r}")


def check_tree(model: Any) -> None:
    check_columns(model)
    if "tree_" not in vars(model):
        return
    _need(model, "n_features_in_", "schema_", "encoder_", "n_outputs_")
    tree = model.tree_
    expect(tree.n_features == model.n_features_in_, "has a tree of another table")
    expect(tree.native.n_outputs == _n_answers(model), "has a tree of other answers than its own")
    if "classes_" in vars(model):
        same = tree.n_classes is not None and tree.n_classes.tolist() == _class_counts(model)
        expect(same, "has a tree of other classes than its own")
    else:
        expect(tree.n_classes is None, "has a tree of classes, and answers with numbers")


def check_forest(model: Any) -> None:
    check_columns(model)
    if "forest_" not in vars(model):
        return
    _need(model, "n_features_in_", "schema_", "encoder_", "n_outputs_", "_unit", "n_estimators_")
    forest = model.forest_
    expect(forest.n_features == model.n_features_in_, "has trees of another table")
    expect(forest.n_columns == _n_answers(model), "has trees of other answers than its own")
    expect(
        np.array_equal(forest.n_levels, model.encoder_.n_levels),
        "has trees of other categories than its encoder's",
    )
    expect(model.n_estimators_ == len(forest), f"says {model.n_estimators_} trees and has {len(forest)}")
    for memory in vars(model).get("_memories") or []:
        _check_memory(model, memory)


def _check_memory(model: Any, memory: Any) -> None:
    expect(
        np.array_equal(memory.n_levels, model.encoder_.n_levels),
        "remembers rows of other categories than its encoder's",
    )
    if "classes_" in vars(model):
        same = memory.n_classes.tolist() == _class_counts(model)
    else:
        same = len(memory.n_classes) == 0 and memory.n_outputs == model.n_outputs_
    expect(same, "remembers rows of other answers than its own")
    first = model._memories[0]
    expect(
        memory.n_table_rows == first.n_table_rows and memory.n_places == first.n_places,
        "remembers rows of two tables",
    )


def check_boosting(model: Any) -> None:
    check_columns(model)
    held = vars(model)
    if "forest_" not in held:
        return
    _need(model, "n_features_in_", "schema_", "encoder_", "baseline_", "rounds_", "init_")
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
    expect(held.get("n_estimators_", 0) <= n_trees, f"says more rounds than its {n_trees} trees")
    n_outputs = model.forest_.n_outputs
    expect(max(1, model.baseline_.size) == n_outputs, f"has {n_outputs} scores and another baseline")
    if isinstance(held.get("classes_"), np.ndarray):
        n_classes = len(model.classes_)
        expect(n_outputs == (1 if n_classes <= 2 else n_classes), "has other scores than its classes need")


def check_stumps(model: Any) -> None:
    """AdaBoost: votes of members, and the table of stumps."""
    check_columns(model)
    if "estimators_" not in vars(model):
        return
    _need(model, "estimator_weights_", "n_features_in_")
    expect(
        len(model.estimator_weights_) == len(model.estimators_), "has another number of votes than of members"
    )
    table = vars(model).get("_table")
    if table is not None:
        n_levels = table.__getstate__()[1]
        expect(len(n_levels) == model.n_features_in_, "has stumps of another table")
        known = model.encoder_.n_levels
        expect(((n_levels == -1) | (n_levels == known)).all(), "has stumps of other categories")


def check_members(model: Any) -> None:
    """Ensembles of any learners."""
    check_columns(model)
    held = vars(model)
    if "estimators_" in held:
        expect(len(model.estimators_) > 0, "has no members")
    if "_asked" in held and "estimators_" in held:
        expect(len(model._asked) == len(model.estimators_), "asks other members than its own")
