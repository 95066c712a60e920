"""Sample weights: how often each row counts."""

import math
from numbers import Real
from typing import Any

import numpy as np

from coterie._params import in_short
from coterie._typing import FloatArray
from coterie.data.frames import is_series, series_values
from coterie.data.target import check_lengths
from coterie.errors import InvalidInput, InvalidType


def read_weight(sample_weight: Any, n_rows: int) -> FloatArray | None:
    """Weights as float64, one per row; None stays None, and a number counts for every row.

    Examples
    --------
    >>> read_weight([1, 0, 2], 3)
    array([1., 0., 2.])
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real | np.bool_):
        weight = np.full(n_rows, float(sample_weight))
    else:
        weight = _as_floats(sample_weight)
        if weight.ndim != 1:
            allowed = f"either a scalar value or a 1D array of length {n_rows}"
            raise InvalidInput(
                f"Sample weights must be 1D array or scalar, got {weight.ndim}D array of shape "
                f"{weight.shape}. Expected {allowed}.",
                parameter="sample_weight",
                received=weight.shape,
                allowed=allowed,
            )
        check_lengths(n_rows, len(weight), parameter="sample_weight")
    _check_values(weight)
    return weight


def combined_weight(weight: FloatArray | None, row_weight: FloatArray | None) -> FloatArray | None:
    """Sample weights times class weights; None when neither was given.

    Weights far from 1 are divided by a power of two, which keeps their ratios to the last bit: sums of the
    largest floats, and squares of the smallest, would leave the range of floats.
    """
    if weight is None and row_weight is None:
        return None
    if weight is not None and row_weight is not None:
        product = _moderate(weight) * _moderate(row_weight)
    else:
        product = _moderate(row_weight if weight is None else weight)
    if not (product > 0).any():
        raise InvalidInput(
            "Every row has zero weight: sample_weight times class_weight leaves nothing to learn from.",
            parameter="sample_weight",
            received=0.0,
            allowed="at least one row of a weight above zero",
        )
    return product


def _moderate(weight: FloatArray | None) -> FloatArray:
    assert weight is not None
    largest = float(weight.max(initial=0.0))
    if largest == 0 or 1e-20 < largest < 1e20:
        return weight
    return np.ldexp(weight, -math.frexp(largest)[1])


def _as_floats(sample_weight: Any) -> FloatArray:
    if is_series(sample_weight):
        sample_weight = series_values(sample_weight)
    try:
        array = np.asarray(sample_weight)
        if array.dtype.kind in "cUSmMV":
            raise TypeError(f"values of type {array.dtype}")
        return array.astype(np.float64)
    except (ValueError, TypeError) as error:
        allowed = "one number for each row"
        raise InvalidType(
            f"sample_weight={in_short(sample_weight)} cannot be read as numbers ({error}); expected {allowed}.",
            parameter="sample_weight",
            received=sample_weight,
            allowed=allowed,
        ) from error


def _check_values(weight: FloatArray) -> None:
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        value = float(weight[row])
        what = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else "negative values"
        raise InvalidInput(
            f"Input sample_weight contains {what}: row {row} has the weight {value}.",
            parameter="sample_weight",
            received=value,
            allowed="finite numbers >= 0",
            hint="Weights are finite numbers >= 0.",
            row=row,
        )
    if not weight.any():
        raise InvalidInput(
            "Sample weights must contain at least one non-zero number: all of them are zero, which leaves "
            "nothing to learn from.",
            parameter="sample_weight",
            received=0.0,
            allowed="at least one number above zero",
        )
