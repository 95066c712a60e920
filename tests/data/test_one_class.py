"""A target that is the same in every row is fitted, and not without a word."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import coterie

X = np.random.default_rng(0).normal(size=(40, 2))


@pytest.mark.parametrize(
    "model",
    [
        coterie.DecisionTreeClassifier(),
        coterie.RandomForestClassifier(5),
        coterie.GradientBoostingClassifier(n_estimators=3),
        coterie.AdaBoostClassifier(),
        coterie.BaggingClassifier(n_estimators=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_one_class_is_a_warning(model: Any) -> None:
    with pytest.warns(UserWarning, match="y holds one class, 'dear', in every row") as caught:
        model.fit(X, np.full(40, "dear"))
    assert [own.filename for own in caught] == [__file__], "once, and it points to the line of the fit"
    assert (model.predict(X) == "dear").all()


def test_one_of_several_targets_is_named() -> None:
    y = np.column_stack([np.arange(40) % 2, np.ones(40, dtype=int)])
    with pytest.warns(UserWarning, match="one class in column 1, 1, in every row"):
        coterie.DecisionTreeClassifier().fit(X, y)


def test_two_classes_and_numbers_are_no_reason_to_warn() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        coterie.DecisionTreeClassifier().fit(X, np.arange(40) % 2)
        coterie.DecisionTreeRegressor().fit(X, np.ones(40))
        coterie.BaggingClassifier(GaussianNB(), 3, random_state=0).fit(X, (np.arange(40) == 0) + 0)
    assert not caught
