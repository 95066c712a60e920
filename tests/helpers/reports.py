"""Small models of every kind, and rows to report about."""

from functools import cache
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import coterie
from coterie.datasets import make_messy

N_ROWS = 160


@cache
def table(task: str = "classification") -> tuple[Any, Any]:
    return make_messy(N_ROWS, task=task, n_streets=12, random_state=0)


@cache
def numbers() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 4))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=N_ROWS) > 0, "yes", "no")


def _committee(kind: type[Any], portfolio: list[str]) -> Any:
    return kind(time_limit=None, portfolio=portfolio, cv=3, max_iter=5, random_state=0)


@cache
def fitted(name: str) -> tuple[Any, Any, Any]:
    """A fitted model, and the rows it was fitted to."""
    X, y = numbers() if name in ("two", "voting", "boosting", "adaboost") else table()
    if name in ("numbers", "tree"):
        X, y = table("regression")
    models: dict[str, Any] = {
        "two": lambda: _committee(coterie.CommitteeClassifier, ["linear", "extra_trees", "forest"]),
        "three": lambda: _committee(coterie.CommitteeClassifier, ["linear", "forest"]),
        "numbers": lambda: _committee(coterie.CommitteeRegressor, ["linear", "extra_trees"]),
        "boosting": lambda: coterie.GradientBoostingClassifier(
            n_estimators=20, early_stopping=True, random_state=0
        ),
        "forest": lambda: coterie.RandomForestClassifier(20, random_state=0),
        "tree": lambda: coterie.DecisionTreeRegressor(max_depth=4),
        "adaboost": lambda: coterie.AdaBoostClassifier(n_estimators=10, random_state=0),
        "voting": lambda: coterie.VotingClassifier(
            [("line", LogisticRegression()), ("bayes", GaussianNB())], voting="soft"
        ),
    }
    return models[name]().fit(X, y), X, y


@cache
def report_of(name: str) -> Any:
    model, X, y = fitted(name)
    return coterie_report().build(model, X, y)


def coterie_report() -> Any:
    from coterie import report

    return report
