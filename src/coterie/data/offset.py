"""Offsets: a score that each row has before the model adds its own."""

from typing import Any

import numpy as np

from coterie._params import in_short
from coterie._typing import FloatArray
from coterie.data.frames import is_series, series_values
from coterie.errors import InvalidInput, InvalidType


def read_offset(offset: Any, n_rows: int, n_outputs: int, *, one_for_all: bool = True) -> FloatArray:
    """Offsets as float64, shape (n_rows, n_outputs).

    One number per row counts for every output, unless `one_for_all` is False, which refuses it.

    Examples
    --------
    >>> read_offset([0.5, 1.0], 2, 1)
    array([[0.5],
           [1. ]])
    """
    array = _as_floats(offset)
    expected = f"({n_rows}, {n_outputs})"
    if one_for_all or n_outputs == 1:
        expected = f"({n_rows},)" + (f" or {expected}" if n_outputs > 1 else "")
    if array.ndim == 1 and (one_for_all or n_outputs == 1):
        array = np.repeat(array[:, None], n_outputs, axis=1)
    if array.shape != (n_rows, n_outputs):
        allowed = f"{expected}: the start score of each row"
        if not one_for_all and n_outputs > 1:
            allowed += ", one for each class"
        raise InvalidInput.expecting(
            f"offset has the shape {np.shape(offset)}", allowed, "offset", np.shape(offset)
        )
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        row, output = map(int, wrong[0])
        what = "NaN" if np.isnan(array[row, output]) else "infinity"
        raise InvalidInput(
            f"Input offset contains {what}: row {row} has the offset {array[row, output]}.",
            parameter="offset",
            received=float(array[row, output]),
            allowed="finite numbers",
            hint="Offsets are finite numbers; the logarithm of an exposure is one if the exposure is above zero.",
            row=row,
        )
    return array


def _as_floats(offset: Any) -> FloatArray:
    try:
        array = np.asarray(series_values(offset) if is_series(offset) else offset)
        if array.dtype.kind in "cUSmMV":
            raise TypeError(f"values of type {array.dtype}")
        return array.astype(np.float64)
    except (ValueError, TypeError) as error:
        allowed = "one number for each row"
        raise InvalidType.expecting(
            f"offset={in_short(offset)} cannot be read as numbers ({error})", allowed, "offset", offset
        ) from error
