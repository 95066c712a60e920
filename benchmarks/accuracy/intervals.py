"""Coverage and width of prediction intervals, over all tables with numbers as targets, and by fifths of the prediction.

    python benchmarks/accuracy/intervals.py --data FOLDER --out results.json [--tables ames_housing] [--rows 6000]
        [--models committee,boosting,forest] [--members quick_boosting,linear,forest]
    python benchmarks/accuracy/intervals.py --out results.json --report

FOLDER holds `manifest.csv` (columns name, task) and `<name>.parquet` with a column `target`. Of each table at most
`--rows` rows are divided into four parts; each is predicted by a model of the others, so that every row has an interval
of nominal 90 %. Beside it stands one width for all rows, from the same model: the quantile of its residuals out of fold
or out of bag, which is what intervals were in version 0.1. Results are kept in the file, so that a run can go on where
it stopped. One thread.
"""

import argparse
import csv
import json
import pathlib
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

from coterie import CommitteeRegressor, GradientBoostingRegressor, RandomForestRegressor

ALPHA = 0.1


def load(folder: pathlib.Path, name: str, most: int) -> tuple[pd.DataFrame, Any]:
    """At most so many rows of a table; text becomes categories."""
    frame = pd.read_parquet(folder / f"{name}.parquet")
    if len(frame) > most:
        frame = frame.sample(most, random_state=0).reset_index(drop=True)
    target = frame.pop("target").to_numpy(dtype=np.float64)
    for column in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            values = frame[column].astype(object)
            frame[column] = values.where(values.notna(), None).astype("category")
    return frame, target


def make(kind: str, members: list[str]) -> Any:
    settings: dict[str, Any] = {"random_state": 0, "n_jobs": 1}
    if kind == "committee":
        return CommitteeRegressor(None, portfolio=members, **settings)
    if kind == "forest":
        return RandomForestRegressor(100, **settings)
    quick: dict[str, Any] = {"n_estimators": 300, "learning_rate": 0.1, "n_iter_no_change": 15}
    return GradientBoostingRegressor(n_folds=5, early_stopping=True, **quick, **settings)


def one_width(model: Any, y: Any) -> float:
    """Half the width that covers nine tenths of the rows held out, if it is the same for all."""
    held_out = model.oob_prediction_ if hasattr(model, "oob_prediction_") else model.oof_prediction_
    residuals = np.sort(np.abs(y - held_out)[np.isfinite(held_out)])
    place = int(np.ceil((1 - ALPHA) * (len(residuals) + 1)))
    return float(residuals[min(place, len(residuals)) - 1])


def measured(X: pd.DataFrame, y: Any, kind: str, members: list[str]) -> dict[str, Any]:
    low, high, predicted, before = (np.zeros(len(y)) for _ in range(4))
    for train, test in KFold(4, shuffle=True, random_state=0).split(y):
        model = make(kind, members).fit(X.iloc[train], y[train])
        low[test], high[test] = model.predict_interval(X.iloc[test], ALPHA).T
        predicted[test] = model.predict(X.iloc[test])
        before[test] = one_width(model, y[train])
    fifth = np.argsort(np.argsort(predicted, kind="stable")) * 5 // len(y)
    inside = (y >= low) & (y <= high)
    once = np.abs(y - predicted) <= before
    return {
        "rows": len(y),
        "coverage": float(inside.mean()),
        "least_fifth": min(float(inside[fifth == own].mean()) for own in range(5)),
        "width": float(np.mean(high - low)),
        "one_width_coverage": float(once.mean()),
        "one_width_least_fifth": min(float(once[fifth == own].mean()) for own in range(5)),
        "one_width": float(np.mean(2 * before)),
    }


def run(args: argparse.Namespace, results: dict[str, Any]) -> None:
    with (args.data / "manifest.csv").open() as file:
        known = [row["name"] for row in csv.DictReader(file) if row["task"] == "regression"]
    for name in known if args.tables is None else args.tables.split(","):
        X, y = load(args.data, name, args.rows)
        for kind in args.models.split(","):
            key = f"{name} {kind}"
            if key not in results:
                results[key] = measured(X, y, kind, args.members.split(","))
                args.out.write_text(json.dumps(results, indent=1))


def report(results: dict[str, Any]) -> str:
    """A row for each table and model, then means over tables, and tables whose worst fifth is covered too seldom."""
    rows = pd.DataFrame(
        [{**dict(zip(("table", "model"), key.split(), strict=True)), **own} for key, own in results.items()]
    )
    rows["relative_width"] = rows["width"] / rows["one_width"]
    # A fifth of a small table has few rows: its coverage may be two standard errors below.
    slack = 2 * np.sqrt(0.85 * 0.15 / (rows["rows"] / 5))
    rows["least_allowed"] = np.where(rows["rows"] >= 2000, 0.85, 0.85 - slack)
    rows["holds"] = rows["least_fifth"] >= rows["least_allowed"]
    shown = [
        "coverage",
        "least_fifth",
        "relative_width",
        "one_width_coverage",
        "one_width_least_fifth",
        "holds",
    ]
    means = rows.groupby("model")[shown].agg(
        {**dict.fromkeys(shown, "mean"), "least_fifth": "min", "holds": "sum"}
    )
    means["tables"] = rows.groupby("model").size()
    table = rows[["table", "model", "rows", *shown]].round(3).to_string(index=False)
    return f"{table}\n\nMeans over tables; of least_fifth the least, of holds the number:\n{means.round(3).to_string()}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--tables")
    parser.add_argument("--rows", type=int, default=6_000)
    parser.add_argument("--models", default="committee,boosting,forest")
    parser.add_argument("--members", default="quick_boosting,linear,forest")
    parser.add_argument("--report", action="store_true")
    args = parser.parse_args()
    results = json.loads(args.out.read_text()) if args.out.exists() else {}
    if not args.report:
        run(args, results)
    print(report(results))


if __name__ == "__main__":
    main()
