"""Which attributes of a model are curves of its training, and where they are lowest."""

from typing import Any

import numpy as np
import pytest

from coterie.report.model.training_curves import _lowest, _numbers

NAN = float("nan")


@pytest.mark.parametrize(
    "values",
    [[3.0, 2.0, 1.0], np.array([1.0, NAN, 2.0, 3.0]), np.array([1, 2, 3], dtype=np.float32)],
    ids=repr,
)
def test_three_numbers_at_least_are_a_curve(values: Any) -> None:
    found = _numbers(values)
    assert found is not None
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize(
    "values",
    [None, [1.0, 2.0], [1.0, 2.0, NAN], [1, 2, 3], ["a", "b", "c"], np.ones((3, 3)), np.ones((1, 3)), 1.0],
    ids=repr,
)
def test_what_is_no_curve(values: Any) -> None:
    assert _numbers(values) is None


def test_the_lowest_point_is_counted_from_one_and_gaps_are_passed_over() -> None:
    assert _lowest(np.array([3.0, 1.0, 2.0]), "round") == "Lowest after round 2 of 3."
    assert _lowest(np.array([NAN, 3.0, 1.0, 1.0]), "tree") == "Lowest after tree 3 of 4."
    assert _lowest(np.arange(2000.0)[::-1], "round") == "Lowest after round 2,000 of 2,000."
