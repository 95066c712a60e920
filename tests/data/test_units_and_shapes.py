"""Units of time, and tables of few rows whose shape is almost right."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from coterie import DecisionTreeRegressor
from coterie.data.table import days_of, number_levels
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


@pytest.mark.parametrize("dtype", ["i4", "i8", "u1", "f4", "f8"])
def test_small_whole_numbers_from_zero_are_their_own_codes(dtype: str) -> None:
    codes, levels = number_levels(np.array([3, 0, 5, 3], dtype=dtype))
    assert codes.tolist() == [3, 0, 5, 3]
    assert levels.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("odd", [-1, 65536, 2**31 - 1])
@pytest.mark.parametrize("dtype", ["i8", "f8"])
def test_other_whole_numbers_are_levels_that_occur(odd: int, dtype: str) -> None:
    codes, levels = number_levels(np.array([0, odd, 7, 0], dtype=dtype))
    assert levels.tolist() == sorted({0, odd, 7})
    assert levels[codes].tolist() == [0, odd, 7, 0]


def test_codes_may_reach_the_last_number_below_the_limit() -> None:
    codes, levels = number_levels(np.array([65535, 1]))
    assert codes.tolist() == [65535, 1]
    assert len(levels) == 65536
