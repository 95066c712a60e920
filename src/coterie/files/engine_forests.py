"""Packed forests, and the rows that they remember, as a few arrays.

What the engine takes on trust is checked here first: that the nodes of a packed tree form a tree, that a leaf asks for
nothing, and that rows are remembered once.
"""

from typing import Any

import numpy as np

from coterie._engine import ForestMemory, PackedForest
from coterie._typing import AnyArray
from coterie.files.engine_arrays import COUNTS, accepted, check_depth, counts_of, cuts_of, typed
from coterie.files.kinds import FLAG, NUMBER, WHOLE, array
from coterie.files.spec import Spec, expect

__all__ = ["FOREST_CLASSES"]

_LEAF = np.uint32(1 << 31)
_MOST_CLASSES = 1 << 20


def _packed_parts(forest: Any) -> dict[str, Any]:
    state = forest.__getstate__()
    groves = state["groves"]
    trees = [tree for _, own in groves for tree in own]
    thresholds = [one for own, _ in groves for one in own]
    return {
        "n_columns": state["n_columns"],
        "n_levels": state["n_levels"],
        "n_grove_trees": np.array([len(own) for _, own in groves], dtype=np.uint32),
        "n_thresholds": np.array([len(own) for own in thresholds], dtype=np.uint32),
        "n_nodes": np.array([len(tree["nodes"]) for tree in trees], dtype=np.uint32),
        "n_answers": np.array([len(tree["answers"]) for tree in trees], dtype=np.uint32),
        "thresholds": np.concatenate([np.zeros(0), *thresholds]),
        "nodes": np.concatenate([np.zeros((0, 3), np.uint32), *(tree["nodes"] for tree in trees)]),
        "answers": np.concatenate([np.zeros(0), *(tree["answers"] for tree in trees)]),
        "ranks": np.concatenate([np.zeros(0, np.uint16), *(tree["ranks"] for tree in trees)]),
        "weight": np.array([tree["weight"] for tree in trees], dtype=np.float64),
        "n_rows": np.array([tree["n_rows"] for tree in trees], dtype=np.uint32),
    }


_PACKED = {
    "n_levels": "i4",
    "thresholds": "f8",
    "nodes": "u4",
    "answers": "f8",
    "ranks": "u2",
    "weight": "f8",
    "n_rows": "u4",
}


def _made_packed(parts: dict[str, Any]) -> Any:
    typed(parts, _PACKED)
    n_levels, n_trees, n_groves = parts["n_levels"], len(parts["weight"]), len(parts["n_grove_trees"])
    expect(parts["nodes"].shape[1] == 3, "has nodes that are not three words each")
    expect(((n_levels >= 0) & (n_levels < 2**16 - 1)).all(), "has an impossible number of levels")
    expect(len(parts["n_rows"]) == n_trees, "has weights and numbers of rows of different trees")
    n_ranks = int((n_levels[n_levels > 0].astype(np.int64) + 1).sum())
    cuts = {
        "thresholds": cuts_of(
            counts_of(parts, "n_thresholds", n_groves * len(n_levels)), len(parts["thresholds"]), "thresholds"
        ),
        "nodes": cuts_of(counts_of(parts, "n_nodes", n_trees), len(parts["nodes"]), "nodes"),
        "answers": cuts_of(counts_of(parts, "n_answers", n_trees), len(parts["answers"]), "answers"),
        "ranks": cuts_of(np.full(n_trees, n_ranks), len(parts["ranks"]), "ranks"),
    }
    in_groves = cuts_of(counts_of(parts, "n_grove_trees", n_groves), n_trees, "trees of groves")

    def slice_of(name: str, place: int) -> AnyArray:
        own: AnyArray = parts[name][cuts[name][place] : cuts[name][place + 1]]
        return own

    trees = []
    for place in range(n_trees):
        own = {name: slice_of(name, place) for name in ("nodes", "answers", "ranks")}
        _check_nodes(own["nodes"], place)
        trees.append({**own, "weight": float(parts["weight"][place]), "n_rows": int(parts["n_rows"][place])})
    groves = [
        (
            [slice_of("thresholds", grove * len(n_levels) + feature) for feature in range(len(n_levels))],
            trees[in_groves[grove] : in_groves[grove + 1]],
        )
        for grove in range(n_groves)
    ]
    forest = PackedForest.__new__(PackedForest)
    state = {"n_columns": int(parts["n_columns"]), "n_levels": n_levels, "groves": groves}
    accepted(lambda: forest.__setstate__(state))
    return forest


def _check_nodes(nodes: AnyArray, place: int) -> None:
    """Every node but the first is the child of one split, and a leaf says nothing but where its answer is."""
    is_leaf = nodes[:, 1] >= _LEAF
    expect((nodes[is_leaf, 1] == _LEAF).all(), f"has a leaf in tree {place} that asks about a feature")
    splits = np.flatnonzero(~is_leaf)
    left = nodes[splits, 0].astype(np.int64)
    inside = (left > splits) & (left + 1 < len(nodes))
    expect(inside.all(), f"has children in tree {place} that do not come after their parent")
    children = np.sort(np.concatenate([left, left + 1]))
    expect(
        np.array_equal(children, np.arange(1, len(nodes))),
        f"has a node in tree {place} that is not the child of exactly one other",
    )
    check_depth(~is_leaf, nodes[:, 0], f"has a tree {place} that is")


_MEMORY = {
    "codes": "u2",
    "order": "u4",
    "n_levels": "i4",
    "targets": "f8",
    "weight": "f8",
    "n_classes": "u4",
}


def _memory_parts(memory: Any) -> dict[str, Any]:
    """What the engine remembers, with zeros in the places of its table that hold no code."""
    parts = dict(memory.__getstate__())
    codes, n_rows, n_features = parts["codes"], len(parts["order"]), len(parts["n_levels"])
    if parts["feature_stride"] == 1:
        end = n_rows * parts["row_stride"]
        codes[:end].reshape(n_rows, -1)[:, n_features:] = 0
    else:
        end = n_rows * n_features
    codes[end:] = 0
    return parts


def _made_memory(parts: dict[str, Any]) -> Any:
    typed(parts, _MEMORY)
    n = len(parts["order"])
    expect(len(np.unique(parts["order"])) == n, "remembers a row twice")
    expect(
        n <= parts["n_table_rows"] <= max(2**24, 1000 * n),
        f"remembers {n} rows of a table of {parts['n_table_rows']}",
    )
    expect((parts["n_classes"] <= _MOST_CLASSES).all(), f"remembers more than {_MOST_CLASSES} classes")
    expect(np.isfinite(parts["targets"]).all(), "remembers a target that is no number")
    memory = ForestMemory.__new__(ForestMemory)
    accepted(lambda: memory.__setstate__(parts))
    return memory


FOREST_CLASSES = [
    Spec(
        "engine.PackedForest",
        PackedForest,
        {
            "n_columns": WHOLE,
            "n_grove_trees": COUNTS,
            "n_thresholds": COUNTS,
            "n_nodes": COUNTS,
            "n_answers": COUNTS,
            **{name: array("fiu", 2 if name == "nodes" else 1) for name in _PACKED},
        },
        parts=_packed_parts,
        build=_made_packed,
    ),
    Spec(
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
                WHOLE,
            ),
            "weighted": FLAG,
            "share": NUMBER,
        },
        parts=_memory_parts,
        build=_made_memory,
    ),
]
