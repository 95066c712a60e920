"""`coterie predict --memory` and `coterie evaluate --memory`: tables that are larger than memory, batch by batch."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from coterie._optional import need
from coterie._typing import AnyArray
from coterie.cli.deciding import decided
from coterie.cli.errors import data_error
from coterie.cli.models import LoadedModel
from coterie.cli.training import no_rows
from coterie.data.inference.reading import ColumnReading
from coterie.data.table_files.data_table import DataTable
from coterie.fitting.monitor import FitEvent, emit
from coterie.members.decision_rule import decided_codes

_SHARE_OF_READING = 0.25  # of the memory, for duckdb
_BYTES_OF_A_VALUE = 96  # of a batch: as it is read, as the model encodes it, and as text
_MOST_ROWS, _FEWEST_ROWS = 131_072, 1_024
_WORDS_OF_METRICS = (
    12  # of 8 bytes, a row: target, prediction, weight, and what metrics and their samples make of them
)


def predicted_columns(
    model: Any, X: Any, kept: Mapping[str, Any], *, proba: bool, interval: float | None
) -> dict[str, Any]:
    """Columns to keep, and what the model predicts beside them."""
    columns = dict(kept)
    for name, values in _predictions(model, X, proba, interval).items():
        columns[_free(name, columns)] = values
    return columns


def _predictions(model: Any, X: Any, proba: bool, interval: float | None) -> dict[str, AnyArray]:
    if proba:
        probabilities = np.asarray(model.predict_proba(X))
        return {
            "prediction": np.asarray(model.classes_)[decided_codes(model, probabilities)],
            **{f"proba_{label}": probabilities[:, place] for place, label in enumerate(model.classes_)},
        }
    columns = {"prediction": decided(model, X)}
    if interval is not None:
        ends = np.asarray(model.predict_interval(X, 1 - interval))
        columns |= {"low": ends[:, 0], "high": ends[:, 1]}
    return columns


def _free(name: str, taken: Any) -> str:
    """A name that no column to keep has."""
    while name in taken:
        name = f"{name}_"
    return name


def batches_of(
    own: LoadedModel, table: DataTable, kept: Sequence[str], others: set[str], n_bytes: int
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Features as the model takes them, and columns to keep, a batch at a time in the order of the rows."""
    need("pyarrow", purpose="--memory", extra="scan")
    names, reading = own.inputs(table, others, sampled=True)
    n_at_once = rows_at_once(own, len(names) + len(kept), n_bytes)
    table.limit_memory(int(n_bytes * _SHARE_OF_READING))
    n_rows, done = table.n_rows(), 0
    for held, columns in table.array_batches(names, reading, kept, n_at_once):
        yield own.as_input(held), columns
        done += len(next(iter(held.values())))
        emit(FitEvent(type(own.model).__name__, "row", done, n_rows))
    if done == 0:
        raise no_rows(table)


def truths_of(
    own: LoadedModel, table: DataTable, target: str, weight: str | None, n_bytes: int
) -> Iterator[tuple[Any, AnyArray, AnyArray | None]]:
    """Features, targets and weights, a batch at a time."""
    need("pyarrow", purpose="--memory", extra="scan")
    beside = [target, *([] if weight is None else [weight])]
    names, reading = own.inputs(table, set(beside), sampled=True)
    of_target = own.reading_of_target(table, target, sampled=True)
    readings = {**reading, target: of_target}
    if weight is not None:
        readings[weight] = ColumnReading(weight, "number")
    _check_metrics(own, table.n_rows(), n_bytes)
    wanted = list(dict.fromkeys([*names, *beside]))
    n_at_once = rows_at_once(own, len(wanted), n_bytes)
    table.limit_memory(int(n_bytes * _SHARE_OF_READING))
    n_rows, done = table.n_rows(), 0
    for held, _ in table.array_batches(wanted, readings, n_rows=n_at_once):
        truth = own.checked_truth(held[target], table, target, done)
        yield (
            own.as_input({name: held[name] for name in names}),
            truth,
            None if weight is None else held[weight],
        )
        done += len(truth)
        emit(FitEvent(type(own.model).__name__, "row", done, n_rows))
    if done == 0:
        raise no_rows(table)


def rows_at_once(own: LoadedModel, n_columns: int, n_bytes: int) -> int:
    """How many rows a batch may have."""
    a_row = _BYTES_OF_A_VALUE * (n_columns + _n_outputs(own) + 1)
    most = int(n_bytes * (1 - _SHARE_OF_READING)) // a_row
    if most < _FEWEST_ROWS:
        least = a_row * _FEWEST_ROWS / (1 - _SHARE_OF_READING)
        raise data_error(
            f"--memory of {n_bytes / 1e6:.3g} MB is too little for {n_columns} columns.",
            "--memory",
            n_bytes,
            allowed=f"{least / 1e6:.3g} MB or more",
            hint="Give more, beside what the model itself takes.",
        )
    return min(most, _MOST_ROWS)


def _check_metrics(own: LoadedModel, n_rows: int, n_bytes: int) -> None:
    needed = 8 * n_rows * (_WORDS_OF_METRICS + 3 * _n_outputs(own))
    if needed > n_bytes:
        raise data_error(
            f"Targets and predictions of {n_rows:,} rows, and the metrics of them, take {needed / 1e9:.1f} GB, and "
            f"--memory is {n_bytes / 1e9:.1f} GB.",
            "--memory",
            n_bytes,
            hint="Give more, or evaluate fewer rows: --where.",
        )


def _n_outputs(own: LoadedModel) -> int:
    return len(own.model.classes_) if own.is_classifier else 1
