"""`init=`: another model whose predictions are the scores that boosting starts from."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from coterie._params import in_short
from coterie._typing import AnyArray, FloatArray
from coterie.data.class_columns import columns_by_class
from coterie.data.parts import rows_of
from coterie.errors import InvalidInput, InvalidParameter
from coterie.losses import LossChoice
from coterie.losses.class_choices import ClassLoss
from coterie.members.user_model import call_user_model, finite_floats

__all__ = ["class_scores", "fitted_init", "number_scores"]


def fitted_init(init: Any, X: Any, y: AnyArray, weight: FloatArray | None, rows: AnyArray) -> Any:
    """A copy of the model, fitted to the training rows of the table as the user gave it; no rows means all."""
    if weight is not None and not has_fit_parameter(init, "sample_weight"):
        raise InvalidParameter(
            f"init={in_short(init)} does not take sample_weight, and this fit has weights. Choose an init that takes "
            "them, or leave sample_weight and class_weight out."
        )
    if len(rows):
        X, y = rows_of(X, rows), y[rows]
        weight = None if weight is None else weight[rows]
    weights = {} if weight is None else {"sample_weight": weight}
    return call_user_model(
        "init", init, "be fitted to the training rows", lambda: clone(init).fit(X, y, **weights)
    )


def number_scores(model: Any, X: Any, loss: LossChoice, n_rows: int) -> FloatArray:
    """Predictions on the scale of a regressor's loss, shape (n_rows, n_outputs)."""
    given = call_user_model("init", model, "predict", lambda: model.predict(X))
    answers = finite_floats("init", model, "predict", given)
    if answers.ndim == 1:
        answers = answers[:, None]
    if answers.shape not in ((n_rows, 1), (n_rows, loss.n_outputs)):
        raise InvalidInput(
            f"predict of init={in_short(model)} has the shape {answers.shape}; expected ({n_rows},)"
            + (f" or ({n_rows}, {loss.n_outputs})." if loss.n_outputs > 1 else ".")
        )
    return np.array(np.broadcast_to(loss.scores_of(answers), (n_rows, loss.n_outputs)))


def class_scores(model: Any, X: Any, loss: ClassLoss, classes: AnyArray, n_rows: int) -> FloatArray:
    """Scores of a classifier: from its probabilities, or its decision function where it has none.

    Probabilities come first: they are what they are for every model, and a margin need not be log odds.
    """
    n_outputs = 1 if loss.n_classes == 2 else loss.n_classes
    if hasattr(model, "predict_proba"):
        probabilities = call_user_model("init", model, "predict", lambda: model.predict_proba(X))
        given = finite_floats("init", model, "predict_proba", probabilities)
        scores = loss.scores_of(_by_class(given, model, classes, n_rows))
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
        f"init={in_short(model)} says no score that this loss can start from: a classifier's init needs predict_proba "
        "or decision_function, and a CustomLoss with a link of its own needs decision_function."
    )


def _by_class(given: FloatArray, model: Any, classes: AnyArray, n_rows: int) -> FloatArray:
    """Probabilities in the order of `classes`; a class without weight may be unknown to the model."""
    known = np.asarray(model.classes_)
    if given.shape != (n_rows, len(known)) or not np.isin(known, classes).all():
        raise InvalidInput(
            f"predict_proba of init={in_short(model)} has the shape {given.shape} for the classes "
            f"{in_short(list(known))}; expected a column for each of {in_short(list(classes))}."
        )
    return columns_by_class(given, known, classes)
