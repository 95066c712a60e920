"""The engine's trees and forests as a few arrays. The engine checks every tree that it makes of them.

Streams are what arrays of trees become to be short (`engine/coterie/storage/forest_streams.hpp`). Trees in which a leaf
holds what only splits need, and those of files of format 1, are plain: every array of every tree as it is.

Of packed forests, nodes are three words each, as the engine has them in its memory, or streams that become short
(`engine/coterie/storage/node_streams.hpp`). Trees of a file that is mapped are checked when they are first used.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from coterie._engine import (
    Forest,
    ForestMemory,
    PackedForest,
    StumpTable,
    Tree,
    forest_of_arrays,
    forest_of_streams,
    forest_streams,
    packed_arrays,
    packed_of_arrays,
    usable_threads,
)
from coterie._storage import StorableClass, expect
from coterie._typing import AnyArray
from coterie._value_types import BOOL, COUNT, NUMBER, array
from coterie.errors import ModelFileError
from coterie.files.container import is_mapped

COUNTS = array("u", 1)


def typed(state: dict[str, Any], types: dict[str, str]) -> None:
    for name, dtype in types.items():
        expect(
            state[name].dtype == np.dtype(dtype), f"has {name} of the type {state[name].dtype}, not {dtype}"
        )


def accepted(make: Callable[[], Any]) -> Any:
    """What the engine makes of the arrays, or its objection."""
    try:
        return make()
    except (ValueError, TypeError, RuntimeError, OverflowError) as error:
        raise ModelFileError(f"is refused by the engine: {error}") from None


def counts_of(state: dict[str, Any], name: str, n: int) -> AnyArray:
    counts = state[name]
    expect(len(counts) == n, f"has {len(counts)} entries in {name} instead of {n}")
    return np.asarray(counts, dtype=np.int64)


def cuts_of(counts: AnyArray, n: int, name: str) -> list[int]:
    cuts = [0, *np.cumsum(counts, dtype=np.float64).tolist()]
    expect(cuts[-1] == n, f"has {n} entries in {name} instead of {cuts[-1]:.0f}")
    return [int(cut) for cut in cuts]


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


def _stump_state(table: Any) -> dict[str, Any]:
    cuts, n_levels, votes, n_scores = table.__getstate__()
    return {
        "n_cuts": np.array([len(own) for own in cuts], dtype=np.uint32),
        "cuts": np.concatenate([np.zeros(0), *cuts]),
        "n_levels": n_levels,
        "votes": votes,
        "n_scores": n_scores,
    }


def _build_stumps(state: dict[str, Any]) -> Any:
    typed(state, {"cuts": "f8", "n_levels": "i4", "votes": "f8"})
    n_levels = state["n_levels"]
    expect(((n_levels >= -1) & (n_levels < 256)).all(), "has an impossible number of levels")
    cuts = cuts_of(counts_of(state, "n_cuts", len(n_levels)), len(state["cuts"]), "cuts")
    own = [state["cuts"][begin:end] for begin, end in pairwise(cuts)]
    for place, each in enumerate(own):
        expect(
            (np.diff(each) > 0).all() and not np.isnan(each).any(),
            f"has cuts of feature {place} out of order",
        )
    return accepted(lambda: StumpTable(own, n_levels, state["votes"], int(state["n_scores"])))


STUMP_CLASSES = [
    StorableClass(
        "engine.StumpTable",
        StumpTable,
        {
            "n_cuts": COUNTS,
            "cuts": array("f", 1),
            "n_levels": array("i", 1),
            "votes": array("f", 1),
            "n_scores": COUNT,
        },
        state=_stump_state,
        build=_build_stumps,
    ),
]


_PACKED = {
    "n_levels": "i4",
    "thresholds": "f8",
    "answers": "f8",
    "ranks": "u2",
    "weight": "f8",
    "n_rows": "u4",
}
_FOREST_STREAMS = {
    "is_split": "u1",
    "pair": "u4",
    "feature": "u4",
    "missing_right": "u1",
    "code": "u2",
    "share": "u2",
    "answer": "u4",
}


def _packed_state(forest: Any) -> dict[str, Any]:
    return {"n_columns": forest.n_columns, **packed_arrays(forest, compact=True)}


def _packed_mappable_state(forest: Any) -> dict[str, Any]:
    return {"n_columns": forest.n_columns, **packed_arrays(forest, compact=False)}


def _build_packed(state: dict[str, Any]) -> Any:
    typed(state, _PACKED)
    streams = set(_FOREST_STREAMS) & set(state)
    expect(
        not streams if "nodes" in state else streams >= set(_FOREST_STREAMS) - {"pair"},
        "has nodes in two forms, or not all that makes them",
    )
    look_later = "nodes" in state and is_mapped(state["nodes"])
    return accepted(lambda: packed_of_arrays(state, int(state["n_columns"]), look_later))


_MEMORY = {
    "codes": "u2",
    "order": "u4",
    "n_levels": "i4",
    "targets": "f8",
    "weight": "f8",
    "n_classes": "u4",
}


def _memory_state(memory: Any) -> dict[str, Any]:
    return dict(memory.__getstate__())


def _build_memory(state: dict[str, Any]) -> Any:
    typed(state, _MEMORY)
    memory = ForestMemory.__new__(ForestMemory)
    accepted(lambda: memory.__setstate__(state))
    return memory


FOREST_CLASSES = [
    StorableClass(
        "engine.PackedForest",
        PackedForest,
        {
            "n_columns": COUNT,
            "n_grove_trees": COUNTS,
            "n_thresholds": COUNTS,
            "n_nodes": COUNTS,
            "n_answers": COUNTS,
            **{name: array("fiu", 1) for name in (*_PACKED, *_FOREST_STREAMS)},
            "nodes": array("u", 2),
        },
        optional=frozenset({"nodes", *_FOREST_STREAMS}),
        state=_packed_state,
        mappable_state=_packed_mappable_state,
        build=_build_packed,
    ),
    StorableClass(
        "engine.ForestMemory",
        ForestMemory,
        {
            **{name: array("fiu", 1) for name in _MEMORY},
            **dict.fromkeys(
                (
                    "row_stride",
                    "feature_stride",
                    "n_table_rows",
                    "n_outputs",
                    "bag",
                    "most_draws",
                    "seed",
                    "first_tree",
                ),
                COUNT,
            ),
            "weighted": BOOL,
            "share": NUMBER,
        },
        state=_memory_state,
        build=_build_memory,
    ),
]
