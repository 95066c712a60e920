"""The probabilities of one class of two, which decisions and rankings are about."""

from typing import NamedTuple

import numpy as np

from coterie._typing import BoolArray, FloatArray
from coterie.report.evaluated_model import EvaluatedModel, Predictions


class PositiveClass(NamedTuple):
    """The label of the second class, its probability in each row, and the rows that belong to it."""

    label: str
    score: FloatArray
    positive: BoolArray


def positive_class(evaluated: EvaluatedModel, predictions: Predictions) -> PositiveClass | str:
    """The second of two classes, or in words why there is nothing to rank rows by."""
    if evaluated.classes is None:
        return "the target is numeric."
    if len(evaluated.classes) != 2:
        return "the target does not have two classes."
    if predictions.proba is None:
        return f"{evaluated.name} predicts no probabilities."
    positive = np.asarray(predictions.y_true == 1)
    if positive.all() or not positive.any():
        return "all rows are of one class."
    return PositiveClass(evaluated.labels[1], predictions.proba[:, 1], positive)
