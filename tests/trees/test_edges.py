"""Numbers beyond any table are legal limits of a tree."""

import numpy as np
import pytest

from coterie import DecisionTreeRegressor

X = np.arange(20.0)[:, None]


@pytest.mark.parametrize("limit", ["min_samples_leaf", "min_samples_split"])
@pytest.mark.parametrize("rows", [2**62, 2**63, 10**40])
def test_a_limit_of_more_rows_than_any_table_has_leaves_one_leaf(limit: str, rows: int) -> None:
    model = DecisionTreeRegressor(**{limit: rows}).fit(X, X[:, 0])
    assert model.get_n_leaves() == 1
    assert model.predict([[3.0]]).tolist() == [9.5]
