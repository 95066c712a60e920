"""Rows set aside: the same for the same seed, some on each side, classes in proportion."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from coterie.data.holdout import fold_numbers, holdout_rows, last_rows
from coterie.errors import InvalidInput
from tests.helpers.errors import raised


@given(
    n_rows=st.integers(2, 60),
    fraction=st.floats(0.001, 0.999),
    seed=st.integers(0, 2**64 - 1),
    n_classes=st.integers(0, 6),
)
def test_both_sides_together_are_all_rows(n_rows: int, fraction: float, seed: int, n_classes: int) -> None:
    codes = np.arange(n_rows) % n_classes if n_classes else None
    train, valid = holdout_rows(n_rows, fraction, seed, codes)

    assert len(train) >= 1
    assert len(valid) >= 1
    assert_array_equal(np.sort(np.concatenate([train, valid])), np.arange(n_rows))
    assert (np.diff(train) > 0).all()
    assert (np.diff(valid) > 0).all()


def test_the_same_seed_gives_the_same_rows_and_another_one_others() -> None:
    assert_array_equal(holdout_rows(100, 0.1, 7)[1], holdout_rows(100, 0.1, 7)[1])
    assert holdout_rows(100, 0.1, 7)[1].tolist() != holdout_rows(100, 0.1, 8)[1].tolist()


def test_classes_keep_their_share() -> None:
    codes = np.repeat([0, 1, 2], [700, 200, 100])
    _, valid = holdout_rows(1000, 0.1, 0, codes)

    assert np.bincount(codes[valid]).tolist() == [70, 20, 10]


def test_a_class_with_one_row_stays_in_training() -> None:
    codes = np.array([0] * 50 + [1])
    train, valid = holdout_rows(51, 0.5, 0, codes)

    assert 50 in train
    assert 50 not in valid


@pytest.mark.parametrize("n_rows", [0, 1])
def test_a_table_too_small_to_share_is_refused(n_rows: int) -> None:
    with raised(InvalidInput, parameter="X", received=n_rows, allowed="at least 2 rows"):
        holdout_rows(n_rows, 0.5, 0)


@given(
    sizes=st.lists(st.integers(1, 12), min_size=2, max_size=15),
    fraction=st.floats(0.001, 0.999),
    seed=st.integers(0, 2**64 - 1),
    n_classes=st.integers(0, 3),
    n_folds=st.integers(2, 15),
)
def test_groups_never_cross(
    sizes: list[int], fraction: float, seed: int, n_classes: int, n_folds: int
) -> None:
    groups = np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))
    codes = np.arange(len(groups)) % n_classes if n_classes else None
    train, valid = holdout_rows(len(groups), fraction, seed, codes, groups)
    folds = fold_numbers(len(groups), min(n_folds, len(sizes)), seed, codes, groups)

    assert len(train) >= 1
    assert len(valid) >= 1
    assert_array_equal(np.sort(np.concatenate([train, valid])), np.arange(len(groups)))
    assert not set(groups[train]) & set(groups[valid])
    assert set(folds) == set(range(min(n_folds, len(sizes))))
    for group in range(len(sizes)):
        assert len(set(folds[groups == group])) == 1


def test_folds_of_groups_are_as_even_as_groups_allow() -> None:
    groups = np.repeat(np.arange(7), [6, 5, 4, 3, 3, 2, 1])
    folds = [fold_numbers(24, 3, seed, groups=groups) for seed in range(20)]

    assert all(np.bincount(fold).tolist() == [8, 8, 8] for fold in folds)
    assert len({tuple(fold) for fold in folds}) > 1


def test_groups_set_aside_come_close_to_the_share_and_to_that_of_each_class() -> None:
    groups = np.repeat(np.arange(100), 10)
    codes = np.where(groups < 20, 1, 0)
    for seed in range(5):
        _, valid = holdout_rows(1000, 0.2, seed, codes, groups)
        assert np.bincount(codes[valid]).tolist() == [160, 40]
    assert holdout_rows(1000, 0.2, 0, codes, groups)[1].tolist() != valid.tolist()


def test_classes_of_groups_are_spread_over_the_folds() -> None:
    groups = np.repeat(np.arange(40), 5)
    codes = np.where(groups < 8, 1, 0)
    folds = fold_numbers(200, 4, 0, codes, groups)

    assert np.bincount(folds).tolist() == [50] * 4
    assert np.bincount(folds[codes == 1]).tolist() == [10] * 4


def test_one_group_cannot_be_parted_and_too_many_folds_are_refused() -> None:
    with raised(InvalidInput, parameter="groups", received=1, allowed="at least 2 groups"):
        holdout_rows(5, 0.5, 0, groups=np.zeros(5, int))
    with raised(
        InvalidInput, parameter="n_folds", received=3, allowed="at most 2", about="2 group(s) among 3"
    ):
        fold_numbers(6, 3, 0, groups=np.arange(6) % 2)


@pytest.mark.parametrize(("fraction", "n_aside"), [(0.001, 1), (0.3, 3), (0.999, 9)])
def test_last_rows_are_the_last_and_leave_some(fraction: float, n_aside: int) -> None:
    train, valid = last_rows(10, fraction)

    assert_array_equal(train, np.arange(10 - n_aside))
    assert_array_equal(valid, np.arange(10 - n_aside, 10))
    with raised(InvalidInput, parameter="X", received=1, allowed="at least 2 rows"):
        last_rows(1, fraction)
