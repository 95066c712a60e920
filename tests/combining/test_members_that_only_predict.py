"""Output codes with members that name a side and nothing else."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from coterie import OutputCodeClassifier

X, Y = load_iris(return_X_y=True)


class OnlyPredicts(ClassifierMixin, BaseEstimator):
    """A small tree without probabilities."""

    def fit(self, X: Any, y: Any) -> "OnlyPredicts":
        self.tree_ = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self.tree_.predict(X)


class ScoresOfOne(OnlyPredicts):
    """The same tree with a score of 1 or -1."""

    def decision_function(self, X: Any) -> np.ndarray:
        return np.where(self.predict(X) == self.classes_[1], 1.0, -1.0)


@pytest.mark.parametrize("code", ["one_vs_rest", "one_vs_one", "exhaustive"])
def test_a_predicted_side_counts_as_a_score_of_one_for_it(code: str) -> None:
    plain, scored = (
        OutputCodeClassifier(learner, code=code, random_state=0).fit(X, Y)
        for learner in (OnlyPredicts(), ScoresOfOne())
    )
    assert_array_equal(plain.predict(X), scored.predict(X))
    assert_array_equal(plain.decision_function(X), scored.decision_function(X))
    assert plain.score(X, Y) > 0.6
