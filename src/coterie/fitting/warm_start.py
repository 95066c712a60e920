"""`warm_start=`: a fit that continues the last one.

The result is that of one longer fit, to the last bit, so the table and most parameters have to be the same: a
*signature* of each fit holds what it was about. Nothing but the model is needed, so it works after pickling.
"""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from coterie._params import in_short, is_auto
from coterie.data.table import Schema
from coterie.errors import InvalidInput, InvalidParameter, SchemaMismatch
from coterie.fitting.estimator import FitSignature

BEGIN_ANEW = "To begin anew, set warm_start=False."  # the hint of most families


State = TypeVar("State")


@dataclass(frozen=True)
class PreviousFit(Generic[State]):
    """What an estimator learned before, for a fit that continues it.

    Attributes
    ----------
    signature : what that fit was about
    schema : the columns that it saw
    classes : the labels, or a list of them for several outputs; None for numbers
    state : what the family needs to go on from it
    """

    signature: Any
    schema: Schema | None
    classes: Any
    state: State


def check_same_settings(earlier: FitSignature, new: FitSignature, instead: str) -> None:
    """Refuse to continue with other parameters of those that are settled; `instead` is what else to do."""
    for name, value in new.settled.items():
        if not _same(earlier.settled[name], value):
            raise InvalidParameter(
                f"{name}={in_short(value)} cannot continue a fit with {name}={in_short(earlier.settled[name])}: its "
                "rounds would not be the first rounds of this one.",
                parameter=name,
                received=value,
                allowed=in_short(earlier.settled[name]),
                hint=f"Set it back. {instead}",
            )


def check_continues(
    previous: PreviousFit[Any], new: FitSignature, *, schema: Schema, classes: Any, hint: str
) -> None:
    """Refuse to continue on other columns, classes or rows; `hint` is what to do instead."""
    if schema != previous.schema:
        raise SchemaMismatch(
            "warm_start=True continues on the columns of the last fit, and X has others: "
            f"{_columns(schema)} instead of {_columns(previous.schema)}.",
            parameter="X",
            hint=hint,
        )
    now, known = _listed(classes), _listed(previous.classes)
    if now != known:
        raise InvalidInput(
            f"warm_start=True continues with the classes of the last fit, {in_short(known)}; y has {in_short(now)}.",
            parameter="y",
            received=now,
            allowed=in_short(known),
            hint=hint,
        )
    for name, digest in new.digests.items():
        if digest != previous.signature.digests[name]:
            raise InvalidInput(
                f"warm_start=True continues on the data of the last fit, and this fit differs in {name}.",
                parameter=name,
                hint=hint,
            )


def check_number_given(estimator: Any, ends_when: str) -> None:
    """Refuse to continue a fit whose length was not given."""
    if estimator.warm_start and is_auto(estimator.n_estimators):
        raise InvalidParameter(
            f"warm_start=True needs a number as n_estimators: with n_estimators='auto' a fit ends when {ends_when}, "
            "and there is nothing to continue.",
            parameter="n_estimators",
            received="auto",
            allowed="a whole number >= 1",
        )


def check_no_fewer(n_estimators: int, n_known: int, unit: str) -> None:
    """Refuse to continue with fewer rounds, trees or members (`unit`) than the last fit has."""
    if n_estimators < n_known:
        raise InvalidParameter(
            f"n_estimators={n_estimators} is less than the {n_known} {unit} of the last fit, which warm_start=True "
            "continues.",
            parameter="n_estimators",
            received=n_estimators,
            allowed=f"a whole number >= {n_known}",
            hint=f"Choose more. {BEGIN_ANEW}",
        )


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    try:
        return bool(one == other) or repr(one) == repr(other)
    except ValueError:  # arrays
        return np.array_equal(one, other)


def _listed(classes: Any) -> list[Any]:
    """As Python lists; with several outputs, one for each."""
    if classes is None:
        return []
    if isinstance(classes, list):
        return [np.asarray(own).tolist() for own in classes]
    return list(np.asarray(classes).tolist())


def _columns(schema: Any) -> str:
    named = f"{schema.n_features} columns" if schema.names is None else in_short(list(schema.names))
    return f"{named} ({', '.join(sorted(set(schema.kinds)))})"
