"""Codes tell apart what sets of categories tell apart."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.export.readers.raw_tree import CategorySet, code_sets

SETS = st.lists(
    st.builds(
        CategorySet,
        st.lists(st.integers(0, 40), max_size=12).map(lambda found: tuple(sorted(set(found)))),
        st.booleans(),
    ),
    min_size=1,
    max_size=12,
)


def goes_left(bits: np.ndarray, code: int) -> bool:
    return bool(int(bits[code // 64]) >> (code % 64) & 1)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(sets=SETS)
def test_a_code_goes_where_its_category_goes(sets: list[CategorySet]) -> None:
    codings, used = code_sets(sets, single=False)
    values = np.arange(42.0)
    for levels, which in zip(sets, used, strict=True):
        codes, bits = codings[which].read(values), codings[which].bits(levels)
        for value, code in zip(values.tolist(), codes.tolist(), strict=True):
            assert goes_left(bits, code) == ((value in levels.categories) != levels.inverted)


def test_categories_that_are_never_told_apart_share_a_code() -> None:
    (coding,), _ = code_sets([CategorySet(tuple(range(1000))), CategorySet(tuple(range(500)))], single=False)
    assert coding.n_codes == 3


def test_too_many_kinds_for_one_coding_need_several() -> None:
    codings, used = code_sets([CategorySet((category,)) for category in range(600)], single=False)
    assert len(codings) == 3
    assert max(coding.n_codes for coding in codings) == 255
    assert used[253:255] == [0, 1]


def test_values_are_cut_as_the_library_cuts_them() -> None:
    values = np.array([-0.5, 1.9, 2.0 - 1e-12, np.nan, -3.0, np.inf, 1e300])
    sets = [CategorySet((0,)), CategorySet((1,)), CategorySet((2,))]
    (towards_zero,), _ = code_sets(sets, single=False)
    (single_down,), _ = code_sets(sets, single=True)
    assert towards_zero.read(values).tolist() == [1, 2, 2, -1, 0, 0, 0]
    assert single_down.read(values).tolist() == [0, 2, 3, -1, 0, 0, 0]


def test_an_empty_set_sends_everything_to_one_side() -> None:
    (coding,), _ = code_sets([CategorySet(()), CategorySet((), inverted=True)], single=False)
    assert not goes_left(coding.bits(CategorySet(())), 0)
    assert goes_left(coding.bits(CategorySet((), inverted=True)), 0)
