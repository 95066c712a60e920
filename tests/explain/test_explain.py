"""SHAP values of every kind of model of trees: they add up, and are those of the definition."""

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


def game(tree: Any, row: Any, known: frozenset[int]) -> float:
    """What a tree of numbers expects of a row of which some features are known."""
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
                gain = game(tree, row, frozenset((*some, feature))) - game(tree, row, frozenset(some))
                values[feature] += chance * gain
    return values


def test_a_tree_is_explained_as_the_definition_says() -> None:
    X, y = NUMBERS
    tree = DecisionTreeRegressor(max_depth=6).fit(X, y)
    explained = tree.explain(X[:5])
    for row in range(5):
        assert_allclose(explained.values[row], by_definition(tree, X[row]), rtol=1e-9, atol=1e-9)
        assert_allclose(explained.base[row], game(tree, X[row], frozenset()), rtol=1e-12)


MODELS = [
    (GradientBoostingRegressor(n_estimators=20, random_state=0), NUMBERS, "predict"),
    (GradientBoostingRegressor(n_estimators=20, growth="oblivious", random_state=0), NUMBERS, "predict"),
    (GradientBoostingRegressor(random_state=0, n_bags=2), NUMBERS, "predict"),  # linear leaves
    (GradientBoostingClassifier(n_estimators=10, random_state=0), CLASSES, "decision_function"),
    (GradientBoostingClassifier(n_estimators=10, random_state=0), TWO, "decision_function"),
    (RandomForestRegressor(n_estimators=5, random_state=0), NUMBERS, "predict"),
    (RandomForestClassifier(n_estimators=5, random_state=0), CLASSES, "predict_proba"),
    (ExtraTreesClassifier(n_estimators=5, random_state=0), TWO, "predict_proba"),
    (DecisionTreeClassifier(), CLASSES, "predict_proba"),
]


@pytest.mark.parametrize(("model", "table", "method"), MODELS)
@pytest.mark.parametrize("against", [False, True])
def test_base_and_values_add_up_to_the_answer(model: Any, table: Any, method: str, against: bool) -> None:
    X, y = table
    model.fit(X, y)
    explained = model.explain(X[:20], background=X[50:60] if against else None)
    assert_allclose(explained.scores, getattr(model, method)(X[:20]), rtol=1e-7, atol=1e-7)
    assert np.ptp(explained.base, axis=0).max() == 0.0


@pytest.mark.parametrize(("model", "table", "method"), MODELS)
def test_interactions_add_up_to_the_values(model: Any, table: Any, method: str) -> None:
    X, y = table
    assert hasattr(model, method)
    explained = model.fit(X, y).explain(X[:10], interactions=True)
    assert explained.interactions is not None
    assert_allclose(explained.interactions.sum(axis=2), explained.values, rtol=1e-7, atol=1e-8)
    assert_allclose(explained.interactions, explained.interactions.swapaxes(1, 2), atol=1e-12)


def test_categories_missing_values_and_statistics_are_put_to_their_columns() -> None:
    frame, y = messy()
    for statistics in ("auto", "none"):
        model = GradientBoostingRegressor(n_estimators=30, target_statistics=statistics, random_state=0)
        explained = model.fit(frame, y).explain(frame, interactions=True)
        assert explained.names == ("size", "town", "many")
        assert_allclose(explained.scores, model.predict(frame), rtol=1e-7, atol=1e-7)
        assert explained.interactions is not None
        assert_allclose(explained.interactions.sum(axis=2), explained.values, atol=1e-8)
    is_rome = (frame["town"] == "Rome").to_numpy()
    assert explained.values[is_rome, 1].min() > explained.values[~is_rome, 1].max()


def test_answers_do_not_depend_on_threads_or_on_how_rows_are_cut() -> None:
    X, y = CLASSES
    model = RandomForestClassifier(n_estimators=7, random_state=0).fit(X, y)
    whole = model.set_params(n_jobs=1).explain(X).values
    assert_array_equal(model.set_params(n_jobs=3).explain(X).values, whole)
    assert_array_equal(np.concatenate([model.explain(X[:77]).values, model.explain(X[77:]).values]), whole)


def test_a_column_that_no_tree_asks_for_brings_nothing() -> None:
    X, y = NUMBERS
    model = GradientBoostingRegressor(n_estimators=10, random_state=0).fit(
        np.column_stack([X, np.ones(200)]), y
    )
    assert_array_equal(model.explain(np.column_stack([X, np.ones(200)])).values[:, 5], 0.0)


def test_bagged_trees_that_grow_together_are_explained_too() -> None:
    X, y = CLASSES
    model = BaggingClassifier(n_estimators=4, random_state=0).fit(X, y)
    assert_allclose(model.explain(X[:9]).scores, model.predict_proba(X[:9]), atol=1e-9)


def test_words_name_the_columns_that_moved_the_answer() -> None:
    frame, y = messy()
    model = GradientBoostingRegressor(n_estimators=30, random_state=0).fit(frame, y)
    explained = model.explain(frame)
    row = int(np.flatnonzero(frame["town"] == "Rome")[0])
    words = explained.words(row).splitlines()
    assert words[0].endswith("is expected before anything is known")
    assert any("town = 'Rome'" in line and line.strip().startswith("+") for line in words[1:])
    assert "missing" in explained.words(0)
    assert explained.words(row, most=1).splitlines()[-1].endswith("together")
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


def test_words_speak_of_the_class_with_the_highest_score() -> None:
    X, y = CLASSES
    labels = np.array(["red", "green", "blue"])[y]
    model = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, labels)
    explained = model.explain(X[:4])
    for row, label in enumerate(model.predict(X[:4])):
        assert f"is the probability for {label};" in explained.words(row)
    assert "for blue;" in explained.words(0, output=0)


@pytest.mark.parametrize(
    ("wrong", "error", "match"),
    [
        ({"interactions": 1}, InvalidType, "interactions=1: expected True or False"),
        ({"interactions": True, "background": NUMBERS[0][:5]}, InvalidParameter, "leave one of them out"),
    ],
)
def test_wrong_wishes_are_refused(wrong: Any, error: Any, match: str) -> None:
    model = DecisionTreeRegressor().fit(*NUMBERS)
    with pytest.raises(error, match=match):
        model.explain(NUMBERS[0][:2], **wrong)
    with pytest.raises(InvalidParameter, match="one of 2 rows"):
        model.explain(NUMBERS[0][:2]).words(2)


def test_importance_is_the_mean_size_of_the_values() -> None:
    X, y = CLASSES
    explained = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, y).explain(X)
    assert_allclose(explained.importance, np.abs(explained.values).mean(axis=(0, 2)))


def test_a_picture_has_a_bar_for_each_part_of_the_words() -> None:
    X, y = CLASSES
    explained = RandomForestClassifier(n_estimators=5, random_state=0).fit(X, y).explain(X[:3])
    display = ExplanationDisplay(explained, row=1, max_columns=2)
    line = explained.line(1, most=2)
    chart = display.chart()
    assert chart.y.names == tuple(name.removesuffix(" together") for name, _ in line.parts[::-1])
    assert_array_equal(chart.bars[0].length, [part for _, part in line.parts[::-1]])
    assert_allclose(display.data["value"].sum(), line.score - line.base)
    assert len(display.data["column"]) == 5
    assert "probability" in display.to_svg()
    with pytest.raises(InvalidParameter, match="max_columns"):
        ExplanationDisplay(explained, max_columns=0)


def test_of_a_long_label_the_name_is_cut() -> None:
    frame = pd.DataFrame({"a_name_that_is_very_long": [0.5, 1.5] * 20})
    explained = DecisionTreeRegressor().fit(frame, frame.iloc[:, 0]).explain(frame)
    assert ExplanationDisplay(explained).chart().y.names == ("a_name_that_is … = 0.5",)
