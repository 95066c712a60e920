"""Weights are brought to a size whose sums and squares are floats; those of a usual size stay as they are."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from coterie.data.weight import _moderate


@pytest.mark.parametrize("largest", [0.0, 1e-19, 1.0, 9e19])
def test_usual_weights_stay_as_they_are(largest: float) -> None:
    weight = np.array([largest, largest / 3, 0.0])
    assert _moderate(weight) is weight


@pytest.mark.parametrize("largest", [5e-324, 1e-300, 1e-20, 1e20, 1e308])
def test_others_are_divided_by_a_power_of_two(largest: float) -> None:
    weight = np.array([largest, largest / 2, 0.0])
    found = _moderate(weight)

    assert 0.5 <= found[0] < 1
    (shares, exponents), (_, before) = np.frexp(found), np.frexp(weight)
    assert_array_equal(shares, np.frexp(weight)[0])
    assert len(set((before - exponents)[weight > 0].tolist())) == 1
