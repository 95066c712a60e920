"""The median of members, weighted or not, by hand."""

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor

from coterie import VotingRegressor


@pytest.mark.parametrize(
    ("predictions", "weights", "median"),
    [
        ([1.0, 10.0], None, 5.5),
        ([1.0, 2.0, 10.0], None, 2.0),
        ([10.0, 1.0, 2.0, 4.0], None, 3.0),
        ([1.0, 2.0, 10.0], [3, 1, 1], 1.0),
        ([1.0, 2.0, 10.0], [1, 1, 2], 6.0),  # half of the weight is reached exactly by the first two
        ([10.0, 1.0, 2.0], [0.2, 0.1, 0.1], 6.0),
        ([1.0, 2.0, 10.0], [2, 1, 1], 1.5),
        ([1.0, 2.0, 10.0], [1, 1, 3], 10.0),
        ([1.0, 2.0, 10.0], [0, 1, 0], 2.0),
    ],
)
def test_half_of_the_weight_lies_on_either_side(
    predictions: list[float], weights: list[float] | None, median: float
) -> None:
    members = [
        (f"always {value}", DummyRegressor(strategy="constant", constant=value)) for value in predictions
    ]
    model = VotingRegressor(members, voting="median", weights=weights).fit(np.zeros((3, 1)), np.arange(3.0))
    assert model.predict([[0.0]]) == pytest.approx(median)
