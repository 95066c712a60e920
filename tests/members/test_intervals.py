"""Scales of residuals and intervals made of them: promises, edges, and a slow twin."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from coterie.data.holdout import rows_held_out
from coterie.members.intervals import (
    CalibrationRows,
    ResidualScale,
    conformal_quantile,
    interval_of_residuals,
    within_range,
)


def naive_scale(predicted: Any, residuals: Any, alpha: float, new: float) -> float:
    """Windows one by one, and a line between their middles; weights of one."""
    order = sorted(range(len(predicted)), key=lambda row: predicted[row])
    n_rows = len(order)
    n_windows = min(20, max(1, n_rows // 50))
    width = n_rows // n_windows
    points = []
    for place in range(2 * n_windows - 1):
        first = int((n_rows - width) * (place / max(1, 2 * n_windows - 2)))
        rows = order[first : first + width]
        sizes = sorted(abs(residuals[row]) for row in rows)
        reached = math.ceil((1 - alpha) * width - 1e-9)
        points.append((sum(predicted[row] for row in rows) / width, sizes[max(1, reached) - 1]))
    whole = sorted(abs(own) for own in residuals)[max(1, math.ceil((1 - alpha) * n_rows - 1e-9)) - 1]
    points = [(middle, max(size, 0.05 * whole)) for middle, size in points]
    if new <= points[0][0]:
        return points[0][1]
    for (left, low), (right, high) in pairwise(points):
        if left <= new <= right and left < right:
            return low + (high - low) * (new - left) / (right - left)
    return points[-1][1]


@given(st.integers(0, 10_000), st.integers(2, 700), st.sampled_from([0.05, 0.1, 0.3]))
@settings(deadline=None, max_examples=40)
def test_the_scale_is_that_of_its_slow_twin(seed: int, n_rows: int, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    predicted = rng.normal(size=n_rows)
    residuals = rng.normal(size=n_rows) * (1 + predicted**2)
    scale = ResidualScale.of(predicted, residuals, np.ones(n_rows), alpha)
    new = rng.normal(size=5) * 2

    assert_allclose(scale(new), [naive_scale(predicted, residuals, alpha, own) for own in new], rtol=1e-9)


@given(st.integers(0, 10_000), st.floats(1e-6, 1e6))
@settings(deadline=None, max_examples=30)
def test_units_do_not_matter(seed: int, unit: float) -> None:
    rng = np.random.default_rng(seed)
    predicted, residuals, hard = rng.normal(size=200), rng.normal(size=200), rng.random(200)
    one = ResidualScale.of(predicted, residuals, np.ones(200), 0.1, hard)
    other = ResidualScale.of(unit * predicted, unit * residuals, np.ones(200), 0.1, unit * hard)

    assert_allclose(other(unit * predicted, unit * hard), unit * one(predicted, hard), rtol=1e-6)


def test_weights_are_rows_more_than_once() -> None:
    rng = np.random.default_rng(0)
    predicted, residuals = rng.normal(size=30), rng.normal(size=30)
    weight = rng.integers(1, 4, 30)
    one = ResidualScale.of(predicted, residuals, weight.astype(float), 0.1)
    other = ResidualScale.of(
        *(np.repeat(own, weight) for own in (predicted, residuals)), np.ones(weight.sum()), 0.1
    )
    assert_allclose(one.sizes[:1], other.sizes[:1])


def test_perfect_predictions_have_intervals_without_width() -> None:
    values = np.arange(100.0)
    rows = CalibrationRows(np.arange(100), values, np.ones(100))
    ends = interval_of_residuals(np.array([3.0]), values, rows, 0.1)
    assert_array_equal(ends, [[3.0, 3.0]])


def test_constant_predictions_have_one_width() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=500)
    rows = CalibrationRows(np.arange(500), truth, np.ones(500))
    ends = interval_of_residuals(np.zeros(3), np.zeros(500), rows, 0.1)
    assert_allclose(ends[0], ends[2])
    assert ends[0, 1] == pytest.approx(1.645, abs=0.15)


def test_too_few_rows_promise_nothing() -> None:
    rows = CalibrationRows(np.arange(5), np.array([-1.0, 1, 2, 3, 4]), np.ones(5))
    assert_array_equal(interval_of_residuals(np.zeros(1), np.zeros(5), rows, 0.1), [[-np.inf, np.inf]])


def test_coverage_is_even_where_errors_grow_with_the_prediction() -> None:
    rng = np.random.default_rng(0)
    predicted = rng.uniform(1, 10, 8000)
    truth = predicted * np.exp(0.2 * rng.normal(size=8000))
    rows = CalibrationRows(np.arange(4000), truth[:4000], np.ones(4000))
    new, new_truth = predicted[4000:], truth[4000:]

    low, high = interval_of_residuals(new, predicted[:4000], rows, 0.1).T
    inside = (new_truth >= low) & (new_truth <= high)

    for part in range(5):
        chosen = (new >= 1 + 1.8 * part) & (new < 2.8 + 1.8 * part)
        assert 0.86 < inside[chosen].mean() < 0.94
    flat = conformal_quantile(np.abs(truth - predicted)[:4000], np.ones(4000), 0.1)
    assert np.mean(high - low) < 2 * flat


@pytest.mark.parametrize(
    ("truth", "expected"),
    [
        ([0.0, 4.0], [0.0, 7.0]),
        ([-1.0, 4.0], [-3.0, 7.0]),
        ([-5.0, 0.0], [-3.0, 0.0]),
        ([0.0, 0.3, 1.0], [0.0, 1.0]),
        ([0.1, 0.3, 1.0], [0.0, 7.0]),
        ([0.0, 0.0], [-3.0, 7.0]),
    ],
)
def test_ends_stay_within_the_range_of_the_target(truth: list[float], expected: list[float]) -> None:
    ends = within_range(np.array([[-3.0, 7.0]]), np.array(truth), np.ones(len(truth)))
    assert_array_equal(ends, [expected])


def test_infinite_ends_stay_infinite() -> None:
    ends = within_range(np.array([[-np.inf, np.inf]]), np.array([0.0, 4.0]), np.ones(2))
    assert_array_equal(ends, [[-np.inf, np.inf]])


def test_rows_without_weight_say_nothing_about_the_range() -> None:
    ends = within_range(np.array([[-3.0, 7.0]]), np.array([-9.0, 4.0]), np.array([0.0, 1.0]))
    assert_array_equal(ends, [[0.0, 7.0]])


def test_rows_that_calibrate_are_evenly_spaced() -> None:
    predicted = np.arange(100.0)
    predicted[:50] = np.nan
    assert_array_equal(rows_held_out(predicted, None, 3), [50, 74, 99])
    assert len(rows_held_out(np.full(3, np.nan), None, 3)) == 0
