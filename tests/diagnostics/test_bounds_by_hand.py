"""Bounds in cases that need no computer."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from coterie.diagnostics import bounds


@pytest.mark.parametrize("theta", [0.0, 0.25, [0.0, 0.1]])
def test_a_member_that_is_mostly_wrong_is_worth_as_much_as_its_opposite(theta: object) -> None:
    assert_allclose(bounds.margin_error([0.2, 0.3], theta), bounds.margin_error([0.8, 0.7], theta))


def test_at_half_the_rows_wrong_nothing_is_won() -> None:
    assert_allclose(bounds.margin_error([0.5, 0.5], 0.0), [1.0, 1.0])
    assert_allclose(bounds.margin_error([0.1], 0.0), 2 * np.sqrt([0.09]))
