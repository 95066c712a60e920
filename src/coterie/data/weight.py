"""Weights of rows: how often each counts, by its sample weight and by its class."""

import math
from collections.abc import Mapping, Sequence
from numbers import Real as RealNumber
from typing import Any, Literal

import numpy as np

from coterie._params import Real, in_short, unexpected
from coterie._typing import AnyArray, ClassWeight, FloatArray
from coterie.data.frames import is_series, series_values
from coterie.errors import InvalidInput, InvalidParameter, InvalidType


def read_weight(sample_weight: Any, n_rows: int, *, some_rows: bool = False) -> FloatArray | None:
    """Weights as float64, one per row; None stays None, and a number counts for every row.

    `some_rows`: these are some rows of many, which may all weigh nothing.

    Examples
    --------
    >>> read_weight([1, 0, 2], 3)
    array([1., 0., 2.])
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, RealNumber | np.bool_):
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
        if len(weight) != n_rows:
            raise InvalidInput(
                f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}: X and sample_weight have inconsistent "
                "numbers of samples.",
                parameter="sample_weight",
                received=[n_rows, len(weight)],
                allowed=f"one for each of the {n_rows} rows",
                hint="X, y and sample_weight need one entry for each row.",
            )
    _check_values(weight, some_rows=some_rows)
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


def _check_values(weight: FloatArray, *, some_rows: bool) -> None:
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        value = float(weight[row])
        what = (
            "Input sample_weight contains NaN" if np.isnan(value) else "Input sample_weight contains infinity"
        )
        what = what if not np.isfinite(value) else "Negative values in data passed to `sample_weight`"
        raise InvalidInput(
            f"{what}: row {row} has the weight {value}.",
            parameter="sample_weight",
            received=value,
            allowed="finite numbers >= 0",
            hint="Weights are finite numbers >= 0.",
            row=row,
        )
    if not some_rows and not weight.any():
        raise InvalidInput(
            "Sample weights must contain at least one non-zero number: all of them are zero, which leaves "
            "nothing to learn from.",
            parameter="sample_weight",
            received=0.0,
            allowed="at least one number above zero",
        )


def class_weights_of_rows(
    class_weight: ClassWeight | Literal["balanced_subsample"],
    codes: Sequence[AnyArray],
    classes: Sequence[AnyArray],
    weight: FloatArray | None,
) -> FloatArray | None:
    """The weight that its class gives to each row; with several outputs, the product over them.

    "balanced" gives every class the same total weight. It counts a row as often as its sample weight
    says, so a weight of 2 is the same as the row twice. "balanced_subsample" gives none: it is about the rows
    that each tree draws.
    """
    if isinstance(class_weight, str) and class_weight == "balanced_subsample":
        return None
    product = np.ones(len(codes[0]))
    for by_class, own_codes in zip(
        weights_by_class(class_weight, codes, classes, weight), codes, strict=True
    ):
        product *= by_class[own_codes]
    return product


def weights_by_class(
    class_weight: ClassWeight,
    codes: Sequence[AnyArray],
    classes: Sequence[AnyArray],
    weight: FloatArray | None,
) -> list[FloatArray]:
    """For each output, the weight of each of its classes.

    Examples
    --------
    >>> weights_by_class([{0: 2.0}, None], [np.array([0, 1])] * 2, [np.array([0, 1])] * 2, None)
    [array([2., 1.]), array([1., 1.])]
    """
    parts = _one_per_output(class_weight, len(codes))
    return [
        np.ones(len(own_classes))
        if part is None
        else _weights_of_classes(part, own_codes, own_classes, weight)
        for part, own_codes, own_classes in zip(parts, codes, classes, strict=True)
    ]


def _one_per_output(class_weight: ClassWeight, n_outputs: int) -> Sequence[Any]:
    if isinstance(class_weight, str | Mapping):
        if isinstance(class_weight, Mapping) and n_outputs > 1:
            allowed = f"a list of {n_outputs} dicts, or 'balanced'"
            raise InvalidParameter(
                f"class_weight is one dict and y has {n_outputs} outputs; expected {allowed}.",
                parameter="class_weight",
                received=class_weight,
                allowed=allowed,
            )
        return [class_weight] * n_outputs
    if isinstance(class_weight, Sequence) and len(class_weight) == n_outputs and n_outputs > 1:
        return class_weight
    raise _not_understood(class_weight)


def _weights_of_classes(
    part: Any, codes: AnyArray, classes: AnyArray, weight: FloatArray | None
) -> FloatArray:
    if isinstance(part, str) and part == "balanced":
        totals = np.bincount(codes, weights=weight, minlength=len(classes))
        present = totals > 0
        weights = np.zeros(len(classes))
        weights[present] = totals.sum() / (present.sum() * totals[present])
        return weights
    if not isinstance(part, Mapping):
        raise _not_understood(part)
    return _from_mapping(part, classes)


def _from_mapping(given: Mapping[Any, Any], classes: AnyArray) -> FloatArray:
    place = {label: index for index, label in enumerate(classes.tolist())}
    weights = np.ones(len(classes))
    unknown = []
    for label, value in given.items():
        if not Real(0).accepts(value):
            allowed = Real(0).describe()
            raise InvalidParameter(
                f"class_weight={in_short(given)}: the weight of class {label!r} is {value!r}; expected {allowed}.",
                parameter="class_weight",
                received=value,
                allowed=allowed,
            )
        if label in place:
            weights[place[label]] = value
        else:
            unknown.append(label)
    # A fold of a cross-validation may lack a class; a misspelt one leaves another class unnamed.
    if unknown and len(given) - len(unknown) < len(classes):
        allowed = in_short(classes.tolist())
        raise InvalidParameter(
            f"class_weight names {in_short(unknown)}, which y does not contain; the classes of y are {allowed}.",
            parameter="class_weight",
            received=unknown,
            allowed=allowed,
        )
    return weights


def _not_understood(class_weight: object) -> InvalidParameter:
    allowed = "None or 'balanced' or a dict from each class to its weight (a list of them when y has several outputs)"
    return unexpected("class_weight", class_weight, allowed)
