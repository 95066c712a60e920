"""SHAP values of every kind of tree model: they add up, and agree with the definition."""

from itertools import combinations
from math import factorial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification, make_regression

from coterie import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from coterie.errors import InvalidParameter, InvalidType
from coterie.plots import ExplanationDisplay
from coterie.trees import DecisionTreeClassifier, DecisionTreeRegressor

NUMBERS = make_regression(200, 5, noise=3.0, random_state=0)
CLASSES = make_classification(200, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
TWO = make_classification(200, 5, random_state=1)


def messy() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=200),
            "town": rng.choice(["Oslo", "Rome", "Cork", None], 200),
            "many": rng.choice([f"level {i}" for i in range(30)], 200),
        }
    )
    frame.loc[::9, "size"] = np.nan
    y = np.nan_to_num(frame["size"]) + 2.0 * (frame["town"] == "Rome") + rng.normal(size=200) * 0.1
    return frame, y


def expected_prediction(tree: Any, row: Any, known: frozenset[int]) -> float:
    """The prediction that a tree expects for a row of which some features are known."""
    own = tree.tree_

    def below(node: int) -> float:
        if own.children_left[node] < 0:
            return float(own.value[node, 0, 0])
        left, right = own.children_left[node], own.children_right[node]
        if own.feature[node] in known:
            return below(left if row[own.feature[node]] <= own.threshold[node] else right)
        weight = own.weighted_n_node_samples
        return (weight[left] * below(left) + weight[right] * below(right)) / weight[node]

    return below(0)


def by_definition(tree: Any, row: Any) -> Any:
    d = len(row)
    values = np.zeros(d)
    for feature in range(d):
        others = [other for other in range(d) if other != feature]
        for size in range(d):
            for some in combinations(others, size):
                chance = factorial(size) * factorial(d - size - 1) / factorial(d)
                gain = expected_prediction(tree, row, frozenset((*some, feature))) - expected_prediction(
                    tree, row, frozenset(some)
                )
                values[feature] += chance * gain
    return values


def test_a_tree_is_explained_as_the_definition_says() -> None:
    X, y = NUMBERS
    tree = DecisionTreeRegressor(max_depth=6).fit(X, y)
    explained = tree.explain(X[:5])
    for row in range(5):
        assert_allclose(explained.values[row], by_definition(tree, X[row]), rtol=1e-9, atol=1e-9)
        assert_allclose(
            explained.base_values[row], expected_prediction(tree, X[row], frozenset()), rtol=1e-12
        )


MODELS = [
    (GradientBoostingRegressor(n_estimators=20, random_state=0), NUMBERS, "predict"),
    (GradientBoostingRegressor(n_estimators=20, growth="oblivious", random_state=0), NUMBERS, "predict"),
    (GradientBoostingRegressor(random_state=0, n_folds=2), NUMBERS, "predict"),  # linear leaves
    (GradientBoostingClassifier(n_estimators=10, random_state=0), CLASSES, "decision_function"),
    (GradientBoostingClassifier(n_estimators=10, random_state=0), TWO, "decision_function"),
    (RandomForestRegressor(n_estimators=5, random_state=0), NUMBERS, "predict"),
    (RandomForestClassifier(n_estimators=5, random_state=0), CLASSES, "predict_proba"),
    (ExtraTreesClassifier(n_estimators=5, random_state=0), TWO, "predict_proba"),
    (DecisionTreeClassifier(), CLASSES, "predict_proba"),
]


@pytest.mark.parametrize(("model", "table", "method"), MODELS)
@pytest.mark.parametrize("against", [False, True])
def test_base_values_and_contributions_add_up_to_the_prediction(
    model: Any, table: Any, method: str, against: bool
) -> None:
    X, y = table
    model.fit(X, y)
    explained = model.explain(X[:20], background=X[50:60] if against else None)
    assert_allclose(explained.predictions, getattr(model, method)(X[:20]), rtol=1e-7, atol=1e-7)
    assert np.ptp(explained.base_values, axis=0).max() == 0.0


@pytest.mark.parametrize(("model", "table", "method"), MODELS)
def test_interactions_add_up_to_the_values(model: Any, table: Any, method: str) -> None:
    X, y = table
    assert hasattr(model, method)
    explained = model.fit(X, y).explain(X[:10], interactions=True)
    assert explained.interactions is not None
    assert_allclose(explained.interactions.sum(axis=2), explained.values, rtol=1e-7, atol=1e-8)
    assert_allclose(explained.interactions, explained.interactions.swapaxes(1, 2), atol=1e-12)


def test_categories_missing_values_and_statistics_count_for_their_columns() -> None:
    frame, y = messy()
    for statistics in ("auto", "none"):
        model = GradientBoostingRegressor(n_estimators=30, target_statistics=statistics, random_state=0)
        explained = model.fit(frame, y).explain(frame, interactions=True)
        assert explained.column_names == ("size", "town", "many")
        assert_allclose(explained.predictions, model.predict(frame), rtol=1e-7, atol=1e-7)
        assert explained.interactions is not None
        assert_allclose(explained.interactions.sum(axis=2), explained.values, atol=1e-8)
    is_rome = (frame["town"] == "Rome").to_numpy()
    assert explained.values[is_rome, 1].min() > explained.values[~is_rome, 1].max()


def test_values_do_not_depend_on_threads_or_on_batches_of_rows() -> None:
    X, y = CLASSES
    model = RandomForestClassifier(n_estimators=7, random_state=0).fit(X, y)
    whole = model.set_params(n_jobs=1).explain(X).values
    assert_array_equal(model.set_params(n_jobs=3).explain(X).values, whole)
    assert_array_equal(np.concatenate([model.explain(X[:77]).values, model.explain(X[77:]).values]), whole)


def test_a_column_that_no_tree_splits_on_contributes_nothing() -> None:
    X, y = NUMBERS
    model = GradientBoostingRegressor(n_estimators=10, random_state=0).fit(
        np.column_stack([X, np.ones(200)]), y
    )
    assert_array_equal(model.explain(np.column_stack([X, np.ones(200)])).values[:, 5], 0.0)


def test_bagged_trees_that_grow_together_are_explained_too() -> None:
    X, y = CLASSES
    model = BaggingClassifier(n_estimators=4, random_state=0).fit(X, y)
    assert_allclose(model.explain(X[:9]).predictions, model.predict_proba(X[:9]), atol=1e-9)


def test_the_text_names_the_columns_with_the_largest_contributions() -> None:
    frame, y = messy()
    model = GradientBoostingRegressor(n_estimators=30, random_state=0).fit(frame, y)
    explained = model.explain(frame)
    row = int(np.flatnonzero(frame["town"] == "Rome")[0])
    lines = explained.to_text(row).splitlines()
    assert lines[0] == (
        f"The prediction is {explained.predictions[row]:.4g}; on average it is {explained.base_values[row]:.4g}."
    )
    assert any("town = Rome" in line and line.strip().startswith("+") for line in lines[1:])
    assert "missing" in explained.to_text(0)
    assert explained.to_text(row, max_columns=1).splitlines()[-1].endswith("together")
    assert len(explained[row]) == 1
    assert len(explained[3:8]) == 5
    assert [len(one) for one in explained[:3]] == [1, 1, 1]


def test_the_picture_escapes_what_users_write() -> None:
    frame = pd.DataFrame({"<b>": [0.0, 1.0] * 20})
    model = DecisionTreeRegressor().fit(frame, np.arange(40.0))
    html = model.explain(frame)._repr_html_()
    assert "<b> =" not in html
    assert "&lt;b&gt; =" in html
    assert "35 more rows" in html


def test_the_text_is_about_the_most_probable_class() -> None:
    X, y = CLASSES
    labels = np.array(["red", "green", "blue"])[y]
    model = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, labels)
    explained = model.explain(X[:4])
    for row, label in enumerate(model.predict(X[:4])):
        assert explained.to_text(row).startswith(f"The probability of {label} is ")
    assert explained.to_text(0, output=0).startswith("The probability of blue is ")


@pytest.mark.parametrize(
    ("wrong", "error", "allowed"),
    [
        ({"interactions": 1}, InvalidType, "True or False"),
        ({"interactions": True, "background": NUMBERS[0][:5]}, InvalidParameter, "False with a background"),
    ],
)
def test_wrong_arguments_are_named(wrong: Any, error: Any, allowed: str) -> None:
    model = DecisionTreeRegressor().fit(*NUMBERS)
    with pytest.raises(error) as raised:
        model.explain(NUMBERS[0][:2], **wrong)

    assert (raised.value.parameter, raised.value.received) == ("interactions", wrong["interactions"])
    assert raised.value.allowed == allowed


@pytest.mark.parametrize(
    ("parameter", "received", "allowed"),
    [("row", 2, "a whole number from -2 to 1"), ("output", 3, "a whole number from 0 to 2 or None")],
)
def test_rows_and_outputs_are_within_bounds(parameter: str, received: int, allowed: str) -> None:
    explained = DecisionTreeClassifier(max_depth=2).fit(*CLASSES).explain(CLASSES[0][:2])
    with pytest.raises(InvalidParameter) as raised:
        explained.to_text(**{parameter: received})

    assert (raised.value.parameter, raised.value.received) == (parameter, received)
    assert raised.value.allowed == allowed


@pytest.mark.parametrize(
    ("model", "table", "unit"),
    [
        (GradientBoostingRegressor(n_estimators=3), NUMBERS, "prediction"),
        (GradientBoostingClassifier(n_estimators=3), TWO, "log-odds"),
        (GradientBoostingClassifier(n_estimators=3), CLASSES, "raw prediction"),
        (GradientBoostingClassifier(n_estimators=3, loss="exponential"), TWO, "raw prediction"),
        (RandomForestClassifier(3), TWO, "probability"),
    ],
)
def test_the_unit_is_that_of_the_explained_predictions(model: Any, table: Any, unit: str) -> None:
    explained = model.fit(*table).explain(table[0][:1])

    assert explained.unit == unit
    assert unit in explained.to_text().splitlines()[0]


def test_two_classes_are_explained_by_the_second() -> None:
    X, y = TWO
    explained = GradientBoostingClassifier(n_estimators=3).fit(X, y).explain(X[:1])
    assert list(explained.outputs) == [np.unique(y)[1]]


def test_importance_is_the_mean_absolute_value() -> None:
    X, y = CLASSES
    explained = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, y).explain(X)
    assert_allclose(explained.importance, np.abs(explained.values).mean(axis=(0, 2)))


def test_a_plot_has_a_bar_for_each_line_of_the_text() -> None:
    X, y = CLASSES
    explained = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, y).explain(X[:3])
    display = ExplanationDisplay(explained, row=1, max_columns=2)
    own = explained.for_row(1, max_columns=2)
    chart = display.chart()
    assert chart.y.names == tuple(name.removesuffix(" together") for name, _ in own.contributions[::-1])
    assert_array_equal(chart.bars[0].length, [part for _, part in own.contributions[::-1]])
    assert_allclose(display.data["value"].sum(), own.prediction - own.base_value)
    assert len(display.data["column"]) == 5
    assert "probability" in display.to_svg()
    with pytest.raises(InvalidParameter) as raised:
        ExplanationDisplay(explained, max_columns=0)
    assert (raised.value.parameter, raised.value.received) == ("max_columns", 0)


def test_of_a_long_label_the_name_is_cut() -> None:
    frame = pd.DataFrame({"a_name_that_is_very_long": [0.5, 1.5] * 20})
    explained = DecisionTreeRegressor().fit(frame, frame.iloc[:, 0]).explain(frame)
    assert ExplanationDisplay(explained).chart().y.names == ("a_name_that_is … = 0.5",)
