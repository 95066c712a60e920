"""The engine's objects as a few arrays: trees one after the other, and how long each is.

The engine checks children, features and sets of levels whenever a tree is made of arrays. What it takes on trust is
checked here first: that nodes of packed trees form a tree, and that the rows a forest remembers fit it.
"""

from typing import Any

import numpy as np

from coterie._engine import Forest, ForestMemory, PackedForest, StumpTable, Tree
from coterie._typing import AnyArray
from coterie.errors import ModelFileError
from coterie.files.kinds import FLAG, NUMBER, WHOLE, array
from coterie.files.spec import Spec, expect

__all__ = ["ENGINE_CLASSES"]

_LEAF = np.uint32(1 << 31)
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
_MOST_DEPTH = 10_000


def _typed(parts: dict[str, Any], types: dict[str, str]) -> None:
    for name, dtype in types.items():
        expect(
            parts[name].dtype == np.dtype(dtype), f"has {name} of the type {parts[name].dtype}, not {dtype}"
        )


def _tree_parts(tree: Any) -> dict[str, Any]:
    return {name: value if name == "n_outputs" else np.array(value) for name, value in tree.state().items()}


def _check_depth(is_split: AnyArray, left: AnyArray, what: str) -> None:
    """Refuse trees so deep that walking down them by function calls could end the process."""
    if len(is_split) <= 2 * _MOST_DEPTH:
        return
    level, depth = np.zeros(1, dtype=np.int64), 0
    while len(level):
        parents = level[is_split[level]]
        children = left[parents].astype(np.int64)
        level = np.concatenate([children, children + 1])
        depth += 1
        expect(depth <= _MOST_DEPTH, f"{what} more than {_MOST_DEPTH} levels deep")


def _made_tree(parts: dict[str, Any]) -> Any:
    _typed(parts, _ARRAYS)
    tree = _accepted(lambda: Tree.from_state(parts, 2**31 - 1))
    _check_depth(parts["feature"] >= 0, parts["left"], "is")
    return tree


def _accepted(make: Any) -> Any:
    """What the engine makes of the arrays, or its objection."""
    try:
        return make()
    except (ValueError, TypeError, RuntimeError, OverflowError) as error:
        raise ModelFileError(f"is refused by the engine: {error}") from None


def _forest_parts(forest: Any) -> dict[str, Any]:
    trees = [forest.tree(place) for place in range(len(forest))]
    states = [tree.state() for tree in trees]
    parts: dict[str, Any] = {
        "n_features": forest.n_features,
        "n_outputs": forest.n_outputs,
        "first_output": np.array([forest.first_output(place) for place in range(len(trees))], dtype=np.uint32),
        "n_answers": np.array([tree.n_outputs for tree in trees], dtype=np.uint32),
    }
    for name, dtype in _ARRAYS.items():
        own = [state[name] for state in states]
        if name in _OTHERS or name in ("feature", "impurity"):
            parts[f"n_{name}"] = np.array([len(part) for part in own], dtype=np.uint32)
        parts[name] = np.concatenate([np.zeros(0, dtype), *own]).astype(dtype, copy=False)
    return parts


def _made_forest(parts: dict[str, Any]) -> Any:
    _typed(parts, _ARRAYS)
    n_trees = len(parts["first_output"])
    n_nodes = _counts(parts, "n_feature", n_trees)
    counts = {name: n_nodes for name in _PER_NODE}
    counts["value"] = n_nodes * _counts(parts, "n_answers", n_trees)
    for name in ("impurity", *_OTHERS):
        counts[name] = _counts(parts, f"n_{name}", n_trees)
    cuts = {name: _cuts(own, len(parts[name]), name) for name, own in counts.items()}
    forest = _accepted(lambda: Forest(int(parts["n_features"]), int(parts["n_outputs"])))
    for place in range(n_trees):
        state = {name: parts[name][own[place] : own[place + 1]] for name, own in cuts.items()}
        state["n_outputs"] = int(parts["n_answers"][place])
        try:
            forest.add(Tree.from_state(state, forest.n_features), int(parts["first_output"][place]))
            _check_depth(state["feature"] >= 0, state["left"], "is")
        except (ValueError, TypeError, RuntimeError, OverflowError) as error:
            raise ModelFileError(f"has a tree {place} that cannot be used: {error}") from None
    return forest


def _counts(parts: dict[str, Any], name: str, n: int) -> AnyArray:
    counts = parts[name]
    expect(len(counts) == n, f"has {len(counts)} entries in {name} instead of {n}")
    return np.asarray(counts, dtype=np.int64)


def _cuts(counts: AnyArray, n: int, name: str) -> list[int]:
    cuts = [0, *np.cumsum(counts, dtype=np.float64).tolist()]
    expect(cuts[-1] == n, f"has {n} entries in {name} instead of {cuts[-1]:.0f}")
    return [int(cut) for cut in cuts]


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
    _typed(parts, _PACKED)
    n_levels, n_trees, n_groves = parts["n_levels"], len(parts["weight"]), len(parts["n_grove_trees"])
    expect(parts["nodes"].shape[1] == 3, "has nodes that are not three words each")
    expect(((n_levels >= 0) & (n_levels < 2**16 - 1)).all(), "has an impossible number of levels")
    expect(len(parts["n_rows"]) == n_trees, "has weights and numbers of rows of different trees")
    n_ranks = int((n_levels[n_levels > 0].astype(np.int64) + 1).sum())
    cuts = {
        "thresholds": _cuts(
            _counts(parts, "n_thresholds", n_groves * len(n_levels)), len(parts["thresholds"]), "thresholds"
        ),
        "nodes": _cuts(_counts(parts, "n_nodes", n_trees), len(parts["nodes"]), "nodes"),
        "answers": _cuts(_counts(parts, "n_answers", n_trees), len(parts["answers"]), "answers"),
        "ranks": _cuts(np.full(n_trees, n_ranks), len(parts["ranks"]), "ranks"),
    }
    in_groves = _cuts(_counts(parts, "n_grove_trees", n_groves), n_trees, "trees of groves")

    def slice_of(name: str, place: int) -> AnyArray:
        own: AnyArray = parts[name][cuts[name][place] : cuts[name][place + 1]]
        return own

    trees = []
    for place in range(n_trees):
        own = {name: slice_of(name, place) for name in ("nodes", "answers", "ranks")}
        _check_nodes(own["nodes"], place)
        trees.append(
            {**own, "weight": float(parts["weight"][place]), "n_rows": int(parts["n_rows"][place])}
        )
    groves = [
        (
            [slice_of("thresholds", grove * len(n_levels) + feature) for feature in range(len(n_levels))],
            trees[in_groves[grove] : in_groves[grove + 1]],
        )
        for grove in range(n_groves)
    ]
    forest = PackedForest.__new__(PackedForest)
    state = {"n_columns": int(parts["n_columns"]), "n_levels": n_levels, "groves": groves}
    _accepted(lambda: forest.__setstate__(state))
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
    _check_depth(~is_leaf, nodes[:, 0], f"has a tree {place} that is")


def _stump_parts(table: Any) -> dict[str, Any]:
    cuts, n_levels, votes, n_scores = table.__getstate__()
    return {
        "n_cuts": np.array([len(own) for own in cuts], dtype=np.uint32),
        "cuts": np.concatenate([np.zeros(0), *cuts]),
        "n_levels": n_levels,
        "votes": votes,
        "n_scores": n_scores,
    }


def _made_stumps(parts: dict[str, Any]) -> Any:
    _typed(parts, {"cuts": "f8", "n_levels": "i4", "votes": "f8"})
    n_levels = parts["n_levels"]
    expect(((n_levels >= -1) & (n_levels < 256)).all(), "has an impossible number of levels")
    cuts = _cuts(_counts(parts, "n_cuts", len(n_levels)), len(parts["cuts"]), "cuts")
    own = [parts["cuts"][begin:end] for begin, end in zip(cuts[:-1], cuts[1:], strict=True)]
    for place, each in enumerate(own):
        expect((np.diff(each) > 0).all() and not np.isnan(each).any(), f"has cuts of feature {place} out of order")
    return _accepted(lambda: StumpTable(own, n_levels, parts["votes"], int(parts["n_scores"])))


_MEMORY = {
    "codes": "u2",
    "order": "u4",
    "n_levels": "i4",
    "targets": "f8",
    "weight": "f8",
    "n_classes": "u4",
}


def _made_memory(parts: dict[str, Any]) -> Any:
    _typed(parts, _MEMORY)
    n = len(parts["order"])
    expect(len(np.unique(parts["order"])) == n, "remembers a row twice")
    expect(
        n <= parts["n_table_rows"] <= max(2**24, 1000 * n),
        f"remembers {n} rows of a table of {parts['n_table_rows']}",
    )
    memory = ForestMemory.__new__(ForestMemory)
    _accepted(lambda: memory.__setstate__(parts))
    return memory


_COUNTS = array("u", 1)

ENGINE_CLASSES = [
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
            "first_output": _COUNTS,
            "n_answers": _COUNTS,
            "n_feature": _COUNTS,
            "n_impurity": _COUNTS,
            **{f"n_{name}": _COUNTS for name in _OTHERS},
            **{name: array("fiu", 1) for name in _ARRAYS},
        },
        parts=_forest_parts,
        build=_made_forest,
    ),
    Spec(
        "engine.PackedForest",
        PackedForest,
        {
            "n_columns": WHOLE,
            "n_grove_trees": _COUNTS,
            "n_thresholds": _COUNTS,
            "n_nodes": _COUNTS,
            "n_answers": _COUNTS,
            **{name: array("fiu", 2 if name == "nodes" else 1) for name in _PACKED},
        },
        parts=_packed_parts,
        build=_made_packed,
    ),
    Spec(
        "engine.StumpTable",
        StumpTable,
        {
            "n_cuts": _COUNTS,
            "cuts": array("f", 1),
            "n_levels": array("i", 1),
            "votes": array("f", 1),
            "n_scores": WHOLE,
        },
        parts=_stump_parts,
        build=_made_stumps,
    ),
    Spec(
        "engine.ForestMemory",
        ForestMemory,
        {
            **{name: array("fiu", 1) for name in _MEMORY},
            **{
                name: WHOLE
                for name in (
                    "row_stride",
                    "feature_stride",
                    "n_table_rows",
                    "n_outputs",
                    "bag",
                    "most_draws",
                    "seed",
                    "first_tree",
                )
            },
            "weighted": FLAG,
            "share": NUMBER,
        },
        parts=lambda memory: dict(memory.__getstate__()),
        build=_made_memory,
    ),
]
