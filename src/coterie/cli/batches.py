"""`coterie fit --memory`: a table that is larger than memory, read in batches, and one model of gradient boosting."""

import time as clock
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coterie._optional import need
from coterie.boosting import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.boosting.plan import EFFORTS
from coterie.cli.command import Messages
from coterie.cli.errors import DATA, CommandError, usage_error, writing
from coterie.cli.options import TableSource, bytes_in, warn_of_odd_values
from coterie.cli.report import write_report
from coterie.cli.training import Roles, read_streamed_target, reading_text
from coterie.cli.writing import as_json, print_out
from coterie.data.streaming.scan import Scan, scan
from coterie.data.table_files.data_table import DataTable
from coterie.errors import InvalidInput
from coterie.files import save

_SHARE_OF_READING = 0.25  # of the memory, for duckdb


@dataclass(frozen=True)
class BatchSettings:
    """What the command line says about a fit in batches."""

    memory: int
    spill: Path | None = None
    task: str = "auto"
    seed: int | None = None
    jobs: int | None = None
    effort: str = "default"


def check_memory(
    memory: str | None, spill: Path | None, effort: str | None, others: dict[str, Any]
) -> int | None:
    """Bytes that a fit in batches may use, or None for a fit in memory; options of committees are refused with it."""
    if effort is not None and effort not in EFFORTS:
        raise usage_error(
            f"--effort {effort} is unknown.", "--effort", effort, hint=f"It is one of {', '.join(EFFORTS)}."
        )
    if memory is None:
        if spill is not None:
            raise usage_error(
                "--spill is for a fit in batches.", "--spill", str(spill), hint="Add --memory 8GB."
            )
        if effort is not None:
            raise usage_error(
                "--effort is for one model of boosting; a committee takes the time that --time-limit allows.",
                "--effort",
                effort,
                hint="Add --memory 8GB, or use --time-limit.",
            )
        return None
    for option, value in others.items():
        if value is not None:
            raise usage_error(
                f"{option} is for committees, which read their table whole; --memory fits one model of boosting in "
                "batches.",
                option,
                value,
                hint=f"Leave out {option}, or --memory.",
            )
    return bytes_in(memory)


def fit_in_batches(
    messages: Messages,
    source: TableSource,
    roles: Roles,
    settings: BatchSettings,
    *,
    output: Path,
    report: Path | None,
    json: bool,
) -> None:
    """Read the table several times, batch by batch, and write the model."""
    need("pyarrow", purpose="coterie fit --memory", extra="scan")
    memory = settings.memory
    with source.open() as table:
        table.limit_memory(int(memory * _SHARE_OF_READING))
        target = read_streamed_target(table, roles, settings.task)
        messages.note(reading_text(target.reading))
        if table.n_sampled is not None:
            messages.note(
                f"Kinds, and numbers of missing values, are those of {table.n_sampled:,} rows that were drawn."
            )
        messages.note(
            f"{table.name}: {target.n_rows:,} rows, {len(target.features)} columns to predict {roles.target!r} "
            f"({target.task}), in batches, within {memory / 1e9:.1f} GB."
        )
        kind: Any = (
            GradientBoostingClassifier if target.task == "classification" else GradientBoostingRegressor
        )
        model = kind(random_state=settings.seed, n_jobs=settings.jobs, effort=settings.effort)
        scanned = _scan_of(table, roles, target, settings.spill, int(memory * (1 - _SHARE_OF_READING)))
        begin = clock.monotonic()
        with messages.progress("reading", "row"), _advice_about_memory():
            model.fit(scanned)
        warn_of_odd_values(messages, table)
        seconds = clock.monotonic() - begin
        with writing(output):
            save(model, output, notes=target.notes(roles.target))
        result = {
            "model": output,
            "report": report,
            "target": roles.target,
            "task": target.task,
            "n_rows": target.n_rows,
            "n_columns": len(target.features),
            "n_estimators": model.n_estimators_,
            "validation_loss": float(min(model.validation_losses_))
            if hasattr(model, "validation_losses_")
            else None,
            "seconds": seconds,
        }
        if json:
            print_out(as_json(result))
        else:
            loss = result["validation_loss"]
            measured = "" if loss is None else f", validation loss {loss:.6g}"
            print_out(f"{type(model).__name__}: {model.n_estimators_} rounds{measured}, {seconds:.1f} s")
        messages.note(
            f"The model is in {output} ({output.stat().st_size / 1e6:.1f} MB). To use it: coterie predict {output} "
            "NEW_DATA"
        )
        if report is not None:
            with messages.progress("writing the report"):
                X, y = scanned.sample(5_000)
                write_report(model, X, y, report, title=f"{roles.target} in {table.name}", seen=True)
            messages.note(f"The report, on a sample of rows, is in {report}.")


@contextmanager
def _advice_about_memory() -> Iterator[None]:
    try:
        yield
    except InvalidInput as error:
        if error.parameter == "memory":
            hint = "Give more --memory, or --spill FOLDER: bins are mapped files there."
            raise CommandError(
                error.message, DATA, parameter="--memory", received=error.received, hint=hint
            ) from error
        if error.parameter == "spill":
            raise error.within("--spill") from error
        raise


def _scan_of(table: DataTable, roles: Roles, target: Any, spill: Path | None, memory: int) -> Scan:
    names = [
        *target.features,
        *(name for name in (roles.target, roles.weight, roles.groups) if name is not None),
    ]
    return scan(
        lambda: table.batches(names, target.reading),
        target=roles.target,
        sample_weight=roles.weight,
        groups=roles.groups,
        spill=spill,
        memory=memory,
    )
