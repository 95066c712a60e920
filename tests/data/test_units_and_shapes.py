"""Units of time, and tables of few rows whose shape is almost right."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from coterie import DecisionTreeRegressor
from coterie.data.numeric import days_of
from coterie.errors import InvalidInput

PER_DAY = {"h": 24, "m": 24 * 60, "s": 24 * 3600, "ms": 24 * 3600 * 10**3, "us": 24 * 3600 * 10**6}
FINE = {"ns": 9, "ps": 12, "fs": 15, "as": 18}


@pytest.mark.parametrize("unit", PER_DAY)
def test_three_days_are_three_days_in_every_unit(unit: str) -> None:
    assert_allclose(days_of(np.array([3 * PER_DAY[unit]]).astype(f"timedelta64[{unit}]")), [3.0], rtol=1e-15)
    assert_allclose(days_of(np.array([3 * PER_DAY[unit]]).astype(f"datetime64[{unit}]")), [3.0], rtol=1e-15)


@pytest.mark.parametrize("unit", FINE)
def test_nine_seconds_are_nine_seconds_in_every_fine_unit(unit: str) -> None:
    nine = np.array([9 * 10 ** FINE[unit]]).astype(f"timedelta64[{unit}]")
    assert_allclose(days_of(nine), [9 / 86400], rtol=1e-15)


def test_weeks_months_and_years_are_days() -> None:
    assert days_of(np.array([2], "timedelta64[W]")).tolist() == [14.0]
    assert days_of(np.array([12], "timedelta64[M]")).tolist() == [365.2425]
    assert days_of(np.array(["1971"], "datetime64[Y]")).tolist() == [365.0]
    assert days_of(np.array(["1970-02"], "datetime64[M]")).tolist() == [31.0]


@pytest.mark.parametrize("n_columns", [2, 4])
def test_a_table_with_as_many_rows_as_there_should_be_columns_is_still_refused(n_columns: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    model = DecisionTreeRegressor(max_depth=3).fit(X, X[:, 0])
    with pytest.raises(InvalidInput, match=rf"{n_columns} features|{n_columns} columns"):
        model.predict(rng.normal(size=(3, n_columns)))


def test_a_target_without_columns_is_refused() -> None:
    with pytest.raises(InvalidInput, match="without columns"):
        DecisionTreeRegressor().fit(np.zeros((3, 1)), pd.DataFrame(index=range(3)))
