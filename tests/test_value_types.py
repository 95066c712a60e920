"""Types of what model files hold."""

import pytest

from coterie._value_types import ValueType, dict_of

TEXTS = ValueType("a text", lambda value: type(value) is str)
COUNTS = ValueType("a count", lambda value: type(value) is int)


@pytest.mark.parametrize(
    ("value", "is_accepted"),
    [({"a": 1}, True), ({}, True), ({1: 1}, False), ({"a": "b"}, False), ([("a", 1)], False)],
)
def test_a_dict_is_accepted_by_its_keys_and_its_values(value, is_accepted):
    assert dict_of(TEXTS, COUNTS).accepts(value) is is_accepted
