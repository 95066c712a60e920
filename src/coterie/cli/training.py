"""The table that a model is to learn from: which column is what, its size, what the fit will cost, and odd columns."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.model_selection import TimeSeriesSplit

from coterie._typing import AnyArray, Task
from coterie.cli.command import Messages
from coterie.cli.errors import CommandError, data_error, usage_error
from coterie.cli.options import option_text
from coterie.committee.any_target import MOST_CLASSES, read_any_target
from coterie.committee.portfolio import Shape, portfolio_of
from coterie.data.inference.reading import PLURALS, TableReading, missing_in
from coterie.data.table_files.data_table import DataTable
from coterie.data.table_files.suggestions import listed
from coterie.trees.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor


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
    reading : how the features and the target are read, by name
    classes : labels, or None for numbers
    """

    X: dict[str, AnyArray]
    y: AnyArray
    task: Task
    target: str
    reading: TableReading
    classes: AnyArray | None
    groups: AnyArray | None = None
    weight: AnyArray | None = None
    by_time: bool = False
    task_is_guessed: bool = True

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def names_of(self, kind: str) -> list[str]:
        """The features of a kind."""
        return [name for name in self.X if self.reading[name].kind == kind]

    def folds(self, n_folds: int) -> Any:
        """What `cv` of a committee is."""
        return TimeSeriesSplit(n_folds) if self.by_time else n_folds

    def notes(self) -> dict[str, str]:
        """What goes into the model file for later commands."""
        return _notes(self.target, self.task, self.reading)


@dataclass(frozen=True)
class StreamedTarget:
    """What is known of a table before it is read in batches: the columns to learn from, and the target's task."""

    features: list[str]
    reading: TableReading
    task: Task
    n_rows: int

    def notes(self, target: str) -> dict[str, str]:
        """What goes into the model file for later commands."""
        return _notes(target, self.task, self.reading)


def _notes(target: str, task: str, reading: TableReading) -> dict[str, str]:
    return {"target": target, "task": task, "reading": reading.to_json()}


def read_streamed_target(table: DataTable, roles: Roles, task: str) -> StreamedTarget:
    """Read the target alone, and check it."""
    features, reading = _features(table, roles, task, sampled=True)
    held = table.columns([roles.target], reading)[roles.target]
    if len(held) == 0:
        raise no_rows(table)
    return StreamedTarget(features, reading, _task_of(held, roles.target, task, table)[1], len(held))


def _features(
    table: DataTable, roles: Roles, task: str, *, sampled: bool = False
) -> tuple[list[str], TableReading]:
    """The names of the columns to learn from, and how these and those with a role are read."""
    if task not in ("auto", "classification", "regression"):
        allowed = "auto, classification or regression"
        raise usage_error(f"--task {task}: expected {allowed}.", "--task", task, allowed=allowed)
    taken = roles.taken()
    for name, option in taken.items():
        table.check_column(name, option)
    features = [name for name in table.types if name not in taken]
    if not features:
        raise data_error(
            f"{table.name} has no column left to learn from beside {', '.join(taken)}.",
            "--drop",
            list(roles.drop),
        )
    known = table.reading(sampled=sampled)
    others = [name for name in taken if taken[name] != "--drop"]
    reading = TableReading({name: known[name] for name in [*features, *others] if name in known})
    if roles.target in reading and reading[roles.target].kind == "flag":
        # Predictions are "yes" where the table has "yes", and not "true".
        reading = reading.with_kind(roles.target, "category")
    return features, reading


def _task_of(
    values: AnyArray, name: str, task: str, table: DataTable
) -> tuple[AnyArray, Task, AnyArray | None]:
    """The labels or numbers of a target, its task, and its classes."""
    _check_target(values, name, table)
    y = _labels(values)
    _check_task(y, task, name)
    kind, target = read_any_target(y, task, len(y), f"The target {name!r}")
    if target.classes is not None and len(target.classes) < 2:
        raise data_error(
            f"The target {name!r} is {_plain(target.classes[0])!r} in every row: there is nothing to learn.",
            "--target",
            name,
        )
    return y, kind, None if target.classes is None else np.asarray(target.classes)


def read_training(
    table: DataTable, roles: Roles, task: str, known: TableReading | None = None
) -> TrainingTable:
    """Read the columns that are needed, check the target, and put rows in the order of time if there is one.

    `known` are readings of an earlier fit, which hold for this one.
    """
    features, reading = _features(table, roles, task)
    reading = TableReading(
        {**reading, **{name: own for name, own in (known or {}).items() if name in reading}}
    )
    taken = roles.taken()
    others = [name for name in taken if taken[name] != "--drop"]
    held = table.columns([*features, *others], reading)
    n_rows = len(held[roles.target])
    if n_rows == 0:
        raise no_rows(table)
    _check_target(held[roles.target], roles.target, table)
    if roles.time is not None:
        order = _order(held[roles.time], roles.time, table)
        held = {name: values[order] for name, values in held.items()}
    y, kind, classes = _task_of(held[roles.target], roles.target, task, table)
    return TrainingTable(
        X={name: held[name] for name in features},
        y=y,
        task=kind,
        target=roles.target,
        reading=reading.seen_in({name: held[name] for name in [*features, roles.target]}),
        classes=classes,
        groups=None if roles.groups is None else held[roles.groups],
        weight=None if roles.weight is None else held[roles.weight],
        by_time=roles.time is not None,
        task_is_guessed=task == "auto",
    )


def no_rows(table: DataTable) -> CommandError:
    """The error of a table without rows."""
    rows = "rows" if table.where is None else "rows for which --where holds"
    option = "DATA" if table.where is None else "--where"
    return data_error(f"{table.name} has no {rows}.", option, table.where)


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


_MANY_MISSING = 0.9
_FEWEST_ROWS = 50  # for a warning about a single column
_FEW_ROWS = 30  # for a warning about the table
_TRIED_ROWS = 2000
_TRIED_COLUMNS = 200
_TOO_GOOD = 0.98
_ID_SPREAD = 3  # whole numbers that are that dense count the rows
_LONG_ID = 1e8  # whole numbers of at least nine digits are codes


_WAYS = "--kind COLUMN=KIND, --decimal, --thousands, --na, --date-format, --encoding"
_MOST_LINES = 25  # of the table of columns


def reading_text(reading: TableReading) -> str:
    """The table of columns and how they are read; of many columns those that need a word."""
    shown = reading
    if len(reading) > _MOST_LINES:
        shown = TableReading({name: own for name, own in reading.items() if own.note})
    text = shown.to_text(option_text, _MOST_LINES) if shown else ""
    n_others = len(reading) - len(shown)
    others = f"{n_others} more columns as they are" if n_others else ""
    change = "To read a column in another way: " + _WAYS if any(own.note for own in shown.values()) else ""
    return "\n".join(filter(None, [text, others, change]))


def show_reading(messages: Messages, training: TrainingTable, name: str, notes: Sequence[str]) -> None:
    """What was inferred, before a fit: warnings about the files, the columns, the size and the task."""
    for note in notes:
        messages.warn(note)
    messages.note(reading_text(training.reading))
    messages.note(size_line(training, name))
    for warning in target_warnings(training):
        messages.warn(warning)


def size_line(training: TrainingTable, name: str) -> str:
    """Rows, columns and what they hold, and the target."""
    counts = Counter(training.reading[column].kind for column in training.X)
    kinds = ", ".join(f"{n} {PLURALS[kind] if n > 1 else kind}" for kind, n in counts.items())
    what = "numbers" if training.classes is None else f"{len(training.classes)} classes"
    n_columns = len(training.X)
    columns = f"{n_columns} {'column' if n_columns == 1 else 'columns'}"
    return (
        f"{name}: {training.n_rows:,} rows, {columns} ({kinds}); target {training.target!r}: {what} "
        f"({training.task}){_reason(training)}"
    )


def _reason(training: TrainingTable) -> str:
    """Why a target of numbers is taken for classes or for amounts, and how to change that."""
    if not training.task_is_guessed or training.y.dtype.kind not in "iuf":
        return ""
    if training.classes is not None:
        return (
            f", because it has {len(training.classes)} different whole numbers, at most {MOST_CLASSES}. If they are "
            "amounts: --task regression"
        )
    if (training.y != np.round(training.y)).any():
        return ", because it has fractions"
    return (
        f", because it has more than {MOST_CLASSES} different whole numbers. If they are labels: "
        "--task classification"
    )


def target_warnings(training: TrainingTable) -> Iterator[str]:
    """What keeps a target from being learned or scored well."""
    if training.n_rows < _FEW_ROWS:
        yield (
            f"{training.n_rows} rows are few: scores are rough, and so is the model. Some hundred rows are a beginning."
        )
    if training.classes is None:
        return
    labels, counts = np.unique(training.y, return_counts=True)
    single = [str(_plain(label)) for label in labels[counts == 1]]
    if single:
        rows = "one row" if len(single) == 1 else "one row each"
        yield (
            f"of the target {training.target!r}, {listed(single)} {'has' if len(single) == 1 else 'have'} {rows}: it "
            "cannot be learned and scored both. Leave such rows out with --where, or merge classes."
        )


def cost_line(training: TrainingTable, n_folds: int, time_limit: float | None, members: Any) -> str:
    """Memory of the table, and how long the fit will take, by a rough guess."""
    n_test = training.n_rows // n_folds
    n_outputs = 1 if training.classes is None else len(training.classes)
    shape = Shape(training.n_rows - n_test, max(1, n_test), len(training.X), n_outputs)
    entries = portfolio_of(members, training.task, shape)
    seconds = n_folds * sum(entry.seconds(shape) for entry in entries if entry.seconds is not None)
    models = n_folds * sum(entry.megabytes(shape) for entry in entries if entry.megabytes is not None)
    megabytes = max(1.0, 3 * 8e-6 * shape.values + models)
    if time_limit is not None and time_limit < 0.9 * seconds:
        time = f"{time_limit:g} s; all members would take about {_round(seconds)} s"
    else:
        time = f"about {_round(seconds)} s" + ("" if time_limit is None else f", at most {time_limit:g} s")
    return f"{len(entries)} members, {n_folds} folds; {time}; up to {_round(megabytes)} MB of memory"


def _round(value: float) -> str:
    return f"{float(f'{value:.2g}'):,.0f}" if value >= 1 else f"{value:.1g}"


@dataclass(frozen=True)
class ColumnWarning:
    """Columns with the same flaw, and what it may mean."""

    what: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return f"look at {listed(self.columns)}: {self.what}"


def column_warnings(training: TrainingTable) -> Iterator[ColumnWarning]:
    """Columns that are constant, mostly missing, ids, copies of the target, or too good to be true."""
    found: dict[str, list[str]] = {}
    tried = 0
    for name, values in training.X.items():
        what = _plain_flaw(values, training)
        if what is None and tried < _TRIED_COLUMNS and training.n_rows >= _FEWEST_ROWS:
            tried += 1
            what = _leak(name, values, training)
        if what is not None:
            found.setdefault(what, []).append(name)
    for what, names in found.items():
        yield ColumnWarning(what, tuple(names))


def _plain_flaw(values: AnyArray, training: TrainingTable) -> str | None:
    holes = missing_in(values)
    if holes.all():
        return "every value is missing"
    known = values[~holes]
    if values.dtype.kind in "mM":
        known = known.astype(np.int64)
    levels = set(known.tolist())
    if len(levels) == 1:
        return "it is the same in every row that has it" if holes.any() else "it is the same in every row"
    if not holes.any() and _is_copy(values, training):
        return "a copy of the target. Leave it out with --drop"
    if holes.mean() >= _MANY_MISSING:
        return f"missing in {_MANY_MISSING:.0%} of the rows or more"
    if values.dtype.kind not in "mM" and _looks_like_id(known, len(levels)):
        return "another value in each row, as ids have. Leave it out with --drop"
    return None


def _is_copy(values: AnyArray, training: TrainingTable) -> bool:
    """Whether the values are those of the target, or other names of the same classes."""
    if training.classes is None:
        return values.dtype.kind in "iuf" and bool((values == training.y).all())
    pairs = set(zip(values.tolist(), training.y.tolist(), strict=True))
    return len(pairs) == len(training.classes) == len({value for value, _ in pairs})


def _looks_like_id(known: AnyArray, n_levels: int) -> bool:
    """Whether there is another value in each row that has no order and no words: a count of rows, or a code."""
    if n_levels < len(known) or len(known) < _FEWEST_ROWS:
        return False
    if known.dtype.kind in "OU":
        some = [str(own) for own in known[:1000]]
        return not any(" " in text.strip() for text in some) and any(map(_has_digit, some))
    whole = known.dtype.kind in "iu" or (known.dtype.kind == "f" and bool((known == np.round(known)).all()))
    if not whole:
        return False
    spread = float(known.max()) - float(known.min()) + 1
    return spread <= _ID_SPREAD * len(known) or float(np.abs(known).min()) >= _LONG_ID


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _leak(name: str, values: AnyArray, training: TrainingTable) -> str | None:
    """Whether a tree on this column alone predicts nearly all of rows that it has not seen."""
    rng = np.random.default_rng(0)
    rows = rng.permutation(training.n_rows)[:_TRIED_ROWS]
    train, test = rows[::2], rows[1::2]
    truth = training.y[test]
    grown: dict[str, Any] = {"max_leaf_nodes": 64, "min_samples_leaf": 3, "random_state": 0, "n_jobs": 1}
    if training.classes is None:
        tree: Any = DecisionTreeRegressor(**grown)
    else:
        if len(np.unique(training.y[train])) < 2 or len(np.unique(truth)) < 2:
            return None
        tree = DecisionTreeClassifier(**grown)
    predicted = tree.fit({name: values[train]}, training.y[train]).predict({name: values[test]})
    score = (
        r2_score(truth, predicted) if training.classes is None else balanced_accuracy_score(truth, predicted)
    )
    if score < _TOO_GOOD:
        return None
    return "alone it predicts the target almost perfectly. Is it known before the target is? If not: --drop"
