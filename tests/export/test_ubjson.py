"""Our reader of UBJ reads what is written, and refuses what is not."""

import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.errors import ModelFileError
from coterie.export.readers.xgboost_tree import read_ubjson


def written(value: Any) -> bytes:
    """The slow twin: a writer."""
    if value is None:
        return b"Z"
    if isinstance(value, bool):
        return b"T" if value else b"F"
    if isinstance(value, int):
        return b"L" + struct.pack(">q", value)
    if isinstance(value, float):
        return b"D" + struct.pack(">d", value)
    if isinstance(value, str):
        return b"S" + text(value)
    if isinstance(value, np.ndarray):
        letter = {"f4": b"d", "i4": b"l", "u1": b"U"}[value.dtype.str[1:]]
        return (
            b"[$"
            + letter
            + b"#"
            + written(len(value))
            + value.astype(value.dtype.newbyteorder(">")).tobytes()
        )
    if isinstance(value, list):
        return b"[" + b"".join(map(written, value)) + b"]"
    return b"{" + b"".join(text(key) + written(item) for key, item in value.items()) + b"}"


def text(value: str) -> bytes:
    data = value.encode()
    return written(len(data)) + data


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=100, derandomize=True, deadline=None)
@given(value=VALUES)
def test_what_was_written_is_read(value: Any) -> None:
    assert read_ubjson(written(value)) == value


@settings(max_examples=100, derandomize=True, deadline=None)
@given(value=VALUES, data=st.data())
def test_a_part_of_a_file_is_refused(value: Any, data: st.DataObject) -> None:
    whole = written([value])
    with pytest.raises(ModelFileError, match="damaged at byte"):
        read_ubjson(whole[: data.draw(st.integers(0, len(whole) - 1))])


@settings(max_examples=200, derandomize=True, deadline=None)
@given(content=st.binary(max_size=60))
def test_no_bytes_do_any_harm(content: bytes) -> None:
    try:
        found = read_ubjson(content)
    except ModelFileError as error:
        found = error
    assert not isinstance(found, ModelFileError) or "UBJ" in str(found)


@pytest.mark.parametrize("dtype", ["f4", "i4", "u1"])
def test_lists_of_one_type_are_arrays(dtype: str) -> None:
    array = np.array([1, 2, 250], dtype=dtype)
    read = read_ubjson(written(array))
    assert read.dtype == array.dtype
    np.testing.assert_array_equal(read, array)


def test_lists_and_objects_may_say_how_many_items_they_have() -> None:
    assert read_ubjson(b"[#U\x02TF") == [True, False]
    assert read_ubjson(b"{#U\x01U\x01aZ") == {"a": None}
    assert read_ubjson(b"[NNTNN]") == [True]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[$T#L" + struct.pack(">q", 2**40), "a list of values of type 'T'"),
        (b"[$d#L" + struct.pack(">q", 2**40), "items in 0 bytes"),
        (b"[#L" + struct.pack(">q", 2**40), "items in 0 bytes"),
        (b"SL" + struct.pack(">q", 2**60), "more bytes were expected"),
        (b"SL" + struct.pack(">q", -1), "a length of -1"),
        (b"[$dL", "without its length"),
        (b"{$d", "an object of values of one type"),
        (b"[" * 5000, "nested more than 100 deep"),
        (b"Sd" + bytes(4), "a length of type 'd'"),
        (b"SU\x01\xff", "not UTF-8"),
        (b"TT", "1 bytes follow the end"),
        (b"x", "'x' is not the letter of a type"),
    ],
)
def test_the_damage_is_named(content: bytes, message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        read_ubjson(content)


@pytest.mark.parametrize("head", [b"[#U\x05", b"{#U\x05", b"[$U#U\x05"])
def test_more_items_than_bytes_left_are_refused_before_any_is_read(head: bytes) -> None:
    with pytest.raises(ModelFileError, match=f"damaged at byte {len(head)}: 5 items in 2 bytes"):
        read_ubjson(head + b"ZZ")


def test_as_many_items_as_bytes_left_may_follow() -> None:
    assert read_ubjson(b"[#U\x02ZZ") == [None, None]
    assert read_ubjson(b"[$U#U\x02ZZ").tolist() == [ord("Z"), ord("Z")]


@pytest.mark.parametrize("opening", [b"[", b"[#U\x01"], ids=["with an end", "with a number of items"])
def test_lists_in_lists_without_end_are_refused(opening: bytes) -> None:
    with pytest.raises(ModelFileError, match="nested"):
        read_ubjson(opening * 2000)
