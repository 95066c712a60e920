"""From columns to features: floats for what has an order, small codes for what has none.

The `Encoder` remembers what fit saw: which features are nominal, their levels, and the code of each
level. `transform` gives `Encoded`, the one shape that the engine takes. Feature j is column j, always.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coterie._params import is_auto, unexpected
from coterie._storage import expect, storable
from coterie._typing import AnyArray, CategoricalFeatures, CodeArray, FloatArray, Kind, UnknownCategory
from coterie._value_types import ANY, COUNT, LABELS, RECOMPUTED, TEXT, array, dict_of, instance, one_of
from coterie.data.categorical import nominal_columns
from coterie.data.column import Column
from coterie.data.grouping import MAX_GROUPS, group_levels
from coterie.data.levels import is_number, number_levels
from coterie.data.table import Table
from coterie.errors import InvalidInput, SchemaMismatch

__all__ = ["Encoded", "Encoder", "Lookup", "take_rows"]

_Raw = tuple[CodeArray, AnyArray]
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
    },
    verify=_verify_coding,
)
@dataclass(frozen=True)
class _Coding:
    """How the labels of one column become numbers: `code[i]` belongs to `levels[i]`."""

    name: str
    kind: Kind
    levels: AnyArray
    code: CodeArray
    n_codes: int

    def is_grouped(self) -> bool:
        return self.kind == "nominal" and self.n_codes < len(self.levels)

    def has_numbers(self) -> bool:
        return self.levels.dtype.kind != "O" or any(is_number(level) for level in self.levels)

    def has_text(self) -> bool:
        return self.levels.dtype.kind == "O" and not all(is_number(level) for level in self.levels)


@dataclass(frozen=True)
class Lookup:
    """One label after the other: `places` says where its level stands, `codes` which code that has if levels share one.

    `missing` is the number of a missing label.
    """

    places: dict[Any, int]
    codes: list[int] | None
    missing: float

    @classmethod
    def of(cls, coding: _Coding, places: dict[Any, int]) -> "Lookup":
        codes = coding.code.tolist() if coding.is_grouped() else None
        return cls(places, codes, float("nan") if coding.kind == "ordered" else -1.0)


def _verify_encoder(encoder: Any) -> None:
    n_features = len(encoder.n_levels)
    n_levels = np.zeros(n_features, dtype=np.int32)
    for feature, coding in encoder._codings.items():
        expect(0 <= feature < n_features, f"has levels of feature {feature}; there are {n_features}")
        if coding.kind == "nominal":
            n_levels[feature] = coding.n_codes
    expect(
        encoder.n_levels.dtype == np.int32 and np.array_equal(encoder.n_levels, n_levels),
        "has other numbers of levels than its features",
    )


def _stored_encoder(state: dict[str, Any]) -> "Encoder":
    encoder = Encoder()  # with empty lookups
    vars(encoder).update(state)
    return encoder


@storable(
    "Encoder",
    {
        "categorical_features": ANY,
        "unknown_category": one_of("missing", "error"),
        "n_levels": array("i", 1),
        "_codings": dict_of(COUNT, instance(_Coding)),
        "_positions": RECOMPUTED,
        "_lookups": RECOMPUTED,
    },
    verify=_verify_encoder,
    build=_stored_encoder,
)
class Encoder:
    """Learns the levels of nominal and ordered columns in `fit`, applies them in `transform`.

    Parameters
    ----------
    categorical_features : "auto", None, or an array of names, indices or booleans
        "auto" makes text, categories and mixed objects nominal and leaves numbers numeric. An array
        names columns that are nominal whatever they hold, in addition to those of "auto". None allows
        no nominal column: text is then an error.
    unknown_category : {"missing", "error"}
        What happens to a category that fit did not see: it counts as missing, or it is an error.

    Examples
    --------
    >>> from coterie.data.table import read_table
    >>> encoder = Encoder().fit(read_table({"size": [1.5, 2.0, 2.5], "town": ["Oslo", "Rome", "Oslo"]}))
    >>> encoded = encoder.transform(read_table({"size": [0.5, 1.0], "town": ["Rome", "Cork"]}))
    >>> encoded.values[1], encoded.n_levels
    (array([ 1, -1], dtype=int32), array([0, 2], dtype=int32))
    """

    def __init__(
        self,
        categorical_features: CategoricalFeatures = "auto",
        unknown_category: UnknownCategory = "missing",
    ) -> None:
        self.categorical_features = categorical_features
        self.unknown_category = unknown_category
        self.n_levels: CodeArray = np.zeros(0, dtype=np.int32)
        self._codings: dict[int, _Coding] = {}
        self._positions: dict[int, dict[Any, int]] = {}
        self._lookups: list[Lookup | None] = []

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_positions": {}, "_lookups": []}

    @property
    def takes_matrix(self) -> bool:
        """Whether every feature is numeric, so that a float matrix passes as it is."""
        return not self._codings

    def levels(self, feature: int) -> AnyArray | None:
        """The levels that fit saw in a nominal or ordered feature; None for a numeric one."""
        coding = self._codings.get(feature)
        return None if coding is None else coding.levels

    def codes(self, feature: int) -> CodeArray | None:
        """The code of each of `levels(feature)`; levels that share a group share a code."""
        coding = self._codings.get(feature)
        return None if coding is None else coding.code

    def lookups(self) -> list["Lookup | None"]:
        """For each feature, how a label becomes a number; None for a numeric one."""
        if len(self._lookups) != len(self.n_levels):
            self._lookups = [
                Lookup.of(self._codings[feature], self._positions_of(feature))
                if feature in self._codings
                else None
                for feature in range(len(self.n_levels))
            ]
        return self._lookups

    def fit(
        self, table: Table, target: AnyArray | None = None, weight: FloatArray | None = None
    ) -> "Encoder":
        """Learn the levels; `target` and `weight` serve only to group columns of very many levels."""
        self._learn(table, target, weight)
        return self

    def fit_transform(
        self, table: Table, target: AnyArray | None = None, weight: FloatArray | None = None
    ) -> Encoded:
        """`fit`, then `transform` of the same table, looking up every label only once."""
        return self._encode(table, *self._learn(table, target, weight))

    def transform(self, table: Table) -> Encoded:
        """The features of a table with the columns that fit saw, in the same order."""
        if table.n_columns != len(self.n_levels):
            raise SchemaMismatch(
                f"The table has {table.n_columns} columns; the encoder was fitted on {len(self.n_levels)}.",
                parameter="X",
                received=table.n_columns,
                allowed=f"{len(self.n_levels)} columns",
            )
        features: dict[int, AnyArray] = {}
        fine: dict[int, CodeArray] = {}
        for index, raw in _raw_codes(table, list(self._codings)).items() if self._codings else ():
            places = self._apply(table, index, raw)
            coding = self._codings[index]
            if coding.kind == "ordered":
                features[index] = _as_positions(places)
            elif coding.is_grouped():
                fine[index] = places
                features[index] = _apply_lookup(np.append(coding.code, np.int32(-1)), places)
            else:
                features[index] = places
        return self._encode(table, features, fine)

    def _learn(
        self, table: Table, target: AnyArray | None, weight: FloatArray | None
    ) -> tuple[dict[int, AnyArray], dict[int, CodeArray]]:
        if self.unknown_category not in ("missing", "error"):
            raise unexpected("unknown_category", self.unknown_category, "'missing' or 'error'")
        self.n_levels = np.zeros(table.n_columns, dtype=np.int32)
        self._codings, self._positions, self._lookups = {}, {}, []
        given = self.categorical_features
        if table.matrix is not None and (given is None or is_auto(given)):
            return {}, {}
        nominal = nominal_columns(given, table)
        wanted = set(np.flatnonzero(nominal).tolist())
        wanted |= {index for index, column in enumerate(table.columns) if column.kind == "ordered"}
        features: dict[int, AnyArray] = {}
        fine: dict[int, CodeArray] = {}
        for index, (codes, levels) in _raw_codes(table, sorted(wanted)).items():
            if nominal[index]:
                features[index], places = self._learn_nominal(table, index, codes, levels, target, weight)
                if self._codings[index].is_grouped():
                    fine[index] = places
            else:
                order = np.arange(len(levels), dtype=np.int32)
                self._codings[index] = _Coding(table.label(index), "ordered", levels, order, 0)
                features[index] = _as_positions(codes)
        return features, fine

    def _learn_nominal(
        self,
        table: Table,
        index: int,
        codes: CodeArray,
        levels: AnyArray,
        target: AnyArray | None,
        weight: FloatArray | None,
    ) -> tuple[CodeArray, CodeArray]:
        """The codes of the rows, and the places of their levels, which are the same unless levels share a group."""
        used = _used_levels(codes, len(levels))
        n_used = len(used)
        if n_used < len(levels):
            levels = levels[used]
            codes = _apply_lookup(_lookup(used, int(used.max(initial=-1))), codes)
        code, places = np.arange(n_used, dtype=np.int32), codes
        if n_used > MAX_GROUPS:
            code = group_levels(codes, n_used, target, weight)
            codes = _apply_lookup(np.append(code, np.int32(-1)), codes)
        n_codes = max(1, int(code.max(initial=-1)) + 1)
        self._codings[index] = _Coding(table.label(index), "nominal", levels, code, n_codes)
        self.n_levels[index] = n_codes
        return codes, places

    def _encode(self, table: Table, features: dict[int, AnyArray], fine: dict[int, CodeArray]) -> Encoded:
        matrix = table.matrix
        if matrix is not None and not features and matrix.dtype.kind == "f":
            return Encoded(matrix, table.n_rows, table.n_columns, self.n_levels)
        if matrix is not None:
            columns = list((matrix.view(np.uint8) if matrix.dtype.kind == "b" else matrix).T)
            for index, values in features.items():
                columns[index] = values
        else:
            columns = [
                features[index] if index in features else _as_numbers(column)
                for index, column in enumerate(table.columns)
            ]
        return Encoded(columns, table.n_rows, table.n_columns, self.n_levels, fine)

    def _apply(self, table: Table, index: int, raw: _Raw) -> CodeArray:
        """The labels of one column at predict, as the places of the levels that fit saw."""
        coding = self._codings[index]
        codes, levels = raw
        self._refuse_changed_kind(table.column(index), coding)
        place = self._places(index, levels)
        if (place < 0).any() and self.unknown_category == "error":
            _refuse_unknown(coding, codes, levels, place)
        lookup = np.full(len(levels) + 1, -1, dtype=np.int32)
        lookup[:-1] = place
        return _apply_lookup(lookup, codes)

    def _places(self, index: int, levels: AnyArray) -> AnyArray:
        """Where each of these levels stands among those of fit; -1 for an unknown one."""
        known = self._codings[index].levels
        if known.dtype.kind != "O" and levels.dtype.kind != "O":
            if len(known) == 0:
                return np.full(len(levels), -1)
            place = np.searchsorted(known, levels).clip(max=len(known) - 1)
            return np.where(known[place] == levels, place, -1)
        positions = self._positions_of(index)
        return np.array([positions.get(level, -1) for level in levels.tolist()], dtype=np.int64)

    def _positions_of(self, index: int) -> dict[Any, int]:
        positions = self._positions.get(index)
        if positions is None:
            positions = {level: place for place, level in enumerate(self._codings[index].levels.tolist())}
            self._positions[index] = positions
        return positions

    @staticmethod
    def _refuse_changed_kind(column: Column, coding: _Coding) -> None:
        """Text where fit saw only numbers, or the reverse, is a mistake and not a new category."""
        if len(coding.levels) == 0 or column.is_empty():
            return
        if column.kind == "numeric" and not coding.has_numbers():
            raise SchemaMismatch(
                f"Column {coding.name!r} held text in fit and is numeric now.",
                parameter="X",
                received=column.values.dtype,
                allowed="text",
                hint="Pass it as text again, or fit the model on the numbers.",
                column=coding.name,
            )
        if column.levels is not None and not coding.has_text() and _is_all_text(column.levels):
            raise _numeric_became_text(coding.name, column.levels)


def _raw_codes(table: Table, indices: Sequence[int]) -> dict[int, _Raw]:
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


def _as_positions(codes: CodeArray) -> AnyArray:
    """Ordered categories as numbers, NaN where missing."""
    positions = codes.astype(np.float32)
    positions[codes < 0] = np.nan
    return positions


def _as_numbers(column: Column) -> AnyArray:
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


def _refuse_unknown(coding: _Coding, codes: CodeArray, levels: AnyArray, place: AnyArray) -> None:
    used = _used_levels(codes, len(levels))
    unknown = [index for index in used.tolist() if place[index] < 0]
    if unknown:
        unknown = levels[unknown].tolist()
        examples = ", ".join(str(level) if is_number(level) else repr(level) for level in unknown[:5])
        more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
        raise InvalidInput(
            f"Column {coding.name!r} holds categories that fit did not see: {examples}{more}.",
            parameter="X",
            received=unknown,
            allowed="the categories that fit saw",
            hint="Use unknown_category='missing' to treat them as missing values.",
            column=coding.name,
        )
