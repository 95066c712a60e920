"""What kinds of members bring to a committee: one fit of all members for each table, and weights for some of them.

    python benchmarks/accuracy/committee.py --data FOLDER --out results.jsonl [--rows 5000] [--tables a,b]
    python benchmarks/accuracy/committee.py --out results.jsonl --report

FOLDER holds `manifest.csv` (columns name, task, rows) and `<name>.parquet` with a column `target`. A committee without
a time limit is fitted to four fifths of at most so many rows. Weights, temperature and the nested score are then chosen
for several lists of members, from the same models, so that lists differ by their members alone: neither by time, nor by
chance. Results are appended to the file, so that a study goes on where it stopped; the smallest tables come first.

    python benchmarks/accuracy/committee.py --data FOLDER --out timed.jsonl --time-limit 60 [--members before]

fits committees under a limit instead, with all members or those of before, and records whether the limit held.
"""

import argparse
import json
import pathlib
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold

from coterie import CommitteeClassifier, CommitteeRegressor
from coterie.committee.metrics import LogLossMetric, SquaredErrorMetric
from coterie.committee.portfolio import Shape, portfolio_of
from coterie.committee.weights import OutOfFoldPredictions, apply_temperature, choose_weights

BEFORE = [
    "quick_boosting",
    "linear",
    "boosting",
    "extra_trees",
    "forest",
    "oblivious_boosting",
    "neighbors",
    "slow_boosting",
    "adaboost",
    "line_boosting",
    "shallow_boosting",
]
KERNELS = ["kernel", "gaussian_process", "discriminant"]
LISTS = {
    "before": BEFORE,
    "kernel": [*BEFORE, "kernel"],
    "gaussian_process": [*BEFORE, "gaussian_process"],
    "discriminant": [*BEFORE, "discriminant"],
    "kernels": [*BEFORE, *KERNELS],
    "network": [*BEFORE, "network"],
    "networks": [*BEFORE, "network", "wide_network"],
    "without_features": [*BEFORE, *KERNELS, "network", "wide_network"],
    "features": [*BEFORE, "boosting_features"],
    "all": [*BEFORE, *KERNELS, "network", "wide_network", "boosting_features"],
}


class _KeepingClassifier(CommitteeClassifier):
    """A committee that keeps members without weight, too."""

    def _set_members(self, members: Sequence[Any], weights: Any, classes: Any) -> None:
        self.every_member = list(members)
        super()._set_members(members, weights, classes)


class _KeepingRegressor(CommitteeRegressor):
    """A committee that keeps members without weight, too."""

    def _set_members(self, members: Sequence[Any], weights: Any, classes: Any) -> None:
        self.every_member = list(members)
        super()._set_members(members, weights, classes)


def first_fold(folder: pathlib.Path, name: str, task: str, most_rows: int) -> tuple[Any, Any, Any, Any]:
    """Rows to learn from and rows to measure on: a table and a target of each."""
    frame = pd.read_parquet(folder / f"{name}.parquet")
    if len(frame) > most_rows:
        frame = frame.sample(most_rows, random_state=0)
    frame = frame.reset_index(drop=True)
    target = frame.pop("target").to_numpy()
    for column in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            frame[column] = frame[column].astype("category")
    folds = (KFold if task == "regression" else StratifiedKFold)(5, shuffle=True, random_state=0)
    learn, new = next(iter(folds.split(frame, target)))
    return frame.iloc[learn], target[learn], frame.iloc[new], target[new]


def loss_of(task: str, truth: Any, predicted: Any, classes: Any) -> float:
    """The root of the mean squared error, or the log loss."""
    if task == "regression":
        return float(np.sqrt(np.mean((predicted - truth) ** 2)))
    known = np.isin(truth, classes)
    return float(log_loss(truth[known], predicted[known], labels=classes))


def lists_of_members(model: Any, task: str, X: Any, y: Any) -> Iterable[dict[str, Any]]:
    """Loss, weights and the honest estimate of each list of members that differs from the ones before it."""
    members, oof = model.every_member, model._answers
    names = [member.name for member in members]
    predicted = []
    for member in members:
        by_fold = [member.response.predict_with(member.name, own, X) for own in member.models]
        predicted.append(np.mean(by_fold, axis=0))
    metric: Any = SquaredErrorMetric() if task == "regression" else LogLossMetric()
    done: set[tuple[str, ...]] = set()
    for title, wanted in LISTS.items():
        places = [place for place, name in enumerate(names) if name in wanted]
        held = tuple(names[place] for place in places)
        if held in done and title != "all":
            continue
        done.add(held)
        own = OutOfFoldPredictions(oof.predictions[places], oof.rows, oof.known, oof.folds)
        prior = held.index("boosting") if "boosting" in held else None
        choice = choose_weights(metric, own, 25, calibrates=task != "regression", prior=prior)
        mixed = np.tensordot(choice.weights, np.stack([predicted[place] for place in places]), axes=1)
        calibrated = apply_temperature(mixed, min(1.0, choice.temperature))
        mixed = mixed[:, 0] if task == "regression" else calibrated
        scored = np.flatnonzero(~np.isnan(choice.nested).any(axis=1))
        score = metric.score(choice.nested[scored], oof.rows.take(scored))
        yield {
            "list": title,
            "loss": loss_of(task, y, mixed, getattr(model, "classes_", None)),
            "oof": score.value,
            "oof_error": score.error,
            "weights": dict(zip(held, choice.weights.round(3).tolist(), strict=True)),
        }


def names_for(task: Any, X: Any, y: Any, left_out: Sequence[str]) -> list[str]:
    """The members of "auto" for a table, without some of them."""
    n_outputs = 1 if task == "regression" else len(np.unique(y))
    shape = Shape(len(y) * 4 // 5, len(y) // 5, X.shape[1], n_outputs)
    return [entry.name for entry in portfolio_of("auto", task, shape) if entry.name not in left_out]


def measure(task: str, rows: tuple[Any, Any, Any, Any], left_out: Sequence[str] = ()) -> list[dict[str, Any]]:
    """A line for each list of members, and one for each member alone."""
    X, y, new, truth = rows
    kind = _KeepingRegressor if task == "regression" else _KeepingClassifier
    model = kind(None, portfolio=names_for(task, X, y, left_out), random_state=0).fit(X, y)
    alone = [
        {"member": member.name, "fit_time": member.fit_time, "oof": model.member_scores_[member.name]}
        for member in model.every_member
    ]
    return [*lists_of_members(model, task, new, truth), *alone]


def measure_timed(
    task: str, rows: tuple[Any, Any, Any, Any], limit: float, members: Any
) -> list[dict[str, Any]]:
    """One line: a committee under a time limit."""
    X, y, new, truth = rows
    kind: Any = CommitteeRegressor if task == "regression" else CommitteeClassifier
    given = (
        "auto"
        if members == "all"
        else [name for name in BEFORE if task != "regression" or name != "adaboost"]
    )
    began = time.perf_counter()
    model = kind(limit, portfolio=given, random_state=0).fit(X, y)
    seconds = time.perf_counter() - began
    predicted = model.predict(new) if task == "regression" else model.predict_proba(new)
    line = {"list": members, "loss": loss_of(task, truth, predicted, getattr(model, "classes_", None))}
    line |= {"seconds": seconds, "limit": limit, "members": model.members_, "skipped": model.skipped_}
    return [line | {"oof": model.oof_score_, "oof_error": model.oof_score_error_}]


def report(lines: list[dict[str, Any]]) -> None:
    """Ratios of losses to those of the first list, and how often the honest estimate was honest."""
    by_table: dict[str, dict[str, Any]] = {}
    for line in lines:
        if "list" in line:
            by_table.setdefault(line["table"], {})[line["list"]] = line
    print("| members | tables | loss, geometric mean | lower on |\n|---|---|---|---|")
    for title in LISTS:
        ratios = np.array(
            [
                own[title]["loss"] / own["before"]["loss"]
                for own in by_table.values()
                if title in own and "before" in own
            ]
        )
        if len(ratios) and title != "before":
            mean = np.exp(np.log(ratios).mean())
            print(f"| {title} | {len(ratios)} | {mean:.4f} | {(ratios < 1).sum()} of {len(ratios)} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--tables")
    parser.add_argument("--time-limit", type=float)
    parser.add_argument("--members", choices=["all", "before"], default="all")
    parser.add_argument(
        "--leave-out", default="", help="members that are not fitted, such as network,wide_network"
    )
    parser.add_argument("--report", action="store_true")
    given = parser.parse_args()
    lines = [json.loads(line) for line in given.out.read_text().splitlines()] if given.out.exists() else []
    if given.report:
        report(lines)
        return
    manifest = pd.read_csv(given.data / "manifest.csv").sort_values(["rows", "name"])
    wanted = None if given.tables is None else given.tables.split(",")
    done = {(line["table"], line["key"]) for line in lines}
    key = f"{given.rows} rows" if given.time_limit is None else f"{given.members} {given.time_limit:g} s"
    for _, row in manifest.iterrows():
        name, task = row["name"], "regression" if row["task"] == "regression" else "classification"
        skipped = row["task"] not in ("binary", "multiclass", "regression") or (wanted and name not in wanted)
        if skipped or (name, key) in done:
            continue
        rows = first_fold(given.data, name, task, given.rows)
        found = (
            measure(task, rows, given.leave_out.split(","))
            if given.time_limit is None
            else measure_timed(task, rows, given.time_limit, given.members)
        )
        with given.out.open("a") as file:
            for line in found:
                file.write(json.dumps({"table": name, "key": key, **line}) + "\n")
        print(name, [line["loss"] for line in found if "loss" in line], flush=True)


if __name__ == "__main__":
    main()
