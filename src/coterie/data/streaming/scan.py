"""`scan`: a table that is read in batches, and which of its columns are the target, weights, groups and offsets."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from coterie._params import in_short
from coterie._typing import AnyArray
from coterie.data.frames import eager_frame, is_frame, is_series, series_values
from coterie.data.prepare import read_table
from coterie.data.streaming.sources import BatchSource, source_of
from coterie.data.table import Table
from coterie.errors import CoterieError, InvalidInput, InvalidType

_UNITS = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


def scan(
    source: Any,
    target: str | Sequence[str] | None = None,
    *,
    sample_weight: str | None = None,
    groups: str | None = None,
    offset: str | Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    batch_size: int = 131_072,
    spill: str | os.PathLike[str] | None = None,
    memory: str | int | None = None,
) -> "Scan":
    """A table that is larger than memory, for `fit`, `predict` and `eval_set`.

    Parameters
    ----------
    source : paths, patterns, datasets, lazy frames, relations, functions or lists of frames
        Files are Parquet, CSV or Arrow (Feather). A function takes no argument and opens a stream of frames, each time
        from its beginning. Rows have to come in the same order each time.
    target, sample_weight, groups, offset : names of columns
        Several names as `target` are several targets; as `offset`, one for each raw prediction. Default None: a
        source without them is only predicted for.
    columns : names of columns to learn from, or None for all others
        Default None: all columns but those.
    batch_size : rows of a batch, where the source lets us choose
        Default 131072: large enough that the overhead of a batch does not count, small enough for any memory.
    spill : a folder for the bins, which are mapped files then; None keeps them in memory
        Default None: bins are kept in memory.
    memory : bytes that the fit may use, such as "8GB", or None for all that the machine has
        A fit that would take more is refused before its first tree. Default None: half of the memory that is free.

    Examples
    --------
    >>> import coterie
    >>> frames = [{"x": np.arange(50.0) + 50 * k, "y": np.full(50, float(k))} for k in range(2)]
    >>> model = coterie.GradientBoostingRegressor(n_estimators=20).fit(scan(frames, target="y"))
    >>> [batch.round(1)[10:12] for batch in model.predict(scan(frames, target="y"))]
    [array([0.1, 0.1]), array([0.9, 0.9])]
    """
    return Scan(
        source_of(source),
        ColumnRoles(_names("target", target), sample_weight, groups, _names("offset", offset)),
        None if columns is None else _names("columns", columns),
        batch_size=_checked_size(batch_size),
        spill=spill,
        memory=None if memory is None else bytes_of(memory),
    )


@dataclass(frozen=True)
class ColumnRoles:
    """Columns that are no features, by name."""

    target: tuple[str, ...] = ()
    sample_weight: str | None = None
    groups: str | None = None
    offset: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        twice = [name for name in self.names() if self.names().count(name) > 1]
        if twice:
            raise InvalidInput(
                f"Column {twice[0]!r} is named twice among target, sample_weight, groups and offset.",
                parameter="target",
                received=twice[0],
                allowed="a column of its own for each",
            )

    def names(self) -> list[str]:
        single = [name for name in (self.sample_weight, self.groups) if name is not None]
        return [*self.target, *single, *self.offset]


@dataclass(frozen=True)
class Batch:
    """Some rows that follow each other.

    Attributes
    ----------
    frame : all columns
    features : the columns to learn from, in the library of the frame
    where : how messages call it: its file or its number, and where it begins
    first_row : the number of its first row in the whole table
    """

    frame: Any
    features: Any
    where: str
    first_row: int
    n_rows: int

    @cached_property
    def table(self) -> Table:
        """The features, read and classified."""
        with self.named():
            return read_table(self.features)

    @cached_property
    def narrow(self) -> frozenset[str]:
        """Columns of whole numbers of 8 or 16 bits."""
        if isinstance(self.frame, Mapping):
            return frozenset()
        return frozenset(name for name, dtype in self.frame.schema.items() if dtype in _NARROW)

    def rows(self, name: str) -> AnyArray | Any:
        """A column that is no feature, as an array or as the series that the frame holds."""
        return self.frame[name]

    @contextmanager
    def named(self) -> Iterator[None]:
        """Errors inside name this batch."""
        try:
            yield
        except CoterieError as error:
            raise error.within(self.where) from error


class Scan:
    """A table in batches; iterating over it gives its frames, features only."""

    is_scan = True  # for those who cannot import this class

    def __init__(
        self,
        source: BatchSource,
        roles: ColumnRoles,
        columns: tuple[str, ...] | None,
        *,
        batch_size: int,
        spill: str | os.PathLike[str] | None,
        memory: int | None,
    ) -> None:
        self.roles = roles
        self.spill = spill
        self.memory = memory
        self._source, self._columns, self._batch_size = source, columns, batch_size

    def __repr__(self) -> str:
        target = self.roles.target[0] if len(self.roles.target) == 1 else list(self.roles.target)
        return (
            f"scan({self._source!r}, target={target!r})" if self.roles.target else f"scan({self._source!r})"
        )

    def refuse_beside(self, **given: Any) -> None:
        """Refuse arguments of a fit that a scan has as columns."""
        for name, value in given.items():
            if value is not None:
                column = "target" if name == "y" else name
                raise InvalidInput(
                    f"{name} was given beside a scan, which has it as a column.",
                    parameter=name,
                    received=value,
                    allowed="None",
                    hint=f"Name the column: scan(source, {column}='...').",
                )

    def known_rows(self) -> int | None:
        """How many rows there are, if that is known without reading them."""
        return self._source.n_rows()

    def batches(self, *, needs_roles: bool = True) -> Iterator[Batch]:
        """One pass; batches without rows are left out. `needs_roles`: columns that are no features have to be there."""
        first_row = 0
        for number, (frame, origin) in enumerate(self._source.open(self._batch_size, self.roles.names())):
            where = f"{origin or f'batch {number}'} (from row {first_row} of the table)"
            batch = self._batch(frame, where, first_row, needs_roles)
            if batch is not None:
                yield batch
                first_row += batch.n_rows

    def __iter__(self) -> Iterator[Any]:
        return (batch.features for batch in self.batches(needs_roles=False))

    def mapped(self, predict: Any, *args: Any, **options: Any) -> Iterator[Any]:
        """What a function of a frame returns for each batch; an `offset` column goes to its argument of that name."""
        for batch in self.batches(needs_roles=False):
            own = dict(options)
            if self.roles.offset:
                own["offset"] = offsets_of(batch, self.roles.offset)
            with batch.named():
                found = predict(batch.features, *args, **own)
            yield found

    def sample(self, n_rows: int, seed: int = 0) -> tuple[Any, AnyArray]:
        """About so many rows, drawn evenly, as features and target: for what reads its table whole.

        Features are a frame of the library that the batches are of. Which rows are drawn depends on the seed and on
        their numbers, not on the batches.
        """
        total = self.known_rows() or sum(batch.n_rows for batch in self.batches())
        frames, targets = [], []
        for batch in self.batches():
            rows = np.flatnonzero(_unit_of(batch.first_row, batch.n_rows, seed) * total < n_rows)
            if len(rows):
                frames.append(_rows_of_frame(batch.features, rows))
                targets.append(
                    np.stack([values_of(batch.rows(name))[rows] for name in self.roles.target], axis=1)
                )
        if not frames:
            raise InvalidInput(
                f"{self!r} has no rows.", parameter="source", received=0, allowed="at least one row"
            )
        target = np.concatenate(targets)
        return _joined(frames), target[:, 0] if target.shape[1] == 1 else target

    def _batch(self, frame: Any, where: str, first_row: int, needs_roles: bool) -> Batch | None:
        try:
            held = _held_frame(frame)
            names = list(held) if isinstance(held, Mapping) else held.columns
            for name in (*(self.roles.names() if needs_roles else self.roles.offset), *(self._columns or ())):
                _check_has(name, names)
        except CoterieError as error:
            raise error.within(where) from error
        n_rows = _n_rows(held)
        return Batch(held, self._features(held), where, first_row, n_rows) if n_rows else None

    def _features(self, held: Any) -> Any:
        wanted = self._columns
        if isinstance(held, Mapping):
            others = self.roles.names()
            return {name: held[name] for name in (wanted or held) if wanted or name not in others}
        if wanted is None:
            others = [name for name in self.roles.names() if name in held.columns]
            return nw.to_native(held.drop(others) if others else held)
        return nw.to_native(held.select(list(wanted)))


def values_of(column: Any) -> AnyArray:
    """A column that is no feature as a plain array, in the type it came in."""
    if isinstance(column, nw.Series):
        column = nw.to_native(column)
    return series_values(column) if is_series(column) else np.asarray(column)


def offsets_of(batch: Batch, names: Sequence[str]) -> AnyArray:
    columns = [values_of(batch.rows(name)) for name in names]
    return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)


def _unit_of(first_row: int, n_rows: int, seed: int) -> AnyArray:
    """A number from 0 to 1 for each row, by the mixing function of splitmix64 on its number."""
    with np.errstate(over="ignore"):
        mixed = (np.arange(first_row, first_row + n_rows, dtype=np.uint64) + np.uint64(seed + 1)) * np.uint64(
            0x9E3779B97F4A7C15
        )
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return (mixed ^ (mixed >> np.uint64(31))) / 2.0**64


def _rows_of_frame(features: Any, rows: AnyArray) -> Any:
    if isinstance(features, Mapping):
        return {name: np.asarray(values)[rows] for name, values in features.items()}
    return nw.to_native(nw.from_native(features, eager_only=True)[rows.tolist(), :])


def _joined(frames: list[Any]) -> Any:
    if isinstance(frames[0], Mapping):
        return {name: np.concatenate([frame[name] for frame in frames]) for name in frames[0]}
    return nw.to_native(nw.concat([nw.from_native(frame, eager_only=True) for frame in frames]))


def _held_frame(frame: Any) -> Any:
    if isinstance(frame, Mapping):
        return frame
    if not is_frame(frame):
        raise InvalidType(
            f"A batch is a {type(frame).__name__}; expected a data frame, an Arrow table or a dict of columns.",
            parameter="source",
            received=type(frame).__name__,
            allowed="data frames, Arrow tables or dicts of columns",
        )
    return eager_frame(nw.to_native(frame, pass_through=True))


def _n_rows(held: Any) -> int:
    if isinstance(held, Mapping):
        return len(next(iter(held.values()))) if held else 0
    return len(held)


def _check_has(name: str, names: Sequence[str]) -> None:
    if name not in names:
        raise InvalidInput(
            f"There is no column {name!r}; the columns are {in_short(list(names))}.",
            parameter="source",
            received=list(names),
            allowed=f"a column {name!r}",
            column=name,
        )


_NARROW = (nw.Int8, nw.Int16, nw.UInt8, nw.UInt16)


def _names(parameter: str, given: str | Sequence[str] | None) -> tuple[str, ...]:
    if given is None:
        return ()
    names = (given,) if isinstance(given, str) else tuple(given)
    if not all(isinstance(name, str) for name in names):
        raise InvalidType.expecting(
            f"{parameter}={in_short(given)}", "the name of a column, or several", parameter, given
        )
    return names


def _checked_size(batch_size: int) -> int:
    if not isinstance(batch_size, int) or batch_size < 1:
        raise InvalidInput.expecting(
            f"batch_size={batch_size!r}", "a whole number >= 1", "batch_size", batch_size
        )
    return batch_size


def bytes_of(size: str | int) -> int:
    """A size in bytes.

    Examples
    --------
    >>> bytes_of("8GB"), bytes_of("1.5 GiB"), bytes_of(1000)
    (8000000000, 1610612736, 1000)
    """
    if isinstance(size, int) and size > 0:
        return size
    text = str(size).strip().upper().removesuffix("B")
    number = text.rstrip("KMGTI ")
    try:
        found = int(float(number) * _UNITS[text[len(number) :].strip()])
    except (ValueError, KeyError, OverflowError):
        found = 0
    if found <= 0:
        raise InvalidInput.expecting(
            f"memory={size!r}", "a number of bytes, such as '8GB' or '500MiB'", "memory", size
        )
    return found
