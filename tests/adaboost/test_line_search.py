"""Steps along a direction: the least of a loss is found, wherever it is."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.adaboost._functional_descent import best_step


@pytest.mark.parametrize("least", [1e-200, 1e-9, 0.3, 1.0, 77.0, 1e12, 1e200])
@pytest.mark.parametrize("bend", [True, False])
def test_the_bottom_of_a_parabola(least: float, bend: bool) -> None:
    found = best_step(lambda step: (2 * (step - least), 2.0 if bend else math.nan), unit=1.0)

    assert found == pytest.approx(least, rel=1e-14)


@pytest.mark.parametrize("error", [1e-6, 0.01, 0.1, 0.3, 0.49, 0.499999])
def test_the_vote_of_adaboost(error: float) -> None:
    def derivatives(step: float) -> tuple[float, float]:
        right, wrong = (1 - error) * math.exp(-step), error * math.exp(min(step, 700.0))
        return wrong - right, wrong + right

    assert best_step(derivatives, unit=1.0) == pytest.approx(math.log((1 - error) / error) / 2, rel=1e-13)


@given(
    corners=st.lists(st.floats(0.001, 1000), min_size=1, max_size=9),
    weights=st.lists(st.floats(0.1, 10), min_size=9, max_size=9),
)
@settings(derandomize=True, deadline=None, max_examples=100)
def test_a_sum_of_distances_is_least_at_a_median(corners: list[float], weights: list[float]) -> None:
    at, weight = np.array(corners), np.array(weights[: len(corners)])

    def cost(step: float) -> float:
        return float(weight @ np.abs(step - at))

    found = best_step(lambda step: (float(weight @ np.sign(step - at)), math.nan), unit=1.0)

    assert cost(found) <= min(cost(corner) for corner in corners) + 1e-9


def test_where_the_loss_does_not_fall_no_step_is_taken() -> None:
    assert best_step(lambda step: (step, 1.0), unit=1.0) == 0
    assert best_step(lambda step: (1.0 + step, 1.0), unit=1.0) == 0
    assert best_step(lambda _: (math.nan, 1.0), unit=1.0) == 0


def test_a_loss_that_falls_without_end_gets_a_step_that_ends() -> None:
    found = best_step(lambda step: (-math.exp(-step), math.exp(-step)), unit=1.0)

    assert found == pytest.approx(math.log(100), rel=1e-12)


@pytest.mark.parametrize("beyond", [math.inf, math.nan])
def test_numbers_that_overflow_far_away_count_as_rising(beyond: float) -> None:
    def derivatives(step: float) -> tuple[float, float]:
        return (step - 5.0, math.nan) if step < 30 else (beyond, beyond)

    assert best_step(derivatives, unit=100.0) == pytest.approx(5, rel=1e-14)


def test_a_wrong_bend_does_no_harm() -> None:
    for bend in (1e-3, 1e6, -1.0, 0.0, math.inf):
        found = best_step(lambda step, bend=bend: (math.tanh(step - 2), bend), unit=1.0)
        assert found == pytest.approx(2, rel=1e-9)


def test_few_looks_are_enough_where_the_bend_is_known() -> None:
    looks: list[Any] = []

    def derivatives(step: float) -> tuple[float, float]:
        looks.append(step)
        return math.expm1(step - 3), math.exp(step - 3)

    assert best_step(derivatives, unit=1.0) == pytest.approx(3, rel=1e-14)
    assert len(looks) < 20
