"""Slow twins: decisions counted row by row, for every threshold there is."""

from typing import Any

import numpy as np
from sklearn import metrics


def naive_score(name: str, positive: Any, decided: Any, weight: Any) -> float:
    """A score of decisions, by scikit-learn."""
    scores = {
        "f1": lambda: metrics.f1_score(positive, decided, sample_weight=weight, zero_division=0),
        "balanced_accuracy": lambda: (
            (
                metrics.recall_score(positive, decided, sample_weight=weight, zero_division=0)
                + metrics.recall_score(~positive, ~decided, sample_weight=weight, zero_division=0)
            )
            / 2
        ),
        "jaccard": lambda: metrics.jaccard_score(positive, decided, sample_weight=weight, zero_division=0),
        "matthews_corrcoef": lambda: metrics.matthews_corrcoef(positive, decided, sample_weight=weight),
    }
    return float(scores[name]())


def naive_best(name: str, proba: Any, positive: Any, weight: Any) -> float:
    """The best score of any threshold."""
    return max(naive_score(name, positive, proba >= own, weight) for own in np.unique(proba))


def naive_cost(costs: Any, positive: Any, decided: Any, weight: Any) -> float:
    """The mean cost of a row; costs by the true and the decided class."""
    rows = [costs[int(truth)][int(own)] for truth, own in zip(positive, decided, strict=True)]
    return float(np.average(rows, weights=weight))
