"""Arguments and options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A file of `coterie fit` or coterie.save.")
]
DataArgument = Annotated[
    list[str], typer.Argument(metavar="DATA", help="CSV, TSV, Parquet, JSON, a pattern, or - .")
]
WhereOption = Annotated[str | None, typer.Option("--where", help="A condition in SQL: rows to read.")]
TargetOption = Annotated[str, typer.Option("--target", "-t", help="The column to predict.")]
TaskOption = Annotated[str, typer.Option("--task", help="auto, classification or regression.")]
ScoringOption = Annotated[
    str | None,
    typer.Option("--scoring", help="A scorer of scikit-learn; default: log loss or squared error."),
]
GroupsOption = Annotated[
    str | None, typer.Option("--groups", help="A column: rows of a group are in one fold.")
]
TimeOption = Annotated[
    str | None, typer.Option("--time", help="A column: rows are ordered by it, and later ones held out.")
]
DropOption = Annotated[
    list[str] | None, typer.Option("--drop", help="A column to leave out. May be given several times.")
]
WeightOption = Annotated[str | None, typer.Option("--weight", help="A column: how often each row counts.")]
FoldsOption = Annotated[int, typer.Option("--cv", min=2, help="Folds.")]
SeedOption = Annotated[int | None, typer.Option("--seed", min=0, help="Draws the folds and the members.")]
JobsOption = Annotated[int | None, typer.Option("--jobs", help="Threads; default: every core.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Results as JSON.")]
