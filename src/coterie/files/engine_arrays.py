"""Arrays that hold many things one after the other: how long each is, and where each begins."""

from collections.abc import Callable
from typing import Any

import numpy as np

from coterie._storage import expect
from coterie._typing import AnyArray
from coterie._value_types import array
from coterie.errors import ModelFileError

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
