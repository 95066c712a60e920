"""The engine's table of stumps as a few arrays."""

from itertools import pairwise
from typing import Any

import numpy as np

from coterie._engine import StumpTable
from coterie._storage import StorableClass, expect
from coterie._value_types import COUNT, array
from coterie.files.engine_arrays import COUNTS, accepted, counts_of, cuts_of, typed


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
