"""What is in a model file, by its header alone; and its notes: a few texts by name, for people and programs."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from coterie._params import in_short
from coterie.errors import InvalidType, ModelFileError
from coterie.files.arrays import array_of_node
from coterie.files.container import Container, canonical, parsed


def written_notes(notes: Mapping[str, str]) -> str:
    """Notes as they stand in the header.

    Examples
    --------
    >>> written_notes({"target": "price", "by": "Ann"})
    '{"by":"Ann","target":"price"}'
    """
    if not isinstance(notes, Mapping) or not _are_texts(notes):
        raise InvalidType(f"notes={in_short(notes)}: expected a dict of texts by name.")
    return canonical(dict(notes))


def read_notes(metadata: Mapping[str, str], name: str) -> dict[str, str]:
    """The notes of a header; a file may have none."""
    text = metadata.get("notes")
    if text is None:
        return {}
    notes = parsed(text.encode(), f"{name}: the notes")
    if not isinstance(notes, dict) or not _are_texts(notes):
        raise ModelFileError(f"{name}: the notes are no texts by name.")
    return notes


def _are_texts(notes: Mapping[Any, Any]) -> bool:
    return all(isinstance(key, str) and isinstance(value, str) for key, value in notes.items())


_MOST_LISTED = 20
_MOST_CLASSES = 1000


@dataclass(frozen=True)
class FileSummary:
    """A summary of a model file; printing it shows it as text.

    Attributes
    ----------
    model : the class of the model
    format, coterie_version, numpy_version, scikit_learn_version : what the file was written by
    params : parameters that are plain values, by name
    n_features : number of columns, or None if it is not known
    feature_names : names of columns, or None
    classes : labels, or None; also None if they are very many
    n_trees : trees and stumps in all
    members : how many objects of each class the file holds
    foreign : classes of other libraries that skops stored
    n_bytes : size of the file
    largest : the largest tensors, as (name, bytes)
    notes : texts by name that `coterie.save` was given
    """

    model: str
    format: int
    coterie_version: str
    numpy_version: str
    scikit_learn_version: str
    params: dict[str, Any]
    n_features: int | None
    feature_names: list[str] | None
    classes: list[Any] | None
    n_trees: int
    n_bytes: int
    members: dict[str, int] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)
    largest: list[tuple[str, int]] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [
            f"{self.model}, {self.n_bytes:,} bytes",
            f"written by coterie {self.coterie_version}, format {self.format}",
        ]
        if self.n_features is not None:
            lines.append(f"features: {self.n_features}{_listed(self.feature_names)}")
        if self.classes is not None:
            lines.append(f"classes: {len(self.classes)}{_listed(self.classes)}")
        if self.n_trees:
            lines.append(f"trees: {self.n_trees}")
        if self.foreign:
            lines.append(f"stored by skops: {', '.join(self.foreign)}")
        lines += [f"{name}: {text:.200}{'...' * (len(text) > 200)}" for name, text in self.notes.items()]
        lines += [f"{n_bytes:>14,} bytes  {name}" for name, n_bytes in self.largest]
        return "\n".join(lines)


def _listed(names: list[Any] | None) -> str:
    if not names:
        return ""
    shown = ", ".join(f"{name!s:.40}" for name in names[:_MOST_LISTED])
    return f" ({shown}{', ...' if len(names) > _MOST_LISTED else ''})"


def summary_of(container: Container, nodes: Any, name: str) -> FileSummary:
    """The summary of a file whose header is sound; nodes that are not what they should be are left out."""
    known = [node for node in nodes if isinstance(node, dict)] if isinstance(nodes, list) else []
    sound = all(isinstance(node.get("class", ""), str) for node in known)
    if not known or "class" not in known[-1] or len(known) < len(nodes) or not sound:
        raise ModelFileError(f"{name}: the model has no list of nodes.")
    root = known[-1]
    state, params = _dict(root.get("state")), _dict(root.get("params"))
    schema = _dict(
        _followed(known, state.get("schema_", state.get("_schema", state.get("_outline")))).get("state")
    )
    names = schema.get("names")
    names = names.get("tuple") if isinstance(names, dict) else None
    if names is None:
        names = _followed(known, state.get("feature_names_in_")).get("items")
    sizes = {
        key: entry["data_offsets"][1] - entry["data_offsets"][0] for key, entry in container.tensors.items()
    }
    classes = [node["class"] for node in known if "class" in node]
    about = container.metadata
    return FileSummary(
        model=root["class"],
        format=int(about["coterie_format"]),
        coterie_version=about.get("coterie_version", "unknown"),
        numpy_version=about.get("numpy_version", "unknown"),
        scikit_learn_version=about.get("scikit_learn_version", "unknown"),
        params={key: value for key, value in params.items() if not isinstance(value, dict | list)},
        n_features=_n_features(state, schema),
        feature_names=names if isinstance(names, list) else None,
        classes=_classes(container, known, state, name),
        n_trees=_n_trees(container, known),
        n_bytes=container.size,
        members=dict(sorted(Counter(classes).items())),
        foreign=sorted({str(node.get("type")) for node in known if "skops" in node}),
        largest=sorted(sizes.items(), key=lambda item: (-item[1], item[0]))[:5],
        notes=read_notes(about, name),
    )


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _followed(nodes: list[dict[str, Any]], value: Any) -> dict[str, Any]:
    place = _dict(value).get("ref")
    return nodes[place] if type(place) is int and 0 <= place < len(nodes) else {}


def _n_features(state: dict[str, Any], schema: dict[str, Any]) -> int | None:
    for held in (state.get("n_features_in_"), schema.get("n_columns")):
        if type(held) is int:
            return held
    return None


def _classes(
    container: Container, nodes: list[dict[str, Any]], state: dict[str, Any], name: str
) -> list[Any] | None:
    """Labels that are text; numbers are a small tensor, which is read."""
    node = _followed(nodes, state.get("classes_"))
    if isinstance(node.get("items"), list):
        return [item for item in node["items"] if isinstance(item, str | int | float)]
    if "as" in node or not 0 < _n_entries(container, node) <= _MOST_CLASSES:
        return None
    try:
        return list(array_of_node(node, container.tensor, _nothing, _few_bytes).tolist())
    except ModelFileError as error:
        raise ModelFileError(f"{name}: the summary {error}") from None


def _n_entries(container: Container, node: dict[str, Any]) -> int:
    """How many entries the tensor of a node has along its first axis."""
    name, shape = node.get("array"), node.get("shape")
    if isinstance(name, str):
        shape = container.tensors.get(name, {}).get("shape")
    elif not isinstance(node.get("coded"), str) or node["coded"] not in container.tensors:
        return 0
    return shape[0] if isinstance(shape, list) and shape and type(shape[0]) is int else 0


def _nothing(_: Any, __: str) -> None:
    """Numbers hold no other values."""


def _few_bytes(n_bytes: int) -> None:
    if n_bytes > 8 * _MOST_CLASSES:
        raise ModelFileError("has labels with too many axes.")


_COUNTED = {"engine.Forest": "first_output", "engine.PackedForest": "weight"}


def _n_trees(container: Container, nodes: list[dict[str, Any]]) -> int:
    """Trees of every forest, from tensors with an entry for each; those of `_as_grown` are there twice."""
    twice = _dict(_dict(nodes[-1].get("state")).get("_as_grown")).get("ref")
    total = 0
    for place, node in enumerate(nodes):
        name = node.get("class")
        if name in ("engine.Tree", "Stump"):
            total += 1
        elif name in _COUNTED and place != twice:
            total += _n_entries(container, _followed(nodes, _dict(node.get("state")).get(_COUNTED[name])))
    return total
