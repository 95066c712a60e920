"""What can be read in batches more than once: files, datasets, lazy frames, relations, functions, lists of frames."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from coterie._params import in_short
from coterie.data.frames import is_frame
from coterie.data.streaming.files import FileSource, paths_of
from coterie.errors import InvalidType

SOURCES = (
    "paths or patterns of files, a pyarrow dataset, a polars LazyFrame, a duckdb relation, a function that opens a "
    "stream of frames, or a list of frames"
)


class BatchSource(Protocol):
    """Frames in an order that is the same each time."""

    def n_rows(self) -> int | None:
        """How many rows there are, if that is known without reading them."""

    def open(self, batch_size: int, exact: Sequence[str]) -> Iterator[tuple[Any, str]]:
        """Frames, each with the name of what it comes from, or an empty text."""


def source_of(source: Any) -> BatchSource:
    """The batches of what the user named."""
    if isinstance(source, str | os.PathLike):
        return FileSource(paths_of(source))
    if (
        isinstance(source, list | tuple)
        and source
        and all(isinstance(each, str | os.PathLike) for each in source)
    ):
        return FileSource([path for each in source for path in paths_of(each)])
    module, name = type(source).__module__.split(".")[0], type(source).__name__
    if module == "pyarrow" and hasattr(source, "scanner"):
        return DatasetSource(source)
    if module == "polars" and name == "LazyFrame":
        return FrameSource(lambda batch_size: _lazy_batches(source, batch_size))
    if "duckdb" in module and hasattr(source, "fetchnumpy"):
        return FrameSource(lambda batch_size: relation_batches(source, batch_size))
    if name == "RecordBatchReader":
        raise _read_once(source, "scan(lambda: open_reader(...), ...)")
    if isinstance(source, Mapping) or is_frame(source):
        return FrameSource(lambda _: [source])
    if callable(source):
        return FrameSource(lambda _: source())
    if isinstance(source, Iterable) and not isinstance(source, bytes):
        if isinstance(source, Iterator):
            raise _read_once(source, "scan(function_that_makes_it, ...), or a list of frames")
        return FrameSource(lambda _: source)
    raise InvalidType(
        f"source={in_short(source)}: expected {SOURCES}.",
        parameter="source",
        received=source,
        allowed=SOURCES,
    )


def _read_once(source: Any, instead: str) -> InvalidType:
    return InvalidType(
        f"source is a {type(source).__name__}, which can be read only once, and a fit passes over its rows several "
        "times.",
        parameter="source",
        received=type(source).__name__,
        allowed=SOURCES,
        hint=f"Give a function that opens it again: {instead}.",
    )


class FrameSource:
    """Frames that a function opens."""

    def __init__(self, opened: Callable[[int], Any]) -> None:
        self._opened = opened

    def __repr__(self) -> str:
        return "frames"

    def n_rows(self) -> int | None:
        return None

    def open(self, batch_size: int, exact: Sequence[str]) -> Iterator[tuple[Any, str]]:
        frames = self._opened(batch_size)
        if (
            not isinstance(frames, Iterable)
            or isinstance(frames, Mapping)
            or (type(frames).__name__ != "RecordBatchReader" and is_frame(frames))
        ):
            frames = [frames]
        return ((frame, "") for frame in frames)


class DatasetSource:
    """A dataset of pyarrow, whose fragments are files."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    def __repr__(self) -> str:
        return "a dataset"

    def n_rows(self) -> int | None:
        return int(self._dataset.count_rows())

    def open(self, batch_size: int, exact: Sequence[str]) -> Iterator[tuple[Any, str]]:
        scanner = self._dataset.scanner(batch_size=batch_size, batch_readahead=2, fragment_readahead=1)
        for tagged in scanner.scan_batches():
            yield tagged.record_batch, getattr(tagged.fragment, "path", "")


def _lazy_batches(frame: Any, batch_size: int) -> Iterator[Any]:
    if hasattr(frame, "collect_batches"):
        yield from frame.collect_batches(chunk_size=batch_size, maintain_order=True)
        return
    begin = 0
    while len(batch := frame.slice(begin, batch_size).collect()):
        yield batch
        begin += len(batch)


def relation_batches(relation: Any, batch_size: int) -> Iterable[Any]:
    """The rows of a relation of duckdb as Arrow's record batches, by whichever name its version has for them."""
    for name in ("to_arrow_reader", "fetch_arrow_reader", "fetch_record_batch"):
        if hasattr(relation, name):
            # Of a new relation: in older versions of duckdb one has no rows once it was read.
            batches: Iterable[Any] = getattr(relation.select("*"), name)(batch_size)
            return batches
    raise InvalidType.expecting(
        "source is a relation of an unknown version of duckdb",
        "duckdb 1.4 or later",
        "source",
        type(relation).__name__,
    )
