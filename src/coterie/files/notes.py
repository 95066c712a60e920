"""Notes in a model file: a few texts by name, for people and programs that read the file."""

from collections.abc import Mapping
from typing import Any

from coterie._params import in_short
from coterie.errors import InvalidType, ModelFileError
from coterie.files.json_text import canonical, parsed


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
