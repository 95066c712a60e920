"""A parsed JSON or UBJ file in which every value knows where it stands, so that an error can name the place."""

import json
from typing import Any

import numpy as np

from coterie._params import in_short
from coterie._typing import AnyArray, FloatArray
from coterie.errors import ModelFileError
from coterie.export.readers.model_file import format_of
from coterie.export.readers.ubjson import read_ubjson


def read_document(data: bytes, source: str) -> "Value":
    """The root of a JSON or UBJ file."""
    if format_of(data) == "ubjson":
        return Value(read_ubjson(data), source)
    try:
        return Value(json.loads(data), source)
    except RecursionError:
        raise ModelFileError(f"{source}: the JSON is nested too deeply.") from None
    except ValueError as error:
        raise ModelFileError(f"{source}: the JSON is damaged: {error}.") from error


class Value:
    """A value of a document, and its path from the root."""

    def __init__(self, raw: Any, where: str) -> None:
        self.raw = raw
        self.where = where

    def wrong(self, expected: str) -> ModelFileError:
        return ModelFileError(
            f"{self.where} is {in_short(self.raw)}; expected {expected}.",
            parameter=self.where,
            received=self.raw,
            allowed=expected,
        )

    def __contains__(self, name: str) -> bool:
        return isinstance(self.raw, dict) and name in self.raw

    def __getitem__(self, name: str) -> "Value":
        if not isinstance(self.raw, dict):
            raise self.wrong("an object")
        if name not in self.raw:
            raise ModelFileError(
                f"{self.where} has no {name!r}.", parameter=f"{self.where}.{name}", allowed="a value"
            )
        return Value(self.raw[name], f"{self.where}.{name}")

    def items(self) -> list["Value"]:
        """The values of a list."""
        if not isinstance(self.raw, list):
            raise self.wrong("a list")
        return [Value(item, f"{self.where}[{place}]") for place, item in enumerate(self.raw)]

    def text(self) -> str:
        if not isinstance(self.raw, str):
            raise self.wrong("text")
        return self.raw

    def texts(self) -> list[str]:
        return [item.text() for item in self.items()]

    def whole(self) -> int:
        """A whole number, which may be written as text."""
        if not isinstance(self.raw, int | str):
            raise self.wrong("a whole number")
        try:
            return int(self.raw)
        except ValueError:
            raise self.wrong("a whole number") from None

    def numbers(self, length: int | None = None) -> FloatArray:
        """A list of numbers."""
        try:
            array = np.asarray(self.raw, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise self.wrong("a list of numbers") from None
        return self._of_length(array, length)

    def wholes(self, length: int | None = None) -> AnyArray:
        """A list of whole numbers or flags."""
        array = self.numbers(length)
        whole = np.abs(array) < 2.0**53
        whole &= array == np.trunc(np.where(whole, array, 0.0))
        if not whole.all():
            raise self.wrong("a list of whole numbers")
        return array.astype(np.int64)

    def _of_length(self, array: FloatArray, length: int | None) -> FloatArray:
        if array.ndim != 1 or (length is not None and len(array) != length):
            raise self.wrong("a list of numbers" if length is None else f"a list of {length} numbers")
        return array
