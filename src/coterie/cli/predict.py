"""`coterie predict`: answers of a model to the rows of a table."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from coterie._typing import AnyArray
from coterie.cli.models import Opened, open_model
from coterie.cli.options import DataArgument, JsonOption, ModelArgument, WhereOption
from coterie.cli.problems import USAGE, Problem
from coterie.cli.reading import opened
from coterie.cli.table_files import TABLE_ENDINGS, write_table
from coterie.cli.verb import verb
from coterie.cli.voice import Voice
from coterie.cli.writing import check_place

__all__ = ["predict"]


@verb
def predict(
    voice: Voice,
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
            raise Problem(
                "--json writes to the standard output; with -o the ending of the file says how.", USAGE
            )
    own = open_model(model)
    _check_questions(own, proba, interval)
    with opened(data, where) as table:
        kept = list(dict.fromkeys(id_ or ()))
        for name in kept:
            table.check_column(name, "--id")
        X = own.features(table, {*kept, *([] if own.target is None else [own.target])})
        columns = table.columns(kept) if kept else {}
    for name, values in _answers(own.model, X, proba, interval).items():
        columns[_free(name, columns)] = values
    write_table(columns, output, ".ndjson" if json else ".csv")
    if output is not None:
        voice.note(f"{len(columns['prediction']):,} predictions are in {output}.")


def _check_questions(own: Opened, proba: bool, interval: float | None) -> None:
    name = type(own.model).__name__
    if proba and not hasattr(own.model, "predict_proba"):
        hint = " For numbers there is --interval 0.9." if not own.is_classifier else ""
        raise Problem(f"--proba: this {name} knows no probabilities.{hint}", USAGE)
    if interval is None:
        return
    if not 0 < interval < 1:
        raise Problem(f"--interval {interval:g}: expected a share between 0 and 1, such as 0.9.", USAGE)
    if not hasattr(own.model, "predict_interval"):
        hint = (
            " For classes there is --proba."
            if own.is_classifier
            else " Committees and forests of numbers have them."
        )
        raise Problem(f"--interval: this {name} has no intervals.{hint}", USAGE)


def _answers(model: Any, X: Any, proba: bool, interval: float | None) -> dict[str, AnyArray]:
    if proba:
        chances = np.asarray(model.predict_proba(X))
        said = np.asarray(model.classes_)[chances.argmax(axis=1)]
        return {
            "prediction": said,
            **{f"proba_{label}": chances[:, place] for place, label in enumerate(model.classes_)},
        }
    answers = {"prediction": np.asarray(model.predict(X))}
    if interval is not None:
        ends = np.asarray(model.predict_interval(X, 1 - interval))
        answers |= {"low": ends[:, 0], "high": ends[:, 1]}
    return answers


def _free(name: str, taken: Any) -> str:
    """A name that no column to keep has."""
    while name in taken:
        name = f"{name}_"
    return name
