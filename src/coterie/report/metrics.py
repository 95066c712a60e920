"""Metrics with bootstrap intervals. Each is a function of row weights, so that a bootstrap is a loop over counts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.report.evaluated_model import Predictions

Metric: TypeAlias = Callable[[FloatArray], float]

_LEAST = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class ScoreEstimate:
    """A score and its 95 % confidence interval, by the bootstrap of rows.

    Attributes
    ----------
    key : its name in scikit-learn
    label : its name for readers
    value, low, high : float
    greater_is_better : bool
    """

    key: str
    label: str
    value: float
    low: float
    high: float
    greater_is_better: bool


def score_estimates(
    predictions: Predictions, n_classes: int | None, *, n_repeats: int = 200, seed: int = 0
) -> list[ScoreEstimate]:
    """All metrics of some predictions, the most informative first; `n_classes` is None for regression."""
    kinds = (
        _regression_metrics(predictions)
        if n_classes is None
        else _classification_metrics(predictions, n_classes)
    )
    n_rows = len(predictions.y_true)
    ones, rng = np.ones(n_rows), np.random.default_rng(seed)
    draws = [np.bincount(rng.integers(n_rows, size=n_rows), minlength=n_rows) for _ in range(n_repeats)]
    found = []
    for key, label, greater_is_better, metric in kinds:
        resampled = np.array([metric(draw.astype(np.float64)) for draw in draws])
        resampled = resampled[np.isfinite(resampled)]
        enough = len(resampled) > n_repeats / 2 and n_rows > 1
        low, high = np.quantile(resampled, [0.025, 0.975]).tolist() if enough else (float("nan"),) * 2
        found.append(ScoreEstimate(key, label, metric(ones), low, high, greater_is_better))
    return found


_NamedMetric: TypeAlias = tuple[str, str, bool, Metric]


def _mean_of(values: FloatArray) -> Metric:
    return lambda weight: float(weight @ values / weight.sum())


def _regression_metrics(predictions: Predictions) -> list[_NamedMetric]:
    y_true, error = predictions.y_true, predictions.y_pred - predictions.y_true
    squares = error**2

    def explained(weight: FloatArray) -> float:
        middle = weight @ y_true / weight.sum()
        spread = weight @ (y_true - middle) ** 2
        return float(1 - weight @ squares / spread) if spread > 0 else float("nan")

    return [
        ("r2", "R² (share of variance explained)", True, explained),
        (
            "root_mean_squared_error",
            "root mean squared error",
            False,
            lambda w: float(np.sqrt(w @ squares / w.sum())),
        ),
        ("mean_absolute_error", "mean absolute error", False, _mean_of(np.abs(error))),
        (
            "median_absolute_error",
            "median absolute error",
            False,
            lambda w: _weighted_median(np.abs(error), w),
        ),
    ]


def _weighted_median(values: FloatArray, weight: FloatArray) -> float:
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2)])


def _classification_metrics(predictions: Predictions, n_classes: int) -> list[_NamedMetric]:
    right = (predictions.y_pred == predictions.y_true).astype(np.float64)
    kinds: list[_NamedMetric] = [("accuracy", "accuracy", True, _mean_of(right))]
    if n_classes > 1:
        kinds.append(
            ("balanced_accuracy", "balanced accuracy", True, _balanced(predictions.y_true, right, n_classes))
        )
    if predictions.proba is None or n_classes < 2:
        return kinds
    true_proba = predictions.proba[np.arange(len(right)), predictions.y_true]
    loss = -np.log(np.clip(true_proba, _LEAST, 1.0))
    first: list[_NamedMetric] = []
    if n_classes == 2:
        score, positive = predictions.proba[:, 1], predictions.y_true == 1
        order, ends = _order_of(score)
        first = [
            ("roc_auc", "ROC AUC", True, lambda w: roc_auc(w, positive, order, ends)),
            (
                "average_precision",
                "average precision",
                True,
                lambda w: average_precision(w, positive, order, ends),
            ),
        ]
        squares = (score - positive) ** 2
    else:
        squares = ((predictions.proba - np.eye(n_classes)[predictions.y_true]) ** 2).sum(axis=1)
    return [
        *first,
        *kinds,
        ("log_loss", "log loss", False, _mean_of(loss)),
        ("brier_score", "Brier score", False, _mean_of(squares)),
    ]


def _balanced(y_true: AnyArray, right: FloatArray, n_classes: int) -> Metric:
    def balanced(weight: FloatArray) -> float:
        there = np.bincount(y_true, weight, minlength=n_classes)
        known = np.bincount(y_true, weight * right, minlength=n_classes)
        return float((known[there > 0] / there[there > 0]).mean())

    return balanced


def _order_of(score: FloatArray) -> tuple[AnyArray, AnyArray]:
    """Rows from the highest score down, and where rows of one score end."""
    order = np.argsort(-score, kind="stable")
    last = np.append(np.diff(score[order]) != 0, True)
    return order, np.flatnonzero(last)


def _counts(
    weight: FloatArray, positive: AnyArray, order: AnyArray, ends: AnyArray
) -> tuple[FloatArray, FloatArray]:
    """True positives and false positives among the rows with at least each score."""
    sorted_weight = weight[order]
    true_positives = np.cumsum(sorted_weight * positive[order])[ends]
    return true_positives, np.cumsum(sorted_weight)[ends] - true_positives


def roc_auc(weight: FloatArray, positive: AnyArray, order: AnyArray, ends: AnyArray) -> float:
    """The probability that a positive row has a higher score than a negative one; a tie counts half."""
    true_positives, false_positives = _counts(weight, positive, order, ends)
    if true_positives[-1] == 0 or false_positives[-1] == 0:
        return float("nan")
    steps = np.diff(false_positives, prepend=0.0)
    before = np.append(0.0, true_positives[:-1])
    return float(steps @ (true_positives + before) / 2 / true_positives[-1] / false_positives[-1])


def average_precision(weight: FloatArray, positive: AnyArray, order: AnyArray, ends: AnyArray) -> float:
    """The mean precision over the positive rows, from the highest score down."""
    true_positives, false_positives = _counts(weight, positive, order, ends)
    if true_positives[-1] == 0:
        return float("nan")
    predicted = true_positives + false_positives
    precision = np.divide(true_positives, predicted, out=np.zeros_like(true_positives), where=predicted > 0)
    return float(np.diff(true_positives, prepend=0.0) @ precision / true_positives[-1])
