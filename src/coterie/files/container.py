"""The bytes of a model file: the layout of safetensors, with a checksum over every one of them.

Words
  header    JSON: what the file is about (`__metadata__`, texts by name), and where each tensor stands
  tensor    an array: little-endian, without gaps, those of large items first, so that each is aligned
  checksum  the last tensor: a hash of the header and its length. The header holds a hash of every other tensor: the
            first half of its SHA-256, for which most processors have instructions. Files before format 3 have BLAKE2

    8 bytes    the length of the header
    ...        the header, filled up with blanks to a multiple of 64 bytes
    ...        the tensors
    32 bytes   the tensor `checksum`

Tensors are read when they are needed, one by one, straight into the memory of their arrays. Large ones of a file
that is mapped stay where they are, and are not compared with their hashes.

The header is JSON that is written in one way only, and read with limits: on depth, number of values and form.

The way is `canonical`: names in order, no blanks, ASCII. Text that is not written in this way is refused, so a name
that comes twice, a number with a leading zero or a blank in a strange place needs no rule of its own.
"""

import hashlib
import json
import math
import mmap
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from coterie._params import in_short
from coterie._typing import AnyArray
from coterie.errors import ModelFileError
from coterie.files.source import ByteSource

_MOST_DEPTH = 64
_MOST_VALUES = 1_000_000
_BYTES_PER_VALUE = 32  # of a large file: what a value takes in memory is then in proportion to the file
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


def canonical(value: Any) -> str:
    """The text of a value; the same value has the same text everywhere.

    Examples
    --------
    >>> canonical({"b": [1, 2.5], "a": None})
    '{"a":null,"b":[1,2.5]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def check_size(text: bytes, file_size: int, where: str) -> None:
    """Refuse text of so many values that reading it would take much more memory than the file is large."""
    n_values = sum(text.count(mark) for mark in (b",", b"[", b"{", b":"))
    most = max(_MOST_VALUES, file_size // _BYTES_PER_VALUE)
    if n_values > most:
        raise ModelFileError(
            f"{where} has about {n_values} values, and at most {most} are read from a file of {file_size} bytes."
        )


def parsed(text: bytes, where: str) -> Any:
    """The value of a text that `canonical` wrote; `check_size` comes first."""
    _check_depth(text, where)
    try:
        value = json.loads(text, parse_constant=_no_constant)
        again = canonical(value).encode()
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{where} is no JSON: {error}.") from None
    if again != text:
        raise ModelFileError(
            f"{where} is not in the one form that coterie writes: a name may come twice or not in order, or a blank "
            "or a digit may be too many."
        )
    return value


def _check_depth(text: bytes, where: str) -> None:
    marks = np.frombuffer(_TEXT.sub(b"", text), dtype=np.uint8)
    opens = (marks == ord("[")) | (marks == ord("{"))
    closes = (marks == ord("]")) | (marks == ord("}"))
    depth = np.cumsum(opens.astype(np.int32) - closes.astype(np.int32))
    if depth.max(initial=0) > _MOST_DEPTH:
        raise ModelFileError(f"{where} is nested {depth.max()} deep; at most {_MOST_DEPTH} is allowed.")


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}
_NAMES = {np.dtype(text): name for name, text in DTYPES.items()}
_CHECKSUM = "checksum"
_HASHES = "sha256"
_OLD_HASHES = "checksums"
_DIGEST = 32
_ALIGNED = 64
_MOST_HEADER = 1 << 28
_MOST_DIMENSIONS = 8
_WORTH_MAPPING = 1 << 16


def chunks_of(metadata: Mapping[str, str], tensors: Mapping[str, AnyArray]) -> Iterator[bytes | memoryview]:
    """The parts of a file, in order."""
    held = {name: np.asarray(array, order="C") for name, array in tensors.items()}
    order = sorted(held, key=lambda name: (-held[name].dtype.itemsize, name))
    hashes = {name: _hash(held[name]) for name in order}
    header: dict[str, Any] = {"__metadata__": {**metadata, _HASHES: canonical(hashes)}}
    place = 0
    for name in order:
        header[name] = _entry(_NAMES[held[name].dtype], held[name].shape, place, held[name].nbytes)
        place += held[name].nbytes
    header[_CHECKSUM] = _entry("U8", (_DIGEST,), place, _DIGEST)
    text = canonical(header).encode()
    check_size(text, len(text) + place, "The header of this model")
    text += b" " * (-len(text) % _ALIGNED)
    start = len(text).to_bytes(8, "little") + text
    yield start
    for name in order:
        yield _bytes_of(held[name])
    yield hashlib.blake2b(start, digest_size=_DIGEST).digest()


def _entry(dtype: str, shape: tuple[int, ...], place: int, n_bytes: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [place, place + n_bytes]}


def _bytes_of(array: AnyArray) -> memoryview:
    flat: Any = array.reshape(-1).view(np.uint8)
    return memoryview(flat)


def _hash(array: AnyArray) -> str:
    return hashlib.sha256(_bytes_of(array)).hexdigest()[:32]


def _old_hash(array: AnyArray) -> str:
    return hashlib.blake2b(_bytes_of(array), digest_size=16).hexdigest()


class Container:
    """A file whose header was read and found sound.

    Parameters
    ----------
    source : where the bytes are
    mapped : whether large tensors are left in the file

    Attributes
    ----------
    metadata : texts by name
    tensors : names, types and shapes of the arrays, as the header has them
    size : of the file in bytes
    """

    def __init__(self, source: ByteSource, mapped: bool = False) -> None:
        self._source = source
        self._map = source.mapped() if mapped and source.size else None
        self.size = source.size
        text = _header_text(source)
        check_size(text, source.size, f"{source.name}: the header")
        header = parsed(text, f"{source.name}: the header")
        self.metadata = self._read_metadata(header)
        self.tensors = _checked_layout(header, source, 8 + _padded(len(text)))
        self._start = 8 + _padded(len(text))
        self._hash = _hash
        self._hashes: dict[str, str] = {}

    def _read_metadata(self, header: Any) -> dict[str, str]:
        held = header.pop("__metadata__", None) if isinstance(header, dict) else None
        if not isinstance(held, dict) or not all(isinstance(text, str) for text in held.values()):
            raise ModelFileError(f"{self._source.name}: the header has no __metadata__ made of texts.")
        return held

    def read_hashes(self) -> None:
        """Learn the hash of each tensor; after the version of the format is known to be one of ours."""
        is_old = _OLD_HASHES in self.metadata
        key = _OLD_HASHES if is_old else _HASHES
        where = f"{self._source.name}: {key}"
        hashes = parsed(self.metadata.get(key, "").encode(), where)
        if not isinstance(hashes, dict) or set(hashes) != set(self.tensors):
            raise ModelFileError(f"{where} do not list each tensor once.")
        self._hash = _old_hash if is_old else _hash
        self._hashes = hashes

    def tensor(self, name: str) -> AnyArray:
        """An array of its own, read from the file and compared with its hash; an error does not say of which file."""
        entry = self.tensors[name]
        begin, end = entry["data_offsets"]
        if self._map is not None and end - begin >= _WORTH_MAPPING and entry["dtype"] != "BOOL":
            dtype = np.dtype(DTYPES[entry["dtype"]])
            flat = np.frombuffer(self._map, dtype, (end - begin) // dtype.itemsize, self._start + begin)
            return flat.reshape(entry["shape"])
        array = np.empty(tuple(entry["shape"]), dtype=DTYPES[entry["dtype"]])
        self._source.read_into(self._start + begin, _bytes_of(array))
        if self._hash(array) != self._hashes[name]:
            raise ModelFileError(f"needs the tensor {name!r}, which is damaged: its checksum is another one.")
        if entry["dtype"] == "BOOL" and (array.view(np.uint8) > 1).any():
            raise ModelFileError(f"needs the tensor {name!r}, in which a byte is neither true nor false.")
        return array


def is_mapped(array: AnyArray) -> bool:
    """Whether the bytes of an array are still in a file."""
    held: Any = array
    while isinstance(held, np.ndarray):
        held = held.base
    return isinstance(held.obj if isinstance(held, memoryview) else held, mmap.mmap)


def _padded(n_bytes: int) -> int:
    return n_bytes + -n_bytes % _ALIGNED


def _header_text(source: ByteSource) -> bytes:
    """The header without its blanks, once its checksum is found to be right."""
    if source.size < 8 + _ALIGNED + _DIGEST:
        raise ModelFileError(
            f"{source.name} has {source.size} bytes and is no model of coterie.save: "
            + ("it is empty." if source.size == 0 else "it is too short, perhaps cut off.")
        )
    first = source.read(0, 9)
    length = int.from_bytes(first[:8], "little")
    if first[8:] != b"{" or length % _ALIGNED or not length:
        raise ModelFileError(
            f"{source.name} is no model of coterie.save: it {_looks_like(source.read(0, 16))}."
        )
    if length > min(_MOST_HEADER, source.size - 8 - _DIGEST):
        raise ModelFileError(
            f"{source.name}: the header should have {length} bytes, and the file has {source.size}: it is damaged or "
            "was cut off."
        )
    start = source.read(0, 8 + length)
    if hashlib.blake2b(start, digest_size=_DIGEST).digest() != source.read(source.size - _DIGEST, _DIGEST):
        raise ModelFileError(
            f"{source.name} is damaged or was cut off: the checksum of its header is another one."
        )
    text = start[8:].rstrip(b" ")
    if _padded(len(text)) != length:
        raise ModelFileError(f"{source.name}: the header ends in too many blanks.")
    return text


_FIRST_BYTES = (
    (b"\x80", "looks like a pickle, which can run any code when it is read. coterie.load never does"),
    (b"PK\x03\x04", "is a zip file"),
    (b"\x1f\x8b", "is a gzip file"),
    (b"tree\n", "looks like a model of LightGBM, which coterie.export.import_model reads"),
    (b"{", "begins like JSON; models of XGBoost are read by coterie.export.import_model"),
    (b"CBM1", "is a model of CatBoost"),
)


def _looks_like(first: bytes) -> str:
    for start, words in _FIRST_BYTES:
        if first.startswith(start):
            return words
    return f"begins with {first!r}"


def _checked_layout(header: dict[str, Any], source: ByteSource, start: int) -> dict[str, dict[str, Any]]:
    """The tensors in the order of their bytes; every byte of the file belongs to one of them."""
    for name, entry in header.items():
        _check_entry(entry, f"{source.name}: tensor {name!r}")
    names = sorted(header, key=lambda name: (-np.dtype(DTYPES[header[name]["dtype"]]).itemsize, name))
    if (
        _CHECKSUM not in header
        or header[_CHECKSUM]["shape"] != [_DIGEST]
        or header[_CHECKSUM]["dtype"] != "U8"
    ):
        raise ModelFileError(f"{source.name}: there is no tensor {_CHECKSUM!r} of {_DIGEST} bytes.")
    names.remove(_CHECKSUM)
    place = 0
    for name in [*names, _CHECKSUM]:
        begin, end = header[name]["data_offsets"]
        if begin != place:
            raise ModelFileError(
                f"{source.name}: tensor {name!r} begins at byte {begin}; expected {place}, the end of the one before."
            )
        place = end
    if start + place != source.size:
        raise ModelFileError(
            f"{source.name} has {source.size} bytes, and its header describes {start + place}: it is damaged or was "
            "cut off."
        )
    return {name: header[name] for name in names}


def _check_entry(entry: Any, where: str) -> None:
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ModelFileError(f"{where}: expected dtype, shape and data_offsets.")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ModelFileError(
            f"{where} is of the type {in_short(dtype)}; expected one of {', '.join(DTYPES)}."
        )
    if not _are_sizes(shape) or len(shape) > _MOST_DIMENSIONS or math.prod(max(n, 1) for n in shape) >= 2**60:
        raise ModelFileError(f"{where} has the shape {in_short(shape)}, which no array has.")
    if not _are_sizes(offsets) or len(offsets) != 2:
        raise ModelFileError(f"{where} stands at {in_short(offsets)}; expected two places.")
    n_bytes = math.prod(shape) * np.dtype(DTYPES[dtype]).itemsize
    if offsets[1] - offsets[0] != n_bytes:
        raise ModelFileError(
            f"{where} has {offsets[1] - offsets[0]} bytes; its shape {shape} of {dtype} needs {n_bytes}."
        )


def _are_sizes(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value < 2**63 for value in values)
