"""How wrong each prediction is: one number a row, the smaller the better."""

from dataclasses import dataclass

import numpy as np

from coterie._typing import FloatArray
from coterie.report.evaluated_model import Predictions

_LEAST = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class RowErrors:
    """The error of each row, and what it is called.

    Attributes
    ----------
    values : array of shape (n_rows,)
    name : such as "absolute error"
    """

    values: FloatArray
    name: str


def row_errors(predictions: Predictions, *, is_regression: bool) -> RowErrors:
    """The absolute error of numbers, the log loss of probabilities, and 0 or 1 for classes without these.

    Examples
    --------
    >>> row_errors(Predictions(np.array([3.0, 5.0]), np.array([4.0, 2.0])), is_regression=True)
    RowErrors(values=array([1., 3.]), name='absolute error')
    """
    if is_regression:
        errors = np.abs(np.asarray(predictions.y_true, dtype=np.float64) - predictions.y_pred)
        return RowErrors(errors, "absolute error")
    if predictions.proba is None:
        return RowErrors((predictions.y_true != predictions.y_pred).astype(np.float64), "error rate")
    of_true_class = predictions.proba[np.arange(len(predictions.y_true)), predictions.y_true]
    return RowErrors(-np.log(np.clip(of_true_class, _LEAST, 1.0)), "log loss")
