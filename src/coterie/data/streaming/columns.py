"""What is known of a column after all batches: its kind, the type of its numbers, its levels."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coterie._typing import AnyArray, Kind
from coterie.data.levels import sorted_levels
from coterie.data.table import Column
from coterie.errors import SchemaMismatch

_KIND_WORDS = {"numeric": "numbers", "ordered": "ordered categories", "nominal": "labels"}


@dataclass
class SeenColumn:
    """One column, batch after batch.

    Attributes
    ----------
    by_choice : numbers that are labels because the user says so
    kind : None as long as every value is missing
    dtype : of the numbers, once there are any
    declared : the levels in the order that every batch declares, or None if batches differ
    used : the levels that occur; of numbers a sorted array
    """

    name: str
    by_choice: bool = False
    kind: Kind | None = None
    dtype: np.dtype[Any] | None = None
    declared: tuple[Any, ...] | None = None
    used: set[Any] = field(default_factory=set)
    numbers: AnyArray = field(default_factory=lambda: np.empty(0, dtype=np.uint8))
    has_empty_batch: bool = False
    _is_narrow: bool = True
    _empty: Column | None = None

    def add(self, column: Column, *, narrow: bool) -> None:
        """Take a batch; `narrow` says that its numbers are whole ones of up to 16 bits."""
        if column.is_empty():
            self.has_empty_batch = True
            self._empty = self._empty or Column(column.name, column.kind, column.values[:1], column.levels)
            if column.kind != self.kind:
                return
        if self.kind is not None and column.kind != self.kind:
            raise self._other_kind(column)
        first = self.kind is None
        self.kind = column.kind
        if column.kind == "numeric":
            self._add_numbers(column.values, narrow)
        else:
            self._add_levels(column, first)

    def settle(self) -> None:
        """No batch comes any more: a column without a single value has the kind that its first batch had."""
        if self.kind is None and self._empty is not None:
            self.kind = self._empty.kind
            if self.kind == "numeric":
                self.dtype = self._empty.values.dtype
            else:
                self._add_levels(self._empty, first=True)

    def _add_numbers(self, values: AnyArray, narrow: bool) -> None:
        self._is_narrow = self._is_narrow and (narrow or values.dtype.kind == "f")
        if self.dtype is None:
            self.dtype = values.dtype
        elif (
            {self.dtype.kind, values.dtype.kind} != {"f"}
            and self._is_narrow
            and np.float32 in (self.dtype, values.dtype)
        ):
            self.dtype = np.dtype(np.float32)  # small whole numbers of which some are missing
        else:
            self.dtype = np.result_type(self.dtype, values.dtype)
        if self.by_choice:
            known = values[~np.isnan(values)] if values.dtype.kind == "f" else values
            self.numbers = np.union1d(self.numbers, known)

    def _add_levels(self, column: Column, first: bool) -> None:
        levels = [] if column.levels is None else column.levels.tolist()
        declared = tuple(levels)
        if column.kind == "ordered" and not first and declared != self.declared:
            raise SchemaMismatch(
                f"Column {self.name!r} holds ordered categories {list(declared)[:6]}; the batches before it have "
                f"{list(self.declared or ())[:6]}.",
                parameter="source",
                received=list(declared),
                allowed="the same categories in the same order in every batch",
                column=self.name,
            )
        self.declared = declared if first or declared == self.declared else None
        counts = np.bincount(column.values[column.values >= 0], minlength=len(levels))
        self.used.update(levels[place] for place in np.flatnonzero(counts))

    def numeric_type(self) -> np.dtype[Any]:
        """What its numbers have in common; floats if a batch of them was missing altogether."""
        dtype = np.dtype(np.float64) if self.dtype is None else self.dtype
        return np.dtype(np.float64) if self.has_empty_batch and dtype.kind != "f" else dtype

    def levels(self, n_rows: int) -> AnyArray:
        """The levels that occur, in the order of a table in memory; of ordered categories all."""
        if self.kind == "numeric":
            return _number_levels(self.numbers, n_rows)
        if self.kind == "ordered":
            found = list(self.declared or ())
        elif self.declared is not None:
            found = [level for level in self.declared if level in self.used]
        else:
            found = sorted_levels(self.used)
        levels = np.empty(len(found), dtype=object)
        levels[:] = found
        return levels

    def example(self, n_rows: int) -> Column:
        """A column of one row with the kind and the levels of all."""
        assert self.kind is not None
        if self.kind == "numeric":
            return Column(self.name, "numeric", np.zeros(1, dtype=self.numeric_type()))
        levels = self.levels(n_rows)
        return Column(self.name, self.kind, np.full(1, 0 if len(levels) else -1, dtype=np.int32), levels)

    def _other_kind(self, column: Column) -> SchemaMismatch:
        assert self.kind is not None
        return SchemaMismatch(
            f"Column {self.name!r} holds {_KIND_WORDS[column.kind]}, and {_KIND_WORDS[self.kind]} in the batches "
            "before.",
            parameter="source",
            received=_KIND_WORDS[column.kind],
            allowed=_KIND_WORDS[self.kind],
            hint="Write the column in one type in all files.",
            column=self.name,
        )


def _number_levels(numbers: AnyArray, n_rows: int) -> AnyArray:
    """Numbers as levels: small whole numbers are whole, as they are in memory."""
    if len(numbers) == 0:
        return numbers
    small = (
        numbers[0] >= 0
        and numbers[-1] < max(65536, 2 * n_rows)
        and bool((numbers == np.floor(numbers)).all())
    )
    return numbers.astype(np.int64) if small else numbers
