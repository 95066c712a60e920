"""Predictions of the first rounds or trees of a model: predict(n_rounds=...) and predict(n_trees=...)."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification, make_regression

from coterie import (
    AdaBoostClassifier,
    DecisionTreeClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from coterie.errors import InvalidParameter
from tests.helpers.errors import raised

CLASSES = make_classification(300, 8, n_informative=5, n_classes=3, random_state=0)
NUMBERS = make_regression(300, 8, random_state=0)


@pytest.mark.parametrize("n_folds", [1, 3])
@pytest.mark.parametrize("n_rows", [1, 5, 300])
def test_boosting_with_fewer_trees_is_the_stage_of_that_round(n_folds: int, n_rows: int) -> None:
    X, y = CLASSES
    model = GradientBoostingClassifier(n_estimators=12, n_folds=n_folds, random_state=0).fit(X, y)
    rows = X[:n_rows]
    for number, stage in enumerate(model.staged_decision_function(rows), start=1):
        assert_allclose(model.decision_function(rows, n_rounds=number), stage, rtol=1e-12, atol=1e-12)
    for number, shares in enumerate(model.staged_predict_proba(rows), start=1):
        assert_allclose(model.predict_proba(rows, n_rounds=number), shares, rtol=1e-12, atol=1e-12)
    assert_array_equal(model.predict(rows, n_rounds=12), model.predict(rows))


def test_boosting_with_fewer_trees_is_a_model_of_fewer_rounds() -> None:
    X, y = NUMBERS
    many, few = (
        GradientBoostingRegressor(n_estimators=n, learning_rate=0.1, random_state=0).fit(X, y)
        for n in (20, 7)
    )
    assert_array_equal(many.predict(X, n_rounds=7), few.predict(X))


@pytest.mark.parametrize("make", [RandomForestRegressor, ExtraTreesRegressor])
def test_a_forest_with_fewer_trees_is_a_smaller_forest(make: Any) -> None:
    X, y = NUMBERS
    many, few = (make(n_estimators=n, random_state=0).fit(X, y) for n in (9, 4))
    assert_array_equal(many.predict(X, n_trees=4), few.predict(X))
    assert_array_equal(many.predict(X, True, n_trees=4)[1], few.predict(X, True)[1])


def test_a_forest_of_classes_with_fewer_trees_is_a_smaller_forest_also_after_a_warm_start() -> None:
    X, y = CLASSES
    many = RandomForestClassifier(n_estimators=3, random_state=0, warm_start=True).fit(X, y)
    many.set_params(n_estimators=8).fit(X, y)
    few = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    assert_allclose(many.predict_proba(X, n_trees=5), few.predict_proba(X), rtol=1e-12)
    assert_array_equal(many.predict(X, n_trees=5), few.predict(X))


@pytest.mark.parametrize("wrong", [0, 13, -1, 2.5, "all", True])
@pytest.mark.parametrize(
    ("make", "parameter"), [(GradientBoostingClassifier, "n_rounds"), (RandomForestClassifier, "n_trees")]
)
def test_a_number_that_the_model_does_not_have_is_refused(make: Any, parameter: str, wrong: Any) -> None:
    model = make(n_estimators=12, random_state=0).fit(*CLASSES)
    with raised(InvalidParameter, parameter=parameter, received=wrong, allowed="from 1 to 12"):
        model.predict(CLASSES[0], **{parameter: wrong})


def test_dropout_leaves_no_first_trees() -> None:
    X, y = NUMBERS
    model = GradientBoostingRegressor(n_estimators=6, dropout_rate=0.3, random_state=0).fit(X, y)
    with pytest.raises(InvalidParameter, match="dropout_rate"):
        model.predict(X, n_rounds=3)
    assert np.isfinite(model.predict(X, n_rounds=6)).all()


@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=2)])
@pytest.mark.parametrize("corrective", [None, "exponential"])
def test_adaboost_is_asked_up_to_a_round(estimator: Any, corrective: str | None) -> None:
    X, y = CLASSES
    y = y == 1
    model = AdaBoostClassifier(estimator, n_estimators=8, corrective=corrective, random_state=0).fit(X, y)
    known = len(model.estimators_)

    for number, stage in enumerate(model.staged_decision_function(X), start=1):
        assert_array_equal(model.decision_function(X, n_rounds=number), stage)
    assert_array_equal(model.predict(X, n_rounds=known), model.predict(X))
    assert_allclose(model.predict_proba(X, n_rounds=known), model.predict_proba(X), rtol=1e-12)
    with pytest.raises(InvalidParameter, match=rf"n_rounds=0: .*from 1 to {known}"):
        model.predict(X, n_rounds=0)
