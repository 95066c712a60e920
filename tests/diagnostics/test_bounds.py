"""Bounds hold on every run of AdaBoost, and are the numbers of their formulas."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from coterie.diagnostics import bounds, margins
from coterie.errors import InvalidParameter
from tests.naive.stump_boosting import StumpBoosting

THETAS = np.array([-1.0, -0.3, 0.0, 0.1, 0.3, 0.5, 1.0])


@st.composite
def problems(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    """A small table with many ties, two classes, and weights or none."""
    n_rows = draw(st.integers(4, 16))
    X = draw(arrays(np.int64, (n_rows, 2), elements=st.integers(0, 5)))
    y = draw(arrays(np.int64, n_rows, elements=st.integers(0, 1)))
    y[:2] = [0, 1]
    weight = draw(st.none() | arrays(np.float64, n_rows, elements=st.sampled_from([0.5, 1.0, 3.0])))
    return X, y, weight


@settings(max_examples=60, deadline=None, derandomize=True)
@given(problem=problems(), both_ways=st.booleans())
def test_no_run_of_the_slow_twin_is_above_its_bounds(problem: tuple[Any, Any, Any], both_ways: bool) -> None:
    X, y, weight = problem
    model = StumpBoosting(X, y, n_rounds=12, weight=weight, both_ways=both_ways)
    if abs(model.estimator_errors_[0] - 0.5) < 1e-9:
        return  # no stump says anything
    found = bounds.adaboost(model, X, y, theta=THETAS, sample_weight=weight)

    assert (found.margin_error <= found.margin_error_bound + 1e-9).all()
    assert (found.training_error <= found.training_loss_bound + 1e-9).all()
    assert (found.training_loss <= found.training_loss_by_edge + 1e-9).all()
    if np.abs(0.5 - model.estimator_errors_).max() > 0.49:
        return  # a perfect stump: its error was made larger, so that its vote is finite
    np.testing.assert_allclose(found.training_loss, found.training_loss_bound, rtol=1e-6)
    np.testing.assert_allclose(bounds.normalizers(model.estimator_errors_), model.normalizers_, rtol=1e-6)
    np.testing.assert_allclose(
        bounds.margin_error(model.estimator_errors_, THETAS), found.margin_error_bound, rtol=1e-6
    )
    if found.rounds_to_zero_error <= found.rounds[-1]:
        assert found.training_error[int(found.rounds_to_zero_error) - 1 :].max() == 0


@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_run_of_scikit_learn_is_above_its_bounds(seed: int, depth: int, learning_rate: float) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 3))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=150) > 0).astype(int)
    weight = rng.integers(1, 4, size=150).astype(float)
    model = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=depth), n_estimators=40, learning_rate=learning_rate, random_state=0
    ).fit(X, y, sample_weight=weight)
    found = bounds.adaboost(model, X, y, theta=THETAS, sample_weight=weight)

    assert (found.margin_error <= found.margin_error_bound + 1e-9).all()
    assert (found.training_error <= found.training_loss_bound + 1e-9).all()
    np.testing.assert_allclose(found.training_loss, found.training_loss_bound, rtol=1e-6)
    assert np.isnan(found.margin_limit) == (learning_rate != 1)
    assert (found.n_learners is None) == (depth != 1)
    if learning_rate == 1:
        assert (found.training_loss <= found.training_loss_by_edge + 1e-9).all()


def test_a_margin_error_is_measured_as_margins_has_it() -> None:
    X = np.random.default_rng(0).normal(size=(80, 2))
    y = X[:, 0] + X[:, 1] > 0
    model = AdaBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    found = bounds.adaboost(model, X, y, theta=THETAS)
    direct = margins(model, X, y, rounds="all")

    np.testing.assert_array_equal(found.margin_error, direct.distribution(THETAS))
    np.testing.assert_array_equal(found.training_error, direct.error())
    np.testing.assert_array_equal(found.minimum_margin, direct.minimum)


def test_eighty_to_twenty_by_hand() -> None:
    """One member with an error of 1/5: vote log(4) / 2, and Z = 2 sqrt(0.16)."""
    assert bounds.normalizers([0.2])[0] == pytest.approx(0.8)
    assert bounds.normalizers([0.2], votes=[0.5 * math.log(4)])[0] == pytest.approx(0.8)
    # theta = 1/2: 2 * 0.2^(1/4) * 0.8^(3/4)
    assert bounds.margin_error([0.2], 0.5)[0] == pytest.approx(2 * 0.2**0.25 * 0.8**0.75)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(errors=st.lists(st.floats(0.001, 0.999), min_size=1, max_size=6), theta=st.floats(-1, 1))
def test_both_forms_of_the_bound_of_margins_agree(errors: list[float], theta: float) -> None:
    e = np.array(errors)
    gamma = np.abs(0.5 - e)
    printed = np.cumprod(np.sqrt((1 + 2 * gamma) ** (1 + theta) * (1 - 2 * gamma) ** (1 - theta)))
    votes = 0.5 * np.log((1 - e) / e)

    np.testing.assert_allclose(bounds.margin_error(e, theta), printed, rtol=1e-9)
    np.testing.assert_allclose(bounds.margin_error(e, theta, votes), printed, rtol=1e-9)
    np.testing.assert_allclose(bounds.margin_error(e, 0.0), bounds.training_loss(e), rtol=1e-12)
    np.testing.assert_allclose(bounds.margin_error(e, [theta, 0.0])[:, 0], bounds.margin_error(e, theta))


@pytest.mark.parametrize("edge", [0.01, 0.1, 0.25, 0.49])
def test_below_the_limit_the_bound_falls_and_above_it_rises(edge: float) -> None:
    limit = float(bounds.margin_limit(edge))
    errors = [0.5 - edge]

    assert bounds.margin_error(errors, limit - 1e-6)[0] < 1 < bounds.margin_error(errors, limit + 1e-6)[0]
    assert edge <= limit <= 2 * edge


@pytest.mark.parametrize(("edge", "n_rows"), [(0.1, 1000), (0.3, 7), (0.05, 10**6), (0.5, 10), (0.2, 1)])
def test_after_so_many_rounds_no_row_is_wrong(edge: float, n_rows: int) -> None:
    rounds = float(bounds.rounds_to_zero_error(edge, n_rows))

    assert bounds.training_loss_by_edge(edge, rounds, n_rows) < 1
    assert bounds.training_loss_by_edge(edge, rounds - 1, n_rows) >= 1


@pytest.mark.parametrize("theta", [0.05, 0.2, 0.7])
@pytest.mark.parametrize(("n_rows", "n_learners"), [(1000, 50), (10**6, 10**4)])
def test_the_bound_for_new_rows_is_the_best_of_all_numbers_of_draws(
    theta: float, n_rows: int, n_learners: int
) -> None:
    draws = np.arange(1.0, 200_000)
    last = draws * math.log(n_learners) + np.log(draws * (draws + 1) ** 2 / 0.05)
    every = 0.1 + 2 * np.exp(-draws * theta**2 / 8) + np.sqrt(last / (2 * n_rows))
    found = float(bounds.generalization_error(0.1, theta, n_rows=n_rows, n_learners=n_learners))

    assert every.min() <= found + 1e-12
    assert found == pytest.approx(every.min(), rel=0.01)


def test_the_bound_for_new_rows_says_something_on_large_tables() -> None:
    n_rows = np.array([10**3, 10**5, 10**7])
    found = [
        float(bounds.generalization_error(0.0, 0.3, n_rows=int(n), n_learners=1000, delta=0.01))
        for n in n_rows
    ]

    assert found[0] > 1 > found[1] > found[2] > 0
    assert bounds.generalization_error(0.0, [0.0, -0.5], n_rows=10**7, n_learners=10).tolist() == [np.inf] * 2
    assert np.isfinite(bounds.generalization_error(0.0, 0.5, n_rows=100, n_learners=2**5000))


@pytest.mark.parametrize(
    ("call", "parameter", "allowed"),
    [
        (
            lambda: bounds.training_loss([0.2, 1.2]),
            "errors",
            "a number in [0, 1] for each round",
        ),
        (lambda: bounds.training_loss(0.2), "errors", "a number in [0, 1] for each round"),
        (lambda: bounds.training_loss(["a"]), "errors", "numbers"),
        (lambda: bounds.training_loss([0.2], [1.0, 2.0]), "votes", "1 votes"),
        (lambda: bounds.margin_error([0.2], 1.5), "theta", "a number in [-1, 1], or an array of them"),
        (lambda: bounds.margin_error([0.2], [[0.5]]), "theta", "a number or a list of numbers"),
        (lambda: bounds.margin_limit(0.6), "edge", "a number in [0, 0.5], or an array of them"),
        (lambda: bounds.rounds_to_zero_error(0.1, 0), "n_rows", "a finite number >= 1, or an array of them"),
        (
            lambda: bounds.generalization_error(0.1, 0.1, n_rows=10, n_learners=0),
            "n_learners",
            "a whole number >= 1",
        ),
        (
            lambda: bounds.generalization_error(0.1, 0.1, n_rows=10, n_learners=9, delta=0),
            "delta",
            "a number in (0, 1)",
        ),
    ],
)
def test_numbers_that_are_none_of_these(call: Any, parameter: str, allowed: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        call()
    assert (caught.value.parameter, caught.value.allowed) == (parameter, allowed)
