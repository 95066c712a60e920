"""`coterie report`: what a model is like on the rows of a table, as a page that opens anywhere."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli.command import Messages, command
from coterie.cli.models import LoadedModel, open_model
from coterie.cli.options import DataArgument, EncodingOption, JsonOption, ModelArgument, WhereOption
from coterie.cli.writing import as_json, check_place, placed, print_out
from coterie.data.prepare import read_table
from coterie.data.table_files.data_table import open_table

REPORT_ENDINGS = (".html", ".txt", ".md", ".json")
PROFILE_NOTE = "profile"  # of the columns of the fit, among the notes of a model file


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
    new: Annotated[bool, typer.Option("--new", help="The model was fitted to none of these rows.")] = False,
    no_rows: Annotated[
        bool,
        typer.Option("--no-rows", help="Show nothing that a single row holds: for pages that you pass on."),
    ] = False,
    where: WhereOption = None,
    encoding: EncodingOption = None,
    json: JsonOption = False,
) -> None:
    """Write a report about a model and the rows of a table, best new ones: one file that loads nothing."""
    check_place(output, "--output", REPORT_ENDINGS)
    own = open_model(model)
    with open_table(data, where, encoding=encoding) as table:
        name = own.target_in(table, target)
        truth = own.truth(table, name)
        X = own.features(table, {name})
        source = table.name
    options = {
        "--target": None if target is None else target,
        "--title": title,
        "--where": where,
        "--encoding": encoding,
        "--output": str(output),
    }
    flags = {"--new": new, "--no-rows": no_rows}
    with messages.progress("writing the report"):
        made = write_report(
            own.model,
            X,
            truth,
            output,
            title=title or f"{name} in {source}",
            seen=False if new else None,
            rows=not no_rows,
            reference=_profile_in(own),
            commands=_commands(own, name, data, options, flags),
        )
    if json:
        print_out(as_json(made.to_dict()))
    messages.note(f"The report is in {output}.")


def _commands(
    own: LoadedModel,
    target: str,
    data: list[str],
    options: dict[str, str | None],
    flags: dict[str, bool],
) -> tuple[str, ...]:
    """How to fit the same model again, to write this report, and to predict."""
    file, names = shlex.quote(str(own.path)), " ".join(shlex.quote(str(each)) for each in data)
    lines = [
        f"coterie fit TRAINING_DATA --target {shlex.quote(target)} --repeat {file} -o again.coterie"
    ] * hasattr(own.model, "leaderboard")
    given = [f"{name} {shlex.quote(value)}" for name, value in options.items() if value is not None]
    given += [name for name, is_set in flags.items() if is_set]
    return (
        *lines,
        f"coterie report {file} {names} {' '.join(given)}",
        f"coterie predict {file} {names} -o predictions.csv",
    )


def _profile_in(own: LoadedModel) -> Any:
    """The profile of the rows of the fit that the model file holds, or None."""
    from coterie.report import TableProfile  # not needed by the other commands

    text = own.notes.get(PROFILE_NOTE)
    return None if text is None else TableProfile.of_json(text)


def profile_note(X: Any) -> dict[str, str]:
    """A summary of the columns of the fit, for the notes of a model file: later rows are compared with it."""
    from coterie.report import profile_of  # not needed by the other commands

    return {PROFILE_NOTE: profile_of(read_table(X)).to_json()}


def write_report(
    model: Any,
    X: Any,
    y: Any,
    path: Path,
    *,
    title: str,
    seen: bool | None = None,
    rows: bool = True,
    reference: Any = None,
    commands: tuple[str, ...] = (),
) -> Any:
    """Build a report and store it; the file is replaced whole or not at all. `seen`: fit saw these rows."""
    from coterie.report import build  # not needed by the other commands

    made = build(model, X, y, title=title, seen=seen, rows=rows, reference=reference, commands=commands)
    with placed(path) as part:
        made.save(part)
    return made
