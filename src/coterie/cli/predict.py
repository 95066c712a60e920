"""`coterie predict`: predictions of a model for the rows of a table."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from coterie._typing import AnyArray
from coterie.cli.command import command
from coterie.cli.console import Messages
from coterie.cli.errors import USAGE, CommandError
from coterie.cli.models import LoadedModel, open_model
from coterie.cli.options import DataArgument, JsonOption, ModelArgument, WhereOption
from coterie.cli.reading import open_table
from coterie.cli.table_files import TABLE_ENDINGS, write_table
from coterie.cli.writing import check_place


@command
def predict(
    messages: Messages,
    model: ModelArgument,
    data: DataArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="A file: .csv, .tsv, .parquet, .json or .ndjson. Default: CSV to stdout."
        ),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add a column of probabilities for each class.")
    ] = False,
    interval: Annotated[
        float | None, typer.Option(help="Add low and high, which hold the truth so often, such as 0.9.")
    ] = None,
    id_: Annotated[
        list[str] | None, typer.Option("--id", help="A column to keep. May be given several times.")
    ] = None,
    where: WhereOption = None,
    json: JsonOption = False,
) -> None:
    """Predict the rows of a table, in its order. Columns that the model does not know are ignored."""
    if output is not None:
        check_place(output, "--output", TABLE_ENDINGS)
        if json:
            raise CommandError(
                "--json writes to the standard output; with -o the ending of the file decides the format.",
                USAGE,
                parameter="--json",
            )
    own = open_model(model)
    _check_outputs(own, proba, interval)
    with open_table(data, where) as table:
        kept = list(dict.fromkeys(id_ or ()))
        for name in kept:
            table.check_column(name, "--id")
        X = own.features(table, {*kept, *([] if own.target is None else [own.target])})
        columns = table.columns(kept) if kept else {}
    for name, values in _predictions(own.model, X, proba, interval).items():
        columns[_free(name, columns)] = values
    write_table(columns, output, ".ndjson" if json else ".csv")
    if output is not None:
        messages.note(f"{len(columns['prediction']):,} predictions are in {output}.")


def _check_outputs(own: LoadedModel, proba: bool, interval: float | None) -> None:
    name = type(own.model).__name__
    if proba and not hasattr(own.model, "predict_proba"):
        hint = None if own.is_classifier else "For numbers there is --interval 0.9."
        raise CommandError(
            f"--proba: this {name} has no probabilities.",
            USAGE,
            parameter="--proba",
            received=name,
            hint=hint,
        )
    if interval is None:
        return
    if not 0 < interval < 1:
        allowed = "a share between 0 and 1, such as 0.9"
        raise CommandError(
            f"--interval {interval:g}: expected {allowed}.",
            USAGE,
            parameter="--interval",
            received=interval,
            allowed=allowed,
        )
    if not hasattr(own.model, "predict_interval"):
        hint = (
            "For classes there is --proba."
            if own.is_classifier
            else "Committees and forests of numbers have them."
        )
        raise CommandError(
            f"--interval: this {name} has no intervals.",
            USAGE,
            parameter="--interval",
            received=name,
            hint=hint,
        )


def _predictions(model: Any, X: Any, proba: bool, interval: float | None) -> dict[str, AnyArray]:
    if proba:
        probabilities = np.asarray(model.predict_proba(X))
        return {
            "prediction": np.asarray(model.classes_)[probabilities.argmax(axis=1)],
            **{f"proba_{label}": probabilities[:, place] for place, label in enumerate(model.classes_)},
        }
    columns = {"prediction": np.asarray(model.predict(X))}
    if interval is not None:
        ends = np.asarray(model.predict_interval(X, 1 - interval))
        columns |= {"low": ends[:, 0], "high": ends[:, 1]}
    return columns


def _free(name: str, taken: Any) -> str:
    """A name that no column to keep has."""
    while name in taken:
        name = f"{name}_"
    return name
