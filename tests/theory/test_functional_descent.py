"""Boosting as descent: slopes, inner products, steps, and where it stops."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from coterie import AnyBoostRegressor
from tests.theory.small_tables import DISC, answers_of_stumps


def exponential(scores: Any, y: Any) -> Any:
    return np.exp(-y * scores).mean()


def test_for_a_small_step_the_loss_falls_by_the_step_times_the_inner_product() -> None:
    """What is left over is of the order of the square of the step."""
    _, y = DISC
    rng = np.random.default_rng(0)
    scores, member = rng.normal(size=len(y)), rng.choice([-1, 1], len(y))
    slope = -y * np.exp(-y * scores) / len(y)

    left = []
    for step in (0.1, 0.01, 0.001):
        line = exponential(scores, y) + step * (slope @ member)
        left.append(abs(exponential(scores + step * member, y) - line) / step**2)
    assert max(left) < 1.05 * min(left)


def test_the_member_with_the_least_inner_product_is_the_one_with_the_least_weighted_error() -> None:
    X, y = DISC
    answers = answers_of_stumps(X)
    scores = np.random.default_rng(0).normal(size=len(y))
    loss = np.exp(-y * scores)
    weights = loss / loss.sum()

    products = answers @ (-y * loss)
    errors = (answers != y) @ weights
    np.testing.assert_allclose(products / loss.sum(), 2 * errors - 1, atol=1e-12)
    assert errors[products.argmin()] == pytest.approx(errors.min(), abs=1e-12)
    np.testing.assert_array_equal(products < -1e-9, errors < 0.5 - 1e-12 / 2)


def test_the_slope_of_the_loss_in_the_vote_of_a_new_member_is_twice_its_error_minus_one() -> None:
    X, y = DISC
    weights = np.full(len(y), 1 / len(y))
    tiny = 1e-6
    for member in answers_of_stumps(X)[::7]:
        forward, backward = (weights @ np.exp(-y * step * member) for step in (tiny, -tiny))
        error = weights @ (member != y)
        assert (forward - backward) / (2 * tiny) == pytest.approx(2 * error - 1, abs=1e-8)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_every_round_has_a_negative_inner_product_and_lowers_the_loss(loss: str) -> None:
    X, y = make_friedman1(150, noise=1, random_state=0)
    model = AnyBoostRegressor(DecisionTreeRegressor(max_depth=2), loss=loss, n_estimators=30).fit(X, y)

    assert (np.array(model.inner_products_) < 0).all()
    assert (np.diff(model.train_losses_) < 0).all()


def test_descent_ends_where_no_member_points_down() -> None:
    X, y = make_friedman1(150, noise=1, random_state=0)
    model = AnyBoostRegressor(LinearRegression(), learning_rate=1.0).fit(X, y)

    assert model.n_estimators_ == 1
    assert "no longer negative" in model.stopped_because_


def test_a_line_search_goes_down_faster_than_a_small_fixed_step() -> None:
    X, y = make_friedman1(150, noise=1, random_state=0)
    tree = DecisionTreeRegressor(max_depth=2)
    searched = AnyBoostRegressor(tree, learning_rate=1.0, n_estimators=10).fit(X, y)
    fixed = AnyBoostRegressor(tree, step=0.1, n_estimators=10).fit(X, y)

    assert searched.train_losses_[-1] < 0.5 * fixed.train_losses_[-1]


def test_members_that_are_in_stay_as_they_are() -> None:
    """Forward stagewise: a longer fit begins with the shorter one."""
    X, y = make_friedman1(150, noise=1, random_state=0)
    tree = DecisionTreeRegressor(max_depth=2, random_state=0)
    short, long = (AnyBoostRegressor(tree, n_estimators=n).fit(X, y) for n in (5, 15))

    np.testing.assert_allclose(short.estimator_weights_, long.estimator_weights_[:5])
    np.testing.assert_allclose(short.predict(X), list(long.staged_predict(X))[4])
