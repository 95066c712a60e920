"""The number of stumps is the number of ways in which they answer."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.diagnostics.bounds import stump_count
from tests.naive.stumps import naive_stump_count


@st.composite
def tables(draw: st.DrawFn) -> list[tuple[list[Any], bool]]:
    """Columns of numbers or of text, some values missing, and whether they are text."""
    n_rows = draw(st.integers(1, 7))
    columns = []
    for _ in range(draw(st.integers(1, 3))):
        nominal = draw(st.booleans())
        values = st.sampled_from(["a", "b", "c", "d"] if nominal else [-1.5, 0.0, 2.0, 7.0])
        columns.append((draw(st.lists(values | st.none(), min_size=n_rows, max_size=n_rows)), nominal))
    return columns


@settings(max_examples=150, deadline=None, derandomize=True)
@given(columns=tables())
def test_every_way_to_answer_is_counted_once(columns: list[tuple[list[Any], bool]]) -> None:
    table = {
        f"c{place}": np.array(values, dtype=object if nominal else np.float64)
        for place, (values, nominal) in enumerate(columns)
    }

    assert stump_count(table) == naive_stump_count(columns)


def test_rows_without_ties() -> None:
    """In each column n - 1 thresholds, two directions, and the two constant stumps."""
    X = np.random.default_rng(0).normal(size=(1000, 5))

    assert stump_count(X) == 2 * 5 * 999 + 2
    assert stump_count(np.hstack([X, -3 * X])) == 2 * 5 * 999 + 2


def test_categories_with_an_order_have_thresholds() -> None:
    grades = pd.Categorical(list("abcd"), categories=list("abcd"), ordered=True)
    assert stump_count(pd.DataFrame({"grade": grades})) == 2 * 3 + 2

    loose = pd.Categorical(list("abcd"))
    assert stump_count(pd.DataFrame({"grade": loose})) == 2**4


@pytest.mark.parametrize("n_levels", [16, 17, 300])
def test_sets_of_very_many_levels_are_counted_without_a_list(n_levels: int) -> None:
    assert stump_count({"street": [f"s{level}" for level in range(n_levels)]}) == 2**n_levels


def test_a_constant_column_has_the_two_constant_stumps() -> None:
    assert stump_count(np.ones((5, 2))) == 2
