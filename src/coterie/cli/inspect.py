"""`coterie inspect`: what is in a model file, without loading its trees."""

from dataclasses import asdict

from coterie.cli.finding import check_exists
from coterie.cli.models import advised
from coterie.cli.options import JsonOption, ModelArgument
from coterie.cli.problems import MODEL_FILE
from coterie.cli.verb import verb
from coterie.cli.writing import as_json, print_out
from coterie.files import inspect_file

__all__ = ["inspect"]


@verb
def inspect(model: ModelArgument, json: JsonOption = False) -> None:
    """Say what a model file holds: class, versions, columns, classes, trees, sizes and notes."""
    check_exists(str(model), MODEL_FILE)
    with advised():
        summary = inspect_file(model)
    print_out(as_json(asdict(summary)) if json else str(summary))
