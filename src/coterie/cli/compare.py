"""`coterie compare`: all families of models under the same folds."""

from typing import Annotated

import typer

from coterie.cli.command import Messages, command
from coterie.cli.options import (
    DataArgument,
    DropOption,
    FoldsOption,
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
from coterie.cli.training import Roles, column_warnings, read_training, size_line
from coterie.cli.writing import as_json, print_out
from coterie.committee import compare as compare_models
from coterie.committee.families import families


@command
def compare(
    messages: Messages,
    data: DataArgument,
    target: TargetOption,
    task: TaskOption = "auto",
    models: Annotated[
        str | None, typer.Option(help="Names with commas between, such as forest,boosting; default: all.")
    ] = None,
    committee: Annotated[
        float,
        typer.Option(min=0, help="Let a committee take part, with so many seconds for each fold; 0: none."),
    ] = 0,
    scoring: ScoringOption = None,
    groups: GroupsOption = None,
    time: TimeOption = None,
    drop: DropOption = None,
    weight: WeightOption = None,
    where: WhereOption = None,
    cv: FoldsOption = 5,
    seed: SeedOption = None,
    jobs: JobsOption = None,
    json: JsonOption = False,
) -> None:
    """Compare all families of models, and baselines, with intervals and a sentence on the outcome."""
    check_settings(scoring, jobs)
    wanted = names_in(models, "--models", [name for name, _ in families("auto", "regression", False, None)])
    with open_table(data, where) as table:
        name = table.name
        training = read_training(table, Roles(target, groups, time, weight, drop or ()), task)
    if not messages.quiet:
        messages.note(size_line(training, name))
        for warning in column_warnings(training):
            messages.note(str(warning))
    n_models = len(families(wanted, training.task, committee or False, jobs))
    with messages.progress("comparing", "model", total=n_models):
        result = compare_models(
            training.X,
            training.y,
            models=wanted,
            task=training.task,
            scoring=scoring,
            cv=training.folds(cv),
            sample_weight=training.weight,
            groups=training.groups,
            committee=committee or False,
            n_jobs=jobs,
            random_state=0 if seed is None else seed,
        )
    if not json:
        print_out(repr(result))
        return
    shown = {
        "target": training.target,
        "task": training.task,
        "n_rows": training.n_rows,
        "scoring": result.scoring,
        "models": list(result),
        "conclusion": result.conclusion,
        "notes": result.notes[1:-1],
    }
    print_out(as_json(shown))
