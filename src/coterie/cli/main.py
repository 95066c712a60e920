"""Where the command line begins: it tells what to install if something is missing."""

import sys

from coterie._optional import need
from coterie.errors import MissingPackage


def run() -> None:
    """Run the command that the arguments of the process name."""
    try:
        for package in ("typer", "rich", "duckdb"):
            need(package, purpose="The command line", extra="cli")
    except MissingPackage as error:
        sys.stderr.write(f"coterie: {error}\n")
        raise SystemExit(1) from None
    from coterie.cli.app import app

    app(prog_name="coterie")
