"""Scores of predictions out of fold, each with its standard error.

Accuracy is a mean over rows, so its standard error is that of a mean. R2 is 1 minus a ratio of means; the variance of
y below the line is taken as known, so the error is that of the mean squared error above it.
"""

from dataclasses import dataclass

import numpy as np

from coterie._typing import AnyArray, BoolArray, FloatArray
from coterie.members.response import ResponseMethod


@dataclass(frozen=True)
class Score:
    """A score and its standard error; NaN where there is nothing to score."""

    value: float
    error: float


def score_of_codes(truth: AnyArray, predicted: AnyArray, weight: FloatArray | None, rows: BoolArray) -> Score:
    """Accuracy; with several outputs every label of a row has to be right.

    Examples
    --------
    >>> every = np.ones(4, dtype=bool)
    >>> score = score_of_codes(np.array([0, 1, 1, 0]), np.array([0, 1, 1, 1]), None, every)
    >>> score.value, round(score.error, 6)
    (0.75, 0.25)
    """
    right = (truth == predicted) if truth.ndim == 1 else (truth == predicted).all(axis=1)
    return _mean(right.astype(np.float64), weight, rows)


def score_of_numbers(
    truth: FloatArray, predicted: FloatArray, weight: FloatArray | None, rows: BoolArray
) -> Score:
    """R2, averaged over outputs."""
    truth, predicted = (array[:, None] if array.ndim == 1 else array for array in (truth, predicted))
    scores = []
    for output in range(truth.shape[1]):
        own = truth[:, output]
        with np.errstate(over="ignore", invalid="ignore"):
            squared = _mean((own - predicted[:, output]) ** 2, weight, rows)
            centre = _mean(own, weight, rows).value
            spread = _mean((own - centre) ** 2, weight, rows).value
        if not spread > 0:
            scores.append(Score(1.0 if squared.value == 0 else 0.0, 0.0))
        else:
            scores.append(Score(1 - squared.value / spread, squared.error / spread))
    return Score(float(np.mean([s.value for s in scores])), float(np.mean([s.error for s in scores])))


def _mean(values: FloatArray, weight: FloatArray | None, rows: BoolArray) -> Score:
    own = values[rows]
    share = np.ones(len(own)) if weight is None else weight[rows]
    total, n_rows = share.sum(), int((share > 0).sum())
    if total <= 0:
        return Score(float("nan"), float("nan"))
    middle = float(share @ own / total)
    if n_rows < 2:
        return Score(middle, float("nan"))
    spread = float(np.sqrt((share**2) @ (own - middle) ** 2)) / float(total)
    return Score(middle, spread * float(np.sqrt(n_rows / (n_rows - 1))))


def predicted_codes(
    predictions: FloatArray, response: ResponseMethod, n_classes: tuple[int, ...]
) -> AnyArray:
    """The class that predictions amount to, as codes, shape (n_rows,) or (n_rows, n_outputs)."""
    if response.is_vote:
        codes = response.finalize(predictions)
        return codes[:, 0] if len(n_classes) == 1 else codes
    if not response.classes:  # a regressor among classifiers predicts the number of a class
        rounded = np.rint(predictions)
        return rounded[:, 0] if len(n_classes) == 1 else rounded
    if len(n_classes) == 1:
        if predictions.shape[1] == 1:
            return (predictions[:, 0] > 0).astype(np.float64)
        return np.asarray(predictions.argmax(axis=1), dtype=np.float64)
    if predictions.shape[1] == len(n_classes) and response.method == "decision_function":
        return (predictions > 0).astype(np.float64)
    if predictions.shape[1] == len(n_classes):
        return (predictions > 0.5).astype(np.float64)
    blocks = np.split(predictions, np.cumsum([k - 1 for k in n_classes])[:-1], axis=1)
    full = [np.hstack([1 - block.sum(axis=1, keepdims=True), block]) for block in blocks]
    return np.column_stack([block.argmax(axis=1) for block in full]).astype(np.float64)
