"""`coterie compare`: all families of models under the same folds."""

from typing import Annotated

import typer

from coterie.cli.command import Messages, command
from coterie.cli.option_groups import RoleOptions, TableOptions
from coterie.cli.options import (
    FoldsOption,
    JobsOption,
    JsonOption,
    ScoringOption,
    SeedOption,
    check_settings,
    names_in,
)
from coterie.cli.training import column_warnings, read_training, show_reading
from coterie.cli.writing import as_json, print_out
from coterie.committee import compare as compare_models
from coterie.committee.families import families


@command
def compare(
    messages: Messages,
    table: TableOptions,
    columns: RoleOptions,
    models: Annotated[
        str | None, typer.Option(help="Names with commas between, such as forest,boosting; default: all.")
    ] = None,
    committee: Annotated[
        float,
        typer.Option(min=0, help="Let a committee take part, with so many seconds for each fold; 0: none."),
    ] = 0,
    scoring: ScoringOption = None,
    cv: FoldsOption = 5,
    seed: SeedOption = None,
    jobs: JobsOption = None,
    json: JsonOption = False,
) -> None:
    """Compare all families of models, and baselines, with intervals and a sentence on the outcome."""
    check_settings(scoring, jobs)
    wanted = names_in(models, "--models", [name for name, _ in families("auto", "regression", False, None)])
    with table.source().open() as opened:
        name, notes = opened.name, opened.files.notes
        training = read_training(opened, columns.roles(list(opened.types)), columns.task)
    if not messages.quiet:
        show_reading(messages, training, name, notes)
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
        messages.result(repr(result))
        return
    shown = {
        "target": training.target,
        "task": training.task,
        "n_rows": training.n_rows,
        "metric": result.scoring,
        "greater_is_better": result.greater_is_better,
        "models": list(result),
        "conclusion": result.conclusion,
        "notes": result.left_out,
    }
    print_out(as_json(shown))
