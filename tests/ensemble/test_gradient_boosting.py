"""`GradientBoosting*` of the mirror against scikit-learn's: the same trees where every value has a bin of its own."""

from typing import Any

import numpy as np
import pytest
from sklearn import ensemble as theirs
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from coterie import ensemble

rng = np.random.default_rng(0)
X = rng.integers(0, 40, size=(400, 4)).astype(float)
Y = X[:, 0] * X[:, 1] / 40 + X[:, 2] + rng.normal(size=400)
CLASSES = np.digitize(Y, np.quantile(Y, [0.4, 0.7]))

SETTINGS: list[dict[str, Any]] = [
    {},
    {"max_depth": 2, "learning_rate": 0.3},
    {"min_samples_leaf": 20},
    {"min_samples_split": 0.2},
    {"min_weight_fraction_leaf": 0.1},
    {"min_impurity_decrease": 0.05},
    {"ccp_alpha": 0.05},
    {"max_leaf_nodes": 5, "max_depth": None},
    {"loss": "absolute_error"},
    {"loss": "quantile", "alpha": 0.8},
]


def n_leaves(model: Any) -> list[int]:
    return [tree.tree_.n_leaves for tree in model.estimators_.flat]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_regressor_grows_scikit_learns_trees(settings: dict[str, Any]) -> None:
    given = {"n_estimators": 10, "random_state": 0, **settings}
    ours = ensemble.GradientBoostingRegressor(**given).fit(X, Y)
    known = theirs.GradientBoostingRegressor(**given).fit(X, Y)
    np.testing.assert_allclose(ours.train_score_, known.train_score_, rtol=0.03)
    assert abs(sum(n_leaves(ours)) - sum(n_leaves(known))) <= 0.1 * sum(n_leaves(known))


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
def test_a_classifier_of_two_classes_grows_scikit_learns_trees(loss: str) -> None:
    given: dict[str, Any] = {"n_estimators": 10, "loss": loss, "random_state": 0}
    ours = ensemble.GradientBoostingClassifier(**given).fit(X, CLASSES > 0)
    known = theirs.GradientBoostingClassifier(**given).fit(X, CLASSES > 0)
    np.testing.assert_allclose(ours.train_score_, known.train_score_, rtol=0.02)
    np.testing.assert_allclose(ours.predict_proba(X), known.predict_proba(X), atol=0.1)


def test_a_classifier_of_three_classes_grows_scikit_learns_trees() -> None:
    ours = ensemble.GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, CLASSES)
    known = theirs.GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, CLASSES)
    np.testing.assert_allclose(ours.train_score_, known.train_score_, rtol=0.02)
    assert ours.estimators_.shape == known.estimators_.shape
    assert ours.apply(X).shape == known.apply(X).shape


def test_rows_out_of_a_round_are_measured() -> None:
    model = ensemble.GradientBoostingRegressor(n_estimators=20, subsample=0.5, random_state=0).fit(X, Y)
    known = theirs.GradientBoostingRegressor(n_estimators=20, subsample=0.5, random_state=0).fit(X, Y)
    np.testing.assert_allclose(model.oob_scores_, known.oob_scores_, rtol=0.3)
    np.testing.assert_allclose(-np.diff(model.oob_scores_), model.oob_improvement_[1:])
    assert model.oob_score_ == model.oob_scores_[-1]
    assert not hasattr(ensemble.GradientBoostingRegressor().fit(X, Y), "oob_scores_")


def test_rounds_end_when_rows_left_out_gain_no_more() -> None:
    model = ensemble.GradientBoostingClassifier(n_estimators=500, n_iter_no_change=5, random_state=0)
    assert 5 < model.fit(X, CLASSES).n_estimators_ < 500
    assert len(model.train_score_) == model.n_estimators_ == len(model.estimators_)


def test_a_monitor_sees_the_model_so_far_and_may_stop_it() -> None:
    seen: list[float] = []

    def monitor(round_number: int, model: Any, _: dict[str, Any]) -> bool:
        seen.append(float(np.mean((model.predict(X) - Y) ** 2)))
        return round_number == 6

    model = ensemble.GradientBoostingRegressor(n_estimators=50).fit(X, Y, monitor=monitor)
    assert model.n_estimators_ == 7
    np.testing.assert_allclose(seen, model.train_score_, rtol=1e-4)


def test_a_warm_start_is_one_longer_fit() -> None:
    whole = ensemble.GradientBoostingRegressor(n_estimators=12, subsample=0.5, random_state=0).fit(X, Y)
    model = ensemble.GradientBoostingRegressor(n_estimators=5, subsample=0.5, random_state=0, warm_start=True)
    model.fit(X, Y).set_params(n_estimators=12).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    np.testing.assert_allclose(model.train_score_, whole.train_score_)
    np.testing.assert_allclose(model.oob_scores_, whole.oob_scores_)


def test_progress_is_printed_as_scikit_learn_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    ensemble.GradientBoostingRegressor(n_estimators=30, subsample=0.5, verbose=1).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["Iter", "Train", "Loss", "OOB", "Improve", "Remaining", "Time"]
    assert len(lines) == 1 + 10 + 2


def test_leaves_of_rows_without_weight_are_as_if_they_were_not_there() -> None:
    weight = np.repeat([1.0, 0.0], 200)
    model = ensemble.GradientBoostingRegressor(n_estimators=5, random_state=0).fit(X, Y, weight)
    part = ensemble.GradientBoostingRegressor(n_estimators=5, random_state=0).fit(X[:200], Y[:200])
    np.testing.assert_allclose(model.predict(X[:200]), part.predict(X[:200]), rtol=0.1)


@pytest.mark.parametrize("seed", [0, 7])
def test_weights_of_one_give_the_bits_of_no_weights(seed: int) -> None:
    flowers, kinds = load_iris(return_X_y=True)
    weighted, plain = (
        ensemble.GradientBoostingClassifier(n_estimators=10, random_state=seed).fit(flowers, kinds, weight)
        for weight in (np.ones(150), None)
    )
    np.testing.assert_array_equal(weighted.predict_proba(flowers), plain.predict_proba(flowers))


def test_an_estimator_that_begins_is_given_weights_of_one() -> None:
    begins = make_pipeline(LinearRegression())
    with pytest.raises(ValueError, match="Pipeline does not support sample weights"):
        ensemble.GradientBoostingRegressor(init=begins).fit(X, Y, np.ones(len(Y)))
