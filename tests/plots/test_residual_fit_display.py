"""A regression step by step: against boosting written out, staged predictions and errors by hand."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor as SkBoosting
from sklearn.tree import DecisionTreeRegressor

from coterie import AdaBoostRegressor, BaggingRegressor, RandomForestClassifier
from coterie import GradientBoostingRegressor as Boosting
from coterie.diagnostics import fit_by_step
from coterie.ensemble import GradientBoostingRegressor
from coterie.errors import InvalidParameter
from coterie.plots import ResidualFitDisplay, RoundsDisplay

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 6, (90, 1))
Y = np.sin(X[:, 0]) + RNG.normal(0, 0.3, 90)
TRAIN, TEST = slice(0, 50), slice(50, 90)


def boosting_by_hand(n_rounds: int, rate: float) -> list[Any]:
    """Trees fitted to residuals one after the other."""
    predicted, trees = np.full(50, Y[TRAIN].mean()), []
    for _ in range(n_rounds):
        tree = DecisionTreeRegressor(max_depth=2).fit(X[TRAIN], Y[TRAIN] - predicted)
        predicted = predicted + rate * tree.predict(X[TRAIN])
        trees.append(tree)
    return trees


@pytest.mark.parametrize("kind", [GradientBoostingRegressor, SkBoosting])
def test_the_next_tree_is_the_one_fitted_to_the_residuals(kind: Any) -> None:
    model = kind(n_estimators=6, learning_rate=0.3, max_depth=2, random_state=0).fit(X[TRAIN], Y[TRAIN])
    found = fit_by_step(model, X[TRAIN], Y[TRAIN], X[TEST], Y[TEST], resolution=40)
    trees = boosting_by_hand(6, 0.3)
    predicted, on_test = np.full(50, Y[TRAIN].mean()), np.full(40, Y[TRAIN].mean())

    for number, tree in enumerate(trees):
        np.testing.assert_allclose(found.residuals(number), Y[TRAIN] - predicted, atol=1e-6)
        np.testing.assert_allclose(found.training_error[number], np.mean((Y[TRAIN] - predicted) ** 2), 1e-5)
        np.testing.assert_allclose(found.test_error[number], np.mean((Y[TEST] - on_test) ** 2), 1e-5)
        np.testing.assert_allclose(found.next_tree(number), tree.predict(found.x.values[:, None]), atol=1e-6)
        predicted = predicted + 0.3 * tree.predict(X[TRAIN])
        on_test = on_test + 0.3 * tree.predict(X[TEST])
    assert np.isnan(found.next_tree(6)).all()
    assert found.best_round == int(found.test_error.argmin())


def test_other_columns_hold_what_is_typical() -> None:
    table = pd.DataFrame({"a": X[:, 0], "kind": ["x", "y", "y"] * 30, "b": RNG.normal(size=90)})
    y = Y + (table["kind"] == "y") + table["b"]
    model = Boosting(n_estimators=20, random_state=0).fit(table, y)
    found = fit_by_step(model, table, y, column="a", resolution=11)
    row = pd.DataFrame({"a": found.x.values, "kind": "y", "b": np.sort(table["b"])[44]})

    np.testing.assert_array_equal(found.curves[1:], list(model.staged_predict(row)))
    np.testing.assert_array_equal(found.predictions[1:], list(model.staged_predict(table)))


@pytest.mark.parametrize("model", [AdaBoostRegressor(n_estimators=5), BaggingRegressor(n_estimators=5)])
def test_other_ensembles_have_steps(model: Any) -> None:
    found = fit_by_step(model.fit(X, Y), X, Y)

    np.testing.assert_allclose(found.predictions[-1], model.predict(X))
    np.testing.assert_allclose(found.predictions[0], Y.mean())
    assert found.learning_rate == 1.0


def test_boosting_of_counts_begins_at_the_mean() -> None:
    counts = RNG.poisson(np.exp(0.3 * X[:, 0]))
    model = Boosting(loss="poisson", n_estimators=5, random_state=0).fit(X, counts)

    np.testing.assert_allclose(fit_by_step(model, X, counts).predictions[0], counts.mean(), rtol=1e-6)


MODEL = GradientBoostingRegressor(n_estimators=40, learning_rate=0.5, max_depth=4).fit(X[TRAIN], Y[TRAIN])


def test_a_display_has_three_plots_for_each_round() -> None:
    display = ResidualFitDisplay.from_estimator(
        MODEL, X[TRAIN], Y[TRAIN], X[TEST], Y[TEST], rounds=[0, 3, 40]
    )
    titles = [chart.title for chart in display.panels()]

    assert titles[:3] == ["Prediction before round 1", "Residuals before round 1", "Mean squared error"]
    assert titles[6] == "Prediction after round 40"
    assert len(display.frames()) == 41
    assert [frame.name for frame in display.frames()[:2]] == ["before round 1", "after round 1"]
    np.testing.assert_array_equal(display.panels()[3].points[0].y, Y[TRAIN])
    np.testing.assert_array_equal(display.panels()[4].points[0].y, display.steps.residuals(3))


def test_without_a_choice_the_best_and_the_last_round_are_shown() -> None:
    display = ResidualFitDisplay.from_estimator(MODEL, X[TRAIN], Y[TRAIN], X[TEST], Y[TEST])
    alone = ResidualFitDisplay.from_estimator(MODEL, X[TRAIN], Y[TRAIN])

    assert display.rounds == [display.steps.best_round, 40]
    assert alone.rounds == [40]
    assert np.isnan(alone.data["test_error"]).all()


@pytest.mark.parametrize("rounds", [41, [-1], [], [True], 2.5])
def test_rounds_that_do_not_exist(rounds: Any) -> None:
    with pytest.raises(InvalidParameter, match="rounds="):
        ResidualFitDisplay.from_estimator(MODEL, X[TRAIN], Y[TRAIN], rounds=rounds)


def test_classes_have_no_residuals() -> None:
    with pytest.raises(InvalidParameter, match="a fitted regressor"):
        fit_by_step(RandomForestClassifier(2).fit(X, Y > 0), X, Y)


def test_rounds_of_numbers_are_mean_squared_errors() -> None:
    display = RoundsDisplay.from_estimator(MODEL, X[TRAIN], Y[TRAIN], X[TEST], Y[TEST])
    staged = list(MODEL.staged_predict(X[TEST]))

    np.testing.assert_allclose(display.test_error, [np.mean((own - Y[TEST]) ** 2) for own in staged])
    assert display.chart().y.label == "mean squared error"
    assert [len(frame.charts[0].lines[0].x) for frame in display.frames()] == list(range(1, 41))
