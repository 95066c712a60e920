"""AnyBoost: AdaBoost and gradient boosting are cases of it, and any loss will do."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import GradientBoostingRegressor as SklearnBoosting

from coterie import (
    AnyBoostClassifier,
    AnyBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)
from coterie.losses import CustomLoss, Quantile, loss_for_classes, loss_for_numbers
from tests.helpers.anyboost_cases import NUMBERS, TWO, N, X
from tests.naive.functional_descent import anyboost
from tests.naive.stump_votes import adaboost, best_stump

ADABOOST: dict[str, Any] = {"loss": "exponential", "init": "zero", "learning_rate": 1.0}


class ExhaustiveStump(ClassifierMixin, BaseEstimator):
    """The stump of least weighted error among all."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ExhaustiveStump":
        self.classes_ = np.unique(y)
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        self.stump_ = best_stump(X, y, weight)
        return self

    def predict(self, X: Any) -> Any:
        return self.stump_.says(X).astype(int)


# AdaBoost


def test_with_exponential_loss_and_stumps_that_vote_it_is_adaboost() -> None:
    model = AnyBoostClassifier(ExhaustiveStump(), n_estimators=20, **ADABOOST).fit(X, TWO)

    stumps, votes, errors = adaboost(X, np.where(TWO == "yes", 1, -1), 20)

    assert [member.stump_ for member in model.estimators_[:, 0]] == stumps
    assert_allclose(model.estimator_weights_, votes, rtol=1e-8)
    normalisers = 2 * np.sqrt(errors * (1 - errors))
    assert_allclose(model.train_losses_, np.cumprod(normalisers), rtol=1e-8)
    assert_allclose(
        model.inner_products_, (2 * errors - 1) * np.append(1, model.train_losses_[:-1]), rtol=1e-8
    )


def test_the_last_member_is_at_chance_under_the_new_weights() -> None:
    model = AnyBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=7, **ADABOOST).fit(X, TWO)
    y = np.where(TWO == "yes", 1, -1)

    margins = y * model.decision_function(X)
    weight = np.exp(-margins) / np.exp(-margins).sum()

    assert weight @ (model.estimators_[-1, 0].predict(X) != y) == pytest.approx(0.5, abs=1e-10)


def test_members_between_minus_one_and_one_get_the_vote_that_minimises_the_loss() -> None:
    tree = DecisionTreeRegressor(max_depth=2)
    model = AnyBoostClassifier(tree, n_estimators=1, **ADABOOST).fit(X, TWO)
    said = model.estimators_[0, 0].predict(X)
    y = np.where(TWO == "yes", 1, -1)

    assert np.abs(said).max() <= 1
    around = [
        np.exp(-y * vote * said).mean() for vote in model.estimator_weights_[0] + np.linspace(-0.1, 0.1, 5)
    ]
    assert np.argmin(around) == 2
    assert model.train_losses_[0] == pytest.approx(min(around), rel=1e-12)


def test_a_member_without_errors_gets_a_vote_that_is_finite() -> None:
    model = AnyBoostClassifier(DecisionTreeClassifier(), n_estimators=3, **ADABOOST).fit(X, TWO)

    assert np.isfinite(model.estimator_weights_).all()
    assert model.score(X, TWO) == 1


# Gradient boosting


def test_with_squared_error_and_trees_it_is_gradient_boosting() -> None:
    table, y = load_diabetes(return_X_y=True)
    ours = AnyBoostRegressor(DecisionTreeRegressor(max_depth=3), step=0.1, n_estimators=60).fit(table, y)
    theirs = SklearnBoosting(n_estimators=60, random_state=0).fit(table, y)

    assert_allclose(ours.predict(table), theirs.predict(table), rtol=1e-10)
    assert_allclose(2 * ours.train_losses_, theirs.train_score_, rtol=1e-10)
    for mine, other in zip(ours.staged_predict(table), theirs.staged_predict(table), strict=True):
        assert_allclose(mine, other, rtol=1e-10)


@pytest.mark.parametrize(
    ("choice", "start"),
    [("squared_error", 0.0), ("poisson", 0.5), ("expectile", 1.0), ("cross_entropy", 0.3)],
)
def test_it_is_its_pseudo_code(choice: str, start: float) -> None:
    y = np.abs(NUMBERS) / np.abs(NUMBERS).max()
    own = CustomLoss(  # the same loss from the same start, as a user would write it
        value=lambda y, score: loss.values(y, score[:, None]),
        gradient=lambda y, score: loss.gradients(y, score[:, None])[:, 0],
        baseline=start,
    )
    loss = loss_for_numbers(choice).on_rows(y, None)
    settings: dict[str, Any] = {"n_estimators": 6, "learning_rate": 0.5}
    model = AnyBoostRegressor(DecisionTreeRegressor(max_depth=2), loss=own, **settings).fit(X, y)
    twin = anyboost(
        lambda wanted: DecisionTreeRegressor(max_depth=2).fit(X, wanted),
        X,
        lambda scores: loss.values(y, scores[:, None]),
        lambda scores: loss.gradients(y, scores[:, None])[:, 0],
        np.full(N, start),
        6,
        furthest=30.0,
        share=0.5,
    )

    assert_allclose(model.steps_, twin.steps, rtol=1e-5)
    assert_allclose(model.inner_products_, twin.inner_products, rtol=1e-5)
    assert_allclose(model.train_losses_, twin.losses, rtol=1e-7)
    assert_allclose(model.predict(X), twin.scores, rtol=1e-5, atol=1e-6)


def test_the_curvature_of_a_loss_changes_how_a_step_is_found_and_not_the_step() -> None:
    y = (TWO == "yes").astype(int)
    loss = loss_for_classes("log_loss", 2)
    blind = CustomLoss(
        value=lambda y, score: loss.values(y, score[:, None]),
        gradient=lambda y, score: loss.gradients(y, score[:, None])[:, 0],
    )

    ours, theirs = (AnyBoostClassifier(loss=each, n_estimators=8).fit(X, y) for each in ("log_loss", blind))

    assert_allclose(ours.steps_, theirs.steps_, rtol=1e-6)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-6)


def test_a_step_that_is_a_number_is_taken_as_it_is_or_in_part() -> None:
    whole = AnyBoostRegressor(step=0.2, n_estimators=3).fit(X, NUMBERS)
    half = AnyBoostRegressor(step=0.2, n_estimators=3, learning_rate=0.5).fit(X, NUMBERS)

    assert whole.steps_.tolist() == [0.2] * 3
    assert half.estimator_weights_.tolist() == [0.1] * 3


# Losses


LOSSES = ["absolute_error", "huber", "quantile", "expectile", "poisson", "gamma", "tweedie", "squared_error"]


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_is_lowered(loss: str) -> None:
    table, y = load_diabetes(return_X_y=True)
    model = AnyBoostRegressor(loss=loss, n_estimators=30).fit(table, y)

    assert model.n_estimators_ == 30
    assert (np.diff(model.train_losses_) < 0).all()
    assert model.score(table, y) > 0.5


def test_several_quantiles_have_a_member_each_and_do_not_cross() -> None:
    model = AnyBoostRegressor(loss=Quantile((0.1, 0.5, 0.9)), n_estimators=60).fit(X, NUMBERS)
    low, middle, high = model.predict(X).T

    assert model.estimators_.shape == (60, 3)
    assert (low <= middle).all()
    assert (middle <= high).all()
    assert np.mean(low > NUMBERS) < 0.15
    assert np.mean(high < NUMBERS) < 0.15
    assert 0.3 < np.mean(middle > NUMBERS) < 0.7
    assert (np.diff(model.train_losses_) < 0).all()


def test_classes_have_a_member_each_and_one_step() -> None:
    table, kind = load_iris(return_X_y=True)
    model = AnyBoostClassifier(n_estimators=5, learning_rate=0.5).fit(table, kind)
    probability = model.predict_proba(table)

    assert model.estimators_.shape == (5, 3)
    assert model.estimator_weights_.shape == (5,)
    assert model.decision_function(table).shape == (150, 3)
    assert_allclose(probability.sum(axis=1), 1)
    assert_array_equal(model.predict(table), probability.argmax(axis=1))
    assert model.score(table, kind) > 0.95


def test_class_weights_are_row_weights() -> None:
    weight = np.where(TWO == "yes", 3.0, 1.0)
    by_class = AnyBoostClassifier(n_estimators=5, class_weight={"yes": 3.0, "no": 1.0}).fit(X, TWO)
    by_row = AnyBoostClassifier(n_estimators=5).fit(X, TWO, sample_weight=weight)

    assert_allclose(by_class.predict_proba(X), by_row.predict_proba(X), rtol=1e-12)
    assert not np.allclose(
        by_class.predict_proba(X), AnyBoostClassifier(n_estimators=5).fit(X, TWO).predict_proba(X)
    )


def test_it_starts_at_zero_or_at_the_best_constant() -> None:
    zero, constant = (
        AnyBoostRegressor(init=init, n_estimators=1).fit(X, NUMBERS) for init in ("zero", "constant")
    )

    assert zero.baseline_ == 0
    assert constant.baseline_ == pytest.approx(NUMBERS.mean())


@pytest.mark.parametrize("unit", [1e-250, 1.0, 1e250])
@pytest.mark.parametrize("init", ["zero", "constant"])
def test_the_unit_of_the_target_does_not_matter(unit: float, init: str) -> None:
    model = AnyBoostRegressor(n_estimators=5, init=init).fit(X, NUMBERS * unit)
    usual = AnyBoostRegressor(n_estimators=5, init=init).fit(X, NUMBERS)

    assert_allclose(model.predict(X) / unit, usual.predict(X), rtol=1e-9)
