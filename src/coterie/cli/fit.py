"""`coterie fit`: a table in, a model file and a leaderboard out."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli.batches import BatchSettings, check_memory, fit_in_batches
from coterie.cli.command import Messages, command
from coterie.cli.deciding import (
    ClassWeightOption,
    CostOption,
    DecisionOptions,
    PositiveOption,
    ThresholdOption,
)
from coterie.cli.errors import INTERRUPTED, writing
from coterie.cli.options import (
    DataArgument,
    DateFormatOption,
    DecimalOption,
    DropOption,
    EncodingOption,
    GroupsOption,
    JobsOption,
    JsonOption,
    KindOption,
    NaOption,
    ScoringOption,
    SeedOption,
    TargetOption,
    TaskOption,
    ThousandsOption,
    TimeOption,
    WeightOption,
    WhereOption,
    check_settings,
    names_in,
    table_source,
)
from coterie.cli.repeating import RepeatOption, earlier_fit, roles_note
from coterie.cli.report import REPORT_ENDINGS, write_report
from coterie.cli.training import (
    Roles,
    TrainingTable,
    column_warnings,
    cost_line,
    read_training,
    show_reading,
    size_line,
)
from coterie.cli.writing import as_json, check_place, print_out
from coterie.committee import CommitteeClassifier, CommitteeRegressor
from coterie.committee.portfolio import NAMES as MEMBERS
from coterie.data.table_features import TableFeatures
from coterie.files import save


@command
def fit(
    messages: Messages,
    data: DataArgument,
    target: TargetOption,
    output: Annotated[Path, typer.Option("--output", "-o", help="The model file.")] = Path("model.coterie"),
    report: Annotated[
        Path | None, typer.Option("--report", help="A report: .html, .txt, .md or .json.")
    ] = None,
    task: TaskOption = "auto",
    time_limit: Annotated[
        float | None, typer.Option(min=0, help="Seconds for the fit; 0: no limit. Default: 60.")
    ] = None,
    scoring: ScoringOption = None,
    groups: GroupsOption = None,
    time: TimeOption = None,
    drop: DropOption = None,
    weight: WeightOption = None,
    where: WhereOption = None,
    encoding: EncodingOption = None,
    decimal: DecimalOption = None,
    thousands: ThousandsOption = None,
    na: NaOption = None,
    kind: KindOption = None,
    date_format: DateFormatOption = None,
    cv: Annotated[int | None, typer.Option("--cv", min=2, help="Folds; default: 5.")] = None,
    members: Annotated[
        str | None, typer.Option(help="Names of members with commas between, such as boosting,forest.")
    ] = None,
    max_members: Annotated[int | None, typer.Option(min=1, help="Members at most.")] = None,
    memory_limit: Annotated[float | None, typer.Option(min=0, help="Megabytes for models and work.")] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="A folder for members as they are complete: the same command goes on from there."),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            help="Such as 8GB: read in batches within so much memory, and fit one model of boosting."
        ),
    ] = None,
    spill: Annotated[
        Path | None, typer.Option(help="With --memory: a folder for mapped files, where memory is too small.")
    ] = None,
    threshold: ThresholdOption = None,
    cost: CostOption = None,
    positive: PositiveOption = None,
    class_weight: ClassWeightOption = None,
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
    check_place(output, "--output")
    check_settings(scoring, jobs)
    portfolio = names_in(members, "--members", MEMBERS)
    if report is not None:
        check_place(report, "--report", REPORT_ENDINGS)
    source = table_source(
        data,
        where,
        encoding,
        decimal=decimal,
        thousands=thousands,
        na=na,
        kind=kind,
        date_format=date_format,
    )
    roles = Roles(target, groups, time, weight, drop or ())
    of_committees = {
        "--time-limit": time_limit,
        "--scoring": scoring,
        "--time": time,
        "--cv": cv,
        "--members": members,
        "--max-members": max_members,
        "--memory-limit": memory_limit,
        "--checkpoint": checkpoint,
    }
    decisions = DecisionOptions(threshold, cost, positive, class_weight)
    of_committees |= decisions.given() | {"--repeat": repeat}
    n_bytes = check_memory(memory, spill, of_committees)
    if n_bytes is not None:
        settings = BatchSettings(n_bytes, spill, task, 0 if seed is None else seed, jobs)
        fit_in_batches(messages, source, roles, settings, output=output, report=report, json=json)
        return
    earlier = None
    if repeat is not None:
        of_roles = {"--groups": groups, "--weight": weight, "--drop": drop or None, "--where": where}
        others = {"--task": None if task == "auto" else task, "--seed": seed} | source.given()
        of_fit = {name: value for name, value in of_committees.items() if name != "--repeat"}
        earlier = earlier_fit(repeat, target, of_fit | of_roles | others)
        roles, task, where = earlier.roles, earlier.task, earlier.where
        source = replace(source, where=where)
    with source.open() as table:
        name, about_files = table.name, table.files.notes
        training = read_training(table, roles, task, None if earlier is None else earlier.reading)
    if earlier is not None:
        messages.note(f"{size_line(training, name)}; the fit of {repeat} once more, without a time limit")
        with messages.progress("fitting", "member"):
            model = earlier.repeated(training, jobs)
    else:
        settings_of_fit: dict[str, Any] = {
            "time_limit": None if time_limit == 0 else 60 if time_limit is None else time_limit,
            "scoring": scoring,
            "portfolio": portfolio,
            "max_members": max_members,
            "memory_limit": memory_limit,
            "checkpoint": checkpoint,
            "n_jobs": jobs,
            "random_state": 0 if seed is None else seed,
            "features": TableFeatures(text=training.names_of("text")),
            **decisions.parameters(training.classes),
        }
        if not messages.quiet:
            show_reading(messages, training, name, about_files)
        model = _fitted(messages, training, 5 if cv is None else cv, settings_of_fit)
    with writing(output):
        save(model, output, notes=training.notes() | roles_note(roles, where))
    _finish(messages, model, training, output, report, f"{target} in {name}", json=json, verbose=verbose)


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
    model: Any,
    training: TrainingTable,
    output: Path,
    report: Path | None,
    title: str,
    *,
    json: bool,
    verbose: bool,
) -> None:
    """Show the leaderboard, and write the report; a fit that was interrupted has another exit code."""
    shown = None if model.interrupted_ else report
    _show(messages, model, training, output, json=json, verbose=verbose, report=shown)
    if model.interrupted_:
        messages.error(
            f"interrupted: {output} holds the committee of the {len(model.members_)} members that were complete."
        )
        raise typer.Exit(INTERRUPTED)
    if report is not None:
        with messages.progress("writing the report"):
            write_report(model, training.X, training.y, report, title=title, seen=True)
        messages.note(f"The report is in {report}.")


def _show(
    messages: Messages,
    model: Any,
    training: TrainingTable,
    output: Path,
    *,
    json: bool,
    verbose: bool,
    report: Path | None,
) -> None:
    """The result on the standard output, and what to do next on the standard error."""
    leaderboard = model.leaderboard()
    if json:
        result = {
            "model": output,
            "report": report,
            "target": training.target,
            "task": training.task,
            "n_rows": training.n_rows,
            "n_columns": len(training.X),
            "metric": leaderboard.metric,
            "greater_is_better": leaderboard.greater_is_better,
            "score": leaderboard[0]["score"],
            "low": leaderboard[0]["low"],
            "high": leaderboard[0]["high"],
            "threshold": getattr(model, "threshold_", None),
            "seconds": model.fit_time_,
            "interrupted": model.interrupted_,
            "leaderboard": list(leaderboard),
            "skipped": model.skipped_,
            "dropped": model.dropped_,
        }
        print_out(as_json(result))
    else:
        print_out("\n".join([repr(leaderboard), *(leaderboard.left_out.details() if verbose else [])]))
    megabytes = output.stat().st_size / 1e6
    messages.note(
        f"The model is in {output} ({megabytes:.1f} MB). To use it: coterie predict {output} NEW_DATA"
    )
