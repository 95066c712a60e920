"""Bins: in the order of the values, few distinct values apart, missing ones in bin 0, whatever the storage."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from coterie import _engine

NO_WEIGHT = np.empty(0)
NUMERIC = np.zeros(1, np.int32)


def bins_of(column: NDArray[Any], max_bins: int = 255, weight: Any = NO_WEIGHT) -> NDArray[np.uint8]:
    mapper = _engine.BinMapper.fit([column], NUMERIC, weight, max_bins, 0, 1)
    return np.asarray(_engine.BinnedMatrix([column], NUMERIC, mapper, 1).column(0))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    arrays(
        st.sampled_from([np.float32, np.float64]),
        st.integers(1, 300),
        elements=st.floats(width=32) | st.sampled_from([0.0, -0.0, 1.0, 2.0]),
    ),
    st.integers(2, 255),
)
def test_bins_follow_the_order_of_values(column: NDArray[Any], max_bins: int) -> None:
    bins = bins_of(column, max_bins).astype(int)
    missing = np.isnan(column)

    assert (bins[missing] == 0).all()
    assert (bins[~missing] >= 1).all()
    assert bins.max(initial=0) <= max_bins
    order = np.argsort(column[~missing], kind="stable")
    values, ordered = column[~missing][order], bins[~missing][order]
    assert (np.diff(ordered) >= 0).all()
    same_value = values[1:] == values[:-1]
    assert (ordered[1:][same_value] == ordered[:-1][same_value]).all()
    if len(np.unique(values)) <= max_bins:
        assert len(np.unique(ordered)) == len(np.unique(values))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u1"])
def test_storage_does_not_matter(dtype: str) -> None:
    values = np.random.default_rng(0).integers(0, 100, 500)

    assert np.array_equal(bins_of(values.astype(dtype)), bins_of(values.astype(float)))


def test_neither_strides_nor_sign_of_zero_matter() -> None:
    values = np.random.default_rng(0).normal(size=600).round(1)
    strided = np.repeat(values, 3)[::3]

    assert np.array_equal(bins_of(strided), bins_of(values))
    assert np.array_equal(bins_of(values[::-1]), bins_of(values)[::-1])
    zeros = np.array([0.0, -0.0, 1.0, -1.0])
    assert bins_of(zeros).tolist() == [2, 2, 3, 1]


def test_infinities_are_values_like_others() -> None:
    assert bins_of(np.array([np.inf, 0.0, -np.inf, np.nan, 1e308])).tolist() == [4, 2, 1, 0, 3]


def test_many_values_share_bins_evenly() -> None:
    counts = np.bincount(bins_of(np.random.default_rng(0).normal(size=20_000), 100))

    assert counts[0] == 0
    assert len(counts) == 101
    assert counts[1:].min() >= 150
    assert counts[1:].max() <= 250


def test_a_heavy_value_has_a_bin_of_its_own() -> None:
    rng = np.random.default_rng(0)
    values = np.where(rng.random(10_000) < 0.6, 0.0, rng.normal(size=10_000))
    bins = bins_of(values, 20)

    assert len(np.unique(bins[values == 0])) == 1
    assert (values[bins == bins[values == 0][0]] == 0).all()
    assert len(np.unique(bins)) >= 15


@pytest.mark.parametrize("max_bins", [2, 3, 7, 255])
def test_there_are_never_more_bins_than_allowed(max_bins: int) -> None:
    rng = np.random.default_rng(max_bins)
    for values in (
        rng.normal(size=3000),
        rng.zipf(1.5, 3000).astype(float),
        rng.integers(0, 300, 3000) ** 3.0,
    ):
        assert bins_of(values, max_bins).max() <= max_bins


def test_weights_are_repetitions_and_weightless_rows_have_no_say() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=1000)
    weight = rng.integers(0, 4, 1000)
    mapper = _engine.BinMapper.fit([values], NUMERIC, weight.astype(float), 30, 0, 1)
    repeated = _engine.BinMapper.fit([np.repeat(values, weight)], NUMERIC, NO_WEIGHT, 30, 0, 1)

    assert np.array_equal(mapper.cuts(0), repeated.cuts(0))


def test_a_cut_lies_between_the_values_it_parts() -> None:
    cuts = _engine.BinMapper.fit([np.array([1.0, 2.0, 4.0])], NUMERIC, NO_WEIGHT, 255, 0, 1).cuts(0)
    assert cuts.tolist() == [1.5, 3.0]
    neighbours = np.array([1.0, np.nextafter(1.0, 2.0)])
    assert bins_of(neighbours).tolist() == [1, 2]


def test_the_bins_of_a_large_table_do_not_depend_on_threads_or_a_copy() -> None:
    values = np.random.default_rng(0).normal(size=(150_000, 3))
    levels = np.zeros(3, np.int32)
    cuts = [_engine.BinMapper.fit(values, levels, NO_WEIGHT, 255, 5, threads).cuts(1) for threads in (1, 2)]
    column = _engine.BinMapper.fit([values[:, 1].copy()], NUMERIC, NO_WEIGHT, 255, 5, 1).cuts(0)

    assert np.array_equal(cuts[0], cuts[1])
    assert np.array_equal(cuts[0], column)


def test_levels_have_the_bin_after_their_code() -> None:
    codes = np.array([-1, 0, 1, 2, 5, 99], np.int32)
    levels = np.array([3], np.int32)
    mapper = _engine.BinMapper.fit([codes], levels, NO_WEIGHT, 255, 0, 1)

    assert _engine.BinnedMatrix([codes], levels, mapper, 1).column(0).tolist() == [0, 1, 2, 3, 0, 0]


@pytest.mark.parametrize("max_bins", [-1, 0, 1, 256])
def test_the_engine_refuses_impossible_numbers_of_bins(max_bins: int) -> None:
    with pytest.raises(ValueError, match="max_bins must be between 2 and 255"):
        bins_of(np.ones(3), max_bins)
