"""Features as the engine reads them, and how the labels of a column become small codes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from coterie._storage import expect, storable
from coterie._typing import AnyArray, CodeArray, FloatArray, Kind, UnknownCategory
from coterie._value_types import COUNT, LABELS, RECOMPUTED, TEXT, array, one_of
from coterie.data.grouping import MAX_GROUPS, group_levels
from coterie.data.levels import is_number
from coterie.data.table import Column, Table, number_levels
from coterie.errors import InvalidInput, SchemaMismatch

_MOST_CODES = 255


@dataclass(frozen=True)
class Encoded:
    """What the engine reads.

    Attributes
    ----------
    values : array of shape (n_rows, n_features), or list of one array per feature
        A float32 or float64 matrix with any strides when every feature is numeric; otherwise arrays of
        float32, float64, int32, int64 or uint8. Nominal features are int32 codes, -1 where missing; a few rows
        to predict are one float64 matrix with such codes.
    n_levels : int32 array of shape (n_features,)
        0 for a numeric feature, else the number of codes of a nominal one, at most 254.
    fine_codes : dict from a feature to an int32 array
        Of nominal features whose levels were put into groups: the level of each row itself, -1 where missing.
    """

    values: AnyArray | list[AnyArray]
    n_rows: int
    n_features: int
    n_levels: CodeArray
    fine_codes: dict[int, CodeArray] = field(default_factory=dict)


def take_rows(encoded: Encoded, rows: AnyArray) -> Encoded:
    """Some rows of the features."""
    values = encoded.values
    taken = [column[rows] for column in values] if isinstance(values, list) else values[rows]
    return Encoded(taken, len(rows), encoded.n_features, encoded.n_levels)


def _verify_coding(coding: Any) -> None:
    n_levels = len(coding.levels)
    expect(len(coding.code) == n_levels, f"has {len(coding.code)} codes for {n_levels} levels")
    if coding.kind == "nominal":
        expect(1 <= coding.n_codes <= _MOST_CODES, f"has {coding.n_codes} codes; expected 1 to {_MOST_CODES}")
        outside = (coding.code < 0) | (coding.code >= coding.n_codes)
    else:
        outside = coding.code != np.arange(n_levels)
    expect(not outside.any(), "has a level whose code does not exist")
    try:
        different = len({*coding.levels.tolist()}) == n_levels
    except TypeError:
        different = False
    expect(different, "has levels that are no different labels")


@storable(
    "Coding",
    {
        "name": TEXT,
        "kind": one_of("nominal", "ordered"),
        "levels": LABELS,
        "code": array("i", 1),
        "n_codes": COUNT,
        "positions": RECOMPUTED,
    },
    verify=_verify_coding,
)
@dataclass(frozen=True)
class LevelCoding:
    """How the labels of one column become numbers: `code[i]` belongs to `levels[i]`."""

    name: str
    kind: Kind
    levels: AnyArray
    code: CodeArray
    n_codes: int

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "positions"}

    @classmethod
    def nominal(
        cls,
        name: str,
        codes: CodeArray,
        levels: AnyArray,
        target: AnyArray | None,
        weight: FloatArray | None,
    ) -> tuple["LevelCoding", CodeArray]:
        """The coding of a nominal column, and the place of each row's level among those that occur."""
        used = _used_levels(codes, len(levels))
        n_used = len(used)
        if n_used < len(levels):
            levels = levels[used]
            codes = _apply_lookup(_lookup(used, int(used.max(initial=-1))), codes)
        code = np.arange(n_used, dtype=np.int32)
        if n_used > MAX_GROUPS:
            code = group_levels(codes, n_used, target, weight)
        return cls(name, "nominal", levels, code, max(1, int(code.max(initial=-1)) + 1)), codes

    @classmethod
    def ordered(cls, name: str, levels: AnyArray) -> "LevelCoding":
        """The coding of a column whose levels have an order of their own."""
        return cls(name, "ordered", levels, np.arange(len(levels), dtype=np.int32), 0)

    @cached_property
    def positions(self) -> dict[Any, int]:
        """The place of each level."""
        return {level: place for place, level in enumerate(self.levels.tolist())}

    def is_grouped(self) -> bool:
        return self.kind == "nominal" and self.n_codes < len(self.levels)

    def has_numbers(self) -> bool:
        return self.levels.dtype.kind != "O" or any(is_number(level) for level in self.levels)

    def has_text(self) -> bool:
        return self.levels.dtype.kind == "O" and not all(is_number(level) for level in self.levels)

    def features(self, places: CodeArray) -> AnyArray:
        """What trees see of rows whose levels have these places."""
        if self.kind == "ordered":
            positions = places.astype(np.float32)
            positions[places < 0] = np.nan
            return positions
        return _apply_lookup(np.append(self.code, np.int32(-1)), places) if self.is_grouped() else places

    def lookup(self) -> "Lookup":
        """How one label after the other becomes a number."""
        codes = self.code.tolist() if self.is_grouped() else None
        return Lookup(self.positions, codes, float("nan") if self.kind == "ordered" else -1.0)

    def apply(
        self, column: Column, codes: CodeArray, levels: AnyArray, unknown: UnknownCategory
    ) -> CodeArray:
        """The labels of a later column, which are codes into levels of its own, as places of the levels of fit."""
        self._refuse_changed_kind(column)
        place = self._places(levels)
        if (place < 0).any() and unknown == "error":
            self._refuse_unknown(codes, levels, place)
        lookup = np.full(len(levels) + 1, -1, dtype=np.int32)
        lookup[:-1] = place
        return _apply_lookup(lookup, codes)

    def _places(self, levels: AnyArray) -> AnyArray:
        """Where each of these levels stands among those of fit; -1 for an unknown one."""
        known = self.levels
        if known.dtype.kind != "O" and levels.dtype.kind != "O":
            if len(known) == 0:
                return np.full(len(levels), -1)
            place = np.searchsorted(known, levels).clip(max=len(known) - 1)
            return np.where(known[place] == levels, place, -1)
        return np.array([self.positions.get(level, -1) for level in levels.tolist()], dtype=np.int64)

    def _refuse_changed_kind(self, column: Column) -> None:
        """Text where fit saw only numbers, or the reverse, is a mistake and not a new category."""
        if len(self.levels) == 0 or column.is_empty():
            return
        if column.kind == "numeric" and not self.has_numbers():
            raise SchemaMismatch(
                f"Column {self.name!r} held text in fit and is numeric now.",
                parameter="X",
                received=column.values.dtype,
                allowed="text",
                hint="Pass it as text again, or fit the model on the numbers.",
                column=self.name,
            )
        if column.levels is not None and not self.has_text() and _is_all_text(column.levels):
            raise _numeric_became_text(self.name, column.levels)

    def _refuse_unknown(self, codes: CodeArray, levels: AnyArray, place: AnyArray) -> None:
        used = _used_levels(codes, len(levels))
        unknown = [index for index in used.tolist() if place[index] < 0]
        if unknown:
            unknown = levels[unknown].tolist()
            examples = ", ".join(str(level) if is_number(level) else repr(level) for level in unknown[:5])
            more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
            raise InvalidInput(
                f"Column {self.name!r} holds categories that fit did not see: {examples}{more}.",
                parameter="X",
                received=unknown,
                allowed="the categories that fit saw",
                hint="Use unknown_category='missing' to treat them as missing values.",
                column=self.name,
            )


@dataclass(frozen=True)
class Lookup:
    """One label after the other: `places` says where its level stands, `codes` which code that has if levels share one.

    `missing` is the number of a missing label.
    """

    places: dict[Any, int]
    codes: list[int] | None
    missing: float


def raw_codes(table: Table, indices: Sequence[int]) -> dict[int, tuple[CodeArray, AnyArray]]:
    """Codes into the column's own levels, before they are matched with those of fit."""
    if table.matrix is not None:
        columns = _contiguous_columns(table.matrix, indices)
        return {index: number_levels(values) for index, values in zip(indices, columns, strict=True)}
    raw = {}
    for index in indices:
        column = table.columns[index]
        raw[index] = number_levels(column.values) if column.levels is None else (column.values, column.levels)
    return raw


def _contiguous_columns(matrix: AnyArray, indices: Sequence[int]) -> AnyArray:
    """Some columns of a matrix, each contiguous. Block by block, so a row is fetched only once."""
    out = np.empty((len(indices), len(matrix)), dtype=matrix.dtype)
    for start in range(0, len(matrix), 4096):
        block = matrix[start : start + 4096]
        for place, index in enumerate(indices):
            out[place, start : start + 4096] = block[:, index]
    return out


def _used_levels(codes: CodeArray, n_levels: int) -> AnyArray:
    if codes.min(initial=0) >= 0:
        return np.flatnonzero(np.bincount(codes, minlength=n_levels))
    return np.flatnonzero(np.bincount(codes + 1, minlength=n_levels + 1)[1:])


def _lookup(used: AnyArray, largest: int) -> CodeArray:
    lookup = np.full(largest + 2, -1, dtype=np.int32)
    lookup[used] = np.arange(len(used), dtype=np.int32)
    return lookup


def _apply_lookup(lookup: CodeArray, codes: CodeArray) -> CodeArray:
    """The last entry of the lookup is for code -1."""
    return lookup.take(codes, mode="wrap")


def as_numbers(column: Column) -> AnyArray:
    """A column that was numeric in fit."""
    if column.kind == "numeric":
        return column.values
    if column.is_empty():
        return np.full(len(column.values), np.nan)
    levels = np.empty(0, dtype=object) if column.levels is None else column.levels
    if all(is_number(level) for level in levels):
        numbers = np.append(levels.astype(np.float64), np.nan)
        return np.asarray(numbers[column.values])
    raise _numeric_became_text(column.name, levels)


def _numeric_became_text(name: str, levels: AnyArray) -> SchemaMismatch:
    examples = levels[:3].tolist()
    return SchemaMismatch(
        f"Column {name!r} was numeric in fit and holds text now ({', '.join(map(repr, examples))}).",
        parameter="X",
        received=examples,
        allowed="numbers",
        hint="Convert it to numbers, with None where a value is missing.",
        column=name,
    )


def _is_all_text(levels: AnyArray) -> bool:
    return not any(is_number(level) for level in levels)
