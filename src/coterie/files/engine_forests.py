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

__all__ = ["FOREST_CLASSES"]

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


def _packed_parts(forest: Any) -> dict[str, Any]:
    return {"n_columns": forest.n_columns, **packed_arrays(forest, compact=True)}


def _packed_as_it_is(forest: Any) -> dict[str, Any]:
    return {"n_columns": forest.n_columns, **packed_arrays(forest, compact=False)}


def _made_packed(parts: dict[str, Any]) -> Any:
    typed(parts, _PACKED)
    streams = set(_STREAMS) & set(parts)
    expect(
        not streams if "nodes" in parts else streams >= set(_STREAMS) - {"pair"},
        "has nodes in two forms, or not all that makes them",
    )
    look_later = "nodes" in parts and is_mapped(parts["nodes"])
    return accepted(lambda: packed_of_arrays(parts, int(parts["n_columns"]), look_later))


_MEMORY = {
    "codes": "u2",
    "order": "u4",
    "n_levels": "i4",
    "targets": "f8",
    "weight": "f8",
    "n_classes": "u4",
}


def _memory_parts(memory: Any) -> dict[str, Any]:
    return dict(memory.__getstate__())


def _made_memory(parts: dict[str, Any]) -> Any:
    typed(parts, _MEMORY)
    memory = ForestMemory.__new__(ForestMemory)
    accepted(lambda: memory.__setstate__(parts))
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
        state=_packed_parts,
        mappable_state=_packed_as_it_is,
        build=_made_packed,
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
        state=_memory_parts,
        build=_made_memory,
    ),
]
