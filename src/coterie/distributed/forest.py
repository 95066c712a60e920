"""Forests on a cluster: the client gathers the table, and workers that each have a copy of it grow ranges of trees."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from coterie import _engine
from coterie._typing import AnyArray, CategoricalFeatures, CodeArray
from coterie.data.encoding import Encoded
from coterie.data.prepare import Encoder, TrainingData
from coterie.distributed.knowledge import TableKnowledge, given_rows
from coterie.distributed.partitions import PartitionRows, PartitionSurvey
from coterie.errors import InvalidInput
from coterie.trees.growth_rules import classes_per_output

# What growing takes beside the values, as measured: ranks of each value, of each row its target, weight, place and hash
# and, for each thread, a bag, and sums of each column of predictions; and at least (libraries, messages).
_BYTES_OF_A_RANK = 6
_BYTES_OF_A_ROW = 120
_BYTES_OF_A_BAG = 50
_BYTES_OF_A_SUM = 16
_BYTES_AT_LEAST = 200_000_000


@dataclass(frozen=True)
class WorkerLimits:
    """What a worker has; no bytes of memory means no limit."""

    address: str
    memory: int
    n_threads: int


class PartitionedTable(Protocol):
    """Where the partitions are."""

    def given(self) -> list[dict[str, AnyArray]]:
        """y, and sample_weight if it was given, of each partition."""

    def survey(
        self, rows: Sequence[PartitionRows], categorical: CategoricalFeatures
    ) -> list[PartitionSurvey | None]:
        """The first look at each partition."""

    def codes(
        self, rows: Sequence[PartitionRows], encoder: Encoder, wanted: list[int]
    ) -> list[list[CodeArray]]:
        """Places of the levels of some columns, partition by partition."""

    def encoded(
        self,
        rows: Sequence[PartitionRows],
        digests: Sequence[str | None],
        encoder: Encoder,
        types: Sequence[np.dtype[Any]],
    ) -> Iterable[list[AnyArray]]:
        """The features of each partition, one partition after the other."""

    def workers(self) -> list[WorkerLimits]:
        """Who will grow trees."""


def gathered_training(estimator: Any, source: PartitionedTable) -> TrainingData:
    """What `prepare_training` makes of a table in memory, for one whose partitions are elsewhere."""
    given = given_rows(estimator, source.given())
    rows = given.partitions(0)
    categorical = getattr(estimator, "categorical_features", "auto")
    knowledge = TableKnowledge(estimator, given, source.survey(rows, categorical))
    train = knowledge.training_data(lambda encoder, wanted: source.codes(rows, encoder, wanted))
    types = knowledge.types(train.encoder)
    n_columns = int(classes_per_output(train).sum()) or train.target.n_outputs
    check_memory(given.n_rows, types, n_columns, source.workers())
    columns = [np.empty(given.n_rows, dtype) for dtype in types]
    for own, part in zip(rows, source.encoded(rows, knowledge.digests, train.encoder, types), strict=True):
        for column, values in zip(columns, part, strict=True):
            column[own.first_row : own.first_row + own.n_rows] = values
    encoded = Encoded(columns, given.n_rows, len(columns), train.encoder.n_levels)
    return replace(train, encoded=encoded)


def check_memory(
    n_rows: int, types: Sequence[np.dtype[Any]], n_columns: int, workers: Sequence[WorkerLimits]
) -> None:
    """Refuse a table that this process or one of the workers cannot hold, before it is gathered.

    `n_columns` are those of the predictions.

    Examples
    --------
    >>> small, large = WorkerLimits("tcp://a", 4 * 10**9, 1), WorkerLimits("tcp://b", 64 * 10**9, 16)
    >>> check_memory(1_000_000, [np.dtype("f4")] * 28, 2, [small, large])
    >>> check_memory(20_000_000, [np.dtype("f4")] * 28, 2, [small, large])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    coterie.errors.InvalidInput: Each worker of a forest holds a copy of the table: ...
    """
    own = _engine.physical_memory()
    here = [WorkerLimits("", own, _engine.usable_threads(0))] if own else []
    for worker in [*(each for each in workers if each.memory), *here]:
        of_a_row = sum(dtype.itemsize for dtype in types) + _BYTES_OF_A_RANK * len(types) + _BYTES_OF_A_ROW
        of_a_row += _BYTES_OF_A_BAG * worker.n_threads + _BYTES_OF_A_SUM * n_columns
        needed = _BYTES_AT_LEAST + n_rows * of_a_row
        if needed > worker.memory:
            raise _too_large(n_rows, len(types), needed, worker)


def _too_large(n_rows: int, n_features: int, needed: int, worker: WorkerLimits) -> InvalidInput:
    who = f"the worker {worker.address}" if worker.address else "this machine, which has a copy as well,"
    return InvalidInput(
        f"Each worker of a forest holds a copy of the table: {n_rows} rows of {n_features} columns, and what grows on "
        f"them, take {needed} bytes ({_in_words(needed)}), and {who} has {worker.memory} ({_in_words(worker.memory)}).",
        parameter="X",
        received=needed,
        allowed=f"at most {worker.memory} bytes",
        hint="Give workers more memory (memory_limit), take fewer rows with X.sample(frac=...), or train "
        "GradientBoostingClassifier or GradientBoostingRegressor, whose workers hold slices.",
    )


def _in_words(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"
