"""Metrics with bootstrap intervals."""

from dataclasses import dataclass

import numpy as np

from coterie.metrics import PredictedRows, metrics_of
from coterie.report.evaluated_model import Predictions


@dataclass(frozen=True)
class ScoreEstimate:
    """A score and its 95 % confidence interval, by the bootstrap of rows.

    Attributes
    ----------
    key : its name in `coterie.metrics`
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
    """All metrics of some predictions, in the order in which they are shown; `n_classes` is None for regression."""
    rows = PredictedRows(predictions.y_true, predictions.y_pred, predictions.proba, n_classes)
    kinds = [
        own
        for own in metrics_of(n_classes, with_proba=predictions.proba is not None)
        if n_classes != 1 or own.name == "accuracy"
    ]
    n_rows = len(predictions.y_true)
    ones, rng = np.ones(n_rows), np.random.default_rng(seed)
    draws = [np.bincount(rng.integers(n_rows, size=n_rows), minlength=n_rows) for _ in range(n_repeats)]
    found = []
    for own in kinds:
        metric = own.of_weights(rows)
        resampled = np.array([metric(draw.astype(np.float64)) for draw in draws])
        resampled = resampled[np.isfinite(resampled)]
        enough = len(resampled) > n_repeats / 2 and n_rows > 1
        low, high = np.quantile(resampled, [0.025, 0.975]).tolist() if enough else (float("nan"),) * 2
        found.append(ScoreEstimate(own.name, own.label, metric(ones), low, high, own.greater_is_better))
    return found
