"""Rows set aside: the same for the same seed, some on each side, classes in proportion."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from coterie.data.holdout import holdout_rows
from coterie.errors import InvalidInput


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
    with pytest.raises(InvalidInput, match=rf"table of {n_rows} row\(s\): at least 2"):
        holdout_rows(n_rows, 0.5, 0)
