"""Predictions of members by one of their methods, as floats whose columns mean the same for every member.

| method | columns |
|---|---|
| predict of a regressor | its numbers |
| predict of a classifier | a one for the class it names, zeros for the others: votes, which can be averaged |
| predict_proba | a probability for each class; for several outputs, for each class but the first of each output |
| decision_function | its scores |

A class that a member never saw has probability 0, no vote, and the lowest of the row's scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from coterie._params import in_short
from coterie._storage import storable
from coterie._typing import AnyArray, FloatArray
from coterie._value_types import BOOL, LABELS, TEXT, tuple_of
from coterie.data.class_columns import columns_by_class
from coterie.errors import InvalidInput, InvalidParameter

_BY_DETAIL = ("predict_proba", "decision_function", "predict")


def method_of(name: str, estimator: Any, wanted: str) -> str:
    """The method that a member predicts with; "auto" is the most detailed that it has."""
    methods = _BY_DETAIL if wanted == "auto" else (wanted,)
    for method in methods:
        if hasattr(estimator, method):
            return method
    allowed = " or ".join(methods)
    raise InvalidParameter(
        f"Underlying estimator {name} does not implement the method {allowed}: it is a {type(estimator).__name__}.",
        parameter=name,
        received=estimator,
        allowed=f"an estimator with {allowed}",
    )


@storable("Question", {"method": TEXT, "classes": tuple_of(LABELS), "is_vote": BOOL})
@dataclass(frozen=True)
class ResponseMethod:
    """How members predict: the method, and the classes in the order of the columns; none for numbers.

    `classes` holds the labels of each output. `is_vote` says that predictions are votes.
    """

    method: str
    classes: tuple[AnyArray, ...] = ()
    is_vote: bool = False

    @classmethod
    def of(cls, estimator: Any, method: str, classes: Sequence[AnyArray]) -> "ResponseMethod":
        has_classes = bool(classes) and is_classifier(estimator)
        return cls(method, tuple(classes) if has_classes else (), has_classes and method == "predict")

    def predict_with(self, name: str, model: Any, X: Any, **params: Any) -> FloatArray:
        """The predictions of a fitted member, shape (n_rows, n_columns); `params` are given to its method."""
        given = getattr(model, self.method)(X, **params)
        if self.is_vote:
            return self._votes(given, name)
        if not self.classes:
            return _two_dimensions(given, self.method, name)
        if len(self.classes) > 1:
            return self._several(given, model, name)
        if self.method == "predict_proba":
            return _by_class(_two_dimensions(given, self.method, name), _known(model), self.classes[0], name)
        return _scores_by_class(
            _two_dimensions(given, self.method, name), _known(model), self.classes[0], name
        )

    def finalize(self, mean: FloatArray) -> FloatArray:
        """A mean of predictions as one prediction: of votes, the code of the class with most; the first of a tie."""
        if not self.is_vote:
            return mean
        blocks = np.split(mean, np.cumsum([len(classes) for classes in self.classes])[:-1], axis=1)
        codes = np.column_stack([block.argmax(axis=1) for block in blocks]).astype(np.float64)
        codes[np.isnan(mean).any(axis=1)] = np.nan
        return codes

    def _votes(self, given: Any, name: str) -> FloatArray:
        labels = np.asarray(given)
        labels = labels[:, None] if labels.ndim == 1 else labels
        blocks = []
        for output, classes in enumerate(self.classes):
            codes = np.searchsorted(classes, labels[:, output])
            if (codes == len(classes)).any() or (classes[codes] != labels[:, output]).any():
                raise _other_classes(name, np.unique(labels[:, output]), classes)
            blocks.append(np.eye(len(classes))[codes])
        return np.hstack(blocks)

    def _several(self, given: Any, model: Any, name: str) -> FloatArray:
        """Several outputs: a list of arrays, one for each; the first class of an output follows from the others."""
        if not isinstance(given, list):
            return _two_dimensions(given, self.method, name)
        known = _known(model)
        if not isinstance(known, list):
            known = [None] * len(given)
        blocks = [
            _by_class(np.asarray(own, dtype=np.float64), seen, classes, name)[:, 1:]
            for own, seen, classes in zip(given, known, self.classes, strict=True)
        ]
        return np.hstack(blocks)


def _known(model: Any) -> Any:
    return getattr(model, "classes_", None)


def _two_dimensions(given: Any, method: str, name: str) -> FloatArray:
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"{method} of the member {name!r} gives no numbers: {error}.",
            parameter=name,
            received=given,
            allowed="numbers",
        ) from error
    return array[:, None] if array.ndim == 1 else array


def _by_class(given: FloatArray, known: Any, classes: AnyArray, name: str, missing: Any = 0.0) -> FloatArray:
    if known is None or (len(known) == len(classes) and np.array_equal(known, classes)):
        if given.shape[1] != len(classes):
            allowed = f"one for each of the {len(classes)} classes {in_short(list(classes))}"
            raise InvalidInput.expecting(
                f"The member {name!r} gives {given.shape[1]} columns", allowed, name, given.shape[1]
            )
        return given
    places = np.minimum(np.searchsorted(classes, known), len(classes) - 1)
    if given.shape[1] != len(known) or (classes[places] != known).any():
        raise _other_classes(name, known, classes)
    return columns_by_class(given, known, classes, fill=missing)


def _scores_by_class(given: FloatArray, known: Any, classes: AnyArray, name: str) -> FloatArray:
    if known is None or len(known) == len(classes):
        return given
    if given.shape[1] == 1:
        given = np.hstack([-given, given])
    return _by_class(given, known, classes, name, missing=given.min(axis=1, keepdims=True))


def _other_classes(name: str, known: Any, classes: AnyArray) -> InvalidInput:
    return InvalidInput(
        f"The member {name!r} knows the classes {in_short(list(known))}, and y holds {in_short(list(classes))}.",
        parameter=name,
        received=list(known),
        allowed=f"the classes {in_short(list(classes))}",
        hint="Members see the labels as they are in y; fit this one with the same labels.",
    )


def probabilities_or_vote(name: str, estimator: Any, classes: AnyArray) -> ResponseMethod:
    """How a classifier takes part in a mean: by its probabilities, or by a vote if it has none."""
    soft = hasattr(estimator, "predict_proba")
    method = method_of(name, estimator, "predict_proba" if soft else "predict")
    return ResponseMethod(method, (classes,), is_vote=not soft)
