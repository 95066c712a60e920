"""Whether two models hold the same, down to the last bit and the last attribute."""

from typing import Any

import numpy as np

from coterie.files.registry import class_of


def differences(one: Any, other: Any, where: str = "model") -> list[str]:
    """Where two objects differ, at least in the first place that is found."""
    if type(one) is not type(other):
        return [f"{where}: {type(one).__name__} and {type(other).__name__}"]
    if isinstance(one, np.ndarray):
        return _of_arrays(one, other, where)
    if isinstance(one, list | tuple):
        if len(one) != len(other):
            return [f"{where}: {len(one)} and {len(other)} items"]
        return [
            found
            for i, (a, b) in enumerate(zip(one, other, strict=True))
            for found in differences(a, b, f"{where}[{i}]")
        ]
    if isinstance(one, dict):
        if list(one) != list(other):
            return [f"{where}: {list(one)} and {list(other)}"]
        return [found for key in one for found in differences(one[key], other[key], f"{where}[{key!r}]")]
    known = class_of(one)
    if known is not None:
        mine, others = (dict(sorted(known.state_of(each).items())) for each in (one, other))
        return differences(mine, others, where)
    if hasattr(one, "get_params"):
        return [] if repr(one) == repr(other) else [f"{where}: {one} and {other}"]
    same = one == other or (one != one and other != other)
    return [] if same else [f"{where}: {one!r} and {other!r}"]


def _of_arrays(one: Any, other: Any, where: str) -> list[str]:
    if (
        one.dtype != other.dtype
        or one.shape != other.shape
        or one.flags.f_contiguous != other.flags.f_contiguous
    ):
        return [f"{where}: {one.dtype} {one.shape} and {other.dtype} {other.shape}"]
    if one.dtype.hasobject:
        return differences(one.tolist(), other.tolist(), where)
    return [] if one.tobytes() == other.tobytes() else [f"{where}: other values"]
