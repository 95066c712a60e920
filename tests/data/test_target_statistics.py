"""Target statistics: what rows are told about the target of others, and never about their own."""

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.data.encoding import Encoded
from coterie.data.prepare import Encoder, read_table
from coterie.data.target_statistics import (
    Source,
    TargetStatistics,
    _verify_source,
    find_sources,
    target_components,
)
from coterie.errors import ModelFileError
from tests.naive.target_statistics import naive_ordered_means


def one_column(codes: Any) -> Encoded:
    codes = np.asarray(codes, dtype=np.int32)
    n_levels = np.array([max(1, int(codes.max(initial=-1)) + 1)], dtype=np.int32)
    return Encoded([codes], len(codes), 1, n_levels)


@given(st.integers(0, 10_000))
def test_ordered_statistics_are_those_of_the_slow_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(2, 40))
    encoded = one_column(rng.integers(-1, 5, n_rows))
    target = rng.normal(size=n_rows)
    weight = rng.integers(0, 3, n_rows).astype(float)
    weight[rng.integers(n_rows)] = 1.0
    statistics = TargetStatistics(find_sources(encoded, few=-1), encoded, target, weight)

    told = statistics.extend_training(encoded, target, weight, seed).values[1]

    order = np.random.Generator(np.random.PCG64(seed)).permutation(n_rows)
    expected = naive_ordered_means(
        encoded.values[0].tolist(), target.tolist(), weight.tolist(), order.tolist()
    )
    np.testing.assert_allclose(told, expected, atol=1e-12)


def test_a_row_is_not_told_its_own_target() -> None:
    rng = np.random.default_rng(0)
    encoded = one_column(rng.integers(0, 20, 200))
    target = rng.normal(size=200)
    changed = target.copy()
    changed[17] += 100.0
    weight = np.ones(200)
    weight[17] = 0.0  # left out: then no row is told

    told = [
        TargetStatistics(find_sources(encoded), encoded, y, None)
        .extend_training(encoded, y, weight, 1)
        .values[1]
        for y in (target, changed)
    ]

    np.testing.assert_array_equal(told[0], told[1])


def test_new_rows_are_told_the_mean_of_all_rows_of_their_level() -> None:
    encoded = one_column([0, 0, 1, 2, -1])
    statistics = TargetStatistics(
        find_sources(encoded, few=2), encoded, np.array([2.0, 4.0, 9.0, 0.0, 5.0]), None
    )

    told = statistics.extend(one_column([0, 1, 2, -1])).values[1]

    np.testing.assert_allclose(told, [(2 + 4 + 4) / 3, (9 + 4) / 2, (0 + 4) / 2, (5 + 4) / 2])


def test_a_weight_of_two_is_a_row_twice() -> None:
    rng = np.random.default_rng(3)
    codes, target, weight = rng.integers(-1, 4, 50), rng.normal(size=50), rng.integers(0, 4, 50)
    again = np.repeat(np.arange(50), weight)
    weighted, repeated = one_column(codes), one_column(codes[again])
    new = one_column([0, 1, 2, 3])

    told = [
        TargetStatistics(find_sources(weighted, few=1), weighted, target, weight.astype(float)).extend(new),
        TargetStatistics(find_sources(weighted, few=1), repeated, target[again], None).extend(new),
    ]

    np.testing.assert_allclose(told[0].values[1], told[1].values[1])


def test_only_columns_of_many_levels_are_counted_and_pairs_when_asked_for() -> None:
    rng = np.random.default_rng(0)
    few, many = rng.integers(0, 10, 500).astype(np.int32), rng.integers(0, 11, 500).astype(np.int32)
    encoded = Encoded([few, rng.normal(size=500), many], 500, 3, np.array([10, 0, 11], np.int32))

    assert [source.features for source in find_sources(encoded)] == [(2,)]
    assert [source.features for source in find_sources(encoded, 2)] == [(2,), (0, 2)]


def test_a_pair_is_told_the_mean_of_its_combination() -> None:
    first, second = np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 1], np.int32)
    encoded = Encoded([first, second], 4, 2, np.array([2, 2], np.int32))
    target = np.array([0.0, 1.0, 1.0, 0.0])
    statistics = TargetStatistics(find_sources(encoded, 2), encoded, target, None)
    unseen = Encoded([np.array([1], np.int32), np.array([-1], np.int32)], 1, 2, encoded.n_levels)

    assert statistics.features == [(0, 1)]
    np.testing.assert_allclose(statistics.extend(encoded).values[2], (target + 0.5) / 2)
    np.testing.assert_allclose(statistics.extend(unseen).values[2], [0.5])


def test_levels_that_share_a_group_are_counted_one_by_one() -> None:
    towns = np.array([f"town {i % 400}" for i in range(4000)], dtype=object)
    target = np.array([float(i % 400) for i in range(4000)])
    table = read_table({"town": towns})
    encoder = Encoder()
    encoded = encoder.fit_transform(table, target)
    statistics = TargetStatistics(find_sources(encoded), encoded, target, None)

    told = statistics.extend(encoder.transform(table)).values[1]

    assert encoded.n_levels[0] <= 254
    np.testing.assert_allclose(told, (10 * target + target.mean()) / 11)


@pytest.mark.parametrize(("n_classes", "n_components"), [(0, 1), (2, 1), (3, 3), (12, 8)])
def test_components_are_the_target_or_indicators_of_frequent_classes(
    n_classes: int, n_components: int
) -> None:
    target = np.arange(600) % n_classes if n_classes else np.linspace(0, 1, 600)

    components = target_components(target, n_classes)

    assert len(components) == n_components
    assert all(component.dtype == np.float64 for component in components)
    if n_classes == 2:
        np.testing.assert_array_equal(components[0], target)


@pytest.mark.parametrize(
    ("features", "n_levels", "pairs", "message"),
    [
        ((), 3, None, "is about one feature or two"),
        ((0, 1, 2), 3, [1, 2, 3], "is about one feature or two"),
        ((0,), 3, [1, 2, 3], "has pairs and one feature, or none and two"),
        ((0, 1), 3, None, "has pairs and one feature, or none and two"),
        ((0, 1), 2, [1, 2, 3], "has another number of pairs than of levels"),
        ((0, 1), 3, [1, 3, 2], "has pairs that are not in order"),
        ((0, 1), 3, [1, 2, 2], "has pairs that are not in order"),
        ((0, 1), 0, [], "has pairs that are not in order"),
        ((0,), 3, None, None),
        ((0, 1), 1, [7], None),
        ((0, 1), 3, [1, 2, 3], None),
    ],
)
def test_a_stored_source_of_statistics_is_checked(
    features: tuple[int, ...], n_levels: int, pairs: list[int] | None, message: str | None
) -> None:
    source = Source(features, n_levels, None if pairs is None else np.array(pairs, dtype=np.int64))
    with nullcontext() if message is None else pytest.raises(ModelFileError, match=message):
        _verify_source(source)
