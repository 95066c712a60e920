"""Some members give the probabilities of several labels as one matrix, others as a list: both are features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.tree import DecisionTreeClassifier

from coterie import StackingClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
LABELS = np.column_stack([X[:, 0] + RNG.normal(size=80) > 0, X[:, 1] > 0.5]).astype(int)


@pytest.mark.parametrize("member", [OneVsRestClassifier, MultiOutputClassifier])
def test_the_second_class_of_each_label_is_a_feature(member: type) -> None:
    stack = StackingClassifier(
        [("it", member(LogisticRegression()))], DecisionTreeClassifier(), cv=3, stack_method="predict_proba"
    ).fit(X, LABELS)

    alone = [LogisticRegression().fit(X, LABELS[:, i]).predict_proba(X)[:, 1] for i in (0, 1)]
    assert_allclose(stack.transform(X), np.column_stack(alone))
    assert stack.predict(X).shape == (80, 2)
