"""All commands in one program."""

from importlib.metadata import version
from typing import Annotated

import typer

from coterie.cli.compare import compare
from coterie.cli.doctor import doctor
from coterie.cli.evaluate import evaluate
from coterie.cli.export import export
from coterie.cli.fit import fit
from coterie.cli.help_pages import GroupedCommand
from coterie.cli.inspect import inspect
from coterie.cli.predict import predict
from coterie.cli.report import report

app = typer.Typer(
    name="coterie",
    help="A table in, a trusted ensemble out.",
    epilog="Exit codes: 0 done, 1 unexpected, 2 usage, 3 data, 4 quality gate, 5 model file, 130 interrupted.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for function in (fit, predict, evaluate, compare, report, inspect, export, doctor):
    app.command(function.__name__, cls=GroupedCommand)(function)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"coterie {version('coterie')}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool, typer.Option("--version", help="The version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """A table in, a trusted ensemble out."""
