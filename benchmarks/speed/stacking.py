"""Stacking beside scikit-learn's: the same five members, five folds, two jobs, by turns; equal answers are checked.

usage: stacking.py [--rows 50000] [--repeats 1] [SET ...]      (SET: a key of MEMBERS; all of them if none is given)
"""

import argparse
import statistics
import time

import numpy as np
import sklearn.ensemble
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

import coterie

MEMBERS = {
    "defaults": [
        ("forest", RandomForestClassifier(random_state=0)),
        ("tree", DecisionTreeClassifier(random_state=0)),
        ("logistic", LogisticRegression(max_iter=200)),
        ("ridge", RidgeClassifier()),
        ("bayes", GaussianNB()),
    ],
    "small-forest": [
        ("forest", RandomForestClassifier(50, random_state=0)),
        ("tree", DecisionTreeClassifier(random_state=0)),
        ("logistic", LogisticRegression(max_iter=200)),
        ("ridge", RidgeClassifier()),
        ("bayes", GaussianNB()),
    ],
    "network": [
        ("network", MLPClassifier(random_state=0)),
        ("neighbours", KNeighborsClassifier()),
        ("tree", DecisionTreeClassifier(random_state=0)),
        ("logistic", LogisticRegression(max_iter=200)),
        ("bayes", GaussianNB()),
    ],
    "boosting": [
        ("boosting", HistGradientBoostingClassifier(random_state=0)),
        ("forest", RandomForestClassifier(random_state=0)),
        ("neighbours", KNeighborsClassifier()),
        ("logistic", LogisticRegression(max_iter=200)),
        ("bayes", GaussianNB()),
    ],
}


def main() -> None:
    """Print the median time of both, and their ratio, for each set of members."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rows", type=int, default=50_000)
    arguments.add_argument("--repeats", type=int, default=1)
    arguments.add_argument("sets", nargs="*", default=list(MEMBERS))
    asked = arguments.parse_args()
    X, y = make_classification(asked.rows, 20, n_informative=12, flip_y=0.1, random_state=0)
    for name in asked.sets:
        times: dict[str, list[float]] = {"sklearn": [], "coterie": []}
        answers = {}
        for _ in range(asked.repeats):
            for library, stacking in (
                ("sklearn", sklearn.ensemble.StackingClassifier),
                ("coterie", coterie.StackingClassifier),
            ):
                model = stacking(MEMBERS[name], final_estimator=LogisticRegression(), cv=5, n_jobs=2)
                start = time.perf_counter()
                model.fit(X, y)
                times[library].append(time.perf_counter() - start)
                answers[library] = model.predict_proba(X[:5000])
        theirs, ours = (statistics.median(times[library]) for library in ("sklearn", "coterie"))
        apart = float(np.abs(answers["sklearn"] - answers["coterie"]).max())
        print(
            f"{name:14s} sklearn {theirs:6.1f} s  coterie {ours:6.1f} s  {ours / theirs:.2f}  "
            f"answers differ by {apart:g}"
        )


if __name__ == "__main__":
    main()
