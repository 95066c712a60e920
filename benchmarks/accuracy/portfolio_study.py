"""Learns the order in which committees try their configurations, over a folder of tables, and says what it is worth.

    python benchmarks/accuracy/portfolio_study.py fit --data FOLDER --out PREDICTIONS [--rows 600] [--minutes 45]
    python benchmarks/accuracy/portfolio_study.py report --out PREDICTIONS
    python benchmarks/accuracy/portfolio_study.py write --out PREDICTIONS

FOLDER holds `manifest.csv` (columns name, task, rows) and `<name>.parquet` with a column `target`. `fit` fits every
configuration to at most so many rows of a table, and keeps its out-of-fold predictions, its predictions of other rows,
and the seconds of a processor that it took, in a file for each table: a study goes on where it stopped. The rest is
arithmetic on these files. `report` learns an order without the tables that it is measured on, and measures it, the
patience, and a second layer; `write` learns an order from all tables, and writes it into the library.

The order is greedy: the next configuration is the one by which the mean of those before it gains most, in the logarithm
of the loss of rows that no one has seen, for each second. What it costs on larger tables is measured on small ones,
times what the library expects of larger ones over what it expects of small ones.

Set OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1, so that seconds of a processor are those of one thread.
"""

import argparse
import pathlib
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import train_test_split

from coterie import CommitteeClassifier, CommitteeRegressor
from coterie._typing import Task
from coterie.committee.candidates import portfolio_order
from coterie.committee.candidates.configurations import CONFIGURATIONS, names_for
from coterie.committee.candidates.entry import Shape
from coterie.committee.growing_mean import GrowingMean
from coterie.committee.metrics import LogLossMetric, RowTargets, SquaredErrorMetric
from coterie.committee.portfolio import entry_named, is_for
from coterie.committee.weights import OutOfFoldPredictions, weights_of
from coterie.members.out_of_fold import Fold

_MOST_NEW_ROWS = 2_000
_MANY_CLASSES, _MANY_COLUMNS = 8, 60  # tables with more come last
_OVERHEAD = 0.05  # seconds of a member besides its fit: its part in the choice of weights
_SHARES = np.array([0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0])  # of a new member in the mean
_TYPICAL = {"few": Shape(480, 120, 15, 2), "many": Shape(8_000, 2_000, 15, 2)}  # by size of table
_CAUTION = 0.5  # standard errors that are taken off a mean gain
_FIRST = (
    "quick_boosting",
    "linear",
    "boosting",
)  # a quick one, another kind, and the one that weights lean towards
_N_PARTS = 5  # of the tables, one after the other left out
_BUDGETS = (0.5, 2.0, 6.0, 20.0, float("inf"))  # seconds of a processor, for at most 600 rows
BEFORE = (
    "quick_boosting",
    "linear",
    "boosting",
    "kernel",
    "gaussian_process",
    "extra_trees",
    "forest",
    "discriminant",
    "oblivious_boosting",
    "neighbors",
    "slow_boosting",
    "adaboost",
    "line_boosting",
    "shallow_boosting",
    "network",
    "wide_network",
)  # what was tried, and in which order, before there was a study


class _KeepingClassifier(CommitteeClassifier):
    """A committee that keeps members without weight, too, and counts seconds of a processor."""

    _now = staticmethod(time.process_time)

    def _set_members(self, members: Sequence[Any], weights: Any, classes: Any) -> None:
        self.every_member = list(members)
        super()._set_members(members, weights, classes)


class _KeepingRegressor(CommitteeRegressor):
    """A committee that keeps members without weight, too, and counts seconds of a processor."""

    _now = staticmethod(time.process_time)

    def _set_members(self, members: Sequence[Any], weights: Any, classes: Any) -> None:
        self.every_member = list(members)
        super()._set_members(members, weights, classes)


def tables_of(folder: pathlib.Path) -> Iterator[tuple[str, Task]]:
    """Names and tasks, in an order that mixes sizes and tasks; tables of many classes or columns come last."""
    manifest = pd.read_csv(folder / "manifest.csv")
    manifest = manifest[manifest["task"].isin(["binary", "multiclass", "regression"])]
    n_columns = manifest["num_features"] + manifest["cat_features"]
    is_dear = (manifest["classes"].fillna(0) > _MANY_CLASSES) | (n_columns > _MANY_COLUMNS)
    place = manifest["name"].map(lambda name: zlib.crc32(name.encode()))
    for _, row in manifest.assign(is_dear=is_dear, place=place).sort_values(["is_dear", "place"]).iterrows():
        yield row["name"], "regression" if row["task"] == "regression" else "classification"


def parts_of(folder: pathlib.Path, name: str, task: Task, most_rows: int) -> tuple[Any, Any, Any, Any]:
    """Rows to learn from, two thirds and at most so many, and others to measure on: a table and a target of each."""
    frame = pd.read_parquet(folder / f"{name}.parquet")
    if task == "classification":
        frame["target"] = frame["target"].astype(str)
        counts = frame["target"].value_counts()
        frame = frame[frame["target"].isin(counts.index[counts >= 10])]
    if len(frame) > most_rows + _MOST_NEW_ROWS:
        frame = frame.sample(most_rows + _MOST_NEW_ROWS, random_state=0)
    for column in frame.columns.drop("target"):
        if not pd.api.types.is_numeric_dtype(frame[column]):
            frame[column] = frame[column].astype("category")
    n_learned = min(most_rows, len(frame) * 2 // 3)
    labels = (
        frame["target"] if task == "classification" and frame["target"].value_counts().min() > 1 else None
    )
    learn, new = train_test_split(frame, train_size=n_learned, random_state=0, stratify=labels)
    return learn.drop(columns="target"), learn["target"], new.drop(columns="target"), new["target"]


def fit_table(
    folder: pathlib.Path, name: str, task: Task, most_rows: int, without: Sequence[str]
) -> dict[str, Any]:
    """The predictions of all configurations of one table, but for some."""
    X, y, new, truth = parts_of(folder, name, task, most_rows)
    n_classes = 1 if task == "regression" else y.nunique()
    shape = Shape(int(0.8 * len(X)), len(X) // 5, X.shape[1], n_classes)
    names = [own for own in names_for(task) if is_for(own, shape) and own not in without]
    kind = _KeepingRegressor if task == "regression" else _KeepingClassifier
    model = kind(None, portfolio=names, random_state=0, n_jobs=1).fit(X, y)
    members = model.every_member
    of_new = [
        np.mean([member.response.predict_with(member.name, own, new) for own in member.models], axis=0)
        for member in members
    ]
    codes = np.searchsorted(model.classes_, truth) if task == "classification" else truth
    return {
        "names": np.array([member.name for member in members]),
        "seconds": np.array([member.fit_time for member in members]),
        "oof": np.stack([member.predictions for member in members]).astype(np.float32),
        "new": np.stack(of_new).astype(np.float32),
        "y": np.asarray(model._truth.truth),
        "truth": np.asarray(codes, dtype=np.float64),
        "fold": fold_of_rows(model._answers.folds, len(X)),
        "n_columns": X.shape[1],
        "n_rows": len(X),
        "n_full": len(pd.read_parquet(folder / f"{name}.parquet", columns=["target"])),
    }


def fold_of_rows(folds: Sequence[Any], n_rows: int) -> Any:
    found = np.zeros(n_rows, dtype=np.int64)
    for number, fold in enumerate(folds):
        found[fold.test] = number
    return found


def fit_all(
    folder: pathlib.Path, out: pathlib.Path, most_rows: int, minutes: float, without: Sequence[str]
) -> None:
    """A file for each table that has none, until the time is over."""
    out.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    for name, task in tables_of(folder):
        path = out / f"{name}.npz"
        if path.exists() or time.monotonic() - begun > 60 * minutes:
            continue
        spent = time.process_time()
        found = fit_table(folder, name, task, most_rows, without)
        with (out / "writing.tmp").open("wb") as file:
            np.savez_compressed(file, **found)
        (out / "writing.tmp").rename(path)
        print(name, len(found["names"]), f"{time.process_time() - spent:.0f} s", flush=True)


@dataclass(frozen=True)
class Predictions:
    """What a file holds: predictions out of fold and of new rows, shape (n_members, n_rows, n_columns)."""

    table: str
    names: list[str]
    seconds: dict[str, float]
    oof: Any
    new: Any
    y: Any
    truth: Any
    fold: Any

    @classmethod
    def read(cls, path: pathlib.Path) -> "Predictions":
        held = np.load(path)
        names = [str(name) for name in held["names"]]
        places = [place for place, name in enumerate(names) if name in CONFIGURATIONS]
        names = [names[place] for place in places]
        seconds = dict(zip(names, held["seconds"][places].tolist(), strict=True))
        oof, new = (held[key][places].astype(np.float64) for key in ("oof", "new"))
        is_classification = oof.shape[2] > 1
        truth = held["truth"].astype(np.int64) if is_classification else held["truth"]
        return cls(path.stem, names, seconds, oof, new, held["y"], truth, held["fold"])

    @property
    def metric(self) -> Any:
        return LogLossMetric() if self.oof.shape[2] > 1 else SquaredErrorMetric()

    @property
    def task(self) -> Task:
        return "classification" if self.oof.shape[2] > 1 else "regression"

    def loss(self, predictions: Any) -> float:
        """The log loss, or the root of the mean squared error, of new rows."""
        mean = float(self.metric.losses(predictions, self.truth).mean())
        return mean if self.task == "classification" else mean**0.5

    def committee(self, members: Sequence[str]) -> Any:
        """What a committee of some members predicts of new rows; weights are those of the library."""
        places = [self.names.index(name) for name in members]
        folds = [
            Fold(np.flatnonzero(self.fold != own), np.flatnonzero(self.fold == own))
            for own in np.unique(self.fold)
        ]
        known = ~np.isnan(self.oof[places]).any(axis=(0, 2))
        oof = OutOfFoldPredictions(
            np.nan_to_num(self.oof[places]), RowTargets(self.y, np.ones(len(self.y))), known, folds
        )
        prior = members.index("boosting") if "boosting" in members else None
        weights = weights_of(self.metric, oof, known, 25, prior)
        return np.tensordot(weights, self.new[places], axes=1)


class _Growing:
    """The mean of an order on one table: shares are chosen out of fold, and what is gained is measured on new rows."""

    def __init__(self, table: Predictions) -> None:
        self._table = table
        self._of_name = {name: place for place, name in enumerate(table.names)}
        self._oof: Any = None
        self._new: Any = None
        self._loss = 0.0

    def gain(self, name: str) -> float:
        """By how much the logarithm of the loss of new rows falls."""
        if name not in self._of_name or self._oof is None:
            return 0.0
        return self._loss - self._with(name)[2]

    def has(self, name: str) -> bool:
        return name in self._of_name

    def add(self, name: str) -> None:
        if name not in self._of_name:
            return
        if self._oof is None:
            place = self._of_name[name]
            self._oof, self._new = self._table.oof[place], self._table.new[place]
            self._loss = float(np.log(self._table.loss(self._new)))
            return
        self._oof, self._new, self._loss = self._with(name)

    def _with(self, name: str) -> tuple[Any, Any, float]:
        table, place = self._table, self._of_name[name]
        to_oof, to_new = table.oof[place] - self._oof, table.new[place] - self._new
        means = [np.nanmean(table.metric.losses(self._oof + share * to_oof, table.y)) for share in _SHARES]
        share = _SHARES[int(np.argmin(means))]
        new = self._new + share * to_new
        return self._oof + share * to_oof, new, float(np.log(table.loss(new)))


def seconds_of(tables: Sequence[Predictions], size: str) -> dict[str, float]:
    """What configurations cost on tables of a size, from what they cost on those that were measured."""
    found = {}
    for name, own in CONFIGURATIONS.items():
        measured = [table.seconds[name] for table in tables if name in table.seconds]
        if measured:
            found[name] = (
                float(np.median(measured)) * _relative(name, own.task or "classification", size) + _OVERHEAD
            )
    return found


def _relative(name: str, task: Task, size: str) -> float:
    expected = []
    for own in (_TYPICAL[size], _TYPICAL["few"]):
        entry = entry_named(name, task, own)
        assert entry.seconds is not None
        expected.append(entry.seconds(own) * (entry.single_fit_folds if entry.single_fit is not None else 5))
    return expected[0] / expected[1]


def learned_order(tables: Sequence[Predictions], size: str) -> list[str]:
    """The greedy order: what gains most for each second comes next, and what gains nothing last, as it did by hand."""
    seconds = seconds_of(tables, size)
    order = list(_FIRST)
    left = sorted(set(seconds) - set(order))
    means = [_Growing(table) for table in tables]
    for mean in means:
        for name in order:
            mean.add(name)
    while left:
        gains = {name: _mean_gain(name, means) for name in left}
        best = max(left, key=lambda name: gains[name] / seconds[name])
        if gains[best] <= 0:
            break
        order.append(best)
        left.remove(best)
        for mean in means:
            mean.add(best)
    by_hand = [*BEFORE, *CONFIGURATIONS]
    order += sorted((name for name in CONFIGURATIONS if name not in order), key=by_hand.index)
    return order


def _mean_gain(name: str, means: Sequence[_Growing]) -> float:
    """Over the tables that the configuration was fitted to, less a standard error: of few tables little is known."""
    gains = [mean.gain(name) for mean in means if mean.has(name)]
    if len(gains) < 2:
        return 0.0
    return float(np.mean(gains) - _CAUTION * np.std(gains, ddof=1) / len(gains) ** 0.5)


def within(table: Predictions, order: Sequence[str], budget: float) -> list[str]:
    """The members of an order that fit into seconds; one that does not is skipped."""
    found: list[str] = []
    spent = 0.0
    for name in order:
        if name in table.seconds and (not found or spent + table.seconds[name] <= budget):
            found.append(name)
            spent += table.seconds[name]
    return found


def patient(table: Predictions, order: Sequence[str], patience: int) -> list[str]:
    """The members of an order until so many in a row add nothing to the cross-fitted mean."""
    targets = RowTargets(table.y, np.ones(len(table.y)))
    mean = GrowingMean(targets, is_classification=table.task == "classification")
    found: list[str] = []
    without = 0
    for name in order:
        if name in table.seconds and without < patience:
            found.append(name)
            gain = mean.add(table.oof[table.names.index(name)])
            without = 0 if gain > 1e-4 else without + 1
    return found


def only_gaining(table: Predictions, order: Sequence[str]) -> list[str]:
    """The members of an order that add something to the cross-fitted mean of those before."""
    targets = RowTargets(table.y, np.ones(len(table.y)))
    mean = GrowingMean(targets, is_classification=table.task == "classification")
    listed = [name for name in order if name in table.seconds]
    return [name for name in listed if mean.add(table.oof[table.names.index(name)]) > 0 or name == "boosting"]


def stacked(table: Predictions, members: Sequence[str]) -> Any:
    """What a second layer predicts of new rows: a linear model of the members' predictions out of fold."""
    places = [table.names.index(name) for name in members]
    known = ~np.isnan(table.oof[places]).any(axis=(0, 2))

    def features(predictions: Any) -> Any:
        logs = np.log(np.clip(predictions, 1e-4, 1)) if table.task == "classification" else predictions
        return logs.transpose(1, 0, 2).reshape(logs.shape[1], -1)

    learn, new = features(table.oof[places][:, known]), features(table.new[places])
    if table.task == "regression":
        return RidgeCV(10.0 ** np.arange(-3, 5)).fit(learn, table.y[known]).predict(new)[:, None]
    model = LogisticRegression(C=0.01, max_iter=300).fit(learn, table.y[known])
    proba = np.full((len(new), table.oof.shape[2]), 1e-4)
    proba[:, model.classes_] = np.maximum(model.predict_proba(new), 1e-4)
    return proba / proba.sum(axis=1, keepdims=True)


def report(out: pathlib.Path) -> None:
    """Losses of orders that were learned without the tables that they are measured on."""
    tables = [Predictions.read(path) for path in sorted(out.glob("*.npz"))]
    part = np.array([zlib.crc32(table.table.encode()) for table in tables]).argsort().argsort() % _N_PARTS
    losses: dict[str, list[float]] = {}
    spent: dict[str, list[float]] = {}

    def note(title: str, table: Predictions, members: list[str], predictions: Any = None) -> None:
        found = table.committee(members) if predictions is None else predictions
        losses.setdefault(title, []).append(table.loss(found))
        spent.setdefault(title, []).append(sum(table.seconds[name] for name in members))

    for own in range(_N_PARTS):
        order = learned_order([table for table, at in zip(tables, part, strict=True) if at != own], "few")
        for table in (table for table, at in zip(tables, part, strict=True) if at == own):
            for title, listed in (("by hand", BEFORE), ("learned", order)):
                for budget in _BUDGETS:
                    note(f"{title}, {budget:g} s", table, within(table, listed, budget))
            for patience in (4, 7, 10, 16):
                note(f"learned, patience {patience}", table, patient(table, order, patience))
            every = within(table, order, float("inf"))
            note("learned, those that gain", table, only_gaining(table, order))
            note("equal weights of all", table, every, table.new.mean(axis=0))
            note("second layer on all", table, every, stacked(table, every))
            some = within(table, order, 6.0)
            note("second layer, 6 s", table, some, stacked(table, some))
    print(f"{len(tables)} tables, {_N_PARTS} parts left out in turn\n")
    print("| members | seconds | loss beside all by hand | lower on |\n|---|---|---|---|")
    base = np.array(losses["by hand, inf s"])
    for title, found in losses.items():
        ratio = np.array(found) / base
        mean, lower = np.exp(np.log(ratio).mean()), int((ratio < 1).sum())
        print(f"| {title} | {np.mean(spent[title]):.1f} | {mean:.4f} | {lower} of {len(ratio)} |")


def write(out: pathlib.Path) -> None:
    """Orders learned from all tables, into the library."""
    tables = [Predictions.read(path) for path in sorted(out.glob("*.npz"))]
    path = pathlib.Path(portfolio_order.__file__)
    text = path.read_text()
    head, tail = text.index("ORDERS"), text.index("# End of what is written.")
    lines = ["ORDERS: dict[str, tuple[str, ...]] = {"]
    for size in _TYPICAL:
        lines.append(f'    "{size}": (')
        lines += [f'        "{name}",' for name in learned_order(tables, size)]
        lines.append("    ),")
    path.write_text(text[:head] + "\n".join([*lines, "}", ""]) + text[tail:])
    print(f"written from {len(tables)} tables: {', '.join(table.table for table in tables)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["fit", "report", "write"])
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--without", nargs="*", default=[], help="configurations that are not fitted")
    given = parser.parse_args()
    if given.what == "fit":
        fit_all(given.data, given.out, given.rows, given.minutes, given.without)
    elif given.what == "report":
        report(given.out)
    else:
        write(given.out)


if __name__ == "__main__":
    main()
