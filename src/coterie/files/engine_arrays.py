"""Arrays that hold many trees one after the other: how long each is, where each begins, and how deep they may be."""

from collections.abc import Callable
from typing import Any

import numpy as np

from coterie._typing import AnyArray
from coterie.errors import ModelFileError
from coterie.files.kinds import array
from coterie.files.spec import expect

__all__ = ["COUNTS", "accepted", "check_depth", "counts_of", "cuts_of", "typed"]

COUNTS = array("u", 1)
_MOST_DEPTH = 10_000


def typed(parts: dict[str, Any], types: dict[str, str]) -> None:
    for name, dtype in types.items():
        expect(
            parts[name].dtype == np.dtype(dtype), f"has {name} of the type {parts[name].dtype}, not {dtype}"
        )


def check_depth(is_split: AnyArray, left: AnyArray, what: str) -> None:
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


def accepted(make: Callable[[], Any]) -> Any:
    """What the engine makes of the arrays, or its objection."""
    try:
        return make()
    except (ValueError, TypeError, RuntimeError, OverflowError) as error:
        raise ModelFileError(f"is refused by the engine: {error}") from None


def counts_of(parts: dict[str, Any], name: str, n: int) -> AnyArray:
    counts = parts[name]
    expect(len(counts) == n, f"has {len(counts)} entries in {name} instead of {n}")
    return np.asarray(counts, dtype=np.int64)


def cuts_of(counts: AnyArray, n: int, name: str) -> list[int]:
    cuts = [0, *np.cumsum(counts, dtype=np.float64).tolist()]
    expect(cuts[-1] == n, f"has {n} entries in {name} instead of {cuts[-1]:.0f}")
    return [int(cut) for cut in cuts]
