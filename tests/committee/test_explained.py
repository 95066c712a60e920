"""Explanations of committees: they add up to predictions, agree with the definition, and say how they were made."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

import coterie
from coterie import (
    BaggingRegressor,
    CommitteeClassifier,
    CommitteeRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from coterie.diagnostics import dependence, importance
from coterie.errors import InvalidInput, InvalidParameter, SchemaMismatch
from tests.naive.shapley import interventional_values

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * RNG.normal(size=120)
LABELS = np.array(["low", "middle", "high"])[np.digitize(Y, [-0.4, 0.6])]
FOREST = ("forest", RandomForestClassifier(6, max_depth=4, random_state=0))
BAYES = ("bayes", GaussianNB())
BOOSTING = ("boosting", GradientBoostingClassifier(n_estimators=5, random_state=0))


def with_weights(model: Any, weights: Any, temperature: float = 1.0) -> Any:
    """The fitted committee as if these weights had been chosen; all members must have had weight."""
    assert len(model.estimators_) == len(weights)
    model._shares = np.array(weights)
    if hasattr(model, "temperature_"):
        model.temperature_ = temperature
    return model


def classifier(*members: Any, y: Any = LABELS, **settings: Any) -> Any:
    model = CommitteeClassifier(None, portfolio=list(members), cv=3, random_state=0, **settings)
    return keeping_all(model).fit(X, y)


def regressor(*members: Any, **settings: Any) -> Any:
    return keeping_all(
        CommitteeRegressor(None, portfolio=list(members), cv=3, random_state=0, **settings)
    ).fit(X, Y)


def keeping_all(model: Any) -> Any:
    """Every member gets weight, whatever the scores."""
    own = model._set_members

    def set_members(members: Any, _: Any, classes: Any) -> None:
        own(members, np.full(len(members), 1 / len(members)), classes)

    model._set_members = set_members
    return model


CASES = [
    (classifier, (FOREST,), 1.0, 0),
    (classifier, (FOREST, BAYES), 1.0, 1),
    (classifier, (FOREST, BAYES, BOOSTING), 0.7, 2),
    (regressor, (("forest", RandomForestRegressor(6, max_depth=4, random_state=0)),), 1.0, 0),
    (regressor, (("line", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=4))), 1.0, 1),
]


@pytest.mark.parametrize(("made", "members", "temperature", "n_estimated"), CASES)
def test_values_add_up_and_agree_with_the_definition(
    made: Any, members: Any, temperature: float, n_estimated: int
) -> None:
    model = with_weights(made(*members), np.full(len(members), 1 / len(members)), temperature)
    predict = getattr(model, "predict_proba", model.predict)
    explained = model.explain(X[:3], background=X[20:36], n_permutations=400)

    assert_allclose(explained.predictions, predict(X[:3]), rtol=0, atol=1e-9)
    exact = interventional_values(predict, X[:3], X[20:36])
    assert_allclose(explained.values.reshape(exact.shape), exact, atol=0.02)
    assert_allclose(explained.base_values[0], predict(X[20:36]).mean(axis=0), atol=1e-12)
    assert sum(not part.exact and part.weight is not None for part in explained.methods) == n_estimated
    if explained.standard_errors is None:
        assert_allclose(explained.values.reshape(exact.shape), exact, atol=1e-9)
    else:
        offs = np.abs(explained.values - exact.reshape(explained.values.shape))
        assert (offs <= 5 * explained.standard_errors + 1e-9).all()


def test_the_temperature_is_explained_too() -> None:
    model = with_weights(classifier(FOREST), [1.0], 0.5)
    explained = model.explain(X[:3], background=X[20:36], n_permutations=40)
    assert_allclose(explained.predictions, model.predict_proba(X[:3]), rtol=0, atol=1e-9)
    assert [str(part) for part in explained.methods] == [
        "forest (weight 1): exact for its trees, 16 rows of background",
        "temperature 0.5: estimated from 48 orders of the columns and their reverses, 16 rows of background",
    ]


REGRESSORS = [
    (DecisionTreeRegressor(max_depth=3), True),
    (RandomForestRegressor(3, random_state=0), True),
    (BaggingRegressor(n_estimators=3, random_state=0), True),
    (GradientBoostingRegressor(n_estimators=5, linear_leaves=False), True),
    (GradientBoostingRegressor(n_estimators=5, linear_leaves=True), False),
    (GradientBoostingRegressor(n_estimators=5, loss="poisson"), False),
    (GradientBoostingRegressor(n_estimators=5, init=LinearRegression()), False),
    (BaggingRegressor(LinearRegression(), n_estimators=3, random_state=0), False),
    (LinearRegression(), False),
]


@pytest.mark.parametrize(("learner", "is_exact"), REGRESSORS, ids=lambda value: repr(value)[:60])
def test_trees_in_the_units_of_the_prediction_are_exact(learner: Any, is_exact: bool) -> None:
    model = CommitteeRegressor(None, portfolio=[("only", learner)], cv=3, random_state=0)
    model.fit(X, np.exp(Y / 3))
    explained = model.explain(X[:4], background=X, n_permutations=10)
    assert [part.exact for part in explained.methods] == [is_exact]
    assert (explained.standard_errors is None) == is_exact
    assert_allclose(explained.predictions, model.predict(X[:4]), rtol=0, atol=1e-9)


def test_trees_that_do_not_know_every_class_are_estimated() -> None:
    rare = np.where(np.arange(120) < 2, "rare", LABELS)
    held_out = [np.arange(2), np.arange(2, 60), np.arange(60, 120)]
    folds = [(np.setdiff1d(np.arange(120), test), test) for test in held_out]
    model = CommitteeClassifier(None, portfolio=[FOREST], cv=folds, random_state=0).fit(X, rare)
    explained = model.explain(X[:3], background=X, n_permutations=8)
    assert not explained.methods[0].exact
    assert_allclose(explained.predictions, model.predict_proba(X[:3]), rtol=0, atol=1e-9)


def test_two_classes_have_opposite_contributions() -> None:
    explained = classifier(BAYES, FOREST, y=Y > 0).explain(X[:3], background=X)
    assert_allclose(explained.values.sum(axis=2), 0.0, atol=1e-12)
    assert explained.outputs == (False, True)


def messy(n: int = 150) -> Any:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "town": rng.choice(["Oslo", "Rome", None], n),
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "flag": rng.random(n) < 0.5,
        }
    )


@pytest.mark.parametrize("kind", [lambda X: X, pl.from_pandas, lambda X: X.to_dict("list")])
def test_any_table_with_dates_is_explained_in_its_own_columns(kind: Any, tmp_path: Any) -> None:
    frame = messy()
    target = np.nan_to_num(frame["size"]) + (frame["when"] > "2021-06-01") + 0.5 * frame["flag"]
    table = kind(frame)
    model = CommitteeRegressor(None, max_members=2, random_state=0).fit(table, target.to_numpy())
    first = kind(frame.iloc[:4])
    explained = model.explain(first, background=table, n_permutations=12)

    assert explained.column_names == ("size", "town", "when", "flag")
    assert_allclose(explained.predictions, model.predict(first), rtol=0, atol=1e-9)
    assert explained.data[0, 2].date() == frame["when"][0].date()
    assert explained.data[0, 3] is bool(frame["flag"][0])
    coterie.save(model, tmp_path / "model.coterie")
    again = coterie.load(tmp_path / "model.coterie").explain(first, background=table, n_permutations=12)
    assert_array_equal(again.values, explained.values)


def test_a_committee_that_was_refitted_is_explained() -> None:
    model = classifier(BAYES, FOREST)
    single = model.refit(X, LABELS)
    explained = single.explain(X[:3], background=X, n_permutations=8)
    assert_allclose(explained.predictions, single.predict_proba(X[:3]), rtol=0, atol=1e-9)
    assert np.abs(explained.values - model.explain(X[:3], background=X, n_permutations=8).values).max() > 1e-3


def test_methods_have_the_names_and_the_documentation_of_methods() -> None:
    assert CommitteeClassifier.explain.__name__ == "explain"
    assert "background" in (CommitteeClassifier.explain.__doc__ or "")
    assert "gained" in (CommitteeClassifier.feature_importances_.__doc__ or "")


def test_columns_of_a_dictionary_may_come_in_any_order() -> None:
    columns = dict(zip("abcd", X.T, strict=True))
    model = CommitteeRegressor(
        None, portfolio=[("tree", DecisionTreeRegressor(max_depth=3))], cv=3, random_state=0
    )
    model.fit(columns, Y)
    turned = {name: columns[name][:5] for name in "dbca"}
    explained = model.explain(turned, background=columns)
    assert explained.column_names == tuple("abcd")
    assert_allclose(explained.predictions, model.predict(turned), rtol=0, atol=1e-9)
    same = model.explain({name: own[:5] for name, own in columns.items()}, background=columns)
    assert_array_equal(explained.values, same.values)
    line = CommitteeRegressor(None, portfolio=["linear"], cv=3, random_state=0).fit(columns, Y)
    found = [
        line.explain(own, background=columns, n_permutations=4).values for own in (turned, same_order(turned))
    ]
    assert_allclose(found[0], found[1], atol=1e-12)


def same_order(columns: Any) -> Any:
    return {name: columns[name] for name in sorted(columns)}


def test_the_seed_decides_and_rows_do_not_depend_on_each_other() -> None:
    model = classifier(BAYES, BOOSTING)
    one = model.explain(X[:5], background=X, n_permutations=12)
    assert_array_equal(model.explain(X[:5], background=X, n_permutations=12).values, one.values)
    assert_allclose(
        model.explain(X[2:3], background=X, n_permutations=12).values[0], one.values[2], atol=1e-12
    )
    other = model.explain(X[:5], background=X, n_permutations=12, random_state=1)
    assert np.abs(other.values - one.values).max() > 1e-6


def test_the_base_value_is_close_to_the_mean_of_the_whole_background() -> None:
    model = classifier(FOREST, BAYES, y=Y > 0)
    explained = model.explain(X[:1], background=X, n_permutations=40)
    assert explained.methods[0].n_background == 20
    assert_allclose(explained.base_values[0], model.predict_proba(X).mean(axis=0), atol=0.005)


def test_rows_of_X_are_the_background_if_they_are_enough() -> None:
    model = classifier(FOREST)
    assert_array_equal(model.explain(X).values, model.explain(X, background=X).values)
    with pytest.raises(InvalidInput, match="X has 9 rows, too few to compare with") as raised:
        model.explain(X[:9])
    assert raised.value.parameter == "background"
    assert "background=X_train" in str(raised.value)


@pytest.mark.parametrize("wrong", [1, 2.5, "many", None])
def test_a_wrong_number_of_permutations_is_named(wrong: Any) -> None:
    with pytest.raises(InvalidParameter) as raised:
        classifier(BAYES).explain(X, n_permutations=wrong)
    assert (raised.value.parameter, raised.value.allowed) == ("n_permutations", "a whole number >= 2")


def test_a_background_with_other_columns_is_named() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = CommitteeRegressor(None, portfolio=[("line", LinearRegression())], cv=3).fit(frame, Y)
    with pytest.raises(SchemaMismatch, match="background: ") as raised:
        model.explain(frame, background=frame.rename(columns={"a": "x"}))
    assert raised.value.parameter == "background"
    with pytest.raises(SchemaMismatch) as raised:
        model.explain(frame[["a", "b"]], background=frame)
    assert raised.value.parameter == "X"


def test_importances_are_the_weighted_means_of_the_members() -> None:
    tree, forest = ("tree", DecisionTreeClassifier(max_depth=3)), FOREST
    model = with_weights(classifier(tree, forest), [0.25, 0.75])
    means = [
        np.mean([own.feature_importances_ for own in member.models], axis=0) for member in model.estimators_
    ]
    expected = 0.25 * means[0] + 0.75 * means[1]
    assert_allclose(model.feature_importances_, expected / expected.sum())
    assert_allclose(importance(model, method="gain").values, model.feature_importances_)


def test_importances_say_when_they_are_those_of_few_members() -> None:
    line = ("line", LogisticRegression())
    with pytest.warns(UserWarning, match="members with 40% of the weight"):
        found = with_weights(classifier(FOREST, line), [0.4, 0.6]).feature_importances_
    assert_allclose(found.sum(), 1.0)
    assert not hasattr(classifier(line), "feature_importances_")
    with pytest.raises(InvalidParameter, match="permutation"):
        importance(classifier(line), method="gain")


def test_what_was_made_of_a_date_counts_for_the_date() -> None:
    frame = messy()
    months = frame["when"].dt.month.to_numpy().astype(float)
    model = CommitteeRegressor(None, portfolio=["forest"], cv=3, random_state=0).fit(frame, months)
    assert int(np.argmax(model.feature_importances_)) == 2
    assert len(model.feature_importances_) == 4


def test_importance_by_contributions_and_dependence_of_a_committee() -> None:
    model = regressor(("line", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=4)))
    found = importance(model, X, method="shap", random_state=0)
    assert int(found.order[0]) == 0
    assert_allclose(found.values, model.explain(X, random_state=0).importance)
    curve = dependence(model, X, 0).curves[0]
    assert curve.average[-1] > curve.average[0] + 1.0


def test_importance_by_contributions_explains_some_of_many_rows() -> None:
    model, many = classifier(BAYES), np.tile(X, (3, 1))
    found = importance(model, many, method="shap", random_state=0)
    assert "200 of 360 rows" in found.meaning
    assert_array_equal(importance(model, many, method="shap", random_state=0).values, found.values)
    assert_allclose(found.values, model.explain(many).importance, rtol=0.15)
