"""Tools take the models: a test for each row of the table in docs/coming-from/scikit-learn.md."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_selection import RFECV, SelectFromModel
from sklearn.inspection import PartialDependenceDisplay, partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_predict
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import export_graphviz, export_text, plot_tree

import coterie
from coterie import ensemble
from coterie.export import to_shap

mpl.use("Agg")
rng = np.random.default_rng(0)
X = rng.normal(size=(150, 4))
Y = X[:, 0] + X[:, 1] ** 2
CLASSES = (Y > 0.5).astype(int)

CLASSIFIERS: list[Any] = [
    ensemble.RandomForestClassifier(10, random_state=0),
    ensemble.GradientBoostingClassifier(n_estimators=10),
    ensemble.HistGradientBoostingClassifier(max_iter=10),
    ensemble.AdaBoostClassifier(n_estimators=10),
    ensemble.BaggingClassifier(random_state=0),
]
names = [type(model).__name__ for model in CLASSIFIERS]
trees = pytest.mark.parametrize(
    "tree",
    [
        ensemble.RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, CLASSES)[0],
        ensemble.ExtraTreesRegressor(2, max_depth=2, random_state=0).fit(X, Y)[0],
        ensemble.BaggingRegressor(n_estimators=2, random_state=0).fit(X, Y)[0],
        ensemble.GradientBoostingRegressor(n_estimators=2, max_depth=2).fit(X, Y).estimators_[0, 0],
        ensemble.IsolationForest(n_estimators=2, random_state=0).fit(X)[0],
        ensemble.RandomTreesEmbedding(2, max_depth=2, random_state=0).fit(X)[0],
    ],
    ids=["forest", "extra trees", "bagging", "boosting", "isolation forest", "embedding"],
)


@trees
def test_plot_tree(tree: Any) -> None:
    assert len(plot_tree(tree, filled=True)) >= tree.tree_.node_count


@trees
def test_export_text(tree: Any) -> None:
    lines = export_text(tree, feature_names=["a", "b", "c", "d"], max_depth=30).splitlines()
    assert sum(("class:" in line) or ("value:" in line) for line in lines) == tree.get_n_leaves()


@trees
def test_export_graphviz(tree: Any) -> None:
    assert export_graphviz(tree).count("->") == tree.tree_.node_count - 1


@trees
def test_dtreeviz(tree: Any) -> None:
    dtreeviz = pytest.importorskip("dtreeviz")
    is_classifier = hasattr(tree, "classes_")
    drawn = dtreeviz.model(
        tree,
        X_train=X,
        y_train=CLASSES if is_classifier else Y,
        feature_names=list("abcd"),
        target_name="y",
        class_names=["no", "yes"] if is_classifier else None,
    )
    assert len(drawn.shadow_tree.leaves) == tree.get_n_leaves()
    assert "<" in drawn.explain_prediction_path(X[0])


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (ensemble.RandomForestRegressor(5, random_state=0), Y),
        (ensemble.GradientBoostingRegressor(n_estimators=5), Y),
        (ensemble.HistGradientBoostingRegressor(max_iter=5), Y),
        (ensemble.BaggingRegressor(n_estimators=3, random_state=0), Y),
        (coterie.DecisionTreeRegressor(max_depth=3), Y),
    ],
    ids=lambda value: type(value).__name__,
)
def test_shap_tree_explainer(model: Any, target: Any) -> None:
    shap = pytest.importorskip("shap")
    explainer = shap.TreeExplainer(to_shap(model.fit(X, target)))
    values = np.asarray(explainer.shap_values(X)).reshape(X.shape)
    np.testing.assert_allclose(values.sum(axis=1) + explainer.expected_value, model.predict(X), atol=1e-6)
    np.testing.assert_allclose(values, model.explain(X).values, atol=2e-3)


def test_an_isolation_forest_in_searches_pipelines_and_inspection() -> None:
    def share_of_outliers(model: Any, rows: Any, _: Any = None) -> float:
        return float((model.predict(rows) == -1).mean())

    pipeline = make_pipeline(StandardScaler(), ensemble.IsolationForest(random_state=0))
    grid = {"isolationforest__contamination": [0.05, 0.2]}
    search = GridSearchCV(pipeline, grid, scoring=share_of_outliers, cv=2).fit(X)
    assert search.best_params_["isolationforest__contamination"] == 0.2
    found = permutation_importance(
        search.best_estimator_, X, CLASSES, scoring=share_of_outliers, n_repeats=2, random_state=0
    )
    assert found.importances_mean.shape == (4,)


def test_an_embedding_before_a_linear_model() -> None:
    embedding = ensemble.RandomTreesEmbedding(50, random_state=0)
    assert cross_val_predict(make_pipeline(embedding, LogisticRegression()), X, CLASSES).shape == (150,)
    assert make_pipeline(embedding, LogisticRegression()).fit(X, CLASSES).score(X, CLASSES) > 0.9


@pytest.mark.parametrize("model", CLASSIFIERS, ids=names)
def test_inspection(model: Any) -> None:
    model = model.fit(X, CLASSES)
    found = permutation_importance(model, X, CLASSES, n_repeats=2, random_state=0).importances_mean
    assert found.argmax() in (0, 1)
    curve = partial_dependence(model, X, [0], grid_resolution=8)["average"][0]
    assert curve[-1] > curve[0]
    PartialDependenceDisplay.from_estimator(model, X, [0], grid_resolution=5)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=names)
def test_calibrated_classifier(model: Any) -> None:
    assert CalibratedClassifierCV(model, cv=2).fit(X, CLASSES).score(X, CLASSES) > 0.7


@pytest.mark.parametrize("model", CLASSIFIERS, ids=names)
def test_select_from_model_and_rfecv(model: Any) -> None:
    if not hasattr(model.fit(X, CLASSES), "feature_importances_"):
        pytest.skip("the model has no importances, as in scikit-learn")
    assert {0, 1} & set(np.flatnonzero(SelectFromModel(model).fit(X, CLASSES).get_support()))
    assert RFECV(model, cv=2, min_features_to_select=2).fit(X, CLASSES).n_features_ >= 2


def test_searches() -> None:
    forest = ensemble.RandomForestClassifier(random_state=0)
    grid = GridSearchCV(forest, {"n_estimators": [3, 6], "max_depth": [1, 3]}, cv=2).fit(X, CLASSES)
    assert grid.best_score_ > 0.7
    drawn = RandomizedSearchCV(
        ensemble.HistGradientBoostingClassifier(max_iter=5),
        {"max_leaf_nodes": [3, 7, 15]},
        n_iter=2,
        cv=2,
        random_state=0,
    ).fit(X, CLASSES)
    assert drawn.best_params_["max_leaf_nodes"] in (3, 7, 15)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=names)
def test_pipelines_and_frames(model: Any) -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), model).fit(frame, CLASSES)
    assert list(pipeline[-1].feature_names_in_) == list("abcd")
    assert cross_val_predict(pipeline, frame, CLASSES, cv=2).shape == (150,)


def test_multi_output_wrapper() -> None:
    both = MultiOutputRegressor(ensemble.GradientBoostingRegressor(n_estimators=5)).fit(
        X, np.column_stack([Y, -Y])
    )
    assert both.predict(X).shape == (150, 2)


def test_transform_of_a_vote_as_a_frame() -> None:
    vote = ensemble.VotingRegressor([("a", ensemble.RandomForestRegressor(3, random_state=0))])
    table = vote.set_output(transform="pandas").fit_transform(X, Y)
    assert list(table.columns) == ["votingregressor_a"]


def test_skops(tmp_path: Path) -> None:
    pytest.importorskip("skops.io")
    members = [
        ("linear", LogisticRegression()),
        ("forest", ensemble.RandomForestClassifier(3, random_state=0)),
    ]
    model = ensemble.VotingClassifier(members, voting="soft").fit(X, CLASSES)
    coterie.save(model, tmp_path / "model.coterie")
    loaded = coterie.load(tmp_path / "model.coterie")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
