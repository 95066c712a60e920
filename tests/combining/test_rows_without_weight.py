"""What rows without weight hold matters to no score, whether it takes weights or not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, Ridge

from coterie import SelectionRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X @ [1.0, 2.0, 3.0] + RNG.normal(size=60)
WEIGHT = np.where(np.arange(60) % 6 == 0, 0.0, 1.0)
MEMBERS = [
    ("line", LinearRegression()),
    ("strong", Ridge(alpha=50.0)),
    ("mean", DummyRegressor()),
]


@pytest.mark.parametrize("scoring", [None, "neg_max_error"])
def test_selection_looks_at_weighty_rows_alone(scoring: str | None) -> None:
    other = np.where(WEIGHT == 0, 40.0, Y)

    first, second = (
        SelectionRegressor(MEMBERS, scoring=scoring, cv=3).fit(X, y, sample_weight=WEIGHT) for y in (Y, other)
    )

    assert_array_equal(first.weights_, second.weights_)
    assert_allclose(first.predict(X), second.predict(X))
