"""The first pass: kinds and levels of all columns, the target, weights, groups and offsets, and a sample of rows.

Which rows are in the sample follows from their numbers alone, so it is the sample that the engine takes of a table in
memory. How many rows there are is known at the end only: as long as fewer have been seen, more belong to it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie import _engine
from coterie._params import is_auto
from coterie._typing import AnyArray, CategoricalFeatures, ClassWeight, FloatArray, Task
from coterie.data.categorical import nominal_columns
from coterie.data.streaming.columns import SeenColumn
from coterie.data.streaming.rows import GatheredColumn, gathered_groups, gathered_target
from coterie.data.streaming.scan import Batch, Scan, offsets_of, values_of
from coterie.data.table import Column, Table
from coterie.data.target import Target, read_target
from coterie.data.weight import read_weight
from coterie.errors import InvalidInput, SchemaMismatch

Watch = Callable[[str, int, int | None], None]  # what is done, rows so far, rows in all if known
_MOST_SAMPLED = 300_000


@dataclass
class Survey:
    """What the first pass found.

    Attributes
    ----------
    example : a table of one row with the names, kinds and levels of all
    columns : what is known of each
    target_rows : the first target as it came, to see whether a later pass finds the same rows
    sample : numbers of the sampled rows, and their values by column; None for labels
    """

    n_rows: int
    example: Table
    columns: list[SeenColumn]
    target: Target
    weight: FloatArray | None
    groups: AnyArray | None
    offset: AnyArray | None
    target_column: GatheredColumn
    target_rows: AnyArray
    sample: "RowSample"


@dataclass(frozen=True)
class TargetSettings:
    """What an estimator says about its target."""

    task: Task
    estimator_name: str
    class_weight: ClassWeight = None


def survey(
    scan: Scan, settings: TargetSettings, categorical: CategoricalFeatures, seed: int, watch: Watch | None
) -> Survey:
    """Read all batches once."""
    if not scan.roles.target:
        raise InvalidInput(
            "fit needs a target, and scan was given none.",
            parameter="target",
            allowed="the name of a column",
            hint="Name its column: scan(source, target='y').",
        )
    return _Surveyor(scan, settings, categorical, seed).run(watch)


class _Surveyor:
    def __init__(
        self, scan: Scan, settings: TargetSettings, categorical: CategoricalFeatures, seed: int
    ) -> None:
        self._scan, self._settings, self._categorical = scan, settings, categorical
        self._columns: list[SeenColumn] = []
        self._names: tuple[str, ...] | None = None
        roles = scan.roles
        self._target = [GatheredColumn() for _ in roles.target]
        self._weight, self._groups = GatheredColumn(), GatheredColumn()
        self._offset: list[AnyArray] = []
        self._sample = RowSample(seed)

    def run(self, watch: Watch | None) -> Survey:
        total = self._scan.known_rows() if watch is not None else None
        n_rows = 0
        for batch in self._scan.batches():
            with batch.named():
                self._check_names(batch)
                self._add_rows(batch)
                for index, column in enumerate(self._columns):
                    column.add(batch.table.column(index), narrow=column.name in batch.narrow)
                self._sample.add(batch.table)
            n_rows += batch.n_rows
            if watch is not None:
                watch("reading", n_rows, total)
        if n_rows == 0:
            raise InvalidInput(
                f"{self._scan!r} has no rows.", parameter="source", received=0, allowed="at least one row"
            )
        return self._found(n_rows)

    def _check_names(self, batch: Batch) -> None:
        table = batch.table
        names = tuple(table.label(index) for index in range(table.n_columns))
        if self._names is None:
            self._names = names
            given = self._categorical
            chosen = np.zeros(len(names), dtype=bool)
            if given is not None and not is_auto(given):
                chosen = nominal_columns(given, table)
            self._columns = [
                SeenColumn(name, by_choice=bool(own)) for name, own in zip(names, chosen, strict=True)
            ]
        elif names != self._names:
            extra, absent = (
                [n for n in names if n not in self._names],
                [n for n in self._names if n not in names],
            )
            what = f"has the columns {extra} besides" if extra else f"lacks the columns {absent} of"
            if not extra and not absent:
                what = "has its columns in another order than"
            raise SchemaMismatch(
                f"This batch {what} the batches before it.",
                parameter="source",
                received=list(names),
                allowed=f"the columns {list(self._names)}",
                column=(extra or absent or list(names))[0],
            )

    def _add_rows(self, batch: Batch) -> None:
        """Targets, weights, groups and offsets are checked batch by batch, so that an error can say where."""
        roles, settings = self._scan.roles, self._settings
        for name, gathered in zip(roles.target, self._target, strict=True):
            values = values_of(batch.rows(name))
            read_target(
                values, task=settings.task, estimator_name=settings.estimator_name, n_rows=batch.n_rows
            )
            gathered.append(values)
        if roles.sample_weight is not None:
            weight = read_weight(values_of(batch.rows(roles.sample_weight)), batch.n_rows, some_rows=True)
            assert weight is not None
            self._weight.append(weight)
        if roles.groups is not None:
            self._groups.append(values_of(batch.rows(roles.groups)))
        if roles.offset:
            self._offset.append(offsets_of(batch, roles.offset))

    def _found(self, n_rows: int) -> Survey:
        roles, settings = self._scan.roles, self._settings
        for column in self._columns:
            column.settle()
        weight = self._weight.array() if roles.sample_weight is not None else None
        target = gathered_target(
            self._target,
            task=settings.task,
            estimator_name=settings.estimator_name,
            class_weight=settings.class_weight,
            weight=weight,
        )
        return Survey(
            n_rows,
            Table(1, self._names, columns=tuple(column.example(n_rows) for column in self._columns)),
            self._columns,
            target,
            weight,
            gathered_groups(self._groups) if roles.groups is not None else None,
            np.concatenate(self._offset) if roles.offset else None,
            self._target[0],
            self._target[0].array(),
            self._sample,
        )


class RowSample:
    """Rows that decide the cuts, of a table whose length is not known yet."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._n_seen = 0
        self._n_kept = 0
        self._limit = _MOST_SAMPLED
        self._rows: list[AnyArray] = []
        self._values: list[list[AnyArray | None]] = []

    def add(self, table: Table) -> None:
        first, self._n_seen = self._n_seen, self._n_seen + table.n_rows
        rows = _engine.BinMapper.sample(table.n_rows, first, self._n_seen, np.empty(0), self._seed)
        self._rows.append(rows + np.uint64(first))
        self._values.append([_numbers(table.column(index), rows) for index in range(table.n_columns)])
        self._n_kept += len(rows)
        if self._n_kept > self._limit:
            self._drop_others()

    def take(
        self, weight: FloatArray | None, types: Sequence[np.dtype[Any]], is_nominal: AnyArray
    ) -> tuple[AnyArray, list[AnyArray]]:
        """The numbers of the rows that decide, and their values as columns of these types; zeros for labels."""
        wanted = self._wanted(np.empty(0) if weight is None else weight)
        rows = np.concatenate(self._rows)
        kept = np.isin(rows, wanted, assume_unique=True)
        values: list[AnyArray] = []
        for index, dtype in enumerate(types):
            if is_nominal[index]:
                values.append(np.zeros(np.count_nonzero(kept), dtype=np.int32))
                continue
            parts = [
                np.full(len(own), np.nan) if held[index] is None else held[index]
                for held, own in zip(self._values, self._rows, strict=True)
            ]
            values.append(np.concatenate(parts)[kept].astype(dtype, copy=False))  # type: ignore[arg-type]
        return rows[kept], values

    def _drop_others(self) -> None:
        wanted = self._wanted(np.empty(0))
        for place, rows in enumerate(self._rows):
            kept = np.isin(rows, wanted, assume_unique=True)
            if not kept.all():
                self._rows[place] = rows[kept]
                self._values[place] = [None if own is None else own[kept] for own in self._values[place]]
        self._n_kept = sum(map(len, self._rows))
        self._limit = max(_MOST_SAMPLED, 2 * self._n_kept)

    def _wanted(self, weight: FloatArray) -> AnyArray:
        return _engine.BinMapper.sample(self._n_seen, 0, self._n_seen, weight, self._seed).astype(np.uint64)


def _numbers(column: Column, rows: AnyArray) -> AnyArray | None:
    """The values of some rows; of ordered categories their places, None for labels or a column without any value."""
    if column.kind == "nominal":
        return None
    values = column.values[rows]
    if column.kind == "ordered":
        return np.where(values < 0, np.nan, values).astype(np.float32)
    return values
