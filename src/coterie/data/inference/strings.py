"""Columns of strings and of moments, wherever they are held: arrays, lists, series of any library."""

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from coterie._typing import AnyArray
from coterie.data.frames import eager_frame, is_frame, is_series, refuse_duplicates
from coterie.data.inference.levels import object_array


def named_columns(X: Any) -> dict[str, Any] | None:
    """Columns by name, those of frames as series of narwhals; None for a table without names."""
    if isinstance(X, Mapping):
        return {
            str(name): nw.from_native(values, series_only=True) if is_series(values) else values
            for name, values in X.items()
        }
    if not is_frame(X):
        return None
    refuse_duplicates(X)
    frame = eager_frame(nw.to_native(X, pass_through=True))
    return {str(series.name): series for series in frame.iter_columns()}


def native_column(values: Any) -> Any:
    """A column as the library has it that holds it."""
    return nw.to_native(values) if isinstance(values, nw.Series) else values


def strings_of(values: Any, *, whatever: bool = False) -> AnyArray | None:
    """A column of strings as an array of objects, None if it holds something else; `whatever`: anything as strings."""
    if isinstance(values, nw.Series):
        if values.dtype not in (nw.String, nw.Object) and not whatever:
            return None
        values = values.to_list()
    held = values if isinstance(values, np.ndarray) else object_array(list(values))
    if held.dtype.kind == "U":
        return held.astype(object)
    if whatever:
        return object_array([None if own is None or own != own else str(own) for own in held.tolist()])
    if held.dtype.kind != "O":
        return None
    kinds = set(map(type, held.tolist()))
    return held if str in kinds and all(kind is str or _means_missing(kind) for kind in kinds) else None


def moments_of(values: Any) -> AnyArray | None:
    """A column of dates as datetime64, None if it holds something else."""
    if isinstance(values, nw.Series):
        if values.dtype not in (nw.Date, nw.Datetime):
            return None
        values = values.to_numpy()
    held = np.asarray(values) if isinstance(values, np.ndarray) else np.zeros(0)
    return held.astype("M8[us]") if held.dtype.kind == "M" else None


def _means_missing(kind: type) -> bool:
    return kind in (type(None), float) or kind.__name__ in ("NAType", "NaTType")
