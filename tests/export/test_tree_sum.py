"""Every model of trees can be taken apart: the slow twin, given the parts, predicts as the model does."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import GradientBoostingRegressor as Theirs
from sklearn.linear_model import LogisticRegression

import coterie
from coterie.errors import InvalidInput, InvalidType
from coterie.export import feature_matrix, import_model
from coterie.export.tree_models import tree_sum_of
from coterie.losses import CustomLoss
from tests.helpers.exported import (
    as_columns,
    messy,
    models_of_losses,
    models_of_messy,
    models_of_numbers,
    numbers,
    own_answers,
    targets,
)
from tests.naive.tree_sum import naive_answers, read

NUMBERS = {**models_of_numbers(), **models_of_losses()}
MESSY = models_of_messy()


@pytest.mark.parametrize("name", NUMBERS)
def test_the_parts_predict_as_the_model_of_numbers(name: str) -> None:
    X = numbers()
    model, y = NUMBERS[name]
    model.fit(X, y)
    expected = np.hstack(own_answers(model, X[:40]))
    np.testing.assert_allclose(
        naive_answers(tree_sum_of(model), as_columns(X[:40])), expected, rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("name", MESSY)
def test_the_parts_predict_as_the_model_of_text(name: str) -> None:
    X, y, new = messy()
    model = MESSY[name].fit(X, y)
    some = {column: values[:60] for column, values in new.items()}
    expected = np.hstack(own_answers(model, some))
    found = naive_answers(tree_sum_of(model), as_columns(some))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["boosting, pairs", "forest"])
def test_the_feature_matrix_is_what_readings_say(name: str) -> None:
    X, y, new = messy()
    model = MESSY[name].fit(X, y)
    readings = tree_sum_of(model).readings
    rows = list(zip(*as_columns(new), strict=True))[:50]
    expected = [[read(reading, list(row)) for reading in readings.features] for row in rows]
    np.testing.assert_array_equal(feature_matrix(model, new)[:50], np.array(expected, dtype=np.float64))


def test_levels_in_order_are_positions() -> None:
    size = pd.Categorical(
        ["small", "large", "mid", None] * 10, categories=["small", "mid", "large"], ordered=True
    )
    model = coterie.DecisionTreeRegressor().fit(pd.DataFrame({"size": size}), [1.0, 3.0, 2.0, 9.0] * 10)
    whole = tree_sum_of(model)
    found = naive_answers(whole, [["large", "mid", "small", "", "huge"]])
    np.testing.assert_array_equal(found[:, 0], [3, 2, 1, 9, 9])


def test_numbers_that_are_categories_stay_numbers() -> None:
    X = np.array([[3.0], [5.0], [7.0], [np.nan]] * 10)
    model = coterie.DecisionTreeRegressor(categorical_features=[0]).fit(X, [1.0, 5.0, 1.0, 3.0] * 10)
    whole = tree_sum_of(model)
    assert whole.readings.text == frozenset()
    np.testing.assert_array_equal(naive_answers(whole, [[7.0, 5.0, np.nan, 6.0]])[:, 0], [1, 5, 3, 3])


def test_categories_that_look_alike_are_refused() -> None:
    column = np.array(["1", 1, "two"] * 10, dtype=object)
    model = coterie.DecisionTreeRegressor().fit({"code": column}, [1.0, 2.0, 3.0] * 10)
    with pytest.raises(InvalidInput) as caught:
        tree_sum_of(model)
    assert (caught.value.parameter, caught.value.received) == ("code", "1")


def test_a_stump_that_tells_no_rows_apart_is_a_leaf() -> None:
    X = np.zeros((10, 2))
    model = coterie.AdaBoostClassifier().fit(X, np.array(["a"] * 3 + ["b"] * 7))

    (tree,) = tree_sum_of(model).trees
    assert tree.feature.tolist() == [-1]
    found = naive_answers(tree_sum_of(model), as_columns(X))
    np.testing.assert_allclose(found, model.predict_proba(X), rtol=1e-12)


def with_init() -> Any:
    model = coterie.GradientBoostingRegressor(init=DummyRegressor(), n_estimators=2)
    return model.fit(numbers(), targets(numbers()))


def with_link() -> Any:
    twice = CustomLoss(
        value=lambda y, score: (y - score) ** 2 / 2,
        gradient=lambda y, score: score - y,
        hessian=lambda y, score: np.ones_like(y + score),
        inverse_link=lambda score: score * 2,
    )
    return coterie.GradientBoostingRegressor(loss=twice, n_estimators=2).fit(numbers(), targets(numbers()))


def other_members() -> Any:
    X = np.nan_to_num(numbers())
    return coterie.AdaBoostClassifier(LogisticRegression(), n_estimators=2).fit(X, targets(X) > 2)


def other_bags() -> Any:
    X = np.nan_to_num(numbers())
    return coterie.BaggingClassifier(LogisticRegression(), 2).fit(X, targets(X) > 2)


def imported_with_init() -> Any:
    X = np.nan_to_num(numbers())
    init = coterie.DecisionTreeRegressor(max_depth=1)
    return import_model(Theirs(n_estimators=2, init=init).fit(X, targets(X)))


@pytest.mark.parametrize(
    ("made", "parameter", "advice"),
    [
        (with_init, "init", "Fit it with init=None"),
        (with_link, "loss", "Of a CustomLoss it is a function of Python"),
        (other_members, "estimator", "Fit it with estimator=None"),
        (other_bags, "estimator", "Leave estimator=None"),
        (imported_with_init, "init", "Train it without init"),
    ],
)
def test_what_is_no_sum_of_trees_is_refused(made: Callable[[], Any], parameter: str, advice: str) -> None:
    model = made()
    with pytest.raises(InvalidInput) as caught:
        tree_sum_of(model)
    assert caught.value.parameter == parameter
    assert caught.value.hint is not None
    assert caught.value.hint.startswith(advice)


def test_models_that_are_not_of_trees_are_refused() -> None:
    for model in (LogisticRegression(), coterie.RandomForestClassifier):
        with pytest.raises(InvalidType) as caught:
            tree_sum_of(model)
        assert (caught.value.parameter, caught.value.received) == ("model", model)


def test_the_feature_matrix_of_other_models_is_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        feature_matrix(other_bags(), numbers())
    assert caught.value.parameter == "estimator"
    with pytest.raises(InvalidType):
        feature_matrix(LogisticRegression(), numbers())


def test_models_have_to_be_fitted() -> None:
    with pytest.raises(ValueError, match="not fitted yet"):
        tree_sum_of(coterie.RandomForestClassifier())
