"""Checkpoints as files: the parts of a fit that is not done, each in the container that models are in.

A file is named after its fit and its number, `fit-1a2b3c4d-000001.part`. It is read as a model is: nothing in it is
run, every byte is under a checksum, and its objects are of registered classes.
"""

import os
import re
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from coterie._storage import storable
from coterie._value_types import ANY, TEXT, dict_of
from coterie.errors import InvalidParameter, MissingPackage, ModelFileError
from coterie.files.container import Container, canonical, chunks_of, parsed
from coterie.files.foreign import Untrusted, untrusted_types
from coterie.files.reader import Reader
from coterie.files.source import opened, replace_file
from coterie.files.upgrades import FORMAT
from coterie.files.writer import Writer
from coterie.fitting.checkpoint import FoundPart

_NAME = re.compile(r"fit-([0-9a-f]{8})-([0-9]{6,12})\.(part|state)")


@storable("checkpoint.Held", {"held": dict_of(TEXT, ANY)})
class Held:
    """What one file holds, by name."""

    def __init__(self, held: dict[str, Any]) -> None:
        self.held = held


class CheckpointFolder:
    """The files of checkpoints in a folder."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def found(self) -> list[FoundPart]:
        names = [_NAME.fullmatch(name) for name in os.listdir(self._path)]
        parts = [FoundPart(name[1], int(name[2]), name[3]) for name in names if name]
        return sorted(parts, key=lambda part: (part.run, part.kind, part.number))

    def read(self, part: FoundPart, trusted: Sequence[str]) -> dict[str, Any]:
        with opened(self._file(part)) as source:
            container = Container(source)
            if container.metadata.get("coterie_format") != str(FORMAT):
                raise ModelFileError(f"{source.name} was written by another version of coterie.")
            container.read_hashes()
            nodes = parsed(
                container.metadata.get("checkpoint", "").encode(), f"{source.name}: the checkpoint"
            )
            try:
                held = Reader(container, nodes, source.name, list(trusted)).read()
            except Untrusted as error:
                raise InvalidParameter(
                    f"{source.name} holds members of types that skops does not trust. If you know where the file comes "
                    f"from, resume with checkpoint=Checkpoint(..., trusted={error.types})."
                ) from None
        if type(held) is not Held:
            raise ModelFileError(f"{source.name} is no part of a checkpoint.")
        return held.held

    def write(self, part: FoundPart, held: dict[str, Any]) -> None:
        writer = _written(held)
        metadata = {
            "checkpoint": canonical(writer.nodes),
            "coterie_format": str(FORMAT),
            "coterie_version": version("coterie"),
        }
        replace_file(self._file(part), chunks_of(metadata, writer.tensors))

    def remove(self, parts: Sequence[FoundPart]) -> None:
        for part in parts:
            self._file(part).unlink(missing_ok=True)

    def check(self, held: Any) -> None:
        _written({"held": held})

    def can_keep(self, held: Any, trusted: Sequence[str]) -> bool:
        try:
            writer = _written({"held": held})
        except (ModelFileError, MissingPackage):
            return False
        foreign = [writer.tensors[node["skops"]] for node in writer.nodes if "skops" in node]
        return not any(untrusted_types(data, list(trusted)) for data in foreign)

    def _file(self, part: FoundPart) -> Path:
        return self._path / f"fit-{part.run}-{part.number:06d}.{part.kind}"


def _written(held: dict[str, Any]) -> Writer:
    writer = Writer()
    writer.write(Held(held))
    return writer
