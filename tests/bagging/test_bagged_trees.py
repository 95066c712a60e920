"""Bagging of coterie's trees, which grow together, against members that are fitted one by one."""

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification, make_friedman1

from coterie import BaggingClassifier, BaggingRegressor
from coterie.forests.tree_members import Members
from coterie.trees import DecisionTreeClassifier, DecisionTreeRegressor

CLASSES = make_classification(400, 6, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
NUMBERS = make_friedman1(400, 6, noise=1.0, random_state=0)
KINDS = [
    (BaggingClassifier, DecisionTreeClassifier(), CLASSES),
    (BaggingClassifier, DecisionTreeClassifier(criterion="entropy", splitter="random"), CLASSES),
    (BaggingRegressor, DecisionTreeRegressor(), NUMBERS),
    (BaggingRegressor, DecisionTreeRegressor(min_samples_leaf=5, max_features=3), NUMBERS),
]


def one_by_one(bagging: Any, learner: Any, n: int, **settings: Any) -> Any:
    """The same, of members too peculiar for a forest: the limit on leaves is never reached."""
    return bagging(learner.__class__(**{**learner.get_params(), "max_leaf_nodes": 10**6}), n, **settings)


@pytest.mark.parametrize(("bagging", "learner", "table"), KINDS)
def test_bags_are_those_of_other_members_and_answers_nearly_so(
    bagging: Any, learner: Any, table: Any
) -> None:
    X, y = table
    together = bagging(learner, 30, random_state=0).fit(X, y)
    apart = one_by_one(bagging, learner, 30, random_state=0).fit(X, y)
    assert isinstance(together.estimators_, Members)
    assert isinstance(apart.estimators_, list)
    for mine, other in zip(together.estimators_samples_, apart.estimators_samples_, strict=True):
        assert_array_equal(mine, other)
    assert_array_equal(together.oob_coverage_, apart.oob_coverage_)
    assert together.oob_score_ == pytest.approx(apart.oob_score_, abs=0.05)
    assert together.score(X, y) == pytest.approx(apart.score(X, y), abs=0.05)


@pytest.mark.parametrize(("bagging", "learner", "table"), KINDS)
def test_the_answer_is_the_mean_of_the_trees(bagging: Any, learner: Any, table: Any) -> None:
    X, y = table
    model = bagging(learner, 7, random_state=0).fit(X, y)
    said = [
        tree.predict_proba(X) if hasattr(tree, "predict_proba") else tree.predict(X)[:, None]
        for tree in model.estimators_
    ]
    mean = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)[:, None]
    assert_allclose(mean, np.mean(said, axis=0), rtol=1e-9, atol=1e-12)
    assert_allclose(np.stack(list(model._member_predictions(X))), said, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("bagging", "learner", "table"), KINDS[::2])
def test_rows_out_of_bag_are_answered_by_the_trees_that_did_not_draw_them(
    bagging: Any, learner: Any, table: Any
) -> None:
    X, y = table
    model = bagging(learner, 9, random_state=0).fit(X, y)
    answers = np.stack(list(model._member_predictions(X)))
    out = np.array([~np.isin(np.arange(len(X)), bag) for bag in model.estimators_samples_])
    known = out.any(axis=0)
    expected = (answers * out[:, :, None]).sum(axis=0)[known] / out.sum(axis=0)[known, None]
    found = model.oob_decision_function_ if hasattr(model, "classes_") else model.oob_prediction_[:, None]
    assert_allclose(found[known], expected, rtol=1e-9, atol=1e-12)
    assert np.isnan(found[~known]).all()
    assert_array_equal(model.oob_coverage_, out.sum(axis=0))


@pytest.mark.parametrize(("bagging", "learner", "table"), KINDS[::2])
def test_members_that_are_added_later_are_those_of_one_fit(bagging: Any, learner: Any, table: Any) -> None:
    X, y = table
    grown = bagging(learner, 4, warm_start=True, random_state=0).fit(X, y)
    grown.set_params(n_estimators=9).fit(X, y)
    at_once = bagging(learner, 9, random_state=0).fit(X, y)
    assert_allclose(
        grown.predict(X), at_once.predict(X)
    ) if learner._task == "regression" else assert_array_equal(grown.predict(X), at_once.predict(X))
    assert_array_equal(grown.oob_coverage_, at_once.oob_coverage_)
    assert_allclose(grown.oob_errors_, at_once.oob_errors_, rtol=1e-9)


@pytest.mark.parametrize(
    "settings",
    [
        {"bootstrap": False},
        {"bootstrap": False, "max_samples": 0.4},
        {"bootstrap": "partition", "max_samples": 0.2},
    ],
)
def test_other_bags_grow_together_too(settings: Any) -> None:
    X, y = CLASSES
    model = BaggingClassifier(n_estimators=6, random_state=0, **settings).fit(X, y)
    assert isinstance(model.estimators_, Members)
    sizes = {len(bag) for bag in model.estimators_samples_}
    assert sizes == {len(X) if "max_samples" not in settings else round(settings["max_samples"] * len(X))}


@pytest.mark.parametrize(
    "other",
    [
        {"estimator": DecisionTreeClassifier(class_weight="balanced")},
        {"estimator": DecisionTreeClassifier(min_samples_leaf=0.01)},
        {"estimator": DecisionTreeClassifier(ccp_alpha=0.01)},
        {"max_features": 3},
        {"voting": "hard"},
        {"bootstrap": "balanced"},
    ],
)
def test_what_a_forest_cannot_do_is_done_one_by_one(other: Any) -> None:
    model = BaggingClassifier(n_estimators=3, random_state=0, **other).fit(*CLASSES)
    assert isinstance(model.estimators_, list)
    assert model.score(*CLASSES) > 0.7


def test_weights_seeds_copies_and_threads() -> None:
    X, y = CLASSES
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, len(X))
    weighted = BaggingClassifier(n_estimators=6, random_state=0).fit(X, y, weight)
    repeated = BaggingClassifier(n_estimators=6, random_state=0).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))
    other = BaggingClassifier(n_estimators=6, random_state=1, n_jobs=3).fit(X, y, weight)
    assert (other.predict_proba(X) != weighted.predict_proba(X)).any()
    copy = pickle.loads(pickle.dumps(other))
    assert_array_equal(copy.predict_proba(X), other.predict_proba(X))
    assert_array_equal(
        BaggingClassifier(n_estimators=6, random_state=1, n_jobs=1).fit(X, y, weight).predict_proba(X),
        other.predict_proba(X),
    )


def test_auto_stops_when_the_error_has_settled() -> None:
    X, y = NUMBERS
    model = BaggingRegressor(n_estimators="auto", random_state=0).fit(X, y)
    assert model.n_estimators_ % 25 == 0
    assert 50 <= model.n_estimators_ == len(model.oob_errors_)
