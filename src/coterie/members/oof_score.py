"""Scores of answers out of fold, each with its standard error.

Accuracy is a mean over rows, so its standard error is that of a mean. R2 is 1 minus a ratio of means; the variance of
y below the line is taken as known, so the error is that of the mean squared error above it.
"""

from dataclasses import dataclass

import numpy as np

from coterie._typing import AnyArray, BoolArray, FloatArray
from coterie.members.response import ResponseMethod

__all__ = ["Score", "predicted_codes", "score_of_codes", "score_of_numbers"]


@dataclass(frozen=True)
class Score:
    """A score and its standard error; NaN where there is nothing to score."""

    value: float
    error: float


def score_of_codes(truth: AnyArray, said: AnyArray, weight: FloatArray | None, rows: BoolArray) -> Score:
    """Accuracy; with several outputs every label of a row has to be right.

    Examples
    --------
    >>> every = np.ones(4, dtype=bool)
    >>> score = score_of_codes(np.array([0, 1, 1, 0]), np.array([0, 1, 1, 1]), None, every)
    >>> score.value, round(score.error, 6)
    (0.75, 0.25)
    """
    right = (truth == said) if truth.ndim == 1 else (truth == said).all(axis=1)
    return _mean(right.astype(np.float64), weight, rows)


def score_of_numbers(
    truth: FloatArray, said: FloatArray, weight: FloatArray | None, rows: BoolArray
) -> Score:
    """R2, averaged over outputs."""
    truth, said = (array[:, None] if array.ndim == 1 else array for array in (truth, said))
    scores = []
    for output in range(truth.shape[1]):
        own = truth[:, output]
        with np.errstate(over="ignore", invalid="ignore"):
            squared = _mean((own - said[:, output]) ** 2, weight, rows)
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


def predicted_codes(answers: FloatArray, question: ResponseMethod, n_classes: tuple[int, ...]) -> AnyArray:
    """The class that answers amount to, as codes, shape (n_rows,) or (n_rows, n_outputs)."""
    if question.is_vote:
        codes = question.finalize(answers)
        return codes[:, 0] if len(n_classes) == 1 else codes
    if not question.classes:  # a regressor among classifiers says the number of a class
        rounded = np.rint(answers)
        return rounded[:, 0] if len(n_classes) == 1 else rounded
    if len(n_classes) == 1:
        if answers.shape[1] == 1:
            return (answers[:, 0] > 0).astype(np.float64)
        return np.asarray(answers.argmax(axis=1), dtype=np.float64)
    if answers.shape[1] == len(n_classes) and question.method == "decision_function":
        return (answers > 0).astype(np.float64)
    if answers.shape[1] == len(n_classes):
        return (answers > 0.5).astype(np.float64)
    blocks = np.split(answers, np.cumsum([k - 1 for k in n_classes])[:-1], axis=1)
    full = [np.hstack([1 - block.sum(axis=1, keepdims=True), block]) for block in blocks]
    return np.column_stack([block.argmax(axis=1) for block in full]).astype(np.float64)
