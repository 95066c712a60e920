"""From nodes and tensors to a model. Everything is checked before it is used.

No name in a file is ever looked up in Python: classes, attributes and ways to read a value are registered ones.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from inspect import Parameter, signature
from typing import Any

from sklearn.utils import Bunch

from coterie._params import in_short
from coterie._storage import StorableClass
from coterie._typing import AnyArray
from coterie.errors import MissingPackage, ModelFileError
from coterie.files.arrays import UNPACKED, array_of_node, most_decoded
from coterie.files.container import Container
from coterie.files.foreign import Untrusted, foreign_object, untrusted_types
from coterie.files.registry import class_named, set_requests

_MOST_NESTED = 100
_MOST_BITS = 256


class Reader:
    """Deserialises the objects of a file, one node after the other."""

    def __init__(self, container: Container, nodes: Any, name: str, trusted: Sequence[str] = ()) -> None:
        if not isinstance(nodes, list) or not nodes:
            raise ModelFileError(f"{name}: the model has no list of nodes.")
        self._container = container
        self._nodes = nodes
        self._name = name
        self._trusted = trusted
        self._objects: list[Any] = []
        self._used: set[int] = set()
        self._uses = _uses(nodes)
        self._tensors: set[str] = set()
        self._workload = _Workload()
        self._room = most_decoded(container.size)

    def read(self) -> Any:
        """The model: the last node."""
        self._check_trust()
        for place, node in enumerate(self._nodes):
            kind = in_short(node.get("class", "array")) if isinstance(node, dict) else "unknown"
            self._workload.begin()
            try:
                created = self._node(node)
                self._workload.end(place)
            except ModelFileError as error:
                raise ModelFileError(f"{self._name}: node {place} ({kind}) {error}") from None
            except (MemoryError, MissingPackage):
                raise
            except Exception as error:  # whatever the values are, the message is ours
                raise ModelFileError(f"{self._name}: node {place} ({kind}) is damaged: {error}.") from error
            self._objects.append(created)
        self._check_all_used()
        return self._objects[-1]

    def _check_trust(self) -> None:
        """Name all types at once that have to be trusted, before any object is created."""
        tensors = [node.get("skops") for node in self._nodes if isinstance(node, dict) and "skops" in node]
        known = [name for name in tensors if isinstance(name, str) and name in self._container.tensors]
        unknown: set[str] = set()
        for name in known:
            try:
                unknown |= untrusted_types(self._container.tensor(name), self._trusted)
            except ModelFileError as error:
                raise ModelFileError(f"{self._name}: the member in {name!r} {error}") from None
        if unknown:
            raise Untrusted(
                f"{self._name} holds members of types that skops does not trust. If you know where the file comes "
                f"from, load it with trusted={sorted(unknown)}.",
                sorted(unknown),
            )

    def _check_all_used(self) -> None:
        unused = set(self._container.tensors) - self._tensors
        if unused:
            raise ModelFileError(f"{self._name}: no node uses the tensor {min(unused)!r}.")
        if len(self._used) < len(self._objects) - 1:
            raise ModelFileError(f"{self._name}: there are nodes that the model does not use.")

    def _node(self, node: Any) -> Any:
        if not isinstance(node, dict):
            raise ModelFileError("is no node.")
        if "class" in node:
            return self._object(node)
        if "skops" in node:
            if set(node) - {"requests"} != {"skops", "type"}:
                raise ModelFileError("has something beside what skops stored.")
            created = foreign_object(self._tensor(node["skops"]), self._trusted)
            if "requests" in node:
                set_requests(created, node["requests"])
            return created
        return array_of_node(node, self._tensor, lambda value, _: self._value(value), self._take)

    def _take(self, n_bytes: int) -> None:
        """Make sure that decoded arrays stay in proportion to the file."""
        if n_bytes > self._room:
            raise ModelFileError(
                f"would be an array of {n_bytes} bytes; a file of {self._container.size} bytes may become "
                f"{most_decoded(self._container.size)} in all."
            )
        self._room -= n_bytes

    def _tensor(self, name: Any) -> AnyArray:
        if not isinstance(name, str) or name not in self._container.tensors:
            raise ModelFileError(f"names a tensor {in_short(name)} that is not there.")
        if name in self._tensors:
            raise ModelFileError(f"names the tensor {in_short(name)}, which belongs to another node.")
        self._tensors.add(name)
        return self._container.tensor(name)

    def _object(self, node: dict[str, Any]) -> Any:
        known = class_named(node["class"])
        if known is None:
            raise ModelFileError(
                "is of a class that this version of coterie does not know. It reads no others."
            )
        parts = {"class", "state", "params"} if known.is_estimator else {"class", "state"}
        if set(node) - {"requests"} != parts or not all(
            isinstance(node[part], dict) for part in parts - {"class"}
        ):
            raise ModelFileError(f"does not consist of {', '.join(sorted(parts))}.")
        state = {key: self._value(value) for key, value in node["state"].items()}
        known.check(state)
        params = self._params(known, node["params"]) if known.is_estimator else {}
        created = known.create({**params, **state})
        known.verify(created)
        if "requests" in node:
            if not known.is_estimator:
                raise ModelFileError("requests arguments, and is no estimator.")
            set_requests(created, node["requests"])
        return created

    def _params(self, known: StorableClass, given: dict[str, Any]) -> dict[str, Any]:
        unknown = set(given) - known.param_names
        if unknown:
            raise ModelFileError(
                f"has a parameter {in_short(min(unknown))}, which a {known.name} does not have."
            )
        params = {key: self._value(value) for key, value in given.items()}
        missing = known.param_names - set(params)
        if missing:  # a parameter that is younger than the file
            parameters = _parameters(known.cls)
            params |= {name: parameters[name].default for name in missing}
        return params

    def _value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._value(each) for each in value]
        if not isinstance(value, dict):
            if isinstance(value, int) and value.bit_length() > _MOST_BITS:
                raise ModelFileError(f"holds a number of {value.bit_length()} bits.")
            return value
        if len(value) != 1:
            raise ModelFileError(f"holds a value that cannot be read: {in_short(sorted(value))}.")
        [(kind, stored)] = value.items()
        if kind in UNPACKED:
            try:
                return UNPACKED[kind](stored)
            except (ValueError, TypeError, KeyError, OverflowError, ArithmeticError) as error:
                raise ModelFileError(f"holds a {kind} that cannot be read: {error}.") from None
        if kind == "ref":
            return self._referred(stored)
        if kind in ("tuple", "set", "frozenset", "dict", "bunch"):
            return self._collection(kind, stored)
        raise ModelFileError(f"holds a value of an unknown kind, {in_short(kind)}.")

    def _referred(self, place: Any) -> Any:
        if type(place) is not int or not 0 <= place < len(self._objects):
            raise ModelFileError(f"refers to node {in_short(place)}, which does not come before it.")
        self._used.add(place)
        self._workload.add(place)
        found = self._objects[place]
        self._uses[place] -= 1
        if self._uses[place] == 0:
            self._objects[place] = None  # the arrays of a large forest are not needed beside the forest
        return found

    def _collection(self, kind: str, stored: Any) -> Any:
        if not isinstance(stored, list):
            raise ModelFileError(f"holds a {kind} that is no list.")
        if kind in ("dict", "bunch"):
            if not all(isinstance(pair, list) and len(pair) == 2 for pair in stored):
                raise ModelFileError(f"holds a {kind} that is not made of pairs.")
            pairs = {self._value(key): self._value(value) for key, value in stored}
            if len(pairs) < len(stored):
                raise ModelFileError(f"holds a {kind} with the same key twice.")
            if kind == "dict":
                return pairs
            if not all(type(key) is str for key in pairs):
                raise ModelFileError("holds a bunch with a key that is no text.")
            return Bunch(**pairs)
        items = [self._value(each) for each in stored]
        return {"tuple": tuple, "set": set, "frozenset": frozenset}[kind](items)


@cache
def _parameters(cls: type) -> Mapping[str, Parameter]:
    return signature(cls).parameters


def _uses(nodes: list[Any]) -> Counter[int]:
    """How often each node is referred to."""
    uses: Counter[int] = Counter()
    waiting: list[Any] = list(nodes)
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            place = each.get("ref")
            if type(place) is int:
                uses[place] += 1
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return uses


class _Workload:
    """How much work a model is that shares its parts: a prediction may visit a node as often as it is referred to.

    A small file of nodes that each refer twice to the one before would take forever to predict.
    """

    def __init__(self) -> None:
        self._sizes: list[int] = []
        self._depths: list[int] = []
        self._size = 1
        self._depth = 0

    def begin(self) -> None:
        self._size, self._depth = 1, 0

    def add(self, place: int) -> None:
        self._size += self._sizes[place]
        self._depth = max(self._depth, self._depths[place])

    def end(self, place: int) -> None:
        if self._size > 10_000 + 100 * (place + 1):
            raise ModelFileError("refers to the same nodes over and over.")
        if self._depth >= _MOST_NESTED:
            raise ModelFileError(f"is nested more than {_MOST_NESTED} deep.")
        self._sizes.append(self._size)
        self._depths.append(self._depth + 1)
