"""Scores with intervals. Each is a function of how often rows count, so that a bootstrap is a loop over counts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.report.subject import Answers

__all__ = ["Measured", "average_precision", "measured", "roc_area"]

Measure: TypeAlias = Callable[[FloatArray], float]

_LEAST = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Measured:
    """A score, and where it is 95 % of the time if rows are drawn anew.

    Attributes
    ----------
    key : its name in scikit-learn, as far as it has one
    label : its name for readers
    value, low, high : float
    more_is_better : bool
    """

    key: str
    label: str
    value: float
    low: float
    high: float
    more_is_better: bool


def measured(
    answers: Answers, n_classes: int | None, *, n_repeats: int = 200, seed: int = 0
) -> list[Measured]:
    """All scores of some answers, the most telling first; `n_classes` is None for numbers."""
    kinds = _of_numbers(answers) if n_classes is None else _of_classes(answers, n_classes)
    n_rows = len(answers.truth)
    ones, rng = np.ones(n_rows), np.random.default_rng(seed)
    draws = [np.bincount(rng.integers(n_rows, size=n_rows), minlength=n_rows) for _ in range(n_repeats)]
    found = []
    for key, label, more_is_better, measure in kinds:
        again = np.array([measure(draw.astype(np.float64)) for draw in draws])
        again = again[np.isfinite(again)]
        enough = len(again) > n_repeats / 2 and n_rows > 1
        low, high = np.quantile(again, [0.025, 0.975]).tolist() if enough else (float("nan"),) * 2
        found.append(Measured(key, label, measure(ones), low, high, more_is_better))
    return found


_Kind: TypeAlias = tuple[str, str, bool, Measure]


def _mean_of(values: FloatArray) -> Measure:
    return lambda weight: float(weight @ values / weight.sum())


def _of_numbers(answers: Answers) -> list[_Kind]:
    truth, error = answers.truth, answers.said - answers.truth
    squares = error**2

    def explained(weight: FloatArray) -> float:
        middle = weight @ truth / weight.sum()
        spread = weight @ (truth - middle) ** 2
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


def _of_classes(answers: Answers, n_classes: int) -> list[_Kind]:
    right = (answers.said == answers.truth).astype(np.float64)
    kinds: list[_Kind] = [("accuracy", "accuracy", True, _mean_of(right))]
    if n_classes > 1:
        kinds.append(
            ("balanced_accuracy", "balanced accuracy", True, _balanced(answers.truth, right, n_classes))
        )
    if answers.proba is None or n_classes < 2:
        return kinds
    of_truth = answers.proba[np.arange(len(right)), answers.truth]
    loss = -np.log(np.clip(of_truth, _LEAST, 1.0))
    first: list[_Kind] = []
    if n_classes == 2:
        score, happened = answers.proba[:, 1], answers.truth == 1
        order, ends = _order_of(score)
        first = [
            ("roc_auc", "area under the ROC curve", True, lambda w: roc_area(w, happened, order, ends)),
            (
                "average_precision",
                "average precision",
                True,
                lambda w: average_precision(w, happened, order, ends),
            ),
        ]
        squares = (score - happened) ** 2
    else:
        squares = ((answers.proba - np.eye(n_classes)[answers.truth]) ** 2).sum(axis=1)
    return [
        *first,
        *kinds,
        ("log_loss", "log loss", False, _mean_of(loss)),
        ("brier_score", "Brier score", False, _mean_of(squares)),
    ]


def _balanced(truth: AnyArray, right: FloatArray, n_classes: int) -> Measure:
    def balanced(weight: FloatArray) -> float:
        there = np.bincount(truth, weight, minlength=n_classes)
        known = np.bincount(truth, weight * right, minlength=n_classes)
        return float((known[there > 0] / there[there > 0]).mean())

    return balanced


def _order_of(score: FloatArray) -> tuple[AnyArray, AnyArray]:
    """Rows from the highest score down, and where rows of one score end."""
    order = np.argsort(-score, kind="stable")
    last = np.append(np.diff(score[order]) != 0, True)
    return order, np.flatnonzero(last)


def _counts(
    weight: FloatArray, happened: AnyArray, order: AnyArray, ends: AnyArray
) -> tuple[FloatArray, FloatArray]:
    """Rows of the class, and others, among those with at least each score."""
    sorted_weight = weight[order]
    hits = np.cumsum(sorted_weight * happened[order])[ends]
    return hits, np.cumsum(sorted_weight)[ends] - hits


def roc_area(weight: FloatArray, happened: AnyArray, order: AnyArray, ends: AnyArray) -> float:
    """The chance that a row of the class has a higher score than another row; a tie counts half."""
    hits, others = _counts(weight, happened, order, ends)
    if hits[-1] == 0 or others[-1] == 0:
        return float("nan")
    steps = np.diff(others, prepend=0.0)
    before = np.append(0.0, hits[:-1])
    return float(steps @ (hits + before) / 2 / hits[-1] / others[-1])


def average_precision(weight: FloatArray, happened: AnyArray, order: AnyArray, ends: AnyArray) -> float:
    """The mean precision over the rows of the class, from the highest score down."""
    hits, others = _counts(weight, happened, order, ends)
    if hits[-1] == 0:
        return float("nan")
    said = hits + others
    precision = np.divide(hits, said, out=np.zeros_like(hits), where=said > 0)
    return float(np.diff(hits, prepend=0.0) @ precision / hits[-1])
