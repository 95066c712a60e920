"""Packed forests, and the rows that they remember, as a few arrays, which the engine checks.

Nodes are three words each, as the engine has them in its memory, or streams that become short
(`engine/coterie/storage/node_streams.hpp`). Trees of a file that is mapped are checked when they are first used.
"""

from typing import Any

from coterie._engine import ForestMemory, PackedForest, packed_arrays, packed_of_arrays
from coterie._storage import StorableClass, expect
from coterie._value_types import BOOL, COUNT, NUMBER, array
from coterie.files.container import is_mapped
from coterie.files.engine_arrays import COUNTS, accepted, typed

_PACKED = {
    "n_levels": "i4",
    "thresholds": "f8",
    "answers": "f8",
    "ranks": "u2",
    "weight": "f8",
    "n_rows": "u4",
}
_STREAMS = {
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
    streams = set(_STREAMS) & set(state)
    expect(
        not streams if "nodes" in state else streams >= set(_STREAMS) - {"pair"},
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
            **{name: array("fiu", 1) for name in (*_PACKED, *_STREAMS)},
            "nodes": array("u", 2),
        },
        optional=frozenset({"nodes", *_STREAMS}),
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
