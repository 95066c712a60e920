"""`coterie fit`: a table in, a model file and a leaderboard out."""

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
    DropOption,
    GroupsOption,
    JobsOption,
    JsonOption,
    ScoringOption,
    SeedOption,
    TargetOption,
    TaskOption,
    TimeOption,
    WeightOption,
    WhereOption,
    check_settings,
    names_in,
)
from coterie.cli.reading import open_table
from coterie.cli.repeating import RepeatOption, earlier_fit, roles_note
from coterie.cli.report import REPORT_ENDINGS, write_report
from coterie.cli.training import Roles, TrainingTable, column_warnings, cost_line, read_training, size_line
from coterie.cli.writing import as_json, check_place, print_out
from coterie.committee import CommitteeClassifier, CommitteeRegressor
from coterie.committee.portfolio import NAMES as MEMBERS
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
        fit_in_batches(messages, data, roles, settings, where=where, output=output, report=report, json=json)
        return
    earlier = None
    if repeat is not None:
        of_roles = {
            "--task": None if task == "auto" else task,
            "--groups": groups,
            "--weight": weight,
            "--drop": drop or None,
            "--where": where,
            "--seed": seed,
        }
        given = {name: value for name, value in of_committees.items() if name != "--repeat"}
        earlier = earlier_fit(repeat, target, given | of_roles)
        roles, task, where = earlier.roles, earlier.task, earlier.where
    with open_table(data, where) as table:
        name = table.name
        training = read_training(table, roles, task)
    limit = None if time_limit == 0 or repeat is not None else 60 if time_limit is None else time_limit
    if earlier is not None:
        messages.note(f"{size_line(training, name)}; the fit of {repeat} once more, without a time limit")
        with messages.progress("fitting", "member"):
            model = earlier.repeated(training, jobs)
    else:
        cv = 5 if cv is None else cv
        if not messages.quiet:
            _say_what_will_be_fitted(messages, training, name, cv, limit, portfolio)
        model = _committee(training)(
            limit,
            scoring=scoring,
            cv=training.folds(cv),
            portfolio=portfolio,
            max_members=max_members,
            memory_limit=memory_limit,
            checkpoint=checkpoint,
            n_jobs=jobs,
            random_state=0 if seed is None else seed,
            **decisions.parameters(training.classes),
        )
        with messages.progress("fitting", "member", seconds=limit):
            resume = checkpoint is not None
            model.fit(training.X, training.y, training.weight, groups=training.groups, resume=resume)
    with writing(output):
        save(model, output, notes=training.notes() | roles_note(roles, where))
    _show(messages, model, training, output, json, None if model.interrupted_ else report)
    if model.interrupted_:
        messages.error(
            f"interrupted: {output} holds the committee of the {len(model.members_)} members that were complete."
        )
        raise typer.Exit(INTERRUPTED)
    if report is not None:
        with messages.progress("writing the report"):
            write_report(model, training.X, training.y, report, title=f"{target} in {name}", seen=True)
        messages.note(f"The report is in {report}.")


def _committee(training: TrainingTable) -> Any:
    return CommitteeRegressor if training.classes is None else CommitteeClassifier


def _say_what_will_be_fitted(
    messages: Messages, training: TrainingTable, name: str, cv: int, limit: float | None, portfolio: Any
) -> None:
    messages.note(size_line(training, name))
    messages.note(cost_line(training, cv, limit, portfolio))
    for warning in column_warnings(training):
        messages.note(str(warning))


def _show(
    messages: Messages, model: Any, training: TrainingTable, output: Path, json: bool, report: Path | None
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
            "scoring": model.scoring_,
            "score": model.oof_score_,
            "score_error": model.oof_score_error_,
            "threshold": getattr(model, "threshold_", None),
            "seconds": model.fit_time_,
            "interrupted": model.interrupted_,
            "leaderboard": list(leaderboard),
            "skipped": model.skipped_,
            "dropped": model.dropped_,
        }
        print_out(as_json(result))
    else:
        print_out(repr(leaderboard))
    megabytes = output.stat().st_size / 1e6
    messages.note(
        f"The model is in {output} ({megabytes:.1f} MB). To use it: coterie predict {output} NEW_DATA"
    )
