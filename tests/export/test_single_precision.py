"""A threshold for values as they are does what another does for values in single precision."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.export.readers.raw_tree import at_most, less_than

DOUBLES = st.floats(allow_nan=False)
SINGLES = st.floats(allow_nan=False, width=32)


def singled(value: float) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float32(value)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(threshold=st.one_of(DOUBLES, SINGLES), value=st.one_of(DOUBLES, SINGLES))
def test_at_most_decides_as_the_rounded_value_does(threshold: float, value: float) -> None:
    last = at_most(np.array([threshold]))[0]
    for each in (value, last, np.nextafter(last, np.inf), np.nextafter(last, -np.inf), threshold):
        assert (each <= last) == (np.float64(singled(each)) <= threshold)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(condition=st.floats(allow_nan=False, allow_infinity=False, width=32), value=DOUBLES)
def test_less_than_decides_as_the_rounded_value_does(condition: float, value: float) -> None:
    last = less_than(np.array([condition], dtype=np.float32))[0]
    for each in (value, last, np.nextafter(last, np.inf), np.nextafter(last, -np.inf), condition):
        assert (each <= last) == (singled(each) < np.float32(condition))


def test_half_way_goes_to_the_even_neighbour() -> None:
    one = np.float32(1)
    after = np.nextafter(one, np.float32(2))
    half = (np.float64(one) + np.float64(after)) / 2
    assert at_most(np.array([1.0]))[0] == half
    assert less_than(np.array([after]))[0] == half
    assert less_than(np.array([np.nextafter(after, np.float32(2))]))[0] < (after + np.float64(2**-24))


def test_infinity_stays_where_it_is() -> None:
    assert at_most(np.array([np.inf]))[0] == np.inf
    assert at_most(np.array([-np.inf]))[0] < -3.4e38
