"""One number for each row: what a model predicts, of the class that is meant."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from coterie._params import OneOf, in_short, unexpected
from coterie._typing import FloatArray
from coterie.diagnostics.checks import check_choice, several_targets
from coterie.errors import InvalidInput, InvalidParameter

_METHODS = ("auto", "predict", "predict_proba", "decision_function")


def response_of(model: Any, response_method: str, target: Any) -> tuple[Callable[[Any], FloatArray], str]:
    """A function from a table to the predictions of a fitted model, and what these are called."""
    check_choice("response_method", response_method, OneOf(*_METHODS))
    check_is_fitted(model)
    name = type(model).__name__
    if not is_classifier(model):
        if response_method not in ("auto", "predict"):
            raise InvalidParameter.expecting(
                f"response_method={response_method!r}: {name} predicts numbers",
                "'auto' or 'predict'",
                "response_method",
                response_method,
            )
        if target is not None:
            raise InvalidParameter.expecting(
                f"target={in_short(target)}: {name} has no classes", "None", "target", target
            )
        return lambda X: _one_number(model.predict(X), name), "prediction"
    methods = [method for method in ("predict_proba", "decision_function") if hasattr(model, method)]
    if response_method not in ("auto", *methods):
        raise InvalidParameter.expecting(
            f"response_method={response_method!r}",
            "'predict_proba' or 'decision_function'",
            "response_method",
            response_method,
        )
    place, label = _class_of(model, target)
    if not methods:  # such as hard voting
        return lambda X: np.asarray(model.predict(X) == label, dtype=np.float64), f"prediction of {label}"
    method = methods[0] if response_method == "auto" else response_method

    def of_class(X: Any) -> FloatArray:
        values = np.asarray(getattr(model, method)(X), dtype=np.float64)
        if values.ndim == 1:  # one score for two classes
            return values if place == 1 else -values
        return np.asarray(values[:, place])

    return of_class, f"{'probability' if method == 'predict_proba' else 'score'} of {label}"


def _class_of(model: Any, target: Any) -> tuple[int, Any]:
    classes = model.classes_
    if isinstance(classes, list):
        raise several_targets("Predictions are looked at for", model, len(classes))
    known = np.asarray(classes).tolist()
    if target is None and len(known) == 2:
        return 1, known[1]
    if target not in known:
        raise unexpected("target", target, f"one of the classes {in_short(known)}")
    return known.index(target), target


def _one_number(predictions: Any, name: str) -> FloatArray:
    array = np.asarray(predictions, dtype=np.float64)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InvalidInput.expecting(
            f"{name} predicts {array.shape[1]} numbers for each row",
            "a model of one target",
            "model",
            array.shape[1],
        )
    return array
