"""The engine's trees and forests as a few arrays. The engine checks every tree that it makes of them.

Streams are what arrays of trees become to be short (`engine/coterie/storage/forest_streams.hpp`). Trees in which a leaf
holds what only splits need, and those of files of format 1, are plain: every array of every tree as it is.
"""

from typing import Any

import numpy as np

from coterie._engine import (
    Forest,
    Tree,
    forest_of_arrays,
    forest_of_streams,
    forest_streams,
    usable_threads,
)
from coterie._storage import StorableClass, expect
from coterie._value_types import COUNT, array
from coterie.files.engine_arrays import COUNTS, accepted

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
_PLAIN = {**_PER_NODE, **_OTHERS}
_COUNTED = ("feature", "impurity", *_OTHERS)
_STREAMS = (
    "n_nodes",
    "n_outputs_of_tree",
    "unit",
    "l2",
    "gain_scale",
    "is_split",
    "pair",
    "feature",
    "cut",
    "levels",
    "missing_left",
    "rows_more",
    "cover_more",
    "value_more",
    "gain_more",
    "leaf_rows",
    "leaf_cover",
    "leaf_value",
    "features",
    "n_cuts",
    "cuts",
    "n_impurity",
    "impurity",
    "n_level_bits",
    "level_bits",
    "n_first_term",
    "first_term",
    "base",
    "low",
    "high",
    "n_terms",
    "term_feature",
    "slope",
    "centre",
    "least",
    "most",
)
_MOST_FEATURES = 2**31 - 1


def _tree_state(tree: Any) -> dict[str, Any]:
    alone = Forest(_MOST_FEATURES, tree.n_outputs)
    alone.add(tree)
    streams = forest_streams(alone)
    if streams is not None:
        return {"n_outputs": tree.n_outputs, **streams}
    return {name: value if name == "n_outputs" else np.array(value) for name, value in tree.state().items()}


def _build_tree(state: dict[str, Any]) -> Any:
    n_outputs = int(state["n_outputs"])
    if "n_nodes" not in state:
        _expect_names(state, {"n_outputs", *_PLAIN}, needed=set(_PLAIN))
        return accepted(lambda: Tree.from_state(state, _MOST_FEATURES))
    _expect_names(state, {"n_outputs", *_STREAMS})
    first = np.zeros(len(state["n_nodes"]), dtype=np.uint32)
    forest = accepted(lambda: forest_of_streams(state, first, _MOST_FEATURES, n_outputs, 1))
    expect(len(forest) == 1, f"is {len(forest)} trees")
    expect(forest.tree(0).n_outputs == n_outputs, "has another number of outputs than its tree")
    return forest.tree(0)


def _expect_names(state: dict[str, Any], known: set[str], needed: set[str] | None = None) -> None:
    unknown, missing = set(state) - known, (needed or set()) - set(state)
    expect(not unknown, f"has an array {min(unknown, default='')!r} that does not belong to the others")
    expect(not missing, f"has no {min(missing, default='')!r}")


def _forest_state(forest: Any) -> dict[str, Any]:
    places = range(len(forest))
    state: dict[str, Any] = {
        "n_features": forest.n_features,
        "n_outputs": forest.n_outputs,
        "first_output": np.array([forest.first_output(place) for place in places], dtype=np.uint32),
    }
    streams = forest_streams(forest)
    return {**state, **(_plain_state(forest) if streams is None else streams)}


def _plain_state(forest: Any) -> dict[str, Any]:
    trees = [forest.tree(place) for place in range(len(forest))]
    states = [tree.state() for tree in trees]
    state: dict[str, Any] = {"n_answers": np.array([tree.n_outputs for tree in trees], dtype=np.uint32)}
    for name, dtype in _PLAIN.items():
        own = [each[name] for each in states]
        if name in _COUNTED:
            state[f"n_{name}"] = np.array([len(part) for part in own], dtype=np.uint32)
        state[name] = np.concatenate([np.zeros(0, dtype), *own]).astype(dtype, copy=False)
    return state


def _build_forest(state: dict[str, Any]) -> Any:
    n_features, n_outputs = int(state["n_features"]), int(state["n_outputs"])
    common = {"n_features", "n_outputs", "first_output"}
    if "n_answers" in state:
        needed = {"n_answers", *_PLAIN, *(f"n_{name}" for name in _COUNTED)}
        _expect_names(state, common | needed, needed)
        return accepted(lambda: forest_of_arrays(state, n_features, n_outputs))
    _expect_names(state, common | set(_STREAMS))
    n_threads = usable_threads(0)
    return accepted(lambda: forest_of_streams(state, state["first_output"], n_features, n_outputs, n_threads))


_ARRAYS = {
    **{name: array("fiu", 1, 2) for name in (*_PLAIN, *_STREAMS)},
    **{f"n_{name}": COUNTS for name in _COUNTED},
}
TREE_CLASSES = [
    StorableClass(
        "engine.Tree",
        Tree,
        {"n_outputs": COUNT, **_ARRAYS},
        optional=frozenset(_ARRAYS),
        state=_tree_state,
        build=_build_tree,
    ),
    StorableClass(
        "engine.Forest",
        Forest,
        {
            "n_features": COUNT,
            "n_outputs": COUNT,
            "first_output": COUNTS,
            "n_answers": COUNTS,
            **_ARRAYS,
        },
        optional=frozenset({"n_answers", *_ARRAYS}),
        state=_forest_state,
        build=_build_forest,
    ),
]
