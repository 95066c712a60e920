"""Arrays as nodes of a file: numbers as a tensor, short lists of text and objects as JSON, long ones as tensors.

A node is a dict. `{"array": tensor}` is the tensor itself, "order" says that its axes were turned round to be
stored, and "as" what its bytes stand for (dates, text). `{"coded": tensor, ...}` is the same in fewer bytes
(`engine/coterie/storage/coded_numbers.hpp`). `{"items": [...]}` are objects, one by one.
`{"words": [tensor, tensor]}` is a long list of text: all letters, and where each text ends.

A short file can be a long array, so there is a limit for all arrays of a file together; a model that is above it is
stored without codes.

Single values that JSON does not know: labels, dates, numbers of numpy. Each is a dict with one name, its kind.

`packed` gives the JSON of a value, or None if it is no such value; `unpacked` makes the value again, or raises
ValueError, TypeError, OverflowError or ArithmeticError.
"""

import math
import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any

import numpy as np

from coterie._engine import code_numbers, decode_numbers
from coterie._typing import AnyArray
from coterie.errors import InvalidInput, ModelFileError
from coterie.files.container import DTYPES

_SCALARS = {
    name: np.dtype(name)
    for name in (
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
    )
}
_FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}
_MOST_BITS = 256
_MOST_DIGITS = 200


def is_plain(value: Any) -> bool:
    """Whether JSON has the value as it is."""
    if value is None or type(value) in (bool, str):
        return True
    if type(value) is int:
        return value.bit_length() <= _MOST_BITS
    return type(value) is float and isfinite(value)


def packed(value: Any) -> dict[str, Any] | None:
    """The JSON of a single value.

    Examples
    --------
    >>> packed(np.float32(0.1)), packed(float("inf")), packed(b"ab")
    ({'scalar': ['float32', 0.10000000149011612]}, {'float': 'inf'}, {'bytes': '6162'})
    """
    if type(value) is float:
        return {"float": "nan" if value != value else "inf" if value > 0 else "-inf"}
    if isinstance(value, np.str_):
        return {"text": str(value)}
    if isinstance(value, np.bytes_):
        return {"scalar_bytes": bytes(value).hex()}
    if isinstance(value, np.generic) and value.dtype.name in _SCALARS:
        item = value.item()
        return {"scalar": [value.dtype.name, item if is_plain(item) else packed(item)]}
    pack = _PACKED.get(type(value))
    return None if pack is None else pack(value)


def _packed_datetime(value: datetime) -> dict[str, Any] | None:
    offset = value.utcoffset()
    # A zone by name is more than its offset: such a label could not be made again as it was.
    if offset is not None and type(value.tzinfo).__name__ != "timezone":
        return None
    return {"datetime": value.isoformat()}


_PACKED: dict[type, Callable[[Any], dict[str, Any] | None]] = {
    bytes: lambda value: {"bytes": value.hex()},
    date: lambda value: {"date": value.isoformat()},
    datetime: _packed_datetime,
    time: lambda value: {"time": value.isoformat()} if value.tzinfo is None else None,
    timedelta: lambda value: {"timedelta": [value.days, value.seconds, value.microseconds]},
    Decimal: lambda value: {"decimal": str(value)},
    slice: lambda value: (
        {"slice": [value.start, value.stop, value.step]}
        if all(part is None or type(part) in (int, str) for part in (value.start, value.stop, value.step))
        else None
    ),
}


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError(f"expected text, not {value!r:.40}")
    return value


def _short_text(value: Any) -> str:
    if len(_text(value)) > _MOST_DIGITS:
        raise ValueError(f"expected at most {_MOST_DIGITS} characters, not {len(value)}")
    return _text(value)


def _wholes(value: Any, n: int) -> list[int]:
    if not isinstance(value, list) or len(value) != n or not all(type(part) is int for part in value):
        raise TypeError(f"expected {n} whole numbers, not {value!r:.40}")
    return value


def _unpacked_scalar(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str):
        raise TypeError("expected a type and a number")
    dtype = _SCALARS[value[0]]
    held = value[1]
    if isinstance(held, dict):
        if dtype.kind != "f" or set(held) != {"float"}:
            raise TypeError("expected a number")
        held = _FLOATS[_text(held["float"])]
    wanted = {"b": bool, "f": float}.get(dtype.kind, int)
    if type(held) is not wanted:
        raise TypeError(f"expected a value of the type {dtype.name}, not {held!r:.40}")
    return dtype.type(held)


def _unpacked_slice(value: Any) -> slice:
    if not isinstance(value, list) or len(value) != 3:
        raise TypeError("expected start, stop and step")
    if not all(part is None or type(part) in (int, str) for part in value):
        raise TypeError("expected whole numbers or names")
    return slice(*value)


UNPACKED: dict[str, Callable[[Any], Any]] = {
    "float": lambda value: _FLOATS[_text(value)],
    "text": lambda value: np.str_(_text(value)),
    "scalar_bytes": lambda value: np.bytes_(bytes.fromhex(_text(value))),
    "scalar": _unpacked_scalar,
    "bytes": lambda value: bytes.fromhex(_text(value)),
    "date": lambda value: date.fromisoformat(_short_text(value)),
    "datetime": lambda value: datetime.fromisoformat(_short_text(value)),
    "time": lambda value: time.fromisoformat(_short_text(value)),
    "timedelta": lambda value: timedelta(*_wholes(value, 3)),
    "decimal": lambda value: Decimal(_short_text(value)),
    "slice": _unpacked_slice,
}


_WORTH_IT = 512
_ALWAYS = 64 << 20
_MOST_TIMES = 16
_NAMES = {np.dtype(text): name for name, text in DTYPES.items()}


def most_decoded(n_bytes: int) -> int:
    """How many bytes the coded arrays of a file of `n_bytes` may have in all."""
    return _ALWAYS + _MOST_TIMES * n_bytes


def coded_array(array: AnyArray) -> tuple[AnyArray, str] | None:
    """The code of an array and the name of its type, or None if it does not become clearly shorter."""
    if array.nbytes < _WORTH_IT or array.dtype not in _NAMES:
        return None
    flat = np.asarray(array, order="C").reshape(-1)
    coded = code_numbers(flat.view(np.uint8), array.dtype.itemsize)
    return None if coded is None else (coded, _NAMES[array.dtype])


def decoded_array(node: dict[str, Any], tensor: AnyArray, take: Callable[[int], None]) -> AnyArray:
    """The array of a node; `take` is given the number of its bytes before there is room made for them."""
    dtype, shape = node.get("dtype"), node.get("shape")
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ModelFileError(f"holds an array of an unknown type, {dtype!r:.40}.")
    if not isinstance(shape, list) or len(shape) > 8 or not all(type(n) is int and n > 0 for n in shape):
        raise ModelFileError(f"holds an array of the shape {shape!r:.40}.")
    if tensor.dtype != np.uint8 or tensor.ndim != 1:
        raise ModelFileError("holds a coded array that is no list of bytes.")
    take(math.prod(shape) * np.dtype(DTYPES[dtype]).itemsize)
    array = np.empty(shape, dtype=DTYPES[dtype])
    try:
        decode_numbers(tensor, array.dtype.itemsize, array.reshape(-1).view(np.uint8))
    except InvalidInput as error:
        raise ModelFileError(f"holds an array that cannot be decoded: {error}") from None
    if dtype == "BOOL" and (array.view(np.uint8) > 1).any():
        raise ModelFileError("holds an array in which a byte is neither true nor false.")
    return array


_FEW = 256
_NARROW = 1000
_NUMBERS = "fiub"
_TIMES = re.compile(r"[mM]8\[(?:\d{1,4})?(?:Y|M|W|D|h|m|s|ms|us|ns)\]")
_TEXT = re.compile(r"[US](\d{1,6})")
_LAST_LETTER = 0x10FFFF

Keep = Callable[[str, AnyArray], str]


def array_node(
    array: AnyArray, keep: Keep, pack: Callable[[Any, str], Any], compact: bool = True
) -> dict[str, Any] | None:
    """The node of an array, or None if there is none for its type.

    `keep` takes a tensor and gives its name; `pack` gives the JSON of one value. Numbers are coded if `compact`.
    """
    kind = array.dtype.kind
    if array.dtype.hasobject:
        return _of_objects(array, keep, pack) if kind == "O" else None
    plain = np.asarray(array.astype(array.dtype.newbyteorder("<"), copy=False))
    if kind in _NUMBERS and array.dtype.itemsize <= 8:
        return _of_numbers(plain, keep, compact)
    if kind in "mM":
        return {**_of_numbers(plain.view("<i8"), keep, compact), "as": plain.dtype.str[1:]}
    if kind in "US":
        return _of_text(plain, keep)
    return None


def _of_numbers(array: AnyArray, keep: Keep, compact: bool) -> dict[str, Any]:
    if array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous:
        return {**_of_numbers(array.T, keep, compact), "order": "F"}
    found = coded_array(array) if compact else None
    if found is None:
        return {"array": keep("", array)}
    return {"coded": keep("", found[0]), "dtype": found[1], "shape": list(array.shape)}


def _of_text(array: AnyArray, keep: Keep) -> dict[str, Any]:
    name = array.dtype.str[1:]
    if array.size < _FEW and int(name[1:]) <= _NARROW:
        items = [item if isinstance(item, str) else item.hex() for item in array.reshape(-1).tolist()]
        return {"items": items, "shape": list(array.shape), "as": name}
    letters = np.asarray(array, order="C").reshape(-1).view("<u4" if array.dtype.kind == "U" else "|u1")
    return {"array": keep("", letters.reshape(*array.shape, -1)), "as": name}


def _of_objects(array: AnyArray, keep: Keep, pack: Callable[[Any, str], Any]) -> dict[str, Any]:
    items = array.reshape(-1).tolist()
    if len(items) >= _FEW and all(type(item) is str for item in items):
        texts = [item.encode("utf-8", "surrogatepass") for item in items]
        ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
        letters = np.frombuffer(b"".join(texts), dtype=np.uint8)
        return {"words": [keep(".letters", letters), keep(".ends", ends)], "shape": list(array.shape)}
    packed = [pack(item, f"[{place}]") for place, item in enumerate(items)]
    return {"items": packed, "shape": list(array.shape), "as": "O"}


def array_of_node(
    node: dict[str, Any],
    tensor: Callable[[Any], AnyArray],
    unpack: Callable[[Any, str], Any],
    take: Callable[[int], None],
) -> AnyArray:
    """The array of a node; `tensor` gives one by name, `unpack` a value of JSON, `take` hears of decoded bytes."""
    if "words" in node:
        _only(node, "words", "shape")
        return _made_words(node, tensor)
    if "items" in node:
        _only(node, "items", "shape", "as")
        return _made_items(node, unpack)
    if "coded" in node:
        _only(node, "coded", "dtype", "shape", "order", "as")
        array = decoded_array(node, tensor(node["coded"]), take)
    else:
        _only(node, "array", "order", "as")
        array = tensor(node["array"])
    if "as" in node:
        array = _read_as(array, node["as"])
    if "order" in node:
        if node["order"] != "F" or array.ndim < 2:
            raise ModelFileError(f"the order {node['order']!r:.40} is not known.")
        array = array.T
    return array


def _only(node: dict[str, Any], *names: str) -> None:
    unknown = set(node) - set(names)
    if unknown:
        raise ModelFileError(f"{min(unknown)!r} has no place in an array.")


def _shape(node: dict[str, Any], n_items: int) -> tuple[int, ...]:
    shape = node.get("shape")
    if not isinstance(shape, list) or len(shape) > 8 or not all(type(n) is int and n >= 0 for n in shape):
        raise ModelFileError(f"the shape {shape!r:.40} is none of an array.")
    if math.prod(shape) != n_items or math.prod(max(n, 1) for n in shape) >= 2**60:
        raise ModelFileError(f"the shape {shape!r:.40} does not fit {n_items} items.")
    return tuple(shape)


def _read_as(array: AnyArray, name: Any) -> AnyArray:
    if isinstance(name, str) and _TIMES.fullmatch(name) and array.dtype == np.dtype("<i8"):
        return array.view("<" + name)
    found = _TEXT.fullmatch(name) if isinstance(name, str) else None
    if not found or array.ndim == 0 or array.shape[-1] != int(found[1]) or array.shape[-1] == 0:
        raise ModelFileError(
            f"a tensor of {array.dtype} and shape {array.shape} cannot be read as {name!r:.40}."
        )
    if name[0] == "U" and array.dtype == np.dtype("<u4"):
        if array.max(initial=0) > _LAST_LETTER:
            raise ModelFileError("the text holds a letter that does not exist.")
        return np.asarray(array.view("<" + name)[..., 0])
    if name[0] == "S" and array.dtype == np.dtype("u1"):
        return np.asarray(array.view("|" + name)[..., 0])
    raise ModelFileError(f"a tensor of {array.dtype} cannot be read as {name!r:.40}.")


def _made_items(node: dict[str, Any], unpack: Callable[[Any, str], Any]) -> AnyArray:
    items, name = node["items"], node.get("as")
    if not isinstance(items, list):
        raise ModelFileError("the items of an array must be a list.")
    shape = _shape(node, len(items))
    if name == "O":
        array = np.empty(len(items), dtype=object)
        for place, item in enumerate(items):
            array[place] = unpack(item, f"[{place}]")
        return array.reshape(shape)
    found = _TEXT.fullmatch(name) if isinstance(name, str) else None
    if not found or not all(isinstance(item, str) for item in items):
        raise ModelFileError(f"the items of an array of type {name!r:.40} must be text.")
    assert isinstance(name, str)
    width = int(found[1])
    if name[0] == "S":
        items = [_bytes(item) for item in items]
    if width > _NARROW or any(len(item) > width for item in items):
        raise ModelFileError(f"the items of an array do not fit its type {name!r:.40}.")
    return np.array(items, dtype="<" + name if name[0] == "U" else "|" + name).reshape(shape)


def _bytes(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise ModelFileError(f"{text!r:.40} are no bytes.") from None


def _made_words(node: dict[str, Any], tensor: Callable[[Any], AnyArray]) -> AnyArray:
    if not isinstance(node["words"], list) or len(node["words"]) != 2:
        raise ModelFileError("a list of text needs two tensors.")
    letters, ends = (tensor(name) for name in node["words"])
    if letters.dtype != np.uint8 or ends.dtype != np.int64 or letters.ndim != 1 or ends.ndim != 1:
        raise ModelFileError("a list of text needs a tensor of letters (U8) and one of ends (I64).")
    begins = np.append(np.int64(0), ends[:-1])
    if len(ends) == 0 or ends[0] < 0 or (np.diff(ends) < 0).any() or ends[-1] != len(letters):
        raise ModelFileError("the ends of a list of text are not in order.")
    shape = _shape(node, len(ends))
    text = letters.tobytes()
    array = np.empty(len(ends), dtype=object)
    try:
        for place, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
            array[place] = text[begin:end].decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise ModelFileError(f"a text is damaged: {error}.") from None
    return array.reshape(shape)
