"""Universal Binary JSON, as far as XGBoost writes it: one letter tells what follows, numbers are big-endian.

{L...7 learner {L...10 attributes {} ... }    objects: pairs of a key (a length and its bytes) and a value
[#L...3 ... or [ ... ]                        lists, with a number of items or with an end
[$d#L...5 ....................                lists of numbers of one type: these become numpy arrays
"""

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from coterie.errors import ModelFileError

_MOST_NESTED = 100
_WHOLE = {"i": "b", "U": "B", "I": "h", "l": "i", "L": "q"}
_NUMBERS = {**_WHOLE, "d": "f", "D": "d"}
_DTYPES = {"i": ">i1", "U": ">u1", "I": ">i2", "l": ">i4", "L": ">i8", "d": ">f4", "D": ">f8"}


def read_ubjson(data: bytes) -> Any:
    """The value that the bytes hold: dicts, lists, text, numbers, and numpy arrays for lists of one type.

    Examples
    --------
    >>> read_ubjson(b"{U\\x01a[$U#U\\x02\\x05\\x06U\\x01bT}")
    {'a': array([5, 6], dtype=uint8), 'b': True}
    """
    reader = _Reader(data)
    value = reader.value(reader.marker(), 0)
    if reader.place != len(data):
        raise reader.wrong(f"{len(data) - reader.place} bytes follow the end")
    return value


class _Reader:
    """A place in the bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.place = 0
        self._simple: dict[str, Callable[[], Any]] = {
            "S": self._text,
            "C": lambda: self._bytes(1).decode("latin-1"),
            "T": lambda: True,
            "F": lambda: False,
            "Z": lambda: None,
        }

    def wrong(self, what: str) -> ModelFileError:
        return ModelFileError(f"The UBJ file is damaged at byte {self.place}: {what}.")

    def marker(self) -> str:
        letter = self._bytes(1).decode("latin-1")
        while letter == "N":  # a filler
            letter = self._bytes(1).decode("latin-1")
        return letter

    def value(self, marker: str, depth: int) -> Any:
        if depth > _MOST_NESTED:
            raise self.wrong(f"values are nested more than {_MOST_NESTED} deep")
        if marker in _NUMBERS:
            return self._number(_NUMBERS[marker])
        if marker in self._simple:
            return self._simple[marker]()
        if marker == "[":
            return self._list(depth)
        if marker == "{":
            return self._object(depth)
        raise self.wrong(f"{marker!r} is not the letter of a type")

    def _bytes(self, n: int) -> bytes:
        if n > len(self.data) - self.place:
            raise self.wrong(f"{n} more bytes were expected, and {len(self.data) - self.place} are left")
        taken = self.data[self.place : self.place + n]
        self.place += n
        return taken

    def _number(self, code: str) -> Any:
        return struct.unpack(">" + code, self._bytes(struct.calcsize(">" + code)))[0]

    def _length(self) -> int:
        marker = self.marker()
        if marker not in _WHOLE:
            raise self.wrong(f"a length of type {marker!r}")
        length = self._number(_WHOLE[marker])
        if length < 0:
            raise self.wrong(f"a length of {length}")
        return int(length)

    def _text(self) -> str:
        try:
            return self._bytes(self._length()).decode()
        except UnicodeDecodeError:
            raise self.wrong("text that is not UTF-8") from None

    def _list(self, depth: int) -> Any:
        marker = self.marker()
        if marker == "$":
            return self._typed_list()
        items: list[Any] = []
        if marker == "#":
            for _ in range(self._checked_length()):
                items.append(self.value(self.marker(), depth + 1))  # noqa: PERF401 (the reader moves on)
            return items
        while marker != "]":
            items.append(self.value(marker, depth + 1))
            marker = self.marker()
        return items

    def _checked_length(self) -> int:
        """The number of items, each of which takes a byte at least."""
        length = self._length()
        if length > len(self.data) - self.place:
            raise self.wrong(f"{length} items in {len(self.data) - self.place} bytes")
        return length

    def _typed_list(self) -> Any:
        kind = self.marker()
        if kind not in _DTYPES:
            raise self.wrong(f"a list of values of type {kind!r}; expected one of {', '.join(_DTYPES)}")
        if self.marker() != "#":
            raise self.wrong("a list of values of one type without its length")
        dtype = np.dtype(_DTYPES[kind])
        n_bytes = self._checked_length() * dtype.itemsize
        return np.frombuffer(self._bytes(n_bytes), dtype=dtype).astype(dtype.newbyteorder("="))

    def _object(self, depth: int) -> dict[str, Any]:
        marker = self.marker()
        if marker == "$":
            raise self.wrong("an object of values of one type")
        if marker == "#":
            return dict(self._pair(None, depth) for _ in range(self._checked_length()))
        pairs: dict[str, Any] = {}
        while marker != "}":
            key, value = self._pair(marker, depth)
            pairs[key] = value
            marker = self.marker()
        return pairs

    def _pair(self, marker: str | None, depth: int) -> tuple[str, Any]:
        if marker is not None:
            self.place -= 1  # it is the type of the key's length
        key = self._text()
        return key, self.value(self.marker(), depth + 1)
