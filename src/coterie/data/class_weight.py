"""`class_weight`: what each class counts, turned into a weight per row."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coterie._params import Real, in_short, unexpected
from coterie._typing import AnyArray, ClassWeight, FloatArray
from coterie.errors import InvalidParameter


def class_weights_of_rows(
    class_weight: ClassWeight,
    codes: Sequence[AnyArray],
    classes: Sequence[AnyArray],
    weight: FloatArray | None,
) -> FloatArray | None:
    """The weight that its class gives to each row; with several outputs, the product over them.

    "balanced" gives every class the same total weight. It counts a row as often as its sample weight
    says, so a weight of 2 is the same as the row twice. "balanced_subsample" gives none: it is about the rows
    that each tree draws.
    """
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced_subsample"):
        return None
    parts = _one_per_output(class_weight, len(codes))
    product = np.ones(len(codes[0]))
    for part, own_codes, own_classes in zip(parts, codes, classes, strict=True):
        if part is not None:
            product *= _weights_of_classes(part, own_codes, own_classes, weight)[own_codes]
    return product


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
