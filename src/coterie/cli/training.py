"""The table that a model is to learn from: which column is what."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.model_selection import TimeSeriesSplit

from coterie._typing import AnyArray, Task
from coterie.cli.errors import CommandError, data_error, usage_error
from coterie.cli.reading import DataTable
from coterie.committee.comparison import read_any_target


@dataclass(frozen=True)
class Roles:
    """Columns that are no features, by name."""

    target: str
    groups: str | None = None
    time: str | None = None
    weight: str | None = None
    drop: Sequence[str] = field(default_factory=tuple)

    def taken(self) -> dict[str, str]:
        """Options by the column that they name."""
        named = {
            "--target": self.target,
            "--groups": self.groups,
            "--time": self.time,
            "--weight": self.weight,
        }
        taken: dict[str, str] = {}
        for option, name in [*named.items(), *(("--drop", name) for name in self.drop)]:
            if name is None:
                continue
            if taken.get(name, option) != option:
                raise usage_error(
                    f"Column {name!r} is given to {taken[name]} and to {option}: choose one.", option, name
                )
            taken[name] = option
        if self.groups is not None and self.time is not None:
            raise usage_error("--groups and --time need different folds: choose one.", "--time", self.time)
        return taken


@dataclass(frozen=True)
class TrainingTable:
    """Features, target, and what else is known of the rows.

    Attributes
    ----------
    kinds : of the features and the target, by name
    classes : labels, or None for numbers
    """

    X: dict[str, AnyArray]
    y: AnyArray
    task: Task
    target: str
    kinds: dict[str, str]
    classes: AnyArray | None
    groups: AnyArray | None = None
    weight: AnyArray | None = None
    by_time: bool = False

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def folds(self, n_folds: int) -> Any:
        """What `cv` of a committee is."""
        return TimeSeriesSplit(n_folds) if self.by_time else n_folds

    def notes(self) -> dict[str, str]:
        """What goes into the model file for later commands."""
        return {"target": self.target, "task": self.task, "kinds": json.dumps(self.kinds)}


def read_training(table: DataTable, roles: Roles, task: str) -> TrainingTable:
    """Read the columns that are needed, check the target, and put rows in the order of time if there is one."""
    if task not in ("auto", "classification", "regression"):
        allowed = "auto, classification or regression"
        raise usage_error(f"--task {task}: expected {allowed}.", "--task", task, allowed=allowed)
    taken = roles.taken()
    for name, option in taken.items():
        table.check_column(name, option)
    features = [name for name in table.kinds if name not in taken]
    if not features:
        raise data_error(
            f"{table.name} has no column left to learn from beside {', '.join(taken)}.",
            "--drop",
            list(roles.drop),
        )
    others = [name for name in taken if taken[name] != "--drop"]
    kinds = {name: table.kinds[name] for name in [*features, roles.target]}
    if kinds[roles.target] == "flag":
        kinds[roles.target] = "text"  # predictions are "yes" where the table has "yes", and not "true"
    held = table.columns([*features, *others], kinds)
    n_rows = len(held[roles.target])
    if n_rows == 0:
        raise no_rows(table)
    _check_target(held[roles.target], roles.target, table)
    if roles.time is not None:
        order = _order(held[roles.time], roles.time, table)
        held = {name: values[order] for name, values in held.items()}
    y = _labels(held[roles.target])
    _check_task(y, task, roles.target)
    kind, target = read_any_target(y, task, n_rows, f"The target {roles.target!r}")
    if target.classes is not None and len(target.classes) < 2:
        raise data_error(
            f"The target {roles.target!r} is {_plain(target.classes[0])!r} in every row: there is nothing to learn.",
            "--target",
            roles.target,
        )
    return TrainingTable(
        X={name: held[name] for name in features},
        y=y,
        task=kind,
        target=roles.target,
        kinds=kinds,
        classes=None if target.classes is None else np.asarray(target.classes),
        groups=None if roles.groups is None else held[roles.groups],
        weight=None if roles.weight is None else held[roles.weight],
        by_time=roles.time is not None,
    )


def no_rows(table: DataTable) -> CommandError:
    """The error of a table without rows."""
    rows = "rows" if table.where is None else "rows for which --where holds"
    option = "DATA" if table.where is None else "--where"
    return data_error(f"{table.name} has no {rows}.", option, table.where)


def missing_in(values: AnyArray) -> Any:
    """Which values are missing."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind == "O":
        return np.array([value is None for value in values], dtype=bool)
    return np.zeros(len(values), dtype=bool)


def _check_target(values: AnyArray, name: str, table: DataTable) -> None:
    if values.dtype.kind in "mM":
        raise data_error(
            f"The target {name!r} holds dates or times.",
            "--target",
            name,
            hint="Predict a number instead, such as days since an event.",
        )
    holes = missing_in(values)
    if holes.any():
        raise data_error(
            f"The target {name!r} is missing in {holes.sum():,} of {len(values):,} rows of {table.name}; the first is "
            f"row {int(holes.argmax()) + 1}.",
            "--target",
            name,
            hint=f"Fill it in, or read the other rows alone: --where '\"{name}\" IS NOT NULL'",
        )


def _check_task(y: AnyArray, task: str, name: str) -> None:
    if task == "regression" and y.dtype.kind not in "biuf":
        raise data_error(
            f"--task regression: the target {name!r} holds texts, such as {str(y[0])!r}.",
            "--task",
            task,
            hint="Leave --task out.",
        )
    if task == "classification" and y.dtype.kind == "f" and (y != np.round(y)).any():
        value = y[(y != np.round(y)).argmax()]
        raise data_error(
            f"--task classification: the target {name!r} holds numbers with fractions, such as {value:g}.",
            "--task",
            task,
            hint="Leave --task out.",
        )


def _labels(values: AnyArray) -> AnyArray:
    """Texts as texts: labels are then compared as such."""
    return (
        values.astype(str) if values.dtype.kind == "O" and all(type(own) is str for own in values) else values
    )


def _order(values: AnyArray, name: str, table: DataTable) -> AnyArray:
    holes = missing_in(values)
    if holes.any():
        raise data_error(
            f"--time {name}: {holes.sum():,} rows of {table.name} have no time; the first is row "
            f"{int(holes.argmax()) + 1}.",
            "--time",
            name,
            hint=f"Read the other rows alone: --where '\"{name}\" IS NOT NULL'",
        )
    return np.argsort(values, kind="stable")


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
