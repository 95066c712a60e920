"""`save`, `load` and `inspect_file`: models as files."""

import os
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, BinaryIO

import numpy as np
import sklearn

from coterie._params import in_short
from coterie.errors import InvalidType, ModelFileError
from coterie.files.container import Container, canonical, chunks_of, parsed
from coterie.files.reader import Reader
from coterie.files.source import ByteSource, opened, replace_file
from coterie.files.summary import FileSummary, summary_of, written_notes
from coterie.files.upgrades import FORMAT, upgraded
from coterie.files.writer import Writer


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
        file is several times as large, and `coterie.load(path, mmap=True)` opens it without reading it.
    notes : dict of texts by name, or None
        What readers of the file should know, such as the name of the target. `coterie.inspect_file` shows them; the
        model does not use them.

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
        that a file needs; name them only if you know where the file comes from.
    mmap : bool
        Whether large arrays stay in the file until they are used. A forest of any size that was saved with
        `compact=False` is there at once, and processes that load it share its memory. Its trees are checked when they
        are first used, so a hostile file does no harm, but the checksums of large arrays are not: a flipped bit can
        change a prediction. The file must not be changed or cut off while the model is in use; replacing it, as `save`
        does, is fine.

    Returns
    -------
    The model, whose predictions have the same bits as those of the one that was saved.

    Raises
    ------
    ModelFileError
        If the file is damaged, cut off, of another format or of a later version, or holds what no model holds. The
        message says what and where.

    See Also
    --------
    coterie.save : the example there.
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
