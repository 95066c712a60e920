"""What partitions tell of the whole table, put together: what a fit in memory learns of its table at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie import _engine
from coterie._typing import AnyArray, CodeArray, FloatArray, UnknownCategory
from coterie.data.categorical import nominal_columns
from coterie.data.encoding import Encoded, LevelCoding
from coterie.data.grouping import MAX_GROUPS
from coterie.data.prepare import Encoder, TrainingData
from coterie.data.streaming.columns import SeenColumn
from coterie.data.streaming.rows import GatheredColumn, gathered_groups, gathered_target
from coterie.data.table import Schema, Table
from coterie.data.target import Target, read_target
from coterie.data.weight import combined_weight, read_weight
from coterie.distributed.partitions import Binning, PartitionRows, PartitionSurvey
from coterie.errors import CoterieError, InvalidInput, SchemaMismatch
from coterie.fitting.fingerprint import digest_of

CodesOfRows = Callable[[Encoder, list[int]], list[list[CodeArray]]]


@dataclass(frozen=True)
class GivenRows:
    """Target, weights, groups and offsets of all rows, and the lengths of the partitions."""

    lengths: list[int]
    target: Target
    weight: FloatArray | None
    groups: AnyArray | None
    offset: AnyArray | None

    @property
    def n_rows(self) -> int:
        return sum(self.lengths)

    def partitions(self, seed: int) -> list[PartitionRows]:
        """Where each partition is."""
        first = np.concatenate([[0], np.cumsum(self.lengths)])
        return [
            PartitionRows(number, int(first[number]), length, self.n_rows, seed)
            for number, length in enumerate(self.lengths)
        ]


def given_rows(estimator: Any, parts: Sequence[dict[str, AnyArray]]) -> GivenRows:
    """What the partitions of y, sample_weight, groups and offset hold together."""
    task, name = estimator._task, type(estimator).__name__
    lengths = [len(part["y"]) for part in parts]
    if sum(lengths) == 0:
        raise InvalidInput("X has no rows.", parameter="X", received=0, allowed="at least one row")
    targets: list[GatheredColumn] = []
    columns = {"sample_weight": GatheredColumn(), "groups": GatheredColumn()}
    offsets: list[AnyArray] = []
    first_row = 0
    for number, part in enumerate(parts):
        n_rows = lengths[number]
        try:
            _check_lengths(part, n_rows)
            if n_rows:
                _add_target(targets, part["y"], task, name)
                if "sample_weight" in part:
                    weight = read_weight(part["sample_weight"], n_rows, some_rows=True)
                    assert weight is not None
                    columns["sample_weight"].append(weight)
                if "groups" in part:
                    columns["groups"].append(part["groups"])
                if "offset" in part:
                    offsets.append(part["offset"])
        except CoterieError as error:
            raise error.within(f"partition {number} (from row {first_row} of the table)") from error
        first_row += n_rows
    weight = columns["sample_weight"].array() if "sample_weight" in parts[0] else None
    if weight is not None:
        read_weight(weight, len(weight))  # all of them may not be zero
    target = gathered_target(
        targets,
        task=task,
        estimator_name=name,
        class_weight=getattr(estimator, "class_weight", None),
        weight=weight,
    )
    groups = gathered_groups(columns["groups"]) if "groups" in parts[0] else None
    return GivenRows(lengths, target, weight, groups, np.concatenate(offsets) if offsets else None)


def _add_target(targets: list[GatheredColumn], y: AnyArray, task: Any, name: str) -> None:
    columns = [y] if y.ndim == 1 else list(y.T)
    if not targets:
        targets += [GatheredColumn() for _ in columns]
    if len(columns) != len(targets):
        raise InvalidInput.expecting(
            f"y has {len(columns)} columns here", f"{len(targets)}, as in the partitions before", "y", y.shape
        )
    for gathered, values in zip(targets, columns, strict=True):
        read_target(values, task=task, estimator_name=name, n_rows=len(values))
        gathered.append(values)


def _check_lengths(part: dict[str, AnyArray], n_rows: int) -> None:
    for name, values in part.items():
        if len(values) != n_rows:
            raise InvalidInput(
                f"{name} has {len(values)} rows here, and y has {n_rows}.",
                parameter=name,
                received=len(values),
                allowed=f"{n_rows} rows",
                hint="Make both of one collection, so that their partitions have the same rows.",
            )


class TableKnowledge:
    """Kinds, types, levels and the sample of rows, of all partitions together."""

    def __init__(self, estimator: Any, rows: GivenRows, surveys: Sequence[PartitionSurvey | None]) -> None:
        self._estimator, self._rows = estimator, rows
        self._categorical = getattr(estimator, "categorical_features", "auto")
        self._found = [survey for survey in surveys if survey is not None]
        self.digests = [None if survey is None else survey.digest for survey in surveys]
        first = self._found[0]
        self._names = first.names
        labels = [column.name for column in first.columns]
        example = Table(1, first.names, columns=tuple(first.columns))
        given = self._categorical
        chosen = np.zeros(len(labels), dtype=bool)
        if given is not None and not isinstance(given, str):
            chosen = nominal_columns(given, example)
        self.columns = [
            SeenColumn(name, by_choice=bool(own)) for name, own in zip(labels, chosen, strict=True)
        ]
        for place, survey in zip(rows.partitions(0), surveys, strict=True):
            if survey is not None:
                try:
                    self._add(survey, labels)
                except CoterieError as error:
                    raise error.within(place.where) from error
        for column in self.columns:
            column.settle()
        self._example = Table(
            1, self._names, columns=tuple(column.example(rows.n_rows) for column in self.columns)
        )

    def _add(self, survey: PartitionSurvey, labels: list[str]) -> None:
        names = [column.name for column in survey.columns]
        if names != labels:
            others = [name for name in names if name not in labels] or [n for n in labels if n not in names]
            raise SchemaMismatch(
                f"The partition has the columns {names}; the partitions before it have {labels}.",
                parameter="X",
                received=names,
                allowed=f"the columns {labels}",
                column=(others or names)[0],
            )
        for column, own, narrow in zip(self.columns, survey.columns, survey.narrow, strict=True):
            column.add(own, narrow=narrow)

    def training_data(self, codes_of_rows: CodesOfRows) -> TrainingData:
        """What `prepare_training` makes of a table in memory, features aside; sets what it sets on the estimator.

        `codes_of_rows` passes over the table for the places of some columns' levels, partition by partition.
        """
        rows, estimator = self._rows, self._estimator
        has_weights = rows.weight is not None or rows.target.row_weight is not None
        weight = combined_weight(rows.weight, rows.target.row_weight) if has_weights else None
        encoder = self._encoder(weight, codes_of_rows)
        schema = Schema.of(self._example, encoder.n_levels > 0)
        schema.set_feature_names(estimator)
        estimator.schema_, estimator.encoder_ = schema, encoder
        nothing = Encoded([], rows.n_rows, len(self.columns), encoder.n_levels)
        return TrainingData(nothing, encoder, schema, rows.target, weight, rows.weight)

    def _encoder(self, weight: FloatArray | None, codes_of_rows: CodesOfRows) -> Encoder:
        unknown: UnknownCategory = getattr(self._estimator, "unknown_category", "missing")
        nominal = nominal_columns(self._categorical, self._example)
        n_rows = self._rows.n_rows
        codings: dict[int, LevelCoding] = {}
        many: list[int] = []
        for index, column in enumerate(self.columns):
            levels = column.levels(n_rows) if nominal[index] or column.kind == "ordered" else None
            if levels is None:
                continue
            if not nominal[index]:
                codings[index] = LevelCoding.ordered(column.name, levels)
                continue
            code = np.arange(len(levels), dtype=np.int32)
            codings[index] = LevelCoding(column.name, "nominal", levels, code, max(1, len(levels)))
            if len(levels) > MAX_GROUPS:
                many.append(index)
        encoder = Encoder.of_codings(codings, len(self.columns), self._categorical, unknown)
        if not many:
            return encoder
        for index, parts in zip(many, zip(*codes_of_rows(encoder, many), strict=True), strict=True):
            own, codes = codings[index], np.concatenate(parts)
            codings[index] = LevelCoding.nominal(
                own.name, codes, own.levels, self._rows.target.values, weight
            )[0]
        return Encoder.of_codings(codings, len(self.columns), self._categorical, unknown)

    def fingerprint(self) -> str:
        """A digest of the rows that decide cuts, which does not depend on the partitions."""
        rows = np.concatenate([survey.rows for survey in self._found])
        values = [
            np.concatenate([np.asarray(survey.values[index], dtype=np.float64) for survey in self._found])
            for index, column in enumerate(self.columns)
            if column.kind == "numeric"
        ]
        return digest_of([rows, values])

    def binning(
        self, train: TrainingData, n_bins: int, seed: int, n_threads: int, *, keep_values: bool
    ) -> Binning:
        """The cuts of the whole table, from the rows that decide them."""
        n_levels, types = train.encoder.n_levels, self.types(train.encoder)
        weight = np.empty(0) if train.weight is None else train.weight
        n_total = self._rows.n_rows
        wanted = _engine.BinMapper.sample(n_total, 0, n_total, weight, seed).astype(np.uint64)
        rows = np.concatenate([survey.rows for survey in self._found])
        kept = np.isin(rows, wanted, assume_unique=True)
        values: list[AnyArray] = []
        for index, dtype in enumerate(types):
            if n_levels[index]:
                values.append(np.zeros(np.count_nonzero(kept), dtype=np.int32))
                continue
            parts = [
                np.full(len(survey.rows), np.nan) if survey.values[index] is None else survey.values[index]
                for survey in self._found
            ]
            values.append(np.concatenate(parts)[kept].astype(dtype, copy=False))  # type: ignore[arg-type]
        own = np.empty(0) if train.weight is None else train.weight[rows[kept]]
        mapper = _engine.BinMapper.fit(values, n_levels, own, n_bins, seed, n_threads)
        cuts = [mapper.cuts(feature).tolist() for feature in range(len(types))]
        return Binning(train.encoder, cuts, types, keep_values)

    def types(self, encoder: Encoder) -> list[np.dtype[Any]]:
        """Of each feature, in the whole table."""
        types: list[np.dtype[Any]] = []
        for feature, column in enumerate(self.columns):
            if encoder.n_levels[feature]:
                types.append(np.dtype(np.int32))
            else:
                types.append(np.dtype(np.float32) if column.kind == "ordered" else column.numeric_type())
        return types
