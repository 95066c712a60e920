"""`coterie report`: what a model is like on the rows of a table, as a page that opens anywhere."""

from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli.command import Messages, command
from coterie.cli.models import open_model
from coterie.cli.options import (
    DataArgument,
    EncodingOption,
    JsonOption,
    ModelArgument,
    WhereOption,
    opened_table,
)
from coterie.cli.writing import as_json, check_place, placed, print_out

REPORT_ENDINGS = (".html", ".txt", ".md", ".json")


@command
def report(
    messages: Messages,
    model: ModelArgument,
    data: DataArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The report: .html, .txt, .md or .json.")
    ] = Path("report.html"),
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column with the truth; default: as in the fit.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="The title of the report.")] = None,
    new: Annotated[bool, typer.Option("--new", help="None of these rows was seen by the fit.")] = False,
    where: WhereOption = None,
    encoding: EncodingOption = None,
    json: JsonOption = False,
) -> None:
    """Write a report on a model and rows that it has not seen: one file, no network."""
    check_place(output, "--output", REPORT_ENDINGS)
    own = open_model(model)
    with opened_table(messages, data, where, encoding) as table:
        name = own.target_in(table, target)
        truth = own.truth(table, name)
        X = own.features(table, {name})
        source = table.name
    with messages.progress("writing the report"):
        made = write_report(
            own.model, X, truth, output, title=title or f"{name} in {source}", seen=False if new else None
        )
    if json:
        print_out(as_json(made.to_dict()))
    messages.note(f"The report is in {output}.")


def write_report(model: Any, X: Any, y: Any, path: Path, *, title: str, seen: bool | None = None) -> Any:
    """Build a report and store it; the file is replaced whole or not at all. `seen`: fit saw these rows."""
    from coterie.report import build  # not needed by the other commands

    made = build(model, X, y, title=title, seen=seen)
    with placed(path) as part:
        made.save(part)
    return made
