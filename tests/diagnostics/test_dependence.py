"""Dependence on a column: against scikit-learn, against functions that are known, and with any table."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.inspection import partial_dependence
from sklearn.svm import LinearSVC

from coterie import (
    DecisionTreeClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from coterie.data.prepare import read_table
from coterie.diagnostics import dependence, interaction_strength
from coterie.diagnostics.dependence import grid_of, levels_by_likeness
from coterie.errors import CoterieError, InvalidParameter
from tests.helpers.oracles import needs_scikit_learn
from tests.naive.dependence import naive_effects


class Formula(RegressorMixin, BaseEstimator):
    """A model that is a formula."""

    def __init__(self, formula: Any = None) -> None:
        self.formula = formula

    def fit(self, X: Any = None, y: Any = None) -> "Formula":
        self.fitted_ = True
        return self

    def predict(self, X: Any) -> Any:
        return self.formula(X)


RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
THREE = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])]


@needs_scikit_learn("1.7", "no custom_values")
def test_averages_are_those_of_scikit_learn() -> None:
    model = TheirForest(10, random_state=0).fit(X, X[:, 0] > 0)
    found = dependence(model, X, 0, kind="individual", grid_resolution=7).curves[0]
    theirs = partial_dependence(model, X, [0], kind="both", custom_values={0: found.grid})

    np.testing.assert_allclose(found.average, theirs["average"][0])
    np.testing.assert_allclose(found.individual, theirs["individual"][0])
    assert len(found.grid) == 7
    assert np.isin(found.grid, X[:, 0]).all()
    assert (found.grid[0], found.grid[-1]) == (X[:, 0].min(), X[:, 0].max())


def test_curves_by_hand() -> None:
    table = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 6.0]])
    model = Formula(lambda t: t[:, 0] ** 2 + t[:, 1]).fit()
    plain = dependence(model, table, 0, kind="individual").curves[0]
    centred = dependence(model, table, 0, kind="individual", centred=True).curves[0]
    weighed = dependence(model, table, 0, sample_weight=[1, 1, 0]).curves[0]

    assert plain.grid.tolist() == [0, 1, 2]
    assert plain.individual.tolist() == [[1, 2, 5], [2, 3, 6], [6, 7, 10]]
    assert plain.average.tolist() == [3, 4, 7]
    assert centred.average.tolist() == [0, 1, 4]
    assert (centred.individual == [[0, 1, 4]] * 3).all()
    assert weighed.average.tolist() == [1.5, 2.5, 5.5]


def test_effects_add_up_to_a_line_where_the_model_is_one() -> None:
    columns = X.copy()
    columns[:, 1] = columns[:, 0] + 0.1 * columns[:, 1]
    model = Formula(lambda t: 3 * t[:, 0] - 2 * t[:, 1]).fit()
    found = dependence(model, columns, 0, kind="ale", grid_resolution=10).curves[0]

    np.testing.assert_allclose(np.diff(found.average) / np.diff(found.grid), 3)
    assert found.individual is None
    centred = dependence(model, columns, 0, kind="ale", grid_resolution=10, centred=True).curves[0]
    np.testing.assert_allclose(centred.average, 3 * (found.grid - found.grid[0]))


def test_effects_do_not_leave_the_rows_there_are() -> None:
    """Two equal columns: their product is x^2, half of which is the effect of each; the average of all rows is 0."""
    x = np.linspace(-1, 1, 401)
    table = np.column_stack([x, x])
    model = Formula(lambda t: t[:, 0] * t[:, 1]).fit()
    local = dependence(model, table, 0, kind="ale", grid_resolution=41).curves[0]
    average = dependence(model, table, 0, grid_resolution=41).curves[0]

    np.testing.assert_allclose(local.average, (local.grid**2 - 1 / 3) / 2, atol=0.01)
    np.testing.assert_allclose(average.average, 0, atol=1e-12)


def test_effects_are_those_of_the_definition() -> None:
    def formula(t: Any) -> Any:
        return np.sin(t[:, 0]) * t[:, 1] + t[:, 2] ** 2 * t[:, 0]

    found = dependence(Formula(formula).fit(), X, 0, kind="ale", grid_resolution=9).curves[0]

    np.testing.assert_allclose(found.average, naive_effects(formula, X, 0, found.grid), atol=1e-12)
    assert found.count.sum() == 120


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, dict])
def test_levels_of_any_table(make: Any) -> None:
    words = np.array(["low", "mid", "top"])[np.digitize(X[:, 0], [-0.5, 0.5])].tolist()
    words[:5] = [None] * 5
    frame = make({"word": words, "b": X[:, 1]})
    model = RandomForestRegressor(10, random_state=0).fit(
        frame, np.digitize(X[:, 0], [-0.5, 0.5]) + 0.1 * X[:, 1]
    )
    average, effect = (dependence(model, frame, "word", kind=kind).curves[0] for kind in ("average", "ale"))

    assert average.categorical
    assert average.grid.tolist() == ["low", "mid", "top"]
    assert average.count.sum() == 115
    assert (np.diff(average.average) > 0.5).all()
    by_name = dict(zip(effect.grid, effect.average, strict=True))
    assert by_name["low"] + 1 < by_name["mid"] + 0.5 < by_name["top"]
    held = dict(zip(effect.grid, effect.count, strict=True))
    assert sum(by_name[name] * held[name] for name in held) == pytest.approx(0, abs=1e-9)


def test_effects_of_levels_by_hand() -> None:
    """Three rows of "a", one of "b"; the step costs 1 at c = 0 and 3 at c = 2."""
    frame = pd.DataFrame({"w": ["a", "a", "a", "b"], "c": [0.0, 0.0, 2.0, 2.0]})
    model = Formula(lambda t: np.where(t["w"] == "b", 1 + t["c"], 0.0)).fit()
    found = dependence(model, frame, "w", kind="ale").curves[0]

    assert found.grid.tolist() == ["a", "b"]
    np.testing.assert_allclose(found.average, [-0.5, 1.5])  # a step of 8 / 4 = 2, a mean of 0 over rows


def test_an_order_of_words_follows_from_the_other_columns() -> None:
    place = np.arange(90) % 3
    frame = pd.DataFrame({"w": np.array(["z", "a", "m"])[place], "c": place + 0.1 * RNG.normal(size=90)})
    table = read_table(frame)
    grid = grid_of(table.column(0), 10)
    ordered = grid.reordered(levels_by_likeness(table, 0, grid))

    assert grid.values.tolist() == ["a", "m", "z"]
    assert ordered.values.tolist() in (["z", "a", "m"], ["m", "a", "z"])
    assert (ordered.values[ordered.place] == frame["w"]).all()


def test_declared_orders_are_kept() -> None:
    levels = pd.Categorical(
        np.array(["S", "L", "M"])[np.arange(60) % 3], categories=["S", "M", "L"], ordered=True
    )
    frame = pd.DataFrame({"size": levels, "c": X[:60, 0]})
    model = RandomForestRegressor(5, random_state=0).fit(frame, levels.codes.astype(float))

    assert dependence(model, frame, "size", kind="ale").curves[0].grid.tolist() == ["S", "M", "L"]


def test_dates_flags_and_missing_numbers_stay_what_they_are() -> None:
    frame = pd.DataFrame(
        {
            "day": pd.to_datetime("2020-01-01") + pd.to_timedelta(np.arange(120) % 30, unit="D"),
            "flag": X[:, 0] > 0,
            "whole": pd.array(np.arange(120) % 5, dtype="Int64"),
        }
    )
    frame.loc[3, "whole"] = pd.NA
    model = RandomForestRegressor(5, random_state=0).fit(frame, (np.arange(120) % 30) + 3.0 * (X[:, 0] > 0))
    for kind in ("average", "ale"):
        day, flag, whole = dependence(
            model, frame, ["day", "flag", "whole"], kind=kind, grid_resolution=6
        ).curves
        assert (day.grid[0], day.grid[-1]) == (18262, 18291)  # days since 1970-01-01
        assert day.average[-1] - day.average[0] > 15
        assert flag.grid.tolist() == [0, 1]
        assert whole.grid.tolist() == [0, 1, 2, 3, 4]
        assert whole.count.sum() == 119


def test_classes_are_chosen_by_name() -> None:
    model = RandomForestClassifier(10, random_state=0).fit(X, THREE)
    found = dependence(model, X, [0, 1], target="c", grid_resolution=5)

    assert found.meaning == "probability of c"
    assert [curve.name for curve in found.curves] == ["x0", "x1"]
    assert found.of("x0").average[-1] > 0.6 > 0.2 > found.of("x0").average[0]
    with pytest.raises(InvalidParameter) as caught:
        dependence(model, X, 0)
    assert (caught.value.parameter, caught.value.received) == ("target", None)
    with pytest.raises(InvalidParameter) as caught:
        found.of("x2")
    assert (caught.value.parameter, caught.value.allowed) == ("name", "one of ['x0', 'x1']")


def test_scores_of_two_classes() -> None:
    model = LinearSVC().fit(X, X[:, 0] > 0)
    one, other = (dependence(model, X, 0, target=target).curves[0].average for target in (True, False))

    np.testing.assert_allclose(one, -other)
    assert one[-1] > 0 > one[0]


def test_threads_change_nothing() -> None:
    model = GradientBoostingClassifier(n_estimators=10).fit(X, X[:, 0] > 0)
    one, two = (dependence(model, X, 0, n_jobs=n).curves[0].average for n in (1, 2))

    np.testing.assert_array_equal(one, two)


def test_interactions_of_formulas() -> None:
    grid = np.array([[a, b, c] for a in (-1.0, 0, 1) for b in (-1.0, 0, 1) for c in (-1.0, 0, 1)])
    product, sums, mixed = (
        Formula(formula).fit()
        for formula in (
            lambda t: t[:, 0] * t[:, 1],
            lambda t: t[:, 0] + t[:, 1] ** 2,
            lambda t: t[:, 0] + t[:, 1] + t[:, 0] * t[:, 1],
        )
    )

    assert interaction_strength(product, grid, [0, 1]) == pytest.approx(1)
    assert interaction_strength(sums, grid, [0, 1]) == pytest.approx(0, abs=1e-9)
    assert interaction_strength(mixed, grid, [0, 1]) == pytest.approx(np.sqrt((4 / 9) / (4 / 3 + 4 / 9)))
    assert interaction_strength(sums, grid, [0, 2]) == pytest.approx(0, abs=1e-9)
    assert interaction_strength(product, grid, [2, 0]) == 0


def test_interactions_of_frames_and_draws() -> None:
    frame = pd.DataFrame({"w": np.where(X[:, 0] > 0, "x", "y"), "c": X[:, 1]})
    y = np.where(X[:, 0] > 0, 1, -1) * X[:, 1]
    model = RandomForestRegressor(10, random_state=0).fit(frame, y)
    found = [interaction_strength(model, frame, ["w", "c"], max_rows=30, random_state=0) for _ in range(2)]

    assert found[0] == found[1] > 0.7


def test_a_column_of_one_value() -> None:
    table = np.column_stack([np.ones(10), X[:10, 0]])
    model = Formula(lambda t: t[:, 0] + t[:, 1]).fit()

    assert dependence(model, table, 0, kind="ale").curves[0].average.tolist() == [0]
    assert len(dependence(model, table, 0).curves[0].average) == 1


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("kind", "both", "'average' or 'individual' or 'ale'"),
        ("grid_resolution", 1, "a whole number >= 2"),
        ("centred", 1, "True or False"),
        ("target", 1, "None"),
        ("response_method", "predict_proba", "'auto' or 'predict'"),
    ],
)
def test_what_is_refused(name: str, value: Any, allowed: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        dependence(Formula(lambda t: t[:, 0]).fit(), X, 0, **{name: value})
    assert (caught.value.parameter, caught.value.received, caught.value.allowed) == (name, value, allowed)


@pytest.mark.parametrize(
    ("column", "words"), [(7, "places from 0 to 2"), ("age", "there is no column 'age'")]
)
def test_columns_that_there_are_not(column: Any, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        dependence(Formula(lambda t: t[:, 0]).fit(), X, column)


def test_more_that_is_refused() -> None:
    model = Formula(lambda t: t[:, 0]).fit()
    with pytest.raises(CoterieError) as caught:
        dependence(model, np.full((3, 1), np.nan), 0)
    assert caught.value.allowed == "a column with values"
    with pytest.raises(CoterieError) as caught:
        dependence(Formula(lambda t: t[:, :2]).fit(), X, 0)
    assert (caught.value.received, caught.value.allowed) == (2, "a model of one target")
    with pytest.raises(CoterieError) as caught:
        interaction_strength(model, X, [1, 1])
    assert (caught.value.parameter, caught.value.allowed) == ("features", "two different columns")
    with pytest.raises(CoterieError) as caught:
        dependence(model, ["a text", "b"], 0)
    assert (caught.value.parameter, caught.value.allowed) == ("X", "a table")


@pytest.mark.parametrize("target", [None, "b", "a"])
def test_of_a_classifier_without_probabilities_the_predicted_class_counts(target: str | None) -> None:
    X = np.arange(40.0).reshape(-1, 2)
    y = np.where(X[:, 0] > 19, "b", "a")
    members = [
        ("tree", DecisionTreeClassifier(max_depth=1)),
        ("forest", RandomForestClassifier(5, random_state=0)),
    ]
    model = VotingClassifier(members).fit(X, y)
    expected = []
    for value in np.unique(X[:, 0]):
        changed = X.copy()
        changed[:, 0] = value
        expected.append(np.mean(model.predict(changed) == (target or "b")))

    [curve] = dependence(model, X, [0], target=target).curves

    np.testing.assert_array_equal(curve.average, expected)
    assert 0 in expected
    assert 1 in expected
