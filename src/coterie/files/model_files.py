"""`save`, `load` and `inspect_file`: models as files; and checkpoints, the parts of a fit that is not done.

A checkpoint is named after its fit and its number, `fit-1a2b3c4d-000001.part`. It is read as a model is: nothing is
run, every byte is under a checksum, and its objects are of registered classes.
"""

import os
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import sklearn

from coterie._params import in_short
from coterie._storage import storable
from coterie._value_types import ANY, TEXT, dict_of
from coterie.errors import InvalidParameter, InvalidType, MissingPackage, ModelFileError
from coterie.files.container import Container, canonical, chunks_of, parsed
from coterie.files.foreign import Untrusted, untrusted_types
from coterie.files.reader import Reader
from coterie.files.source import ByteSource, opened, replace_file
from coterie.files.summary import FileSummary, summary_of, written_notes
from coterie.files.upgrades import FORMAT, upgraded
from coterie.files.writer import Writer
from coterie.fitting.checkpoint import FoundPart


def save(
    model: Any,
    path: str | os.PathLike[str] | BinaryIO,
    *,
    compact: bool = True,
    notes: Mapping[str, str] | None = None,
) -> None:
    """Store a model in one file that `coterie.load` reads, and that holds data only.

    The file has the layout of safetensors: tensors, and a header of JSON with a checksum for each of them. The same
    model has the same bytes. A file that is there already is replaced whole or, if anything goes wrong, not at all.

    Parameters
    ----------
    model : an estimator of coterie, fitted or not
        Members of other libraries are stored by skops: `pip install 'coterie[export]'`.
    path : str, path, or an object that is open for writing bytes
    compact : bool
        Whether arrays are coded in fewer bytes, which loses nothing. False stores forests as they are in memory: the
        file is several times as large, and `coterie.load(path, mmap=True)` opens it without reading it. Default True:
        files a fraction of the size, for a little more time to load.
    notes : dict of texts by name, or None
        What readers of the file should know, such as the name of the target. `coterie.inspect_file` shows them; the
        model does not use them. Default None: nothing but the model is stored.

    Raises
    ------
    ModelFileError
        If the model holds something that cannot be stored, such as a function; the message names the attribute.

    Examples
    --------
    >>> import io
    >>> import coterie
    >>> tree = coterie.DecisionTreeRegressor().fit([[0], [1], [2]], [1.0, 2.0, 4.0])
    >>> file = io.BytesIO()
    >>> coterie.save(tree, file)
    >>> _ = file.seek(0)
    >>> coterie.load(file).predict([[2]])
    array([4.])
    """
    writer = Writer(bool(compact))
    writer.write(model)
    if not writer.is_in_proportion():  # next to nothing, thousands of times over
        writer = Writer(compact=False)
        writer.write(model)
    metadata = {
        "coterie_format": str(FORMAT),
        "coterie_version": version("coterie"),
        "model": canonical({"nodes": writer.nodes}),
        "numpy_version": np.__version__,
        "scikit_learn_version": sklearn.__version__,
    }
    if notes:
        metadata["notes"] = written_notes(notes)
    chunks = chunks_of(metadata, writer.tensors)
    if isinstance(path, str | os.PathLike):
        replace_file(path, chunks)
    elif hasattr(path, "write"):
        for chunk in chunks:
            path.write(chunk)
    else:
        raise InvalidType(
            f"path={in_short(path)}: expected the path of a file, or an object that is open for writing bytes."
        )


def load(path: str | os.PathLike[str] | BinaryIO, *, trusted: Sequence[str] = (), mmap: bool = False) -> Any:
    """The model of a file that `coterie.save` wrote. Nothing in the file is run.

    Parameters
    ----------
    path : str, path, or an object that is open for reading bytes
    trusted : list of str
        Types of other libraries' members that skops does not trust by itself. The message of the error lists those
        that a file needs; name them only if you know where the file comes from. Default (): a file may come from
        anywhere, so foreign types are named by you.
    mmap : bool
        Whether large arrays stay in the file until they are used. A forest of any size that was saved with
        `compact=False` is there at once, and processes that load it share its memory. Its trees are checked when they
        are first used, so a hostile file does no harm, but the checksums of large arrays are not: a flipped bit can
        change a prediction. The file must not be changed or cut off while the model is in use; replacing it, as
        `save` does, is fine. Default False: checksums are then verified, and the file may be moved.

    Returns
    -------
    The model, whose predictions have the same bits as those of the one that was saved.

    Raises
    ------
    ModelFileError
        If the file is damaged, cut off, of another format or of a later version, or holds what no model holds. The
        message says what and where.

    Examples
    --------
    >>> import io, coterie
    >>> file = io.BytesIO()
    >>> coterie.save(coterie.RandomForestClassifier(5, random_state=0).fit([[0.0], [1.0]], ["a", "b"]), file)
    >>> _ = file.seek(0)
    >>> type(coterie.load(file)).__name__
    'RandomForestClassifier'
    """
    if isinstance(trusted, str) or not all(isinstance(name, str) for name in trusted):
        raise InvalidType(f"trusted={in_short(trusted)}: expected a list of names of types.")
    with opened(path) as source:
        container, nodes = _opened_model(source, bool(mmap))
        return Reader(container, nodes, source.name, list(trusted)).read()


def inspect_file(path: str | os.PathLike[str] | BinaryIO) -> FileSummary:
    """What is in a file: class, versions, features, classes, trees and sizes, without reading its tensors.

    Parameters
    ----------
    path : str, path, or an object that is open for reading bytes

    Returns
    -------
    A summary that prints as text; its attributes are the numbers.

    Examples
    --------
    >>> import io
    >>> import coterie
    >>> forest = coterie.RandomForestRegressor(n_estimators=3).fit([[0], [1], [2]], [1.0, 2.0, 4.0])
    >>> file = io.BytesIO()
    >>> coterie.save(forest, file)
    >>> _ = file.seek(0)
    >>> summary = coterie.inspect_file(file)
    >>> summary.model, summary.n_trees, summary.n_features
    ('RandomForestRegressor', 3, 1)
    """
    with opened(path) as source:
        container, nodes = _opened_model(source)
        return summary_of(container, nodes, source.name)


def _opened_model(source: ByteSource, mapped: bool = False) -> tuple[Container, Any]:
    container = Container(source, mapped)
    written = _format_of(container, source.name)
    container.read_hashes()
    if "model" not in container.metadata and "checkpoint" in container.metadata:
        raise ModelFileError(
            f"{source.name} is a part of a checkpoint and no model: the fit that wrote it resumes from it with "
            "resume=True."
        )
    model = parsed(container.metadata.get("model", "").encode(), f"{source.name}: the model")
    if not isinstance(model, dict) or set(model) != {"nodes"}:
        raise ModelFileError(f"{source.name}: the model has no list of nodes.")
    return container, upgraded(model["nodes"], written)


def _format_of(container: Container, name: str) -> int:
    text = container.metadata.get("coterie_format")
    if text is None:
        raise ModelFileError(
            f"{name} has the layout of safetensors and is no model of coterie.save: it has no coterie_format."
        )
    if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) < 1:
        raise ModelFileError(f"{name}: coterie_format is {in_short(text)}; expected a number from 1 on.")
    if int(text) > FORMAT:
        raise ModelFileError(
            f"{name} was written by coterie {in_short(container.metadata.get('coterie_version'))} in format {text}; "
            f"coterie {version('coterie')} reads formats up to {FORMAT}. Install a newer coterie to load it."
        )
    return int(text)


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
