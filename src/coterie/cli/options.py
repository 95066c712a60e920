"""Arguments and options that several commands have; settings are checked before anything is read."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from coterie._params import resolve_n_jobs
from coterie.cli.command import Messages
from coterie.cli.errors import usage_error
from coterie.data.inference.reading import KINDS, ColumnKind, ColumnReading, ReadingOptions
from coterie.data.streaming.scan import bytes_of
from coterie.data.table_files.callers import COMMAND_LINE
from coterie.data.table_files.data_table import DataTable, open_table
from coterie.data.table_files.suggestions import guessed
from coterie.errors import InvalidInput, InvalidParameter
from coterie.metrics import METRICS, is_metric_name, nearest_metric


def check_settings(scoring: str | None, jobs: int | None) -> None:
    """Refuse what no fit accepts."""
    if scoring is not None and not is_metric_name(scoring):
        raise usage_error(
            f"--scoring {scoring}: there is no such metric.",
            "--scoring",
            scoring,
            hint=" ".join(
                filter(
                    None, [_nearest(scoring), f"Known are {', '.join(METRICS)}, and scikit-learn's names."]
                )
            ),
        )
    try:
        resolve_n_jobs(jobs)
    except InvalidParameter:
        allowed = "a number of threads, or a negative one to count from all of them (-1)"
        raise usage_error(f"--jobs {jobs}: expected {allowed}.", "--jobs", jobs, allowed=allowed) from None


def _nearest(scoring: str) -> str | None:
    near = nearest_metric(scoring, METRICS)
    return None if near is None else f"Did you mean {near!r}?"


def bytes_in(memory: str | None) -> int | None:
    """What --memory says; None if it is not given."""
    if memory is None:
        return None
    try:
        return bytes_of(memory)
    except InvalidInput as error:
        allowed = "a size, such as 8GB or 500MiB"
        raise usage_error(
            f"--memory {memory}: expected {allowed}.", "--memory", memory, allowed=allowed
        ) from error


@dataclass(frozen=True)
class TableSource:
    """Files, rows of them, and how they are read."""

    data: Sequence[str]
    where: str | None
    encoding: str | None
    options: ReadingOptions

    def given(self) -> dict[str, object]:
        """The options that say how columns are read; None for those that were not given."""
        own = self.options
        return {
            "--decimal": own.decimal,
            "--thousands": own.thousands,
            "--na": own.na or None,
            "--kind": own.kinds or None,
            "--date-format": own.date_format,
        }

    def open(self) -> AbstractContextManager[DataTable]:
        return open_table(self.data, self.where, self.options, encoding=self.encoding, caller=COMMAND_LINE)


@contextmanager
def opened_table(
    messages: Messages, data: Sequence[str], where: str | None, encoding: str | None
) -> Iterator[DataTable]:
    """A table for a model that is known; values that its columns do not have are named when it was read."""
    with open_table(data, where, encoding=encoding, caller=COMMAND_LINE) as table:
        yield table
        warn_of_odd_values(messages, table)


def warn_of_odd_values(messages: Messages, table: DataTable) -> None:
    """Name the values that were taken for missing because they are none of the kind of their column."""
    for text in table.odd.warnings():
        messages.warn(text)


def table_source(
    data: Sequence[str],
    where: str | None,
    encoding: str | None,
    *,
    decimal: str | None,
    thousands: str | None,
    na: Sequence[str] | None,
    kind: Sequence[str] | None,
    date_format: str | None,
) -> TableSource:
    """What the options say about a table to learn from."""
    kinds: dict[str, ColumnKind] = {}
    for text in kind or ():
        name, mark, word = text.rpartition("=")
        known = next((own for own in KINDS if own == word), None)
        if not mark or known is None:
            allowed = f"a column and one of {', '.join(KINDS)}, such as price=number"
            raise usage_error(
                f"--kind {text}: expected {allowed}.",
                "--kind",
                text,
                allowed=allowed,
                hint=guessed(word, KINDS),
            )
        kinds[name] = known
    try:
        options = ReadingOptions(decimal, thousands, tuple(na or ()), kinds, date_format)
    except InvalidParameter as error:
        option = f"--{(error.parameter or '').replace('_', '-')}"
        raise usage_error(
            f"{option} {error.received}: expected {error.allowed}.",
            option,
            error.received,
            allowed=error.allowed,
        ) from error
    return TableSource(data, where, encoding, options)


def option_text(own: ColumnReading) -> str:
    """The option that changes how a column is read.

    Examples
    --------
    >>> option_text(ColumnReading("net price", "category", change=("kinds", "number")))
    "--kind 'net price=number'"
    """
    assert own.change is not None
    name, value = own.change
    if name == "kinds":
        return f"--kind {shlex.quote(f'{own.name}={value}')}"
    return f"--{name.replace('_', '-')} {shlex.quote(value)}"


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
EncodingOption = Annotated[
    str | None, typer.Option("--encoding", help="Of CSV and JSON, such as latin-1; default: found out.")
]
DecimalOption = Annotated[
    str | None, typer.Option("--decimal", help="The decimal mark, . or , ; default: found out.")
]
ThousandsOption = Annotated[
    str | None, typer.Option("--thousands", help="The mark between thousands; default: any but the decimal.")
]
NaOption = Annotated[
    list[str] | None, typer.Option("--na", help="A text that is a missing value. May be given several times.")
]
KindOption = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        help="COLUMN=KIND: number, date, time, flag, category or text. May be given several times.",
    ),
]
DateFormatOption = Annotated[
    str | None, typer.Option("--date-format", help="Of dates, such as %d/%m/%Y; default: found out.")
]
TargetOption = Annotated[str, typer.Option("--target", "-t", help="The column to predict.")]
TaskOption = Annotated[str, typer.Option("--task", help="auto, classification or regression.")]
ScoringOption = Annotated[
    str | None,
    typer.Option("--scoring", help="A metric: auc, f1, rmse, mae ...; default: log_loss or rmse."),
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
MemoryOption = Annotated[
    str | None, typer.Option("--memory", help="Such as 8GB: read in batches within so much memory.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Results as JSON.")]
