"""Squared error of several targets: the mean over the targets of a row."""

import numpy as np

from coterie.losses.squared_error import SquaredOfSeveral


def test_the_value_of_a_row_is_the_mean_over_its_targets() -> None:
    y, raw = np.array([[1.0, 2.0], [0.0, -1.0]]), np.array([[3.0, 2.0], [1.0, 2.0]])
    assert SquaredOfSeveral(2).values(y, raw).tolist() == [1.0, 2.5]
