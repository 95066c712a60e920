"""`init=`: another model whose predictions boosting starts from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from coterie._params import in_short
from coterie._typing import AnyArray, FloatArray
from coterie.data.class_columns import columns_by_class
from coterie.data.parts import rows_of
from coterie.errors import InvalidInput, InvalidParameter
from coterie.losses import ClassificationLoss, InitScore, RegressionLoss
from coterie.members.base_learner import call_user_model, finite_floats


class RawPredictor(Protocol):
    """A function from a fitted model to its raw predictions for a table, shape (n_rows, n_outputs)."""

    def __call__(self, model: Any, X: Any, n_rows: int) -> FloatArray: ...


@dataclass(frozen=True)
class InitEstimator:
    """`init=` in one fit: copies are fitted to rows of the table, and their predictions are where boosting starts.

    Attributes
    ----------
    template : the model that the user gave
    X, y : the table and the target as the user gave them
    weight : what each row counts, or None
    raw_predictions : from a fitted copy to raw predictions
    """

    template: Any
    X: Any
    y: AnyArray
    weight: FloatArray | None
    raw_predictions: RawPredictor

    def fitted(self, rows: AnyArray) -> Any:
        """A copy, fitted to some rows; no rows means all."""
        init, X, y, weight = self.template, self.X, self.y, self.weight
        if weight is not None and not has_fit_parameter(init, "sample_weight"):
            raise InvalidParameter(
                f"The initial estimator {type(init).__name__} does not support sample weights, and this fit has them: "
                f"init={in_short(init)}.",
                parameter="init",
                received=init,
                allowed="an estimator whose fit takes sample_weight",
                hint="Choose an init that takes them, or leave sample_weight and class_weight out.",
            )
        if len(rows):
            X, y = rows_of(X, rows), y[rows]
            weight = None if weight is None else weight[rows]
        weights = {} if weight is None else {"sample_weight": weight}
        return call_user_model(
            "init", init, "be fitted to the training rows", lambda: clone(init).fit(X, y, **weights)
        )

    def init_score(self, model: Any, offset: FloatArray | None) -> InitScore:
        """Where the raw predictions of the training rows start."""
        start = self.raw_predictions(model, self.X, len(self.y))
        return InitScore(start if offset is None else offset + start, add_constant=False)

    def mean_scores(self, models: list[Any], X: Any, n_rows: int) -> FloatArray:
        """The mean raw prediction of fitted copies for the rows of another table."""
        return np.asarray(np.mean([self.raw_predictions(model, X, n_rows) for model in models], axis=0))


def number_scores(model: Any, X: Any, n_rows: int, *, loss: RegressionLoss) -> FloatArray:
    """Predictions on the scale of a regressor's loss, shape (n_rows, n_outputs)."""
    given = call_user_model("init", model, "predict", lambda: model.predict(X))
    predicted = finite_floats("init", model, "predict", given)
    if predicted.ndim == 1:
        predicted = predicted[:, None]
    if predicted.shape not in ((n_rows, 1), (n_rows, loss.n_outputs)):
        raise InvalidInput(
            f"predict of init={in_short(model)} has the shape {predicted.shape}; expected ({n_rows},)"
            + (f" or ({n_rows}, {loss.n_outputs})." if loss.n_outputs > 1 else ".")
        )
    return np.array(np.broadcast_to(loss.link(predicted), (n_rows, loss.n_outputs)))


def class_scores(
    model: Any, X: Any, n_rows: int, *, loss: ClassificationLoss, classes: AnyArray
) -> FloatArray:
    """Raw predictions of a classifier: from its probabilities, or its decision function where it has none.

    Probabilities come first: they are what they are for every model, and a margin need not be log odds.
    """
    n_outputs = loss.n_outputs
    if hasattr(model, "predict_proba"):
        probabilities = call_user_model("init", model, "predict", lambda: model.predict_proba(X))
        given = finite_floats("init", model, "predict_proba", probabilities)
        scores = loss.link(_by_class(given, model, classes, n_rows))
        if scores is not None:
            return scores
    if hasattr(model, "decision_function"):
        margins = call_user_model("init", model, "predict", lambda: model.decision_function(X))
        margins = finite_floats("init", model, "decision_function", margins)
        margins = margins[:, None] if margins.ndim == 1 else margins
        if margins.shape == (n_rows, n_outputs) and np.array_equal(model.classes_, classes):
            return margins
        raise InvalidInput(
            f"decision_function of init={in_short(model)} has the shape {margins.shape} for the classes "
            f"{in_short(list(model.classes_))}; expected ({n_rows}, {n_outputs}) for {in_short(list(classes))}."
        )
    raise InvalidParameter(
        f"init={in_short(model)} must implement predict_proba or decision_function, and decision_function if the loss "
        "has an inverse_link of its own.",
        parameter="init",
        received=model,
        allowed="a classifier with predict_proba or decision_function",
    )


def label_scores(model: Any, X: Any, n_rows: int, *, loss: Any, classes: Sequence[AnyArray]) -> FloatArray:
    """Raw predictions of several labels, from a list of probabilities or from those of the second classes."""
    if not hasattr(model, "predict_proba"):
        raise InvalidParameter(
            f"init={in_short(model)} must implement predict_proba, because y has {len(classes)} columns.",
            parameter="init",
            received=model,
            allowed="a classifier of several labels with predict_proba",
        )
    given = call_user_model("init", model, "predict", lambda: model.predict_proba(X))
    if not isinstance(given, list):
        seconds = finite_floats("init", model, "predict_proba", given)
        if seconds.shape != (n_rows, len(classes)):
            raise InvalidInput(
                f"predict_proba of init={in_short(model)} has the shape {seconds.shape} for {len(classes)} columns of "
                f"y; expected ({n_rows}, {len(classes)}), or a list of arrays."
            )
        given = [np.column_stack([1 - second, second]) for second in seconds.T]
        known = list(classes)
    else:
        known = list(model.classes_)
    parts = []
    for part, own, own_classes, wanted in zip(loss.parts, given, known, classes, strict=True):
        if part.n_outputs == 0:
            continue
        shares = finite_floats("init", model, "predict_proba", own)
        scores = part.link(columns_by_class(shares, np.asarray(own_classes), wanted))
        if scores is None:
            raise InvalidParameter(
                f"init={in_short(model)} gives probabilities of several labels, and the inverse_link of the loss is "
                "one that scores cannot be found from.",
                parameter="init",
                received=model,
                allowed="None, or a loss without an inverse_link",
            )
        parts.append(scores)
    return np.concatenate(parts, axis=1)


def _by_class(given: FloatArray, model: Any, classes: AnyArray, n_rows: int) -> FloatArray:
    """Probabilities in the order of `classes`; a class without weight may be unknown to the model."""
    known = np.asarray(model.classes_)
    if given.shape != (n_rows, len(known)) or not np.isin(known, classes).all():
        raise InvalidInput(
            f"predict_proba of init={in_short(model)} has the shape {given.shape} for the classes "
            f"{in_short(list(known))}; expected a column for each of {in_short(list(classes))}."
        )
    return columns_by_class(given, known, classes)
