"""From a model to nodes and tensors.

Words
  node   an object or an array. Nodes stand in a list, each after those that it refers to; the last one is the model
  value  anything else: JSON as it is, or a dict with one name that says how to read it
An object that is found in two places is one node, so that it is one object again.
"""

import math
from collections.abc import Mapping
from copy import copy
from types import FunctionType
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from coterie._storage import StorableClass
from coterie._typing import AnyArray
from coterie.errors import ModelFileError
from coterie.files.arrays import array_node, is_plain, most_decoded, packed
from coterie.files.container import DTYPES
from coterie.files.foreign import foreign_bytes
from coterie.files.registry import REQUEST_ATTRIBUTE, class_of, requests_of

_LEARNER_METHODS = ("get_params", "fit", "predict", "transform", "split")


class Writer:
    """Collects nodes and tensors.

    Parameters
    ----------
    compact : whether arrays are coded in fewer bytes

    Attributes
    ----------
    nodes : JSON of the nodes
    tensors : arrays by the place where they were found first
    """

    def __init__(self, compact: bool = True) -> None:
        self._compact = compact
        self.nodes: list[dict[str, Any]] = []
        self.tensors: dict[str, AnyArray] = {}
        self._places: dict[int, int] = {}
        self._kept_alive: list[Any] = []  # alive, so that no two objects have the same id
        self._open: set[int] = set()

    def is_in_proportion(self) -> bool:
        """Whether a reader will make room for all arrays that were coded."""
        coded = sum(
            math.prod(node["shape"]) * np.dtype(DTYPES[node["dtype"]]).itemsize
            for node in self.nodes
            if "coded" in node
        )
        return bool(coded <= most_decoded(sum(array.nbytes for array in self.tensors.values())))

    def write(self, model: Any) -> None:
        """Add a model with all that it holds."""
        self._refer(model, "")

    def _value(self, stored: Any, path: str) -> Any:
        if is_plain(stored):
            return stored
        if type(stored) in (list, tuple, set, frozenset):
            return self._sequence(stored, path)
        if type(stored) in (dict, Bunch):
            pairs = [
                [self._value(key, f"{path}[key {place}]"), self._value(value, f"{path}[{place}]")]
                for place, (key, value) in enumerate(stored.items())
            ]
            return {"dict" if type(stored) is dict else "bunch": pairs}
        if isinstance(stored, np.ndarray):
            return self._refer(stored, path)
        found = packed(stored)
        return self._refer(stored, path) if found is None else found

    def _sequence(self, stored: Any, path: str) -> Any:
        if isinstance(stored, set | frozenset):
            items = [self._value(each, path) for each in stored]
            return {type(stored).__name__: sorted(items, key=repr)}
        items = [self._value(each, f"{path}[{place}]") for place, each in enumerate(stored)]
        return items if type(stored) is list else {"tuple": items}

    def _refer(self, stored: Any, path: str) -> dict[str, int]:
        place = self._places.get(id(stored))
        if place is None:
            if id(stored) in self._open:
                raise ModelFileError(f"{path or 'The model'} holds itself, and cannot be stored.")
            self._open.add(id(stored))
            node = self._array(stored, path) if isinstance(stored, np.ndarray) else self._object(stored, path)
            self._open.discard(id(stored))
            place = self._places[id(stored)] = len(self.nodes)
            self.nodes.append(node)
            self._kept_alive.append(stored)
        return {"ref": place}

    def _keep(self, path: str, array: AnyArray) -> str:
        self.tensors[path] = array
        return path

    def _array(self, stored: AnyArray, path: str) -> dict[str, Any]:
        node = None
        if type(stored) is np.ndarray:
            node = array_node(
                stored,
                lambda end, tensor: self._keep(f"{path}{end}", tensor),
                lambda value, end: self._value(value, f"{path}{end}"),
                self._compact,
            )
        if node is None:
            raise ModelFileError(
                f"{path} is a {type(stored).__name__} of {stored.dtype}, which cannot be stored. Arrays of numbers, "
                "text, dates and labels can."
            )
        return node

    def _object(self, stored: Any, path: str) -> dict[str, Any]:
        known = class_of(stored)
        if known is None:
            return self._foreign(stored, path)
        try:
            state = known.state_of(stored, self._compact)
        except TypeError as error:
            raise ModelFileError(f"{path}: {error}.") from None
        requests = requests_of(stored)
        state.pop(REQUEST_ATTRIBUTE, None)
        params = {name: state.pop(name) for name in sorted(known.param_names) if name in state}
        self._check_state(known, state, path)
        node: dict[str, Any] = {"class": known.name}
        if known.is_estimator:  # first, so that an error names what the user gave
            node["params"] = self._attributes(params, path)
        node["state"] = self._attributes(state, path)
        return {**node, "requests": requests} if requests else node

    def _attributes(self, values: Mapping[str, Any], path: str) -> dict[str, Any]:
        dot = f"{path}." if path else ""
        return {name: self._value(values[name], f"{dot}{name}") for name in sorted(values)}

    def _check_state(self, known: StorableClass, state: Mapping[str, Any], path: str) -> None:
        for name in state:
            if name not in known.attributes:
                dot = f"{path}." if path else ""
                raise ModelFileError(
                    f"{dot}{name} is not an attribute that coterie gives a {known.name}, so it cannot be stored. "
                    "Delete it, and keep what belongs to the model beside it."
                )
        try:
            known.check(state)
        except ModelFileError as error:
            raise ModelFileError(f"{path or 'The model'} (a {known.name}) {error}") from None

    def _foreign(self, stored: Any, path: str) -> dict[str, Any]:
        kind = type(stored)
        if not path:
            raise ModelFileError(
                f"{kind.__module__}.{kind.__qualname__} is not a model of coterie. coterie.save stores those, with "
                "members of any kind; for others there is skops."
            )
        if callable(stored) and not (hasattr(stored, "get_params") or _is_scorer(stored)):
            raise ModelFileError(
                f"{path} is {stored!r:.80}: a file holds no code, so it cannot be stored. Choose one of the names that "
                "are allowed there, or pickle the model."
            )
        if kind.__module__.split(".")[0] in ("pandas", "polars", "pyarrow"):
            raise ModelFileError(
                f"{path} is a {kind.__name__}, which cannot be stored. Pass a list or an array."
            )
        if any(base.__module__.split(".")[0] == "coterie" for base in kind.__mro__):
            raise ModelFileError(
                f"{path} is a {kind.__module__}.{kind.__qualname__}, a class of your own or one that files do not know."
            )
        if not (_is_scorer(stored) or any(hasattr(stored, name) for name in _LEARNER_METHODS)):
            raise ModelFileError(
                f"{path} is {stored!r:.80}, which cannot be stored: it is neither data nor a learner, a splitter or "
                "a scorer."
            )
        requests = requests_of(stored)
        if requests:  # which know their estimator: a circle that skops would follow
            stored = copy(stored)
            del vars(stored)[REQUEST_ATTRIBUTE]
        node = {"skops": self._keep(path, foreign_bytes(stored, path)), "type": kind.__qualname__}
        return {**node, "requests": requests} if requests else node


def _is_scorer(stored: Any) -> bool:
    return type(stored).__module__ == "sklearn.metrics._scorer" and not isinstance(stored, FunctionType)
