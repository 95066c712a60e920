"""Learned weights: on the simplex, as good as a slow solver finds, and never worse than a member alone."""

from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coterie.combining._combine import RankScales, least_log_loss, least_squares, majority, mean, median
from tests.naive.simplex import smallest_on_simplex

QUICK: dict[str, Any] = {"deadline": None, "derandomize": True, "suppress_health_check": list(HealthCheck)}


@st.composite
def members(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    """Answers of members, some of them alike, the truth, and weights of rows or none."""
    n_members, n_rows = draw(st.integers(1, 6)), draw(st.integers(2, 30))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    answers = rng.normal(size=(n_members, n_rows, 1)) * draw(st.sampled_from([1e-6, 1.0, 1e6]))
    if n_members > 2 and draw(st.booleans()):
        answers[1] = answers[0]
    truth = answers[0] * draw(st.sampled_from([0.0, 0.5, 1.0])) + rng.normal(size=(n_rows, 1)) * answers.std()
    return answers, truth, draw(st.sampled_from([None, rng.integers(0, 3, n_rows) + 0.5]))


@settings(max_examples=60, **QUICK)
@given(members())
def test_least_squares_on_the_simplex(problem: tuple[Any, Any, Any]) -> None:
    answers, truth, weight = problem
    scale = float(np.abs(truth).max())

    def loss(weights: Any) -> float:
        return float(
            np.average(((np.tensordot(weights, answers, 1) - truth)[:, 0] / scale) ** 2, weights=weight)
        )

    weights = least_squares(answers, truth, weight)

    assert weights.min() >= 0
    assert abs(weights.sum() - 1) < 1e-12
    assert loss(weights) <= smallest_on_simplex(loss, len(answers)) + 1e-8
    assert loss(weights) <= min(map(loss, np.eye(len(answers)))) + 1e-12


@settings(max_examples=60, **QUICK)
@given(members())
def test_least_log_loss_on_the_simplex(problem: tuple[Any, Any, Any]) -> None:
    answers, _, weight = problem
    of_truth = 1 / (1 + np.exp(-np.clip(answers[:, :, 0], -30, 30)))

    def loss(weights: Any) -> float:
        return -float(np.average(np.log(np.maximum(weights @ of_truth, 1e-15)), weights=weight))

    weights = least_log_loss(of_truth, weight)

    assert weights.min() >= 0
    assert abs(weights.sum() - 1) < 1e-12
    assert loss(weights) <= smallest_on_simplex(loss, len(of_truth)) + 1e-7
    assert loss(weights) <= min(map(loss, np.eye(len(of_truth)))) + 1e-12


@settings(max_examples=40, **QUICK)
@given(members())
def test_a_weight_of_two_is_the_member_twice(problem: tuple[Any, Any, Any]) -> None:
    answers = problem[0]
    weights = np.arange(1, len(answers) + 1)
    repeated = np.repeat(answers, weights, axis=0)
    votes = np.eye(3)[np.digitize(answers[:, :, 0], [-0.5, 0.5])]
    scales, repeated_scales = RankScales.of(answers), RankScales.of(repeated)

    np.testing.assert_allclose(mean(answers, weights), repeated.mean(axis=0), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(median(answers, weights), np.median(repeated, axis=0))
    np.testing.assert_array_equal(
        majority(votes, weights), np.repeat(votes, weights, axis=0).sum(axis=0).argmax(axis=1)
    )
    np.testing.assert_allclose(
        scales.combined(answers, weights), repeated_scales.combined(repeated), rtol=1e-7, atol=1e-7
    )


@settings(max_examples=40, **QUICK)
@given(members())
def test_ranks_do_not_see_the_scale_of_a_member(problem: tuple[Any, Any, Any]) -> None:
    answers = problem[0]
    stretched = answers.copy()
    stretched[-1] = 10 * stretched[-1] + 3

    order, other = (RankScales.of(each).combined(each)[:, 0] for each in (answers, stretched))

    distinct = np.abs(np.subtract.outer(order, order)) > 1e-9 * np.abs(order).max()
    assert ((np.subtract.outer(order, order) > 0) == (np.subtract.outer(other, other) > 0))[distinct].all()


def test_a_weight_that_fell_to_zero_on_the_way_comes_back() -> None:
    members = [[1, 2, 0], [0, 0, -2], [0, 2, -1], [0, 2, -1], [3, 0, 0], [3, 1, 1]]

    weights = least_squares(np.array(members, dtype=float)[:, :, None], np.array([[2.0], [-2.0], [-1.0]]))

    np.testing.assert_allclose(weights, [0, 5 / 13, 0, 0, 8 / 13, 0], atol=1e-9)


def test_members_that_say_the_same_have_equal_weights() -> None:
    answers = np.array([[1.0, 2.0], [1.0, 2.0], [5.0, 0.0]])[:, :, None]

    weights = least_squares(answers, np.array([[1.5], [1.75]]))

    assert abs(weights[0] - weights[1]) < 1e-12


def test_a_mean_rank_is_translated_by_all_members() -> None:
    low = np.arange(100.0)[:, None]
    scales = RankScales.of(np.stack([low, 10 * low]))

    said = scales.combined(np.array([[[50.0]], [[500.0]]]))

    np.testing.assert_allclose(said, [[275.0]], atol=6)
    np.testing.assert_allclose(scales.combined(np.array([[[20.0]], [[800.0]]])), [[275.0]], atol=6)
