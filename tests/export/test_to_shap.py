"""Models as shap's explainer of trees takes them: its arrays predict what the model does; shap itself where it is."""

from typing import Any

import numpy as np
import pytest

import coterie
from coterie.errors import InvalidInput, InvalidType
from coterie.export import feature_matrix, to_shap
from tests.helpers.errors import raised

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 4))
X[::9, 2] = np.nan
Y = np.nan_to_num(X[:, 0] + X[:, 1] ** 2 + X[:, 2])
LABELS = np.array(["a", "b", "c"])[np.digitize(Y, [0.0, 1.5])]

MODELS: dict[str, tuple[Any, Any, str]] = {
    "tree": (coterie.DecisionTreeRegressor(max_depth=4), Y, "predict"),
    "tree of classes": (coterie.DecisionTreeClassifier(max_depth=4), LABELS, "predict_proba"),
    "forest": (coterie.RandomForestRegressor(5, random_state=0), Y, "predict"),
    "forest of classes": (coterie.ExtraTreesClassifier(5, random_state=0), LABELS, "predict_proba"),
    "boosting": (coterie.GradientBoostingRegressor(n_estimators=8, random_state=0), Y, "predict"),
    "boosting of two classes": (
        coterie.GradientBoostingClassifier(n_estimators=8, random_state=0),
        LABELS == "a",
        "decision_function",
    ),
    "boosting of classes": (
        coterie.GradientBoostingClassifier(n_estimators=8, random_state=0),
        LABELS,
        "decision_function",
    ),
    "bagged trees": (coterie.BaggingRegressor(n_estimators=3, random_state=0), Y, "predict"),
    "scikit-learn's boosting": (coterie.ensemble.GradientBoostingRegressor(n_estimators=5), Y, "predict"),
    "scikit-learn's histogram boosting": (
        coterie.ensemble.HistGradientBoostingClassifier(max_iter=5),
        LABELS,
        "decision_function",
    ),
}
each = pytest.mark.parametrize("name", MODELS)


def fitted(name: str) -> tuple[Any, Any]:
    """A model, and its raw predictions."""
    model, target, method = MODELS[name]
    raw = np.asarray(getattr(model.fit(X, target), method)(X))
    return model, raw.reshape(len(X), -1)


def walked(tree: dict[str, Any], values: Any) -> Any:
    """What one tree of the dict predicts for one row."""
    node = 0
    while tree["children_left"][node] >= 0:
        value = values[tree["feature"][node]]
        side = "left" if value <= tree["threshold"][node] else "right"
        node = tree["children_default" if np.isnan(value) else f"children_{side}"][node]
    return tree["value"][node]


@each
def test_the_trees_predict_what_the_model_does(name: str) -> None:
    model, raw = fitted(name)
    trees = to_shap(model)["trees"]
    features = feature_matrix(model, X)

    sums = [sum(walked(tree, row) for tree in trees) for row in features]

    np.testing.assert_allclose(sums, raw, rtol=1e-6, atol=1e-9)
    assert all((tree["node_sample_weight"] > 0).all() for tree in trees)


@each
def test_shap_finds_the_values_that_the_model_explains(name: str) -> None:
    shap = pytest.importorskip("shap")
    model, raw = fitted(name)
    explainer = shap.TreeExplainer(to_shap(model))
    values = np.asarray(explainer.shap_values(feature_matrix(model, X))).reshape(len(X), 4, -1)

    own = model.explain(X)

    np.testing.assert_allclose(values.sum(axis=1) + explainer.expected_value, raw, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(values, own.values.reshape(values.shape), atol=2e-3)


def test_what_shap_lacks_is_refused() -> None:
    table = {"town": ["Oslo", "Rome", "Cork"] * 10, "size": np.arange(30.0)}
    with raised(InvalidInput, parameter="model", about="categories"):
        to_shap(coterie.RandomForestRegressor(3).fit(table, np.tile([1.0, 5.0, 2.0], 10)))
    with raised(InvalidInput, parameter="model", about="lines"):
        to_shap(coterie.GradientBoostingRegressor(n_estimators=3, linear_leaves=True).fit(X, X[:, 0] * 3))
    with raised(InvalidInput, parameter="model", about="weights"):
        to_shap(coterie.AdaBoostClassifier(n_estimators=3).fit(X, LABELS == "a"))
    with raised(InvalidType, parameter="model"):
        to_shap(coterie.IsolationForest(n_estimators=3).fit(X))
