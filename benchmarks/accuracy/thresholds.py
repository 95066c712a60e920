"""How good a tuned threshold is: F1 of decisions on new rows, beside that of the threshold that would have been best.

    python benchmarks/accuracy/thresholds.py --data FOLDER --out results.json [--tables stroke,thyroid_sick]
        [--splits 10] [--rows 20000] [--members quick_boosting,linear,forest]
    python benchmarks/accuracy/thresholds.py --out results.json --report

FOLDER holds `<name>.parquet` with a column `target` of two classes, the positive one second. Each split holds out a
third of at most `--rows` rows, class by class. The best threshold on the rows held out is one that nobody can know:
it is fitted to the luck of these rows, the more so the fewer they are. Results are kept in the file, so that a run can
go on where it stopped. One thread.
"""

import argparse
import json
import pathlib
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import f1_score, precision_recall_curve
from sklearn.model_selection import train_test_split

from coterie import CommitteeClassifier, GradientBoostingClassifier, TunedThresholdClassifier

TABLES = "stroke,caravan_coil2000,thyroid_sick,census_income_kdd"


def load(folder: pathlib.Path, name: str, most: int) -> tuple[pd.DataFrame, Any]:
    """At most so many rows of a table; text becomes categories, the target 0 and 1."""
    frame = pd.read_parquet(folder / f"{name}.parquet")
    if len(frame) > most:
        frame = frame.sample(most, random_state=0).reset_index(drop=True)
    target = frame.pop("target").to_numpy()
    for column in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            values = frame[column].astype(object)
            frame[column] = values.where(values.notna(), None).astype("category")
    return frame, (target == np.unique(target)[1]).astype(np.int64)


def best_f1(y: Any, proba: Any) -> float:
    """The greatest F1 of any threshold on these rows."""
    precision, recall, _ = precision_recall_curve(y, proba)
    return float(np.max(2 * precision * recall / np.maximum(precision + recall, 1e-12)))


def models(members: list[str], seed: int) -> dict[str, Any]:
    settings: dict[str, Any] = {"random_state": seed, "n_jobs": 1}
    booster = GradientBoostingClassifier(
        n_estimators=500, learning_rate=0.1, n_folds=1, early_stopping=True, n_iter_no_change=15, **settings
    )
    return {
        "committee": CommitteeClassifier(None, scoring="f1", portfolio=members, **settings),
        "wrapper": TunedThresholdClassifier(booster, threshold="f1", **settings),
    }


def run(args: argparse.Namespace, results: dict[str, Any]) -> None:
    for name in args.tables.split(","):
        X, y = load(args.data, name, args.rows)
        for split in range(args.splits):
            train, test = train_test_split(np.arange(len(y)), test_size=1 / 3, random_state=split, stratify=y)
            for kind, model in models(args.members.split(","), split).items():
                key = f"{name} {split} {kind}"
                if key in results:
                    continue
                model.fit(X.iloc[train], y[train])
                proba = model.predict_proba(X.iloc[test])[:, 1]
                results[key] = {
                    "f1": float(f1_score(y[test], model.predict(X.iloc[test]))),
                    "at_half": float(f1_score(y[test], proba >= 0.5)),
                    "best": best_f1(y[test], proba),
                    "threshold": model.threshold_,
                    "out_of_fold": model.decision_.score,
                }
                args.out.write_text(json.dumps(results, indent=1))


def report(results: dict[str, Any]) -> str:
    """A table: means over splits, and the share of the best F1 that the tuned threshold reaches."""
    rows = pd.DataFrame(
        [
            {**dict(zip(("table", "split", "model"), key.split(), strict=True)), **own}
            for key, own in results.items()
        ]
    )
    means = rows.drop(columns="split").groupby(["table", "model"], sort=False).mean()
    means["share_of_best"] = means["f1"] / means["best"]
    means["splits"] = rows.groupby(["table", "model"], sort=False).size()
    return str(means.round(3).to_string())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--tables", default=TABLES)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--members", default="quick_boosting,linear,forest")
    parser.add_argument("--report", action="store_true")
    args = parser.parse_args()
    results = json.loads(args.out.read_text()) if args.out.exists() else {}
    if not args.report:
        run(args, results)
    print(report(results))


if __name__ == "__main__":
    main()
