"""The trees in XGBoost's files, and a parsed file in which every value knows where it stands, for errors.

Files may be Universal Binary JSON, as far as XGBoost writes it: a letter tells what follows, numbers are big-endian.

{L...7 learner {L...10 attributes {} ... }    objects: pairs of a key (a length and its bytes) and a value
[#L...3 ... or [ ... ]                        lists, with a number of items or with an end
[$d#L...5 ....................                lists of numbers of one type: these become numpy arrays
"""

import json
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from coterie._params import in_short
from coterie._typing import AnyArray, FloatArray
from coterie.errors import ModelFileError
from coterie.export.readers.model_file import format_of
from coterie.export.readers.raw_tree import CategorySet, RawTree, less_than

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
        return ModelFileError.expecting(
            f"{self.where} is {in_short(self.raw)}", expected, self.where, self.raw
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


def raw_tree(tree: Value, output: int, weight: float) -> RawTree:
    """One tree; its values are multiplied by the weight.

    XGBoost rounds values to single precision; those *less* than the condition go left.
    """
    left = tree["left_children"].wholes()
    n_nodes = len(left)
    if n_nodes == 0:
        raise tree["left_children"].wrong("at least one node")
    right = tree["right_children"].wholes(n_nodes)
    is_leaf = left == -1
    column = tree["split_indices"].wholes(n_nodes)
    if (column[~is_leaf] < 0).any():
        raise tree["split_indices"].wrong("columns from 0 on")
    with np.errstate(over="ignore"):
        condition = tree["split_conditions"].numbers(n_nodes).astype(np.float32)
    value = _leaf_vectors(tree, is_leaf, right) if _n_values(tree) > 1 else condition.reshape(-1, 1)
    sets = _sets(tree, ~is_leaf, n_nodes)
    threshold = less_than(condition)
    threshold[list(sets)] = 0.0
    return RawTree(
        column=np.where(is_leaf, -1, column),
        threshold=np.where(np.isnan(condition) & ~is_leaf, np.nan, threshold),
        missing_left=tree["default_left"].wholes(n_nodes) != 0,
        left=left,
        right=right,
        value=weight * value.astype(np.float64),
        leaf_id=np.arange(n_nodes),
        output=output,
        sets=sets,
    )


def _n_values(tree: Value) -> int:
    param = tree["tree_param"]
    return param["size_leaf_vector"].whole() if "size_leaf_vector" in param else 1


def _leaf_vectors(tree: Value, is_leaf: AnyArray, right: AnyArray) -> FloatArray:
    """Values of several outputs at once. The right child of a leaf is its place among them."""
    n_values = _n_values(tree)
    if "leaf_weights" not in tree:
        raise ModelFileError(
            f"{tree.where} has values of several outputs at once, in the form of XGBoost before 3.2.",
            parameter=tree.where,
            hint="Load the model with XGBoost 3.2 or later and save it again.",
        )
    weights = tree["leaf_weights"].numbers().astype(np.float32)
    n_leaves = int(is_leaf.sum())
    if len(weights) != n_leaves * n_values:
        raise tree["leaf_weights"].wrong(f"{n_values} numbers for each of {n_leaves} leaves")
    place = right[is_leaf]
    if ((place < 0) | (place >= n_leaves)).any():
        raise tree["right_children"].wrong(f"places from 0 to {n_leaves - 1} at leaves")
    value = np.zeros((len(is_leaf), n_values))
    value[is_leaf] = weights.reshape(n_leaves, n_values)[place]
    return value


def _sets(tree: Value, is_split: AnyArray, n_nodes: int) -> dict[int, CategorySet]:
    """The categories that are listed go right, all others left."""
    if "split_type" not in tree:
        return {}
    by_category = np.flatnonzero((tree["split_type"].wholes(n_nodes) == 1) & is_split).tolist()
    if not by_category:
        return {}
    nodes = tree["categories_nodes"].wholes()
    first = tree["categories_segments"].wholes(len(nodes))
    size = tree["categories_sizes"].wholes(len(nodes))
    categories = tree["categories"].wholes()
    if ((first < 0) | (size < 0) | (first + size > len(categories))).any():
        raise tree["categories_segments"].wrong(f"ranges within the {len(categories)} categories")
    if ((categories < 0) | (categories >= 2**24)).any():
        raise tree["categories"].wrong("numbers from 0 to 2**24 - 1")
    place = {node: number for number, node in enumerate(nodes.tolist())}
    unknown = [node for node in by_category if node not in place]
    if unknown:
        raise tree["categories_nodes"].wrong(f"node {unknown[0]} among them, which splits by category")
    return {
        node: CategorySet(
            tuple(categories[first[place[node]] : first[place[node]] + size[place[node]]].tolist()),
            inverted=True,
        )
        for node in by_category
    }
