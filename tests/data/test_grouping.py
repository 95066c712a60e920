"""Too many levels: groups keep what the levels say about the target and cannot repeat single labels."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from coterie.data import grouping
from coterie.data.grouping import MAX_GROUPS, _leading_direction, group_levels


def column(n_levels: int, n_rows: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(0, n_levels, n_rows).astype(np.int32)


def explained(codes: Any, y: Any) -> float:
    """Share of the variance of y that the means of these codes explain."""
    sums, counts = np.bincount(codes, weights=y), np.bincount(codes)
    means = (sums / np.maximum(counts, 1))[codes]
    return float(1 - np.var(y - means) / np.var(y))


def test_few_levels_stay_as_they_are() -> None:
    assert_array_equal(group_levels(column(9, 50), 9, None, None), np.arange(9))


def test_levels_with_the_same_target_share_a_group() -> None:
    codes = np.repeat(np.arange(4, dtype=np.int32), 100)
    y = np.array([0.0, 5.0, 0.0, 5.0])[codes]

    assert group_levels(codes, 4, y, None, max_groups=2).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 0)])
def test_groups_of_two_classes_are_ordered_by_the_share_of_class_1(first: int, second: int) -> None:
    codes = np.repeat(np.arange(10, dtype=np.int32), 100)
    share = np.tile(np.arange(100), 10) < np.arange(10).repeat(100) * 10
    groups = group_levels(codes, 10, np.where(share, second, first).astype(np.int32), None, max_groups=5)

    upwards = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert groups.tolist() == (upwards if second == 1 else upwards[::-1])


def test_the_sign_of_the_leading_direction_is_fixed() -> None:
    rng = np.random.default_rng(0)
    counts = [
        rng.integers(0, 50, (30, n_classes)).astype(float) for n_classes in (2, 3, 4, 5) for _ in range(10)
    ]
    directions = [_leading_direction(table, table.sum(axis=1)) for table in counts]

    assert all(direction[np.argmax(np.abs(direction))] > 0 for direction in directions if len(direction) > 2)
    assert all(direction[1] > 0 for direction in directions if len(direction) == 2)


def test_levels_with_equal_means_stay_in_order_however_their_rows_were_summed() -> None:
    values = np.array([0.1, 0.7, 0.3, 1e-3, 123.456] * 6)
    codes = np.repeat(np.arange(600, dtype=np.int32), len(values))
    rng = np.random.default_rng(0)
    y = np.concatenate([rng.permutation(values) + 100 * (level % 3) for level in range(600)])
    order = rng.permutation(len(codes))

    groups = group_levels(codes, 600, y, None, max_groups=100)
    assert_array_equal(groups, group_levels(codes[order], 600, y[order], None, max_groups=100))
    assert all((np.diff(groups[first::3]) >= 0).all() for first in range(3))


def test_without_a_target_the_most_frequent_levels_are_alone() -> None:
    codes = np.repeat(np.arange(5, dtype=np.int32), [1, 9, 3, 9, 2])

    assert group_levels(codes, 5, None, None, max_groups=3).tolist() == [2, 0, 2, 1, 2]


def test_if_the_frequent_levels_fit_the_target_is_not_looked_at() -> None:
    codes = np.repeat(np.arange(300, dtype=np.int32), np.where(np.arange(300) < 100, 30, 3))
    one = group_levels(codes, 300, np.random.default_rng(0).normal(size=len(codes)), None)
    other = group_levels(codes, 300, np.random.default_rng(1).normal(size=len(codes)), None)

    assert_array_equal(one, other)
    assert len(np.unique(one)) == MAX_GROUPS


def test_rare_levels_share_one_group_whatever_their_labels() -> None:
    codes = np.concatenate([np.repeat(np.arange(400), 50), np.arange(400, 900)]).astype(np.int32)
    y = np.concatenate([np.repeat(np.arange(400) % 7, 50), np.arange(500) % 2 * 100.0])
    groups = group_levels(codes, 900, y, None)

    assert len(set(groups[400:])) == 1
    assert groups[400] not in groups[:400]
    assert groups.max() < MAX_GROUPS


def test_a_heavy_level_is_alone() -> None:
    codes = np.concatenate([column(1000, 60_000), np.full(20_000, 1000, dtype=np.int32)])
    y = np.random.default_rng(1).normal(size=1001)[codes]
    groups = group_levels(codes, 1001, y, None)

    assert np.count_nonzero(groups == groups[1000]) == 1


@pytest.mark.parametrize(
    ("kind", "kept"),
    [("numeric", 0.99), ("binary", 0.97), ("classes", 0.9), ("outputs", 0.99), ("class outputs", 0.97)],
)
def test_groups_keep_most_of_what_the_levels_explain(kind: str, kept: float) -> None:
    codes = column(2000, 100_000)
    rng = np.random.default_rng(3)
    effect = rng.normal(size=2000)
    signal = effect[codes] + 0.3 * rng.normal(size=len(codes))
    targets = {
        "numeric": signal,
        "binary": (signal > 0).astype(np.int32),
        "classes": np.digitize(signal, [-1, 0, 1]).astype(np.int32),
        "outputs": np.stack([signal, -3 * signal + 1], axis=1),
        "class outputs": np.stack([signal > 0, signal < 0.5], axis=1).astype(np.int32),
    }
    groups = group_levels(codes, 2000, targets[kind], None)

    seen = targets[kind].reshape(len(codes), -1)[:, 0].astype(float)
    assert groups.max() < MAX_GROUPS
    assert explained(groups[codes], seen) > kept * explained(codes, seen)


@pytest.mark.parametrize("classes", [False, True])
def test_random_codes_cannot_leak_their_labels(classes: bool) -> None:
    """Each level has 30 rows of pure noise: the groups explain no more than groups made blindly."""
    leaks = []
    for seed in range(8):
        codes = np.repeat(np.arange(3000, dtype=np.int32), 30)
        y = np.random.default_rng(seed).normal(size=len(codes))
        target = (y > 0).astype(np.int32) if classes else y
        groups = group_levels(codes, 3000, target, None)
        leaks.append(explained(groups[codes], y))
    blind = MAX_GROUPS / (3000 * 30)
    full_leak = 1 / 30

    assert np.median(leaks) < 2 * blind
    assert np.mean(leaks) < full_leak


def test_no_group_made_by_the_target_is_lighter_than_twenty_rows() -> None:
    codes = np.sort(np.random.default_rng(5).zipf(1.3, 200_000).clip(max=5000) - 1).astype(np.int32)
    y = np.random.default_rng(6).normal(size=5000)[codes]
    groups = group_levels(codes, 5000, y, None)
    mass = np.bincount(groups[codes], minlength=groups.max() + 1)

    assert (mass[:-1] >= 20).all()


def test_whole_weights_count_as_repetitions() -> None:
    codes, rng = column(500, 20_000), np.random.default_rng(2)
    y = rng.normal(size=500)[codes]
    weight = rng.integers(0, 3, len(codes))
    repeated = np.repeat(np.arange(len(codes)), weight)

    weighted = group_levels(codes, 500, y, weight.astype(float))
    assert_array_equal(weighted, group_levels(codes[repeated], 500, y[repeated], None))


def test_the_scale_of_fractional_weights_does_not_matter() -> None:
    codes, rng = column(500, 20_000), np.random.default_rng(2)
    y, weight = rng.normal(size=500)[codes], rng.random(len(codes))

    assert_array_equal(group_levels(codes, 500, y, weight), group_levels(codes, 500, y, weight / 1024))


def test_missing_codes_are_left_out() -> None:
    codes = column(600, 30_000)
    y = np.random.default_rng(1).normal(size=600)[codes]
    holes = np.append(codes, np.full(999, -1, dtype=np.int32))

    assert_array_equal(
        group_levels(holes, 600, np.append(y, np.full(999, 1e6)), None), group_levels(codes, 600, y, None)
    )


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 1000), n_classes=st.integers(0, 5), max_groups=st.integers(2, 40))
def test_neither_row_order_nor_luck_changes_the_groups(seed: int, n_classes: int, max_groups: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 120, 3000).astype(np.int32)
    y = rng.integers(0, n_classes, 3000).astype(np.int32) if n_classes else rng.normal(size=3000)
    order = rng.permutation(3000)
    groups = group_levels(codes, 120, y, None, max_groups)

    assert_array_equal(groups, group_levels(codes[order], 120, y[order], None, max_groups))
    assert groups.min() >= 0
    assert groups.max() < max_groups


@pytest.mark.parametrize("y", [np.zeros(3000), np.zeros(3000, dtype=np.int32)])
def test_a_constant_target_is_no_problem(y: Any) -> None:
    groups = group_levels(column(1000, 3000), 1000, y, np.zeros(3000))

    assert groups.max() < MAX_GROUPS


def test_very_many_classes_are_grouped_too() -> None:
    codes, y = column(5000, 200_000), column(6000, 200_000, seed=1)

    assert group_levels(codes, 5000, y, None).max() < MAX_GROUPS
    assert group_levels(codes, 5000, np.stack([y, y], axis=1), None).max() < MAX_GROUPS


def test_of_very_many_classes_the_rarest_are_one() -> None:
    n_classes = grouping._MOST_CLASSES + 3
    target = np.repeat(np.arange(n_classes), np.arange(n_classes, 0, -1))

    merged = grouping._merged_classes(target)

    np.testing.assert_array_equal(merged, np.minimum(target, grouping._MOST_CLASSES - 1))
