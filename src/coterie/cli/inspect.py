"""`coterie inspect`: what is in a model file, without loading its trees."""

from dataclasses import asdict

from coterie.cli.command import command
from coterie.cli.errors import MODEL_FILE, check_exists
from coterie.cli.models import with_advice
from coterie.cli.options import JsonOption, ModelArgument
from coterie.cli.writing import as_json, print_out
from coterie.files import inspect_file


@command
def inspect(model: ModelArgument, json: JsonOption = False) -> None:
    """Show what a model file holds: class, versions, columns, classes, trees, sizes and notes."""
    check_exists(str(model), MODEL_FILE)
    with with_advice():
        summary = inspect_file(model)
    print_out(as_json(asdict(summary)) if json else str(summary))
