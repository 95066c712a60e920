"""Model files that somebody has changed: by a bit here and there, or with care and a new checksum."""

import copy
import io
import json
import random
from functools import cache
from typing import Any
from unittest import mock

import numpy as np

import coterie
from coterie.files.container import DTYPES, Container, canonical, chunks_of
from coterie.files.source import ByteSource

NASTY_NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    255,
    256,
    65535,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**53,
    2**63 - 1,
    -(2**31),
    0.5,
    -0.0,
    1e300,
    10**40,
)
NASTY_TEXTS = (
    "",
    "x",
    "classes_",
    "__class__",
    "__reduce__",
    "os.system",
    "numeric",
    "nominal",
    "../../etc/passwd",
    "\ud800",
    "a" * 5000,
)
NASTY_FLOATS = (np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, -1.0, 0.5)


def stored(model: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    coterie.save(model, file, **options)
    return file.getvalue()


def stored_plainly(model: Any) -> bytes:
    """As files were written in format 1: every array of every tree as it is."""
    with mock.patch("coterie.files.engine_objects.forest_streams", return_value=None):
        return stored(model, compact=False)


def loaded(data: bytes, **options: Any) -> Any:
    return coterie.load(io.BytesIO(data), **options)


@cache
def _parts(data: bytes) -> tuple[dict[str, str], dict[str, Any]]:
    container = Container(ByteSource(data, "The file", len(data)))
    container.read_hashes()
    metadata = {name: text for name, text in container.metadata.items() if name != "sha256"}
    return metadata, {name: container.tensor(name) for name in container.tensors}


class Opened:
    """The parts of a file, which can be changed; `data` puts them together again, with checksums that are right."""

    def __init__(self, data: bytes) -> None:
        metadata, tensors = _parts(data)
        self.metadata = dict(metadata)
        self.nodes: Any = json.loads(self.metadata["model"])["nodes"]
        self.tensors = {name: array.copy() for name, array in tensors.items()}

    def data(self) -> bytes:
        self.metadata["model"] = canonical({"nodes": self.nodes})
        return b"".join(bytes(chunk) for chunk in chunks_of(self.metadata, self.tensors))

    def node(self, name: str) -> Any:
        """The last node of a class."""
        return next(node for node in reversed(self.nodes) if node.get("class") == name)

    def tensor_of(self, name: str, attribute: str) -> str:
        """The name of the tensor that an attribute of a class has."""
        node = self.nodes[self.node(name)["state"][attribute]["ref"]]
        return str(node["array"] if "array" in node else node["coded"])


def with_noise(data: bytes, rng: random.Random) -> bytes:
    """Bits flipped, bytes overwritten, a part cut out, doubled or moved: nobody corrects the checksum."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(changed))
        kind = rng.randrange(5)
        if kind == 0:
            changed[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            changed[place : place + 4] = rng.randbytes(4)
        elif kind == 2:
            del changed[place : place + rng.randint(1, 200)]
        elif kind == 3:
            changed[place:place] = changed[rng.randrange(len(changed)) :][: rng.randint(1, 200)]
        else:
            del changed[place:]
        changed = changed or bytearray(b"x")
    return bytes(changed)


def with_care(data: bytes, rng: random.Random) -> bytes | None:
    """The same file with other values in it and with the right checksums; None if the change cannot be written."""
    opened = Opened(data)
    for _ in range(rng.randint(1, 3)):
        if opened.tensors and rng.random() < 0.5:
            _change_tensor(opened, rng)
        else:
            _change_nodes(opened, rng)
    try:
        return opened.data()
    except (ValueError, KeyError, OverflowError):
        return None


def _change_tensor(opened: Opened, rng: random.Random) -> None:
    name = rng.choice(sorted(opened.tensors))
    array = opened.tensors[name].copy()
    kind = rng.randrange(8)
    if kind < 5 and array.size:
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(array.size)
            array.reshape(-1)[place] = _nasty_entry(array, rng)
    elif kind == 5:
        array = array[: rng.randrange(len(array) + 1)] if array.ndim else array
    elif kind == 6 and array.ndim and len(array):
        array = np.concatenate([array, array[: rng.randint(1, len(array))]])
    else:
        array = array.astype(DTYPES[rng.choice(sorted(DTYPES))])
    opened.tensors[name] = array


def _nasty_entry(array: Any, rng: random.Random) -> Any:
    if array.dtype.kind == "f":
        return rng.choice(NASTY_FLOATS)
    if array.dtype.kind == "b":
        return rng.random() < 0.5
    about = np.iinfo(array.dtype)
    wanted = rng.choice(
        [*NASTY_NUMBERS[:10], about.min, about.max, int(array.reshape(-1)[rng.randrange(array.size)]) + 1]
    )
    return int(min(max(int(wanted), about.min), about.max))


def _change_nodes(opened: Opened, rng: random.Random) -> None:
    places: list[tuple[Any, Any]] = []

    def collect(value: Any) -> None:
        keys: Any = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        for key in keys:
            places.append((value, key))
            collect(value[key])

    collect(opened.nodes)
    holder, key = rng.choice(places)
    kind = rng.randrange(7)
    value = holder[key]
    if kind == 0 and isinstance(holder, dict):
        holder[rng.choice(NASTY_TEXTS)] = holder.pop(key)
    elif kind == 1:
        del holder[key]
    elif kind == 2:
        other, other_key = rng.choice(places)
        holder[key] = copy.deepcopy(other[other_key])
    elif kind == 3 and isinstance(value, list):
        holder[key] = value * 2
    elif kind == 4 and isinstance(value, str):
        other = [other[k] for other, k in places if isinstance(other, dict) and isinstance(other[k], str)]
        holder[key] = rng.choice([*NASTY_TEXTS, *other])
    else:
        holder[key] = rng.choice(
            [*NASTY_NUMBERS, *NASTY_TEXTS, None, True, [], {}, {"ref": 0}, {"float": "nan"}]
        )
