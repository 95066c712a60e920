"""Importances put to a test: means, spreads and p-values over trees."""

import math
import statistics
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from coterie.errors import InvalidInput
from coterie.forests._analysis import importance_test


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-20, 20) | st.none(), min_size=2, max_size=30))
def test_numbers_are_those_of_the_textbook(increases: list[int | None]) -> None:
    column = [math.nan if each is None else each / 4 for each in increases]
    known = [0.0 if each is None else each / 4 for each in increases]
    test = importance_test(np.array(column)[:, None])
    mean, std = statistics.fmean(known), statistics.stdev(known)
    assert_allclose(test.importances_mean, [mean], atol=1e-15)
    assert_allclose(test.importances_std, [std], atol=1e-15)
    assert_allclose(test.standard_error, [std / math.sqrt(len(known))], atol=1e-15)
    assert_array_equal(test.importances, [known])
    if std > 0:
        assert_allclose(test.z, [mean / std * math.sqrt(len(known))], atol=1e-12)
        assert_allclose(test.p_value, [0.5 * math.erfc(test.z[0] / math.sqrt(2))])


def test_a_feature_that_no_tree_uses_is_never_found() -> None:
    test = importance_test(np.array([[np.nan, 0.0], [np.nan, 0.0], [np.nan, 0.0]]))
    assert_array_equal(test.z, 0.0)
    assert_array_equal(test.p_value, 1.0)


def test_without_any_spread_the_sign_decides() -> None:
    test = importance_test(np.tile([0.1, -0.1], (7, 1)))
    assert_array_equal(test.importances_mean, [0.1, -0.1])
    assert_array_equal(test.importances_std, 0.0)
    assert_array_equal(test.z, [np.inf, -np.inf])
    assert_array_equal(test.p_value, [0.0, 1.0])


def test_p_values_of_noise_are_even() -> None:
    noise = np.random.default_rng(0).normal(size=(200, 1000))
    assert stats.kstest(importance_test(noise).p_value, "uniform").pvalue > 0.01


@pytest.mark.parametrize(
    ("increases", "message"),
    [
        (np.zeros(3), r"shape \(3,\)"),
        (np.zeros((1, 3)), "two trees at least"),
        (np.array([[np.inf], [0.0]]), "hold infinity"),
    ],
)
def test_increases_that_make_no_sense(increases: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        importance_test(increases)
