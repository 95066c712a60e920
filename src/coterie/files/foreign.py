"""Members that are not coterie's: stored by skops, as bytes in a tensor, and loaded from trusted types only.

skops keeps a list of types that it trusts. `trusted=` adds to it, and so do the splitters of scikit-learn below, which
are plain settings. What skops is given is checked first: nothing is compressed, and every array is as large as its
header says, so that reading takes no more memory than the file.
"""

import io
import json
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib import format as npy

from coterie._optional import need
from coterie._typing import AnyArray
from coterie.errors import ModelFileError

_PURPOSE = "A model file with members of other libraries"
_SPLITTERS = tuple(
    f"sklearn.model_selection._split.{name}"
    for name in (
        "GroupKFold",
        "GroupShuffleSplit",
        "KFold",
        "LeaveOneGroupOut",
        "LeaveOneOut",
        "PredefinedSplit",
        "RepeatedKFold",
        "RepeatedStratifiedKFold",
        "ShuffleSplit",
        "StratifiedGroupKFold",
        "StratifiedKFold",
        "StratifiedShuffleSplit",
        "TimeSeriesSplit",
    )
)
_MOST_NESTED = 200


class Untrusted(ModelFileError):
    """A file is sound, and holds types that have to be trusted first."""

    def __init__(self, message: str, types: Sequence[str]) -> None:
        super().__init__(message)
        self.types = list(types)


def foreign_bytes(stored: Any, where: str) -> AnyArray:
    """What skops makes of an object, in the same bytes each time."""
    skops = need("skops.io", purpose=_PURPOSE, extra="export")
    name = f"{type(stored).__module__}.{type(stored).__qualname__}"
    table = _table_inside(stored)
    if table is not None:
        raise ModelFileError(f"{where} is a {name} that holds a {table}, which cannot be stored.")
    try:
        data = skops.dumps(stored)
        unknown = skops.get_untrusted_types(data=data)
    except Exception as error:
        raise ModelFileError(f"{where} is a {name}, which skops cannot store: {error}") from error
    ours = [each for each in unknown if each.startswith("coterie.")]
    if ours:
        raise ModelFileError(
            f"{where} is a {name} with {ours[0]} inside. Of other libraries' containers, only Pipeline and "
            "FrozenEstimator can hold models of coterie in a file. Put the model itself there, or pickle it."
        )
    return np.frombuffer(_settled(data), dtype=np.uint8)


def _table_inside(stored: Any) -> str | None:
    """The type of a table of polars or Arrow that an object keeps; skops would end the process."""
    seen: set[int] = set()
    waiting = [stored]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if type(each).__module__.split(".")[0] in ("polars", "pyarrow"):
            return f"{type(each).__module__}.{type(each).__qualname__}"
        if isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list | tuple | set):
            waiting += each
        else:
            waiting += getattr(each, "__dict__", {}).values()
    return None


def _settled(data: bytes) -> bytes:
    """The archive without dates, and with numbers instead of places in memory."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(files.pop("schema.json"))
    ids: dict[int, int] = {}
    names: dict[str, str] = {}

    def renumber(node: Any) -> None:
        if isinstance(node, dict):
            if "__id__" in node:
                # Whether two equal constants are one object does not matter: each has a number of its own.
                is_constant = node.get("__loader__") == "JsonNode"
                key = -len(ids) - 1 if is_constant else node["__id__"]
                node["__id__"] = ids.setdefault(key, len(ids) + 1)
            if isinstance(node.get("file"), str) and node["file"] in files:
                node["file"] = names.setdefault(node["file"], f"{len(names)}.{node['file'].rsplit('.')[-1]}")
            for each in node.values():
                renumber(each)
        elif isinstance(node, list):
            for each in node:
                renumber(each)

    renumber(schema)
    kept = {names[name]: _without_gaps(content) for name, content in files.items() if name in names}
    kept["schema.json"] = json.dumps(schema, separators=(",", ":")).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(kept):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), kept[name])
    return out.getvalue()


def _without_gaps(content: bytes) -> bytes:
    """An array of records with zeros between its fields, where whatever was in memory would be stored."""
    if not content.startswith(npy.MAGIC_PREFIX):
        return content
    array = np.load(io.BytesIO(content), allow_pickle=False)
    if array.dtype.names is None:
        return content
    clean = np.zeros(array.shape, dtype=array.dtype)
    for name in array.dtype.names:
        clean[name] = array[name]
    out = io.BytesIO()
    np.save(out, clean, allow_pickle=False)
    return out.getvalue()


def untrusted_types(stored: AnyArray, trusted: Sequence[str]) -> set[str]:
    """The types in what skops stored that neither skops nor the caller trusts."""
    skops = need("skops.io", purpose=_PURPOSE, extra="export")
    if stored.dtype != np.uint8:
        raise ModelFileError("should be bytes that skops stored.")
    data = stored.tobytes()
    try:
        _check_archive(data)
        return set(skops.get_untrusted_types(data=data)) - set(_SPLITTERS) - set(trusted)
    except ModelFileError:
        raise
    except Exception as error:
        raise ModelFileError(f"is no member that skops can read: {error}") from error


def foreign_object(stored: AnyArray, trusted: Sequence[str]) -> Any:
    """The object again; `untrusted_types` comes first, and found none."""
    skops = need("skops.io", purpose=_PURPOSE, extra="export")
    try:
        return skops.loads(stored.tobytes(), trusted=[*_SPLITTERS, *trusted])
    except Exception as error:
        raise ModelFileError(f"is a member that skops cannot make again: {error}") from error


def _check_archive(data: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        if len({entry.filename for entry in entries}) < len(entries):
            raise ModelFileError("has two parts of the same name.")
        for entry in entries:
            is_plain = entry.compress_type == zipfile.ZIP_STORED and entry.file_size == entry.compress_size
            if not is_plain or entry.file_size > len(data):
                raise ModelFileError(f"has a compressed part {entry.filename!r:.60}.")
            content = archive.read(entry)
            if entry.filename.endswith(".npy"):
                _check_npy(content, entry.filename)
        _check_nesting(archive.read("schema.json"))


def _check_nesting(text: bytes) -> None:
    marks = np.frombuffer(text, dtype=np.uint8)
    steps = np.isin(marks, list(b"[{")).astype(np.int64) - np.isin(marks, list(b"]}"))
    if np.cumsum(steps).max(initial=0) > _MOST_NESTED:
        raise ModelFileError("has a schema that is nested too deeply.")


def _check_npy(content: bytes, name: str) -> None:
    """The header of an array promises as many bytes as there are."""
    file = io.BytesIO(content)
    version = npy.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ModelFileError(f"has an array {name!r:.60} of an unknown version.")
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read_header(file)
    n_bytes = dtype.itemsize
    for n in shape:
        n_bytes *= int(n)
    if dtype.hasobject or min(shape, default=0) < 0 or n_bytes != len(content) - file.tell():
        raise ModelFileError(f"has an array {name!r:.60} that is not as large as it says.")
