"""The table that tests of AnyBoost share, and a learner that may point the wrong way."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from coterie import DecisionTreeRegressor

_RNG = np.random.default_rng(0)
N = 80
X = _RNG.normal(size=(N, 3))
NUMBERS = 2 * X[:, 0] + np.abs(X[:, 1]) + 0.3 * _RNG.normal(size=N)
TWO = np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * _RNG.normal(size=N) > 0.7, "yes", "no")
THREE = np.array(["a", "b", "c"])[np.digitize(NUMBERS, [0.0, 1.5])]


class Answers(RegressorMixin, BaseEstimator):
    """A tree whose answers are multiplied by a number, which may be zero or negative."""

    def __init__(self, factor: float = 1.0, after: int = 0) -> None:
        self.factor = factor
        self.after = after

    def fit(self, X: Any, y: Any) -> "Answers":
        self.tree_ = DecisionTreeRegressor(max_depth=2).fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        return self.factor * self.tree_.predict(X)
