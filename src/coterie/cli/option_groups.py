"""Options that belong together: a command takes a group as one parameter, and `--help` shows it under one heading."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from coterie.cli.deciding import (
    ClassWeightOption,
    CostOption,
    DecisionOptions,
    PositiveOption,
    ThresholdOption,
)
from coterie.cli.options import (
    DataArgument,
    DateFormatOption,
    DecimalOption,
    DropOption,
    EncodingOption,
    GroupsOption,
    KindOption,
    NaOption,
    ScoringOption,
    TableSource,
    TargetOption,
    TaskOption,
    ThousandsOption,
    TimeOption,
    WeightOption,
    WhereOption,
    table_source,
)
from coterie.cli.training import Roles


@dataclass(frozen=True)
class TableOptions:
    """The table, and how it is read."""

    HEADING: ClassVar[str] = "Reading the table"

    data: DataArgument
    where: WhereOption = None
    encoding: EncodingOption = None
    decimal: DecimalOption = None
    thousands: ThousandsOption = None
    na: NaOption = None
    kind: KindOption = None
    date_format: DateFormatOption = None

    def source(self) -> TableSource:
        return table_source(
            self.data,
            self.where,
            self.encoding,
            decimal=self.decimal,
            thousands=self.thousands,
            na=self.na,
            kind=self.kind,
            date_format=self.date_format,
        )


@dataclass(frozen=True)
class RoleOptions:
    """The target, and columns that are no features."""

    HEADING: ClassVar[str] = "Columns"

    target: TargetOption
    task: TaskOption = "auto"
    groups: GroupsOption = None
    time: TimeOption = None
    drop: DropOption = None
    weight: WeightOption = None

    def roles(self, columns: Sequence[str] = ()) -> Roles:
        """Which column is what; `--drop a,b` names two of `columns`, unless one of them is called so."""
        return Roles(
            self.target, self.groups, self.time, self.weight, names_to_drop(self.drop or (), columns)
        )


def names_to_drop(given: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """Names with commas between, or given one by one; a column whose own name has a comma is one name.

    Examples
    --------
    >>> names_to_drop(["a, b", "c"], ["a", "b", "c"]), names_to_drop(["a,b"], ["a,b", "c"])
    (('a', 'b', 'c'), ('a,b',))
    """
    found: list[str] = []
    for text in given:
        parts = [text] if text in columns else [part.strip() for part in text.split(",")]
        found += [part for part in parts if part and part not in found]
    return tuple(found)


@dataclass(frozen=True)
class CommitteeOptions:
    """Who takes part in a committee, and within which limits."""

    HEADING: ClassVar[str] = "Members and limits"

    time_limit: Annotated[
        float | None, typer.Option(min=0, help="Seconds for the fit; 0: no limit. Default: 60.")
    ] = None
    scoring: ScoringOption = None
    cv: Annotated[int | None, typer.Option("--cv", min=2, help="Folds; default: 5.")] = None
    members: Annotated[
        str | None, typer.Option(help="Names of members with commas between, such as boosting,forest.")
    ] = None
    max_members: Annotated[int | None, typer.Option(min=1, help="Members at most.")] = None
    memory_limit: Annotated[float | None, typer.Option(min=0, help="Megabytes for models and work.")] = None
    max_predict_time: Annotated[
        float | None, typer.Option(min=1e-9, help="Seconds that 1,000 rows may take to predict.")
    ] = None
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="A folder for members as they are complete: the same command goes on from there."),
    ] = None

    def given(self) -> dict[str, Any]:
        """What was given, by option; None where nothing was."""
        return {
            "--time-limit": self.time_limit,
            "--scoring": self.scoring,
            "--cv": self.cv,
            "--members": self.members,
            "--max-members": self.max_members,
            "--memory-limit": self.memory_limit,
            "--max-predict-time": self.max_predict_time,
            "--checkpoint": self.checkpoint,
        }

    def seconds(self) -> float | None:
        """The time limit; None is no limit."""
        return None if self.time_limit == 0 else 60 if self.time_limit is None else self.time_limit


@dataclass(frozen=True)
class DecidingOptions:
    """How to decide between classes."""

    HEADING: ClassVar[str] = "Decisions between classes"

    threshold: ThresholdOption = None
    cost: CostOption = None
    positive: PositiveOption = None
    class_weight: ClassWeightOption = None

    def decisions(self) -> DecisionOptions:
        return DecisionOptions(self.threshold, self.cost, self.positive, self.class_weight)


@dataclass(frozen=True)
class BatchOptions:
    """A table that is larger than memory."""

    HEADING: ClassVar[str] = "Tables larger than memory"

    memory: Annotated[
        str | None,
        typer.Option(
            help="Such as 8GB: read in batches within so much memory, and fit one model of boosting."
        ),
    ] = None
    spill: Annotated[
        Path | None, typer.Option(help="With --memory: a folder for mapped files, where memory is too small.")
    ] = None
    effort: Annotated[
        str | None,
        typer.Option(
            help="With --memory: quick, default or best; how much time boosting takes for how good a model."
        ),
    ] = None
