"""`coterie fit`: a table in, a model file and a leaderboard out."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli.batches import BatchSettings, check_memory, fit_in_batches
from coterie.cli.command import Messages, command
from coterie.cli.deciding import DecisionOptions
from coterie.cli.errors import INTERRUPTED, writing
from coterie.cli.option_groups import (
    BatchOptions,
    CommitteeOptions,
    DecidingOptions,
    RoleOptions,
    TableOptions,
)
from coterie.cli.options import JobsOption, JsonOption, SeedOption, TableSource, check_settings, names_in
from coterie.cli.repeating import EarlierFit, RepeatOption, earlier_fit, roles_note
from coterie.cli.report import REPORT_ENDINGS, profile_note, write_report
from coterie.cli.training import (
    Roles,
    TrainingTable,
    column_warnings,
    cost_line,
    read_training,
    show_reading,
    size_line,
)
from coterie.cli.writing import as_json, check_model_place, check_place, print_out
from coterie.committee import CommitteeClassifier, CommitteeRegressor, Leaderboard
from coterie.committee.portfolio import NAMES as MEMBERS
from coterie.data.table_features import TableFeatures
from coterie.files import save
from coterie.fitting.monitor import FitEvent, monitored


@command
def fit(
    messages: Messages,
    table: TableOptions,
    columns: RoleOptions,
    limits: CommitteeOptions,
    deciding: DecidingOptions,
    batches: BatchOptions,
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file.")] = Path("model.coterie"),
    report: Annotated[
        Path | None, typer.Option("--report", help="A report: .html, .txt, .md or .json.")
    ] = None,
    repeat: RepeatOption = None,
    seed: SeedOption = None,
    jobs: JobsOption = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="A line for each member that was not fitted, and why.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Fit a committee to a table: the best ensemble within the time limit; or boosting to one larger than memory.

    The leaderboard goes to the standard output, the model to a file. Ctrl-C ends the fit early, and the best so far is
    saved. Without a time limit (--time-limit 0) the same command gives the same model; with one, --repeat does.
    """
    check_model_place(output)
    check_settings(limits.scoring, jobs)
    names_in(limits.members, "--members", MEMBERS)
    if report is not None:
        check_place(report, "--report", REPORT_ENDINGS)
    source, decisions = table.source(), deciding.decisions()
    of_committees = {**limits.given(), "--time": columns.time, **decisions.given()}
    n_bytes = check_memory(
        batches.memory, batches.spill, batches.effort, of_committees | {"--repeat": repeat}
    )
    number = 0 if seed is None else seed
    if n_bytes is not None:
        effort = batches.effort or "default"
        settings = BatchSettings(n_bytes, batches.spill, columns.task, number, jobs, effort)
        fit_in_batches(messages, source, columns.roles(), settings, output=output, report=report, json=json)
        return
    events: list[FitEvent] = []
    with monitored(_collected(events)):
        if repeat is not None:
            given = of_committees | _given_of_table(columns, source) | {"--seed": seed}
            fitted = _repeated(messages, earlier_fit(repeat, columns.target, given), repeat, source, jobs)
        else:
            chosen = {"n_jobs": jobs, "random_state": number}
            fitted = _new_fit(messages, source, columns, limits, decisions, chosen)
    with writing(output):
        notes = fitted.training.notes() | roles_note(fitted.roles, fitted.where)
        save(fitted.model, output, notes=notes | profile_note(fitted.training.X))
    _finish(messages, fitted, output, report, events, json=json, verbose=verbose)


@dataclass(frozen=True)
class FittedTable:
    """A committee, the table that it was fitted to, and what was said about its columns and rows."""

    model: Any
    training: TrainingTable
    roles: Roles
    where: str | None
    name: str


def _collected(events: list[FitEvent]) -> Callable[[FitEvent], None]:
    """A monitor that keeps the events of members."""
    return lambda event: events.append(event) if event.step == "member" else None


def _given_of_table(columns: RoleOptions, source: TableSource) -> dict[str, Any]:
    """What was given about columns and rows, by option."""
    return {
        "--groups": columns.groups,
        "--weight": columns.weight,
        "--drop": columns.drop or None,
        "--where": source.where,
        "--task": None if columns.task == "auto" else columns.task,
        **source.given(),
    }


def _repeated(
    messages: Messages, earlier: EarlierFit, path: Path, source: TableSource, jobs: int | None
) -> FittedTable:
    """The fit of a file once more."""
    with replace(source, where=earlier.where).open() as table:
        name = table.name
        training = read_training(table, earlier.roles, earlier.task, earlier.reading)
    messages.note(f"{size_line(training, name)}; the fit of {path} once more, without a time limit")
    with messages.progress("fitting", "member"):
        model = earlier.repeated(training, jobs)
    return FittedTable(model, training, earlier.roles, earlier.where, name)


def _new_fit(
    messages: Messages,
    source: TableSource,
    columns: RoleOptions,
    limits: CommitteeOptions,
    decisions: DecisionOptions,
    chosen: dict[str, Any],
) -> FittedTable:
    """A committee with the settings of the command line."""
    with source.open() as table:
        name, about_files = table.name, table.files.notes
        roles = columns.roles(list(table.types))
        training = read_training(table, roles, columns.task)
    settings: dict[str, Any] = {
        "time_limit": limits.seconds(),
        "scoring": limits.scoring,
        "portfolio": names_in(limits.members, "--members", MEMBERS),
        "max_members": limits.max_members,
        "memory_limit": limits.memory_limit,
        "max_predict_time": limits.max_predict_time,
        "checkpoint": limits.checkpoint,
        "features": TableFeatures(text=training.names_of("text")),
        **decisions.parameters(training.classes),
        **chosen,
    }
    if not messages.quiet:
        show_reading(messages, training, name, about_files)
    model = _fitted(messages, training, 5 if limits.cv is None else limits.cv, settings)
    return FittedTable(model, training, roles, source.where, name)


def _fitted(messages: Messages, training: TrainingTable, n_folds: int, settings: dict[str, Any]) -> Any:
    """A committee for the table; what will be fitted, and how long that takes, is said before."""
    limit, checkpoint = settings["time_limit"], settings["checkpoint"]
    if not messages.quiet:
        messages.note(cost_line(training, n_folds, limit, settings["portfolio"]))
        for warning in column_warnings(training):
            messages.note(str(warning))
    kind = CommitteeRegressor if training.classes is None else CommitteeClassifier
    model = kind(cv=training.folds(n_folds), **settings)
    with messages.progress("fitting", "member", seconds=limit):
        model.fit(
            training.X, training.y, training.weight, groups=training.groups, resume=checkpoint is not None
        )
    return model


def _finish(
    messages: Messages,
    fitted: FittedTable,
    output: Path,
    report: Path | None,
    events: list[FitEvent],
    *,
    json: bool,
    verbose: bool,
) -> None:
    """Show the leaderboard, and write the report; a fit that was interrupted has another exit code."""
    model, training = fitted.model, fitted.training
    board = model.leaderboard()
    if json:
        files = {"model": output, "report": None if model.interrupted_ else report}
        print_out(as_json(files | _result(model, training, board, events)))
    else:
        messages.result("\n".join([repr(board), *(board.left_out.details() if verbose else [])]))
    megabytes = output.stat().st_size / 1e6
    messages.note(
        f"The model is in {output} ({megabytes:.1f} MB). To use it: coterie predict {output} NEW_DATA"
    )
    if model.interrupted_:
        messages.error(
            f"interrupted: {output} holds the committee of the {len(model.members_)} members that were complete."
        )
        raise typer.Exit(INTERRUPTED)
    if report is not None:
        with messages.progress("writing the report"):
            title = f"{training.target} in {fitted.name}"
            write_report(model, training.X, training.y, report, title=title, seen=True)
        messages.note(f"The report is in {report}.")


def _result(
    model: Any, training: TrainingTable, board: Leaderboard, events: list[FitEvent]
) -> dict[str, Any]:
    """What `--json` shows."""
    first = board[0]
    return {
        "target": training.target,
        "task": training.task,
        "n_rows": training.n_rows,
        "n_columns": len(training.X),
        "metric": board.metric,
        "greater_is_better": board.greater_is_better,
        "score": first["score"],
        "low": first["low"],
        "high": first["high"],
        "threshold": getattr(model, "threshold_", None),
        "seconds": model.fit_time_,
        "interrupted": model.interrupted_,
        "leaderboard": list(board),
        "notes": board.notes,
        "skipped": model.skipped_,
        "dropped": model.dropped_,
        "events": [
            {"member": own.name, "done": own.done, "total": own.total, "seconds": own.seconds, **own.measures}
            for own in events
        ],
    }
