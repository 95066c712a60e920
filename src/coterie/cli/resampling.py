"""Confidence intervals of metrics, each a function of the weights of rows: a bootstrap is then a loop over counts.

The metrics are those of `coterie evaluate`, written for many evaluations; scikit-learn's, which are printed, are their
slow twins in the tests.
"""

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.report.metrics import roc_auc

WeightedMetric: TypeAlias = Callable[[FloatArray], float]

_FEW_ROWS = 20_000
_LEAST = float(np.finfo(np.float64).eps)


def bootstrap_ends(
    metrics: dict[str, WeightedMetric], weight: FloatArray | None, n_rows: int, *, seed: int = 0
) -> dict[str, list[float]]:
    """The ends of a 95 % confidence interval of each metric; NaN where too few samples have one."""
    rng, n_repeats = np.random.default_rng(seed), 200 if n_rows <= _FEW_ROWS else 50
    found: dict[str, list[float]] = {name: [] for name in metrics}
    for _ in range(n_repeats):
        drawn = np.bincount(rng.integers(n_rows, size=n_rows), minlength=n_rows).astype(np.float64)
        drawn = drawn if weight is None else drawn * weight
        for name, metric in metrics.items():
            found[name].append(metric(drawn) if drawn.any() else math.nan)
    ends = {}
    for name, values in found.items():
        known = np.array(values)[np.isfinite(values)]
        enough = len(known) > n_repeats / 2 and n_rows > 1
        ends[name] = np.quantile(known, [0.025, 0.975]).tolist() if enough else [math.nan, math.nan]
    return ends


def number_metrics(truth: FloatArray, predicted: FloatArray) -> dict[str, WeightedMetric]:
    """Of numbers."""
    errors = np.abs(truth - predicted)
    squares, order = errors**2, np.argsort(errors, kind="stable")

    def explained(weight: FloatArray) -> float:
        middle = weight @ truth / weight.sum()
        spread = weight @ (truth - middle) ** 2
        return float(1 - weight @ squares / spread) if spread > 0 else math.nan

    def median(weight: FloatArray) -> float:
        reached = np.cumsum(weight[order])
        return float(errors[order[np.searchsorted(reached, reached[-1] / 2)]])

    return {
        "r2": explained,
        "rmse": lambda weight: float(np.sqrt(weight @ squares / weight.sum())),
        "mae": lambda weight: float(weight @ errors / weight.sum()),
        "median_error": median,
    }


def class_metrics(
    truth: AnyArray, predicted: AnyArray, proba: FloatArray | None, n_classes: int
) -> dict[str, WeightedMetric]:
    """Of classes by their codes."""
    right = truth == predicted

    def balanced(weight: FloatArray) -> float:
        there = np.bincount(truth, weight, minlength=n_classes)
        known = np.bincount(truth, weight * right, minlength=n_classes)
        return float((known[there > 0] / there[there > 0]).mean())

    def f1(weight: FloatArray) -> float:
        there, named = (np.bincount(codes, weight, minlength=n_classes) for codes in (truth, predicted))
        both = np.bincount(truth, weight * right, minlength=n_classes)
        scores = np.divide(2 * both, there + named, out=np.zeros(n_classes), where=there + named > 0)
        return float(scores[1] if n_classes == 2 else scores.mean())

    metrics: dict[str, WeightedMetric] = {
        "accuracy": lambda weight: float(weight @ right / weight.sum()),
        "balanced_accuracy": balanced,
        "f1": f1,
    }
    if proba is None:
        return metrics
    losses = -np.log(np.clip(proba[np.arange(len(truth)), truth], _LEAST, 1.0))
    squares = ((proba - np.eye(n_classes)[truth]) ** 2).sum(axis=1) / (2 if n_classes == 2 else 1)
    areas = [_area(proba[:, code], truth == code) for code in ([1] if n_classes == 2 else range(n_classes))]
    return {
        **metrics,
        "auc": lambda weight: float(np.mean([area(weight) for area in areas])),
        "log_loss": lambda weight: float(weight @ losses / weight.sum()),
        "brier": lambda weight: float(weight @ squares / weight.sum()),
    }


def _area(score: FloatArray, positive: AnyArray) -> WeightedMetric:
    order = np.argsort(-score, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(score[order]) != 0, True))
    return lambda weight: roc_auc(weight, positive, order, ends)
