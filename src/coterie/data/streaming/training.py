"""What a fit takes of a scan: the same `TrainingData` as of a table in memory, and bins made batch by batch.

| what the fit needs | what is kept of the features |
|---|---|
| bins alone | bins, made in a second pass with the cuts of the sample |
| the values themselves (linear leaves, target statistics, several folds, warm starts, checkpoints) | columns and bins |

Columns and bins are in memory, or in mapped files of the folder `spill`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from coterie import _engine
from coterie._typing import AnyArray, CodeArray, FloatArray, Task, UnknownCategory
from coterie.data.categorical import nominal_columns
from coterie.data.encoding import Encoded, LevelCoding, raw_codes
from coterie.data.grouping import MAX_GROUPS
from coterie.data.prepare import Encoder, TrainingData
from coterie.data.streaming.scan import Batch, Scan, values_of
from coterie.data.streaming.spill import SpillFolder
from coterie.data.streaming.survey import Survey, TargetSettings, Watch, survey
from coterie.data.table import Schema
from coterie.data.weight import combined_weight
from coterie.errors import InvalidInput

# What a fit takes beside features and bins, as measured: of each row and raw prediction (target, derivatives, rounded
# pairs, row numbers), and at least (libraries, batches, histograms).
_BYTES_OF_A_ROW = 45
_BYTES_AT_LEAST = 300_000_000


@dataclass
class StreamedTable:
    """The features of a scan after its first pass.

    Attributes
    ----------
    groups, offset : arrays of the columns that scan names, or None
    """

    scan: Scan
    encoder: Encoder
    found: Survey
    watch: Watch | None = None
    spill: SpillFolder | None = None
    _matrix: Any = field(default=None, repr=False)

    @property
    def groups(self) -> AnyArray | None:
        return self.found.groups

    @property
    def offset(self) -> AnyArray | None:
        return self.found.offset

    def features(self) -> Encoded:
        """The features themselves, in memory or in mapped files: a pass."""
        found, types = self.found, self._types()
        self._check_memory(sum(dtype.itemsize for dtype in types), "its features and bins")
        columns = [self._empty(found.n_rows, dtype) for dtype in types]
        fine: dict[int, CodeArray] = {}
        for batch, encoded in self._encoded_batches("keeping features"):
            rows = slice(batch.first_row, batch.first_row + batch.n_rows)
            for column, own in zip(columns, _columns_of(encoded), strict=True):
                column[rows] = own
            for feature, codes in encoded.fine_codes.items():
                fine.setdefault(feature, self._empty(found.n_rows, np.dtype(np.int32)))[rows] = codes
        return Encoded(columns, found.n_rows, len(columns), self.encoder.n_levels, fine)

    def binned(
        self, encoded: Encoded, weight: FloatArray | None, n_bins: int, seed: int, n_threads: int
    ) -> Any:
        """The binned matrix of these features, or of all batches if they were not kept: a pass."""
        if encoded.values is not None and len(encoded.values):
            own = np.empty(0) if weight is None else weight
            mapper = _engine.BinMapper.fit(encoded.values, encoded.n_levels, own, n_bins, seed, n_threads)
            builder = self._builder(mapper, n_threads)
            builder.append(encoded.values, encoded.n_levels)
            return builder.finish()
        if self._matrix is None:
            self._matrix = self._binned_batches(weight, n_bins, seed, n_threads)
        return self._matrix

    def _binned_batches(self, weight: FloatArray | None, n_bins: int, seed: int, n_threads: int) -> Any:
        self._check_memory(0, "its bins")
        n_levels, types = self.encoder.n_levels, self._types()
        rows, values = self.found.sample.take(weight, types, n_levels > 0)
        own = np.empty(0) if weight is None else weight[rows]
        mapper = _engine.BinMapper.fit(values, n_levels, own, n_bins, seed, n_threads)
        builder = self._builder(mapper, n_threads)
        for _, encoded in self._encoded_batches("binning"):
            columns = _columns_of(encoded)
            builder.append(
                [column.astype(dtype, copy=False) for column, dtype in zip(columns, types, strict=True)],
                n_levels,
            )
        return builder.finish()

    def _builder(self, mapper: Any, n_threads: int) -> Any:
        memory = None if self.spill is None else self.spill.empty
        return _engine.BinnedMatrixBuilder(mapper, self.found.n_rows, n_threads, memory)

    def _encoded_batches(self, what: str) -> Iterator[tuple[Batch, Encoded]]:
        for batch in checked_batches(self.scan, self.found, what, self.watch):
            with batch.named():
                yield batch, self.encoder.transform(batch.table)

    def _types(self) -> list[np.dtype[Any]]:
        types: list[np.dtype[Any]] = []
        for feature, column in enumerate(self.found.columns):
            if self.encoder.n_levels[feature]:
                types.append(np.dtype(np.int32))
            else:
                types.append(np.dtype(np.float32) if column.kind == "ordered" else column.numeric_type())
        return types

    def _empty(self, n: int, dtype: np.dtype[Any]) -> AnyArray:
        return np.empty(n, dtype=dtype) if self.spill is None else self.spill.empty(n, dtype)

    def _check_memory(self, bytes_of_values: int, what: str) -> None:
        """Refuse a fit that would take more memory than there is, before the pass that would find out."""
        n_rows, target = self.found.n_rows, self.found.target
        n_classes = 0 if target.classes is None else len(target.classes)
        of_a_row = _BYTES_OF_A_ROW * (n_classes if n_classes > 2 else target.n_outputs)
        if self.spill is None:
            of_a_row += bytes_of_values + 2 * len(self.found.columns)
        needed = _BYTES_AT_LEAST + n_rows * of_a_row
        limit = self.scan.memory or _engine.physical_memory()
        if not limit or needed <= limit:
            return
        with_files = (
            "" if self.spill is not None else " Give spill=folder: bins and features are mapped files there."
        )
        without = " Set linear_leaves=False and n_folds=1 to do with bins alone." if bytes_of_values else ""
        raise InvalidInput(
            f"Training on {n_rows} rows with {what} takes about {_in_words(needed)} of memory, and "
            f"{'memory allows' if self.scan.memory else 'this machine has'} {_in_words(limit)}.",
            parameter="memory",
            received=limit,
            allowed=f"at least {needed} bytes",
            hint=(with_files + without).strip() or "Take fewer rows or columns.",
        )


def _in_words(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.1f} MB"


def checked_batches(scan: Scan, found: Survey, what: str, watch: Watch | None) -> Iterator[Batch]:
    """A later pass, which has to find the rows of the first."""
    n_rows = 0
    for batch in scan.batches():
        values = values_of(batch.rows(scan.roles.target[0]))
        if not found.target_column.same_as(values, batch.first_row, found.target_rows):
            raise _changed(scan, batch.where)
        yield batch
        n_rows += batch.n_rows
        if watch is not None:
            watch(what, n_rows, found.n_rows)
    if n_rows != found.n_rows:
        raise _changed(scan, f"the end, after {n_rows} rows instead of {found.n_rows}")


def _changed(scan: Scan, where: str) -> InvalidInput:
    name = scan.roles.target[0]
    return InvalidInput(
        f"{scan!r} gives other rows than in the pass before: the first difference is in column {name!r} at {where}.",
        parameter="source",
        received=where,
        allowed="the same rows in the same order each time it is opened",
        hint="Sort the query, fix its random seed, or write its rows to files first.",
        column=name,
    )


def prepare_scan(
    estimator: Any, scan: Scan, settings: TargetSettings, seed: int, watch: Watch | None = None
) -> tuple[TrainingData, StreamedTable]:
    """The first pass, and what `prepare_training` makes of a table: no features yet, everything else."""
    spill = None if scan.spill is None else SpillFolder(scan.spill)
    categorical = getattr(estimator, "categorical_features", "auto")
    found = survey(scan, settings, categorical, seed, watch)
    target = found.target
    has_weights = found.weight is not None or target.row_weight is not None
    weight = combined_weight(found.weight, target.row_weight) if has_weights else None
    unknown: UnknownCategory = getattr(estimator, "unknown_category", "missing")
    codings = _codings(scan, found, categorical, weight, watch)
    encoder = Encoder.of_codings(codings, len(found.columns), categorical, unknown)
    schema = Schema.of(found.example, encoder.n_levels > 0)
    schema.set_feature_names(estimator)
    estimator.schema_ = schema
    estimator.encoder_ = encoder
    none_kept = Encoded([], found.n_rows, len(found.columns), encoder.n_levels)
    train = TrainingData(none_kept, encoder, schema, target, weight, found.weight)
    return train, StreamedTable(scan, encoder, found, watch, spill)


def prepare_whole_scan(estimator: Any, scan: Scan, *, task: Task, **given: Any) -> TrainingData:
    """The same with all features, for models that read them; what was `given` beside the scan has to be None."""
    scan.refuse_beside(**given)
    for parameter in ("groups", "offset"):
        if getattr(scan.roles, parameter):
            raise InvalidInput(
                f"The scan names {parameter}, and {type(estimator).__name__} has none.",
                parameter=parameter,
                received=getattr(scan.roles, parameter),
                allowed="None",
            )
    settings = TargetSettings(task, type(estimator).__name__, getattr(estimator, "class_weight", None))
    train, streamed = prepare_scan(estimator, scan, settings, 0)
    return replace(train, encoded=streamed.features())


def _codings(
    scan: Scan, found: Survey, categorical: Any, weight: FloatArray | None, watch: Watch | None
) -> dict[int, LevelCoding]:
    """Codes of levels. Those of columns with very many levels follow from the target: a pass for their codes."""
    nominal = nominal_columns(categorical, found.example)
    codings: dict[int, LevelCoding] = {}
    many: dict[int, LevelCoding] = {}
    for index, column in enumerate(found.columns):
        if not nominal[index]:
            if column.kind == "ordered":
                codings[index] = LevelCoding.ordered(column.name, column.levels(found.n_rows))
            continue
        levels = column.levels(found.n_rows)
        code = np.arange(len(levels), dtype=np.int32)
        codings[index] = LevelCoding(column.name, "nominal", levels, code, max(1, len(levels)))
        if len(levels) > MAX_GROUPS:
            many[index] = codings[index]
    for index, codes in _codes_of_rows(scan, found, many, watch).items():
        own = many[index]
        codings[index] = LevelCoding.nominal(own.name, codes, own.levels, found.target.values, weight)[0]
    return codings


def _codes_of_rows(
    scan: Scan, found: Survey, codings: dict[int, LevelCoding], watch: Watch | None
) -> dict[int, CodeArray]:
    codes = {index: np.empty(found.n_rows, dtype=np.int32) for index in codings}
    if not codes:
        return codes
    for batch in checked_batches(scan, found, "grouping levels", watch):
        for index, (own, levels) in raw_codes(batch.table, list(codings)).items():
            column = batch.table.column(index)
            rows = slice(batch.first_row, batch.first_row + batch.n_rows)
            codes[index][rows] = codings[index].apply(column, own, levels, "missing")
    return codes


def _columns_of(encoded: Encoded) -> list[AnyArray]:
    values = encoded.values
    return values if isinstance(values, list) else list(values.T)
