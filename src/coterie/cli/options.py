"""Arguments and options that several commands have; settings are checked before anything is read."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from sklearn.metrics import get_scorer_names

from coterie._params import resolve_n_jobs
from coterie.cli.errors import guessed, usage_error
from coterie.errors import InvalidParameter


def check_settings(scoring: str | None, jobs: int | None) -> None:
    """Refuse what no fit accepts."""
    if scoring is not None and scoring not in get_scorer_names():
        raise usage_error(
            f"--scoring {scoring}: there is no such scorer in scikit-learn.",
            "--scoring",
            scoring,
            hint=guessed(scoring, get_scorer_names())
            or "Some are roc_auc, f1_macro, r2 and neg_mean_absolute_error.",
        )
    try:
        resolve_n_jobs(jobs)
    except InvalidParameter:
        allowed = "a number of threads, or a negative one to count from all of them (-1)"
        raise usage_error(f"--jobs {jobs}: expected {allowed}.", "--jobs", jobs, allowed=allowed) from None


def names_in(text: str | None, option: str, known: Iterable[str]) -> list[str] | str:
    """Names with commas between; "auto" if there is no text.

    Examples
    --------
    >>> names_in("forest, linear", "--members", ["forest", "linear", "boosting"])
    ['forest', 'linear']
    """
    if text is None:
        return "auto"
    names, known = [own.strip() for own in text.split(",")], list(known)
    for name in names:
        if name not in known:
            raise usage_error(
                f"{option} {text}: there is no {name!r}.",
                option,
                name,
                allowed=f"some of {', '.join(known)}",
                hint=" ".join(filter(None, [guessed(name, known), f"Known are {', '.join(known)}."])),
            )
    if len(set(names)) < len(names):
        raise usage_error(f"{option} {text}: a name is given twice.", option, text)
    return names


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
SeedOption = Annotated[
    int | None, typer.Option("--seed", min=0, help="Draws the folds and the members. Default: 0.")
]
JobsOption = Annotated[int | None, typer.Option("--jobs", help="Threads; default: every core.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Results as JSON.")]
