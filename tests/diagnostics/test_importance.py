"""What columns are worth: every method against its definition, and all of them against a world that is known."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import GradientBoostingClassifier as TheirBoosting
from sklearn.ensemble import RandomForestRegressor as TheirForest
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor as TheirTree

from coterie import (
    AdaBoostClassifier,
    BaggingRegressor,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from coterie.diagnostics import importance
from coterie.errors import InvalidInput, InvalidParameter

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = 3 * X[:, 0] + X[:, 1] + RNG.normal(scale=0.1, size=200)
THREE = np.array(["a", "b", "c"])[np.digitize(Y, [-1, 1])]


def test_a_permutation_by_hand() -> None:
    """Of y = 3 a + b, a permuted column leaves twice its variance as error: 2 * 9 and 2 * 1."""
    table = np.random.default_rng(1).normal(size=(20_000, 3))
    y = 3 * table[:, 0] + table[:, 1]
    model = LinearRegression().fit(table, y)
    found = importance(model, table, y, scoring="neg_mean_squared_error", n_repeats=3, random_state=0)

    np.testing.assert_allclose(found.values, [18, 2, 0], rtol=0.05, atol=1e-9)
    assert found.samples.shape == (3, 3)
    np.testing.assert_allclose(found.spread, found.samples.std(axis=1))
    assert found.meaning == "rise of mean squared error"


def test_permutations_agree_with_scikit_learn() -> None:
    model = KNeighborsRegressor().fit(X[:100], Y[:100])
    ours = importance(model, X[100:], Y[100:], n_repeats=100, random_state=0)
    theirs = permutation_importance(model, X[100:], Y[100:], n_repeats=100, random_state=0)

    np.testing.assert_allclose(ours.values, theirs.importances_mean, atol=0.04)
    np.testing.assert_allclose(ours.spread, theirs.importances_std, atol=0.03)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, dict])
def test_frames_keep_words_and_threads_change_nothing(make: Any) -> None:
    words = np.where(X[:, 0] > 0, "up", "down").astype(object)
    frame = make({"word": words, "b": X[:, 1], "c": X[:, 2]})
    model = RandomForestRegressor(20, random_state=0).fit(frame, Y)
    runs = [importance(model, frame, Y, n_jobs=n, random_state=1) for n in (1, 2)]

    np.testing.assert_array_equal(runs[0].samples, runs[1].samples)
    assert runs[0].names == ("word", "b", "c")
    assert runs[0].order.tolist() == [0, 1, 2]


def test_a_weight_of_zero_is_no_row() -> None:
    model = LinearRegression().fit(X, Y)
    y = np.r_[Y[:100], np.full(100, 1e6)]
    found = importance(model, X, y, sample_weight=np.r_[np.ones(100), np.zeros(100)], random_state=0)

    assert found.values[0] == pytest.approx(1.8, abs=0.3)


def test_any_metric_as_a_function() -> None:
    def largest(model: Any, table: Any, y: Any) -> float:
        return -float(np.abs(model.predict(table) - y).max())

    found = importance(LinearRegression().fit(X, Y), X, Y, scoring=largest, random_state=0)

    assert found.values[0] > found.values[1] > found.values[2] >= -1e-9


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (DecisionTreeRegressor(max_depth=3), Y),
        (TheirTree(max_depth=3), Y),
        (RandomForestRegressor(10), Y),
        (TheirForest(10), Y),
        (GradientBoostingRegressor(n_estimators=10), Y),
        (GradientBoostingClassifier(n_estimators=5), THREE),
        (TheirBoosting(n_estimators=5), THREE),
        (AdaBoostClassifier(n_estimators=10), THREE),
        (BaggingRegressor(TheirTree(max_depth=2), n_estimators=5, max_features=2), Y),
        (BaggingRegressor(n_estimators=5), Y),
    ],
    ids=lambda value: type(value).__module__[:7] + type(value).__name__,
)
def test_gain_and_splits_of_every_kind_of_trees(model: Any, y: Any) -> None:
    model.set_params(random_state=0).fit(X, y)
    gain, split = (importance(model, method=method) for method in ("gain", "split"))

    np.testing.assert_array_equal(gain.values, model.feature_importances_)
    assert gain.order[0] == 0
    assert split.values.sum() > 0
    assert (split.values == split.values.round()).all()
    assert ((split.values > 0) >= (gain.values > 0)).all()
    assert split.spread is None
    assert split.names == ("x0", "x1", "x2")


def test_splits_by_counting() -> None:
    forest = RandomForestRegressor(5, max_depth=3, random_state=0).fit(X, Y)
    counted = np.zeros(3)
    for tree in forest.estimators_:
        for feature in tree.tree_.feature:
            if feature >= 0:
                counted[feature] += 1

    np.testing.assert_array_equal(importance(forest, method="split").values, counted)


def test_rows_out_of_bag_and_shap() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = RandomForestClassifier(30, random_state=0).fit(frame, THREE)
    out = importance(model, method="oob_permutation", n_repeats=2)
    shap = importance(model, frame, method="shap")
    expected = model.oob_importances(2)

    np.testing.assert_array_equal(out.values, expected.importances_mean)
    np.testing.assert_array_equal(out.spread, expected.standard_error)
    np.testing.assert_allclose(shap.values, np.abs(model.explain(frame).values).mean(axis=(0, 2)))
    assert out.names == shap.names == ("a", "b", "c")
    assert out.order[0] == shap.order[0] == 0
    assert repr(out).splitlines()[1].startswith("  a  0.")


def test_shap_of_numbers() -> None:
    model = GradientBoostingRegressor(n_estimators=20).fit(X, Y)

    np.testing.assert_allclose(
        importance(model, X, method="shap").values, np.abs(model.explain(X).values).mean(axis=0)
    )


@pytest.mark.parametrize(
    ("model", "options", "parameter"),
    [
        (LinearRegression(), {"method": "shapley"}, "method"),
        (LinearRegression(), {"method": "gain"}, "method"),
        (LinearRegression(), {"method": "split"}, "method"),
        (LinearRegression(), {"method": "shap"}, "method"),
        (LinearRegression(), {"method": "oob_permutation"}, "method"),
        (LinearRegression(), {}, "X"),
        (LinearRegression(), {"n_repeats": 0}, "n_repeats"),
        (RandomForestRegressor(3), {"method": "shap"}, "X"),
    ],
)
def test_what_is_refused(model: Any, options: dict[str, Any], parameter: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        importance(model.fit(X, Y), **options)
    assert (caught.value.parameter, caught.value.received) == (parameter, options.get(parameter))


@pytest.mark.parametrize("method", ["gain", "split", "shap", "oob_permutation"])
def test_a_method_that_takes_any_model_is_recommended(method: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        importance(LinearRegression().fit(X, Y), X, Y, method=method)
    assert caught.value.hint == "method='permutation' takes any model."


def test_a_list_of_texts_has_no_columns() -> None:
    with pytest.raises(InvalidInput) as caught:
        importance(LinearRegression().fit(X, Y), ["a text", "another"], [1, 2])
    assert (caught.value.parameter, caught.value.allowed) == ("X", "a table")
