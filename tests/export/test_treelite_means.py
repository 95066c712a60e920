"""A mean that is exact here is exact in treelite."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from coterie import RandomForestRegressor
from tests.helpers.exported import treelite_answers

pytest.importorskip("treelite")


@pytest.mark.parametrize("n_trees", [3, 7, 10])
def test_the_mean_of_whole_numbers_is_divided_once(n_trees: int) -> None:
    """Thirds that are added up are not the third of a sum."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = rng.integers(0, 1000, 300).astype(float)
    model = RandomForestRegressor(n_trees, random_state=0).fit(X, y)

    found = treelite_answers(model, X)[:, 0, 0]

    whole = np.sum([tree.predict(X) for tree in model.estimators_], axis=0)
    assert_array_equal(whole, np.round(whole))  # every leaf is pure
    assert_array_equal(found, whole / n_trees)
