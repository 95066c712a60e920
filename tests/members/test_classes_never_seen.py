"""A member that never saw a class gives it no probability, and the lowest of its scores."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from coterie import StackingClassifier
from coterie.errors import InvalidInput

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = np.array(["a", "b", "c", "d"])[np.digitize(X[:, 0], [-0.7, 0.0, 0.7])]


def features(seen: str, method: str) -> tuple[np.ndarray, LogisticRegression]:
    """What the final estimator sees of a member that was fitted to some classes alone."""
    rows = np.isin(Y, list(seen))
    member = LogisticRegression().fit(X[rows], Y[rows])
    stack = StackingClassifier([("it", member)], DecisionTreeClassifier(), cv="prefit", stack_method=method)
    return np.asarray(stack.fit(X, Y).transform(X)), member


@pytest.mark.parametrize(("seen", "places"), [("ac", [0, 2]), ("bcd", [1, 2, 3])])
def test_its_probability_is_zero(seen: str, places: list[int]) -> None:
    found, member = features(seen, "predict_proba")
    expected = np.zeros((90, 4))
    expected[:, places] = member.predict_proba(X)
    assert_allclose(found, expected)


def test_its_score_is_the_lowest_of_the_row() -> None:
    found, member = features("bcd", "decision_function")
    scores = member.decision_function(X)
    assert_allclose(found, np.column_stack([scores.min(axis=1), scores]))


def test_of_two_known_classes_the_score_of_the_first_is_minus_that_of_the_second() -> None:
    found, member = features("ac", "decision_function")
    score = member.decision_function(X)
    lowest = -np.abs(score)
    assert_allclose(found, np.column_stack([-score, lowest, score, lowest]))


def test_a_member_of_other_classes_is_refused() -> None:
    member = LogisticRegression().fit(X, np.where(X[:, 0] > 0, "a", "x"))
    with pytest.raises(InvalidInput, match="'it' knows the classes"):
        StackingClassifier([("it", member)], cv="prefit").fit(X, Y)
