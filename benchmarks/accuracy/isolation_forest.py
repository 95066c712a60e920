"""Isolation forests and embeddings by random trees beside scikit-learn's, and isotree's if it is installed.

    python benchmarks/accuracy/isolation_forest.py auc [seeds]
    python benchmarks/accuracy/isolation_forest.py time [repeats]

`auc` makes tables of anomalies from classes: all rows of the other classes, and a few of one, which are to be found. It
prints the mean area under the curve over seeds, which choose those few and the trees, with its standard error. `time`
fits and scores 200,000 x 28 numbers by turns and prints medians.
"""

import importlib.util
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.ensemble
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.metrics import roc_auc_score

import coterie


def forests(seed: int) -> dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]]:
    """By name, how a forest is fitted to rows, and how it says which of them are unusual: higher is more."""
    found: dict[str, Any] = {
        "coterie": (coterie.IsolationForest(random_state=seed).fit, lambda model, X: -model.score_samples(X)),
        "scikit-learn": (
            sklearn.ensemble.IsolationForest(random_state=seed).fit,
            lambda model, X: -model.score_samples(X),
        ),
    }
    if importlib.util.find_spec("isotree") is not None:
        from isotree import IsolationForest

        found["isotree"] = (
            lambda X: IsolationForest(ntrees=100, sample_size=256, ndim=1, random_seed=seed + 1).fit(X),
            lambda model, X: model.predict(X),
        )
    return found


def tables() -> dict[str, tuple[Any, Any, int, float]]:
    """By name: rows, classes, the class that is rare, and how many of it there are beside the others."""
    blobs = make_classification(
        4000, 12, n_informative=8, n_classes=4, n_clusters_per_class=1, class_sep=2.0, random_state=0
    )
    return {
        "breast cancer, malignant": (*load_breast_cancer(return_X_y=True), 0, 0.1),
        "wine, first": (*load_wine(return_X_y=True), 0, 0.1),
        "digits, zero": (*load_digits(return_X_y=True), 0, 0.03),
        "clusters, fourth": (*blobs, 3, 0.02),
    }


def auc(n_seeds: int) -> None:
    for name, (X, y, rare, share) in tables().items():
        values: dict[str, list[float]] = {}
        for seed in range(n_seeds):
            rng = np.random.default_rng(seed)
            usual, unusual = np.flatnonzero(y != rare), np.flatnonzero(y == rare)
            rows = np.concatenate([usual, rng.choice(unusual, int(share * len(usual)), replace=False)])
            for library, (fit, score) in forests(seed).items():
                value = roc_auc_score(y[rows] == rare, score(fit(X[rows]), X[rows]))
                values.setdefault(library, []).append(float(value))
        parts = [
            f"{library} {np.mean(own):.4f} +- {np.std(own) / np.sqrt(len(own)):.4f}"
            for library, own in values.items()
        ]
        sys.stdout.write(f"{name}: {', '.join(parts)}\n")


def times(n_repeats: int) -> None:
    X = np.random.default_rng(0).normal(size=(200_000, 28))
    seconds: dict[str, list[float]] = {}

    def timed(name: str, action: Callable[[], Any]) -> Any:
        begun = time.perf_counter()
        result = action()
        seconds.setdefault(name, []).append(time.perf_counter() - begun)
        return result

    for _ in range(n_repeats):
        for library, (fit, score) in forests(0).items():
            model = timed(f"isolation forest, fit, {library}", lambda fit=fit: fit(X))
            timed(f"isolation forest, score, {library}", lambda score=score, model=model: score(model, X))
        for library, kind in (
            ("coterie", coterie.RandomTreesEmbedding),
            ("scikit-learn", sklearn.ensemble.RandomTreesEmbedding),
        ):
            model = timed(f"embedding, fit, {library}", lambda kind=kind: kind(random_state=0).fit(X))
            timed(f"embedding, transform, {library}", lambda model=model: model.transform(X))
    for name, own in seconds.items():
        sys.stdout.write(f"{name}: {statistics.median(own) * 1000:.1f} ms\n")


if __name__ == "__main__":
    what, number = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    {"auc": auc, "time": times}[what](number)
