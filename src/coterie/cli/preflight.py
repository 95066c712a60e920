"""What is seen of a table before a fit: its size, what the fit will cost, and columns that look odd."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score, r2_score

from coterie._typing import AnyArray
from coterie.cli.errors import listed
from coterie.cli.training import TrainingTable, missing_in
from coterie.committee.portfolio import Shape, portfolio_of
from coterie.trees.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor

_PLURALS = {"number": "numbers", "text": "texts", "date": "dates", "time": "times", "flag": "flags"}
_MANY_MISSING = 0.9
_FEWEST_ROWS = 50  # for a warning about a single column
_TRIED_ROWS = 2000
_TRIED_COLUMNS = 200
_TOO_GOOD = 0.98


def size_line(training: TrainingTable, name: str) -> str:
    """Rows, columns and what they hold, and the target."""
    counts = Counter(training.kinds[column] for column in training.X)
    kinds = ", ".join(f"{n} {_PLURALS[kind] if n > 1 else kind}" for kind, n in counts.items())
    what = "numbers" if training.classes is None else f"{len(training.classes)} classes"
    return (
        f"{name}: {training.n_rows:,} rows, {len(training.X)} columns ({kinds}); target {training.target!r}: {what} "
        f"({training.task})"
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
    if _looks_like_id(known, len(levels)):
        return "another value in each row, as ids have. Leave it out with --drop"
    return None


def _is_copy(values: AnyArray, training: TrainingTable) -> bool:
    """Whether the values are those of the target, or other names of the same classes."""
    if training.classes is None:
        return values.dtype.kind in "iuf" and bool((values == training.y).all())
    pairs = set(zip(values.tolist(), training.y.tolist(), strict=True))
    return len(pairs) == len(training.classes) == len({value for value, _ in pairs})


def _looks_like_id(known: AnyArray, n_levels: int) -> bool:
    if n_levels < len(known) or len(known) < _FEWEST_ROWS:
        return False
    return known.dtype.kind in "OUiu" or (known.dtype.kind == "f" and bool((known == np.round(known)).all()))


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
