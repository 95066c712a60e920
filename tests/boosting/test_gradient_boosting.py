"""Gradient boosting learns: on the bundled tables, with missing values and categories, and stops when told."""

from typing import Any

import numpy as np
import pytest
from sklearn import datasets
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from coterie import GradientBoostingClassifier, GradientBoostingRegressor
from tests.helpers.estimators import fingerprint

TABLES = {
    "breast cancer": datasets.load_breast_cancer,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "digits": datasets.load_digits,
    "diabetes": datasets.load_diabetes,
}


@pytest.mark.parametrize("table", TABLES)
def test_it_is_as_good_as_scikit_learn_and_better_than_a_dummy(table: str) -> None:
    X, y = TABLES[table](return_X_y=True)
    X, y = X[:900], y[:900]
    regression = table == "diabetes"
    ours: Any = GradientBoostingRegressor if regression else GradientBoostingClassifier
    theirs: Any = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
    dummy = DummyRegressor() if regression else DummyClassifier()

    learn_X, new_X, learn_y, new_y = train_test_split(X, y, random_state=0)

    score = ours(n_estimators=30, random_state=0).fit(learn_X, learn_y).score(new_X, new_y)
    with threadpool_limits(1):  # many small fits of OpenMP on busy cores wait for each other
        peer = theirs(max_iter=30, early_stopping=False).fit(learn_X, learn_y).score(new_X, new_y)

    assert score > dummy.fit(learn_X, learn_y).score(new_X, new_y) + 0.2
    assert score > peer - 0.03


def test_probabilities_sum_to_one_and_agree_with_the_classes() -> None:
    X, y = datasets.load_wine(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, y)
    p = model.predict_proba(X)

    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert p.min() >= 0
    assert np.array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    assert np.array_equal(model.decision_function(X).argmax(axis=1), p.argmax(axis=1))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p)


def test_two_classes_have_one_score_and_its_sign_decides() -> None:
    X, y = datasets.load_breast_cancer(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, y)
    score = model.decision_function(X)

    assert score.shape == (len(X),)
    assert np.array_equal(model.predict(X), (score > 0).astype(int))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-score)))


def test_one_class_is_always_answered() -> None:
    model = GradientBoostingClassifier().fit(np.ones((5, 2)), ["only"] * 5)

    assert model.predict([[3.0, 4.0]]).tolist() == ["only"]
    assert model.predict_proba([[3.0, 4.0]]).tolist() == [[1.0]]


def test_the_first_tree_can_be_checked_by_hand() -> None:
    """Mean 3; the split at 1.5 leaves -2 and +2; a tenth of that is added."""
    model = GradientBoostingRegressor(n_estimators=1, min_samples_leaf=1)
    model.fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 1.0, 5.0, 5.0])

    assert model.baseline_[0] == 3.0
    np.testing.assert_allclose(model.predict([[0.0], [9.0]]), [2.8, 3.2], rtol=1e-6)


def test_l2_shrinks_the_answer_of_a_leaf() -> None:
    """Two rows on each side: 2 * 2 / (2 + 2) instead of 2 * 2 / 2."""
    model = GradientBoostingRegressor(
        n_estimators=1, min_samples_leaf=1, l2_regularization=2.0, learning_rate=1.0
    )
    model.fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 1.0, 5.0, 5.0])

    np.testing.assert_allclose(model.predict([[0.0], [9.0]]), [2.0, 4.0], rtol=1e-6)


@pytest.mark.parametrize("estimator", [GradientBoostingClassifier, GradientBoostingRegressor])
def test_more_rounds_begin_with_the_fewer(estimator: Any) -> None:
    X, y = datasets.load_iris(return_X_y=True)
    short, long = (estimator(n_estimators=n, max_features=0.5, random_state=1).fit(X, y) for n in (5, 12))

    long.forest_.truncate(len(short.forest_))

    assert fingerprint(long) == fingerprint(short)


@pytest.mark.parametrize("min_samples_leaf", [1, 7, 30])
def test_a_leaf_keeps_at_least_min_samples(min_samples_leaf: int) -> None:
    X, y = datasets.load_breast_cancer(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=5, min_samples_leaf=min_samples_leaf, random_state=0).fit(
        X, y
    )

    trees = [model.forest_.tree(i) for i in range(5)]
    assert all(tree.n_rows[tree.feature < 0].min() >= min_samples_leaf for tree in trees)
    assert all(tree.n_rows[0] == len(X) == tree.n_rows[tree.feature < 0].sum() for tree in trees)


def test_a_tree_keeps_its_limits() -> None:
    X, y = datasets.load_diabetes(return_X_y=True)
    few = GradientBoostingRegressor(n_estimators=3, max_leaf_nodes=5, min_samples_leaf=1).fit(X, y)
    flat = GradientBoostingRegressor(
        n_estimators=3, max_depth=2, max_leaf_nodes=None, min_samples_leaf=1
    ).fit(X, y)

    assert all((few.forest_.tree(i).feature < 0).sum() == 5 for i in range(3))
    assert all((flat.forest_.tree(i).feature < 0).sum() == 4 for i in range(3))


def test_a_split_that_gains_too_little_is_not_made() -> None:
    X, y = datasets.load_diabetes(return_X_y=True)
    gains = []
    for least in (0.0, 1e4, 1e9):
        model = GradientBoostingRegressor(n_estimators=2, min_gain_to_split=least).fit(X, y)
        tree = model.forest_.tree(0)
        gains.append(tree.n_nodes)
    assert gains[0] > gains[1] > gains[2] == 1


def test_a_missing_value_can_be_the_signal() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    gone = rng.random(400) < 0.3
    X[gone, 1] = np.nan

    model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, gone)

    assert model.score(X, gone) == 1
    assert model.predict([[0.0, np.nan], [0.0, 0.0]]).tolist() == [True, False]
    assert model.feature_importances_[1] > 0.99


def test_balanced_weights_look_at_the_rare_class() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    y = (X[:, 0] + rng.normal(size=500) > 1.8).astype(int)
    plain, balanced = (
        GradientBoostingClassifier(n_estimators=20, class_weight=w, random_state=0).fit(X, y).predict(X).sum()
        for w in (None, "balanced")
    )
    assert balanced > plain


def test_class_weights_are_sample_weights() -> None:
    X, y = datasets.load_iris(return_X_y=True)
    settings: dict[str, Any] = {"n_estimators": 3, "random_state": 0}
    by_class = GradientBoostingClassifier(class_weight={0: 1.0, 1: 2.0, 2: 4.0}, **settings).fit(X, y)
    by_row = GradientBoostingClassifier(**settings).fit(X, y, sample_weight=2.0**y)

    assert fingerprint(by_class) == fingerprint(by_row)


def test_early_stopping_keeps_the_best_round_and_is_a_prefix() -> None:
    X, y = datasets.load_diabetes(return_X_y=True)
    settings: dict[str, Any] = {"learning_rate": 0.3, "early_stopping": True, "random_state": 0}
    stopped = GradientBoostingRegressor(n_estimators=200, n_iter_no_change=5, **settings).fit(X, y)
    losses = stopped.validation_losses_

    assert stopped.n_estimators_ == losses.argmin() + 1 == len(losses) - 5
    patient = GradientBoostingRegressor(n_estimators=stopped.n_estimators_, n_iter_no_change=500, **settings)
    assert fingerprint(patient.fit(X, y)) == fingerprint(stopped)
    full = GradientBoostingRegressor(n_estimators=30, n_iter_no_change=500, **settings).fit(X, y)
    np.testing.assert_array_equal(full.validation_losses_[: len(losses)], losses[:30])


def test_one_row_is_enough_to_hold_out() -> None:
    X, y = datasets.load_diabetes(return_X_y=True)
    model = GradientBoostingRegressor(
        n_estimators=3, early_stopping=True, n_iter_no_change=9, validation_fraction=1 / 40, random_state=0
    ).fit(X[:40], y[:40])

    best = model.n_estimators_
    by_row = (y[:40] - model.predict(X[:40])) ** 2
    assert np.isclose(by_row, model.validation_losses_[best - 1] * np.array([[1], [2]])).any()
    assert (model.validation_losses_ > 0).all()


def test_early_stopping_works_for_many_classes() -> None:
    X, y = datasets.load_iris(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=300, early_stopping=True, random_state=0).fit(X, y)

    assert len(model.forest_) == 3 * model.n_estimators_
    assert model.n_estimators_ < 300
    assert model.score(X, y) > 0.9


def test_the_loss_on_new_rows_falls() -> None:
    X, y = datasets.load_breast_cancer(return_X_y=True)
    learn_X, new_X, learn_y, new_y = train_test_split(X, y, random_state=0)
    losses = []
    for n_estimators in (1, 10, 40):
        model = GradientBoostingClassifier(n_estimators=n_estimators, random_state=0).fit(learn_X, learn_y)
        losses.append(log_loss(new_y, model.predict_proba(new_X)))
    assert losses[0] > losses[1] > losses[2]
