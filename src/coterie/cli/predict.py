"""`coterie predict`: predictions of a model for the rows of a table, into a file or onto the standard output."""

from pathlib import Path
from typing import Annotated

import typer

from coterie.cli.command import Messages, command
from coterie.cli.deciding import decide_by
from coterie.cli.errors import usage_error
from coterie.cli.models import LoadedModel, open_model
from coterie.cli.options import (
    DataArgument,
    EncodingOption,
    MemoryOption,
    ModelArgument,
    WhereOption,
    bytes_in,
    opened_table,
)
from coterie.cli.prediction_batches import batches_of, predicted_columns
from coterie.cli.table_output import TABLE_ENDINGS, table_in_parts, without_formulas, write_table
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
    threshold: Annotated[
        float | None,
        typer.Option(help="Of two classes: predict the positive one from this probability on."),
    ] = None,
    id_: Annotated[
        list[str] | None, typer.Option("--id", help="A column to keep. May be given several times.")
    ] = None,
    escape_formulas: Annotated[
        bool,
        typer.Option(
            "--escape-formulas", help="Put ' before texts in CSV that a spreadsheet would take for formulas."
        ),
    ] = False,
    where: WhereOption = None,
    encoding: EncodingOption = None,
    memory: MemoryOption = None,
    json: Annotated[bool, typer.Option("--json", help="Predictions as one JSON document.")] = False,
    json_lines: Annotated[
        bool, typer.Option("--json-lines", help="A JSON object on each line, for streams.")
    ] = False,
) -> None:
    """Predict the rows of a table, in its order. Columns that the model does not know are ignored.

    With --memory the table is read and predicted in batches, and may be larger than memory.
    """
    if output is not None:
        check_place(output, "--output", TABLE_ENDINGS)
        if json or json_lines:
            raise usage_error(
                f"{'--json' if json else '--json-lines'} writes to the standard output; with -o the ending of the "
                "file decides the format.",
                "--json" if json else "--json-lines",
            )
    if json and json_lines:
        raise usage_error("--json and --json-lines are two forms of the same: choose one.", "--json-lines")
    own = open_model(model)
    _check_outputs(own, proba, interval)
    decide_by(own.model, threshold)
    n_bytes = bytes_in(memory)
    ending = ".json" if json else ".ndjson" if json_lines else ".csv"
    with opened_table(messages, data, where, encoding) as table:
        kept = list(dict.fromkeys(id_ or ()))
        for name in kept:
            table.check_column(name, "--id")
        others = {*kept, *([] if own.target is None else [own.target])}
        if n_bytes is None:
            X = own.features(table, others)
            columns = table.columns(kept) if kept else {}
            columns = predicted_columns(own.model, X, columns, proba=proba, interval=interval)
            write_table(without_formulas(columns) if escape_formulas else columns, output, ending)
            n_rows = len(columns["prediction"])
        else:
            n_rows = 0
            with messages.progress("predicting", "row"), table_in_parts(output, ending) as add:
                for X, columns in batches_of(own, table, kept, others, n_bytes):
                    columns = predicted_columns(own.model, X, columns, proba=proba, interval=interval)
                    add(without_formulas(columns) if escape_formulas else columns)
                    n_rows += len(columns["prediction"])
    if output is not None:
        messages.note(f"{n_rows:,} predictions are in {output}.")


def _check_outputs(own: LoadedModel, proba: bool, interval: float | None) -> None:
    name = type(own.model).__name__
    if proba and not hasattr(own.model, "predict_proba"):
        hint = None if own.is_classifier else "For numbers there is --interval 0.9."
        raise usage_error(f"--proba: this {name} has no probabilities.", "--proba", name, hint=hint)
    if interval is None:
        return
    if not 0 < interval < 1:
        allowed = "a share between 0 and 1, such as 0.9"
        raise usage_error(
            f"--interval {interval:g}: expected {allowed}.", "--interval", interval, allowed=allowed
        )
    if not hasattr(own.model, "predict_interval"):
        hint = (
            "For classes there is --proba."
            if own.is_classifier
            else "Committees, forests and boosting of numbers have them."
        )
        raise usage_error(f"--interval: this {name} has no intervals.", "--interval", name, hint=hint)
