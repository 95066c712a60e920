"""A target of one column is the target itself."""

import numpy as np
from numpy.testing import assert_array_equal
from sklearn.linear_model import LinearRegression

from coterie import BaggingRegressor, DecisionTreeRegressor

X = np.random.default_rng(0).normal(size=(60, 2))
Y = X[:, 0] - X[:, 1]


def test_a_column_of_targets_is_one_target() -> None:
    for learner in (DecisionTreeRegressor(max_depth=3), LinearRegression()):
        flat, column = (BaggingRegressor(learner, 4, random_state=0).fit(X, y) for y in (Y, Y[:, None]))
        assert_array_equal(column.predict(X), flat.predict(X))
        assert column.predict(X).shape == (60,)
