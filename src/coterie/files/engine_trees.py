"""The engine's trees and forests as a few arrays: trees one after the other, and how long each is.

The engine checks children, features and sets of levels whenever a tree is made of arrays.
"""

from typing import Any

import numpy as np

from coterie._engine import Forest, Tree
from coterie.errors import ModelFileError
from coterie.files.engine_arrays import COUNTS, accepted, check_depth, counts_of, cuts_of, typed
from coterie.files.kinds import WHOLE, array
from coterie.files.spec import Spec

__all__ = ["TREE_CLASSES"]

_PER_NODE = {
    "feature": "i4",
    "threshold": "f8",
    "levels": "i4",
    "missing_left": "u1",
    "left": "u4",
    "value": "f8",
    "gain": "f8",
    "cover": "f8",
    "n_rows": "u4",
    "impurity": "f8",
}
_OTHERS = {
    "level_bits": "u8",
    "linear_first_term": "u4",
    "linear_base": "f8",
    "linear_low": "f8",
    "linear_high": "f8",
    "linear_feature": "i4",
    "linear_slope": "f8",
    "linear_centre": "f8",
    "linear_least": "f8",
    "linear_most": "f8",
}
_ARRAYS = {**_PER_NODE, **_OTHERS}


def _tree_parts(tree: Any) -> dict[str, Any]:
    return {name: value if name == "n_outputs" else np.array(value) for name, value in tree.state().items()}


def _made_tree(parts: dict[str, Any]) -> Any:
    typed(parts, _ARRAYS)
    tree = accepted(lambda: Tree.from_state(parts, 2**31 - 1))
    check_depth(parts["feature"] >= 0, parts["left"], "is")
    return tree


def _forest_parts(forest: Any) -> dict[str, Any]:
    trees = [forest.tree(place) for place in range(len(forest))]
    states = [tree.state() for tree in trees]
    parts: dict[str, Any] = {
        "n_features": forest.n_features,
        "n_outputs": forest.n_outputs,
        "first_output": np.array(
            [forest.first_output(place) for place in range(len(trees))], dtype=np.uint32
        ),
        "n_answers": np.array([tree.n_outputs for tree in trees], dtype=np.uint32),
    }
    for name, dtype in _ARRAYS.items():
        own = [state[name] for state in states]
        if name in _OTHERS or name in ("feature", "impurity"):
            parts[f"n_{name}"] = np.array([len(part) for part in own], dtype=np.uint32)
        parts[name] = np.concatenate([np.zeros(0, dtype), *own]).astype(dtype, copy=False)
    return parts


def _made_forest(parts: dict[str, Any]) -> Any:
    typed(parts, _ARRAYS)
    n_trees = len(parts["first_output"])
    n_nodes = counts_of(parts, "n_feature", n_trees)
    counts = dict.fromkeys(_PER_NODE, n_nodes)
    counts["value"] = n_nodes * counts_of(parts, "n_answers", n_trees)
    for name in ("impurity", *_OTHERS):
        counts[name] = counts_of(parts, f"n_{name}", n_trees)
    cuts = {name: cuts_of(own, len(parts[name]), name) for name, own in counts.items()}
    forest = accepted(lambda: Forest(int(parts["n_features"]), int(parts["n_outputs"])))
    for place in range(n_trees):
        state = {name: parts[name][own[place] : own[place + 1]] for name, own in cuts.items()}
        state["n_outputs"] = int(parts["n_answers"][place])
        try:
            forest.add(Tree.from_state(state, forest.n_features), int(parts["first_output"][place]))
            check_depth(state["feature"] >= 0, state["left"], "is")
        except (ValueError, TypeError, RuntimeError, OverflowError) as error:
            raise ModelFileError(f"has a tree {place} that cannot be used: {error}") from None
    return forest


TREE_CLASSES = [
    Spec(
        "engine.Tree",
        Tree,
        {"n_outputs": WHOLE, **{name: array("fiu", 1, 2) for name in _ARRAYS}},
        parts=_tree_parts,
        build=_made_tree,
    ),
    Spec(
        "engine.Forest",
        Forest,
        {
            "n_features": WHOLE,
            "n_outputs": WHOLE,
            "first_output": COUNTS,
            "n_answers": COUNTS,
            "n_feature": COUNTS,
            "n_impurity": COUNTS,
            **{f"n_{name}": COUNTS for name in _OTHERS},
            **{name: array("fiu", 1) for name in _ARRAYS},
        },
        parts=_forest_parts,
        build=_made_forest,
    ),
]
