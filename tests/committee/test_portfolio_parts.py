"""What members of the portfolio are fitted with, and the units in which their errors are measured."""

import numpy as np
import pytest

from coterie._typing import Task
from coterie.committee.metrics import _unit
from coterie.committee.portfolio import Shape, portfolio_of


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_forests_of_folds_measure_nothing_out_of_bag(task: Task) -> None:
    entries = portfolio_of(["extra_trees", "forest"], task, Shape(1000, 250, 4))

    assert [entry.estimator.oob_score for entry in entries] == [False, False]
    assert [entry.single_fit is None for entry in entries] == [True, False]


@pytest.mark.parametrize(
    ("largest", "unit"),
    [(0.0, 1.0), (3.0, 1.0), (1e200, 2.0**664), (1e-200, 2.0**-665), (5e-324, 2.0**-1000)],
)
def test_numbers_whose_squares_are_no_floats_are_divided_by_a_power_of_two(
    largest: float, unit: float
) -> None:
    assert _unit(np.array([0.0, -largest])) == unit
