"""What each row costs: losses whose mean is an error, and their mean if predictions were independent of targets."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from coterie._params import Function, OneOf
from coterie._typing import AnyArray, FloatArray, Task
from coterie.data.class_columns import columns_by_class
from coterie.diagnostics.checks import check_choice
from coterie.errors import InvalidInput, InvalidParameter

_SMALLEST = 1e-15  # of a probability; its logarithm is finite
_PAIRS_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class RowLosses:
    """A loss with a name.

    Attributes
    ----------
    name : what it is called
    values : function of targets and predictions that returns a number for each row
    method : what predicts, "predict" or "predict_proba"
    classes : the labels, in the order of probabilities; None for numbers
    """

    name: str
    values: Callable[[AnyArray, AnyArray], FloatArray]
    method: str
    classes: AnyArray | None

    def predictions(self, model: Any, X: Any) -> AnyArray:
        """What a fitted model predicts; a class that it never saw has probability 0."""
        if self.method == "predict":
            return np.asarray(model.predict(X))
        shares = np.asarray(model.predict_proba(X), dtype=np.float64)
        assert self.classes is not None
        return columns_by_class(shares, model.classes_, self.classes)

    def of(self, y: AnyArray, predicted: AnyArray) -> FloatArray:
        """The loss of each row, checked."""
        found = np.asarray(self.values(y, predicted), dtype=np.float64)
        if found.shape != (len(y),) or not np.isfinite(found).all():
            raise InvalidInput(
                f"loss={self.name} returned an array of shape {found.shape}"
                f"{'' if np.isfinite(found).all() else ' with values that are no finite numbers'}: expected a finite "
                f"number for each of the {len(y)} rows.",
                parameter="loss",
                received=found.shape,
                allowed=f"a finite number for each of the {len(y)} rows",
            )
        return found

    def without_information(self, y: AnyArray, predicted: AnyArray) -> float:
        """The mean loss over all pairs of a target and a prediction."""
        step = max(1, _PAIRS_AT_ONCE // len(y))
        total = 0.0
        for first in range(0, len(y), step):
            some = predicted[first : first + step]
            total += float(self.of(np.tile(y, len(some)), np.repeat(some, len(y), axis=0)).sum())
        return total / len(y) ** 2


def losses_for(loss: Any, task: Task, estimator: Any, y: AnyArray, response_method: str) -> RowLosses:
    """The chosen loss, ready for these targets."""
    classes = np.unique(y) if task == "classification" else None
    names = ("zero_one", "log_loss") if task == "classification" else ("squared_error", "absolute_error")
    check_choice("loss", loss, OneOf("auto", *names), Function())
    check_choice("response_method", response_method, OneOf("predict", "predict_proba"))
    name = names[0] if loss == "auto" else loss
    if callable(loss):
        method, name, values = response_method, getattr(loss, "__name__", "the function"), loss
    else:
        method = "predict_proba" if name == "log_loss" else "predict"
        values = _log_loss(classes) if name == "log_loss" else _FORMULAS[name]
    if method == "predict_proba" and not (is_classifier(estimator) and hasattr(estimator, "predict_proba")):
        raise InvalidParameter(
            f"loss={name!r} needs probabilities, and {type(estimator).__name__} has no predict_proba.",
            parameter="loss",
            received=name,
            allowed=repr(names[0]),
            hint=f"Choose {names[0]!r}.",
        )
    return RowLosses(str(name), values, method, classes)


_FORMULAS: dict[str, Callable[[AnyArray, AnyArray], FloatArray]] = {
    "zero_one": lambda y, predicted: (y != predicted).astype(np.float64),
    "squared_error": lambda y, predicted: (y - predicted) ** 2,
    "absolute_error": lambda y, predicted: np.abs(y - predicted),
}


def _log_loss(classes: Any) -> Callable[[AnyArray, AnyArray], FloatArray]:
    def values(y: AnyArray, predicted: AnyArray) -> FloatArray:
        own = predicted[np.arange(len(y)), np.searchsorted(classes, y)]
        return np.asarray(-np.log(np.clip(own, _SMALLEST, None)))

    return values
