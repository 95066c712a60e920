"""What is done with one partition of the table: its columns surveyed, its rows binned."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from coterie import _engine
from coterie._typing import AnyArray, CategoricalFeatures, CodeArray
from coterie.boosting.shards import ShardFeatures
from coterie.data.categorical import nominal_columns
from coterie.data.encoding import Encoded, raw_codes
from coterie.data.frames import is_frame, is_series, series_values
from coterie.data.prepare import Encoder, read_table
from coterie.data.table import Column, Table
from coterie.errors import CoterieError, InvalidInput

_NARROW = (nw.Int8, nw.Int16, nw.UInt8, nw.UInt16)


@dataclass(frozen=True)
class PartitionRows:
    """Where a partition is in the table."""

    number: int
    first_row: int
    n_rows: int
    n_total: int
    seed: int

    @property
    def where(self) -> str:
        return f"partition {self.number} (from row {self.first_row} of the table)"


@dataclass(frozen=True)
class PartitionSurvey:
    """What a partition says of the table.

    Attributes
    ----------
    names : of the columns; None for arrays
    columns : each as a column of few rows with its kind, type and the levels that occur
    narrow : for each column, whether it holds whole numbers of up to 16 bits
    rows : numbers in the table of the rows that may decide cuts
    values : of these rows, by column; None for labels
    digest : of the same rows, to see whether a later pass finds them
    """

    names: tuple[str, ...] | None
    columns: list[Column]
    narrow: list[bool]
    rows: AnyArray
    values: list[AnyArray | None]
    digest: str


@dataclass(frozen=True)
class Block:
    """A partition as bins, one row of the array for each feature; and as values, if the fit reads them."""

    n_rows: int
    bins: AnyArray
    values: list[AnyArray] | None = None


@dataclass(frozen=True)
class Binning:
    """How partitions become blocks.

    Attributes
    ----------
    cuts : of each feature
    types : of each feature in the whole table
    keep_values : whether blocks hold the values as well
    """

    encoder: Encoder
    cuts: list[list[float]]
    types: list[np.dtype[Any]]
    keep_values: bool

    @property
    def mapper(self) -> Any:
        return _engine.BinMapper.from_cuts(self.cuts, self.encoder.n_levels)


def column_values(part: Any) -> AnyArray:
    """The values of a series, a frame of several targets or an array."""
    if is_series(part):
        return series_values(part)
    if is_frame(part):
        frame = nw.from_native(part, eager_only=True)
        columns = [series_values(nw.to_native(frame[name])) for name in frame.columns]
        return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)
    return np.asarray(part)


def survey_partition(
    part: Any, rows: PartitionRows, categorical: CategoricalFeatures
) -> PartitionSurvey | None:
    """The first look at a partition; None if it has no rows."""
    if rows.n_rows == 0 and _length(part) == 0:
        return None
    try:
        table = _read(part, rows)
        chosen = _chosen(table, categorical)
        columns = [
            _reduced(table.column(index), by_choice=bool(chosen[index])) for index in range(table.n_columns)
        ]
        sample = _sample(table, rows)
        values = [_numbers(table.column(index), sample) for index in range(table.n_columns)]
    except CoterieError as error:
        raise error.within(rows.where) from error
    return PartitionSurvey(
        table.names,
        columns,
        _narrow(part, table.n_columns),
        sample + np.uint64(rows.first_row),
        values,
        _digest(table, sample),
    )


def bin_partition(part: Any, rows: PartitionRows, digest: str | None, binning: Binning) -> Block:
    """The second look: bins, and the same rows as in the first."""
    encoder = binning.encoder
    columns = encode_partition(part, rows, digest, encoder, binning.types)
    if digest is None:
        bins = np.empty((len(encoder.n_levels), 0), dtype=np.uint8)
        return Block(0, bins, columns if binning.keep_values else None)
    bins = binning.mapper.bins(columns, encoder.n_levels)
    kept = [np.ascontiguousarray(column) for column in columns] if binning.keep_values else None
    return Block(rows.n_rows, bins, kept)


def encode_partition(
    part: Any,
    rows: PartitionRows,
    digest: str | None,
    encoder: Encoder,
    types: Sequence[np.dtype[Any]],
) -> list[AnyArray]:
    """The features of a partition, in the types of the whole table; the same rows as in the first look."""
    if digest is None:
        return [np.empty(0, dtype) for dtype in types]
    try:
        table = _read(part, rows)
        if _digest(table, _sample(table, rows)) != digest:
            raise _changed()
        encoded = encoder.transform(table)
    except CoterieError as error:
        raise error.within(rows.where) from error
    values = encoded.values if isinstance(encoded.values, list) else list(encoded.values.T)
    return [own.astype(dtype, copy=False) for own, dtype in zip(values, types, strict=True)]


def codes_of_partition(
    part: Any, rows: PartitionRows, encoder: Encoder, wanted: Sequence[int]
) -> list[CodeArray]:
    """Places of the levels of some columns, for those that have very many."""
    if rows.n_rows == 0:
        return [np.empty(0, dtype=np.int32) for _ in wanted]
    try:
        table = _read(part, rows)
        found = raw_codes(table, list(wanted))
        return [encoder.places(index, table.column(index), *found[index]) for index in wanted]
    except CoterieError as error:
        raise error.within(rows.where) from error


def shard_features(
    blocks: Sequence[tuple[Block, int, int]],
    binning: Binning,
    communicator: Any,
    first_row: int,
    n_threads: int,
) -> ShardFeatures:
    """The features of a member: rows [begin, end) of each of these blocks, one after the other."""
    mapper, n_levels = binning.mapper, binning.encoder.n_levels
    n_rows = sum(end - begin for _, begin, end in blocks)

    def matrix_of(mapper: Any, more: list[AnyArray]) -> Any:
        builder, first = _engine.BinnedMatrixBuilder(mapper, n_rows, n_threads), 0
        for block, begin, end in blocks:
            last = first + end - begin
            bins = [column[begin:end] for column in block.bins] + [column[first:last] for column in more]
            builder.append_bins(bins, end - begin)
            first = last
        return builder.finish(communicator, first_row)

    encoded = None
    if binning.keep_values:
        columns = [
            np.concatenate(
                [np.empty(0, dtype), *(_kept(block)[feature][begin:end] for block, begin, end in blocks)]
            )
            for feature, dtype in enumerate(binning.types)
        ]
        encoded = Encoded(columns, n_rows, len(columns), n_levels)
    return ShardFeatures(matrix_of, mapper, n_levels, encoded)


def _kept(block: Block) -> list[AnyArray]:
    assert block.values is not None
    return block.values


def _length(part: Any) -> int:
    return int(part.shape[0])


def _read(part: Any, rows: PartitionRows) -> Table:
    if _length(part) != rows.n_rows:
        raise InvalidInput(
            f"X has {_length(part)} rows here, and y has {rows.n_rows}.",
            parameter="X",
            received=_length(part),
            allowed=f"{rows.n_rows} rows",
            hint="Make both of one collection, so that their partitions have the same rows.",
        )
    return read_table(part)


def _chosen(table: Table, categorical: CategoricalFeatures) -> AnyArray:
    if categorical is None or isinstance(categorical, str):
        return np.zeros(table.n_columns, dtype=bool)
    return np.asarray(nominal_columns(categorical, table))


def _reduced(column: Column, *, by_choice: bool) -> Column:
    """A column of few rows with the kind, the type and the levels of all of them."""
    values = column.values
    if column.kind != "numeric":
        return Column(column.name, column.kind, np.unique(values), column.levels)
    if column.is_empty() or not by_choice:
        return Column(
            column.name, "numeric", np.full(1, np.nan if column.is_empty() else 0, dtype=values.dtype)
        )
    return Column(column.name, "numeric", np.unique(values))


def _narrow(part: Any, n_columns: int) -> list[bool]:
    if is_frame(part):
        return [dtype in _NARROW for dtype in nw.from_native(part, eager_only=True).schema.values()]
    dtype = np.asarray(part).dtype
    return [dtype.kind in "iu" and dtype.itemsize <= 2] * n_columns


def _sample(table: Table, rows: PartitionRows) -> AnyArray:
    sample: AnyArray = _engine.BinMapper.sample(
        table.n_rows, rows.first_row, rows.n_total, np.empty(0), rows.seed
    )
    return sample


def _numbers(column: Column, rows: AnyArray) -> AnyArray | None:
    """The values of some rows; of ordered categories their places, None for labels."""
    if column.kind == "nominal":
        return None
    values = column.values[rows]
    if column.kind == "ordered":
        return np.where(values < 0, np.nan, values).astype(np.float32)
    return np.ascontiguousarray(values)


def _digest(table: Table, rows: AnyArray) -> str:
    """Of the sampled rows, and of a few that are always there."""
    some = np.unique(
        np.concatenate([rows[:1000].astype(np.int64), np.linspace(0, table.n_rows - 1, 8).astype(np.int64)])
    )
    digest = hashlib.blake2b(f"{table.n_rows} {table.names}".encode(), digest_size=16)
    for index in range(table.n_columns):
        column = table.column(index)
        digest.update(np.ascontiguousarray(column.values[some]).tobytes())
        if column.levels is not None:
            digest.update(repr(column.levels[:1000].tolist()).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def _changed() -> InvalidInput:
    return InvalidInput(
        "The rows are others than in the pass before.",
        parameter="X",
        allowed="the same rows in the same order each time they are computed",
        hint="Fix the random seed of what makes them, or persist the collection: X = X.persist().",
    )
