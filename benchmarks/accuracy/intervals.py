"""Coverage and width of prediction intervals, over all tables with numbers as targets, and by fifths of the prediction.

    python benchmarks/accuracy/intervals.py --data FOLDER --out results.json [--tables ames_housing] [--rows 6000]
        [--models committee,boosting,forest] [--members quick_boosting,linear,forest]
    python benchmarks/accuracy/intervals.py --out results.json --report
    python benchmarks/accuracy/intervals.py --data FOLDER --out variants.json --variants
    python benchmarks/accuracy/intervals.py --out variants.json --report --variants

FOLDER holds `manifest.csv` (columns name, task) and `<name>.parquet` with a column `target`. Of each table at most
`--rows` rows are divided into four parts; each is predicted by a model of the others, so that every row has an interval
of nominal 90 %. Beside it stands one width for all rows, from the same model: the quantile of its residuals out of fold
or out of bag, which is what intervals were in version 0.1. Results are kept in the file, so that a run can go on where
it stopped. One thread.

`--variants` measures other settings of the scale as well, and reports for each half of the tables (every other name)
the setting that is best on the other half: how good the choice is where it was not made.
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
from coterie.members import intervals

ALPHA = 0.1
# By name: rows of a window, windows at most, and the share of the scale that follows the difficulty (forests alone).
VARIANTS = {
    "default": (50, 20, 0.5),
    "one window": (50, 1, 0.0),
    "5 windows": (50, 5, 0.5),
    "10 windows": (50, 10, 0.5),
    "40 windows": (50, 40, 0.5),
    "of 25 rows": (25, 20, 0.5),
    "of 100 rows": (100, 20, 0.5),
    "no difficulty": (50, 20, 0.0),
    "mostly difficulty": (50, 1, 0.9),
}


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


def variants_of(kind: str, names: bool) -> list[str]:
    """The settings to measure; difficulties are known of forests alone."""
    if not names:
        return ["default"]
    return [name for name in VARIANTS if kind == "forest" or "difficulty" not in name]


def intervals_by(model: Any, X: pd.DataFrame, variant: str) -> Any:
    """Intervals with other settings of the scale, which is made when intervals are asked for."""
    names = ("_WINDOW_ROWS", "_MOST_WINDOWS", "_DIFFICULTY_SHARE")
    before = [getattr(intervals, name) for name in names]
    try:
        for name, value in zip(names, VARIANTS[variant], strict=True):
            setattr(intervals, name, value)
        return model.predict_interval(X, ALPHA)
    finally:
        for name, value in zip(names, before, strict=True):
            setattr(intervals, name, value)


def measured(X: pd.DataFrame, y: Any, kind: str, members: list[str], variants: list[str]) -> dict[str, Any]:
    """Coverage and width by variant."""
    ends = {name: np.zeros((len(y), 2)) for name in variants}
    predicted, before = np.zeros(len(y)), np.zeros(len(y))
    for train, test in KFold(4, shuffle=True, random_state=0).split(y):
        model = make(kind, members).fit(X.iloc[train], y[train])
        for name, own in ends.items():
            own[test] = intervals_by(model, X.iloc[test], name)
        predicted[test] = model.predict(X.iloc[test])
        before[test] = one_width(model, y[train])
    fifth = np.argsort(np.argsort(predicted, kind="stable")) * 5 // len(y)
    once = np.abs(y - predicted) <= before
    found = {}
    for name, own in ends.items():
        inside = (y >= own[:, 0]) & (y <= own[:, 1])
        found[name] = {
            "rows": len(y),
            "coverage": float(inside.mean()),
            "least_fifth": least_fifth(inside, fifth),
            "width": float(np.mean(own[:, 1] - own[:, 0])),
            "one_width_coverage": float(once.mean()),
            "one_width_least_fifth": least_fifth(once, fifth),
            "one_width": float(np.mean(2 * before)),
        }
    return found


def least_fifth(inside: Any, fifth: Any) -> float:
    return min(float(inside[fifth == own].mean()) for own in range(5))


def run(args: argparse.Namespace, results: dict[str, Any]) -> None:
    with (args.data / "manifest.csv").open() as file:
        known = [row["name"] for row in csv.DictReader(file) if row["task"] == "regression"]
    for name in known if args.tables is None else args.tables.split(","):
        X, y = load(args.data, name, args.rows)
        for kind in args.models.split(","):
            wanted = [
                own for own in variants_of(kind, args.variants) if f"{name} {kind} {own}" not in results
            ]
            if wanted:
                found = measured(X, y, kind, args.members.split(","), wanted)
                results |= {f"{name} {kind} {variant}": own for variant, own in found.items()}
                args.out.write_text(json.dumps(results, indent=1))


SHOWN = ["coverage", "least_fifth", "relative_width", "one_width_coverage", "one_width_least_fifth", "holds"]


def rows_of(results: dict[str, Any]) -> pd.DataFrame:
    """A row for each table, model and variant, and whether its worst fifth is covered as it has to be."""
    rows = pd.DataFrame(
        [
            {**dict(zip(("table", "model", "variant"), key.split(maxsplit=2), strict=True)), **own}
            for key, own in results.items()
        ]
    )
    rows["relative_width"] = rows["width"] / rows["one_width"]
    # A fifth of a small table has few rows: its coverage may be two standard errors below.
    slack = 2 * np.sqrt(0.85 * 0.15 / (rows["rows"] / 5))
    rows["holds"] = rows["least_fifth"] >= np.where(rows["rows"] >= 2000, 0.85, 0.85 - slack)
    return rows


def report(rows: pd.DataFrame) -> str:
    """A row for each table and model, then means over tables, and tables whose worst fifth is covered enough."""
    rows = rows[rows["variant"] == "default"]
    means = means_of(rows, ["model"])
    table = rows[["table", "model", "rows", *SHOWN]].round(3).to_string(index=False)
    return f"{table}\n\nMeans over tables; of least_fifth the least, of holds the number:\n{means.round(3).to_string()}"


def means_of(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    ways = {**dict.fromkeys(SHOWN, "mean"), "least_fifth": "min", "holds": "sum"}
    means = rows.groupby(by, sort=False)[SHOWN].agg(ways)
    means["tables"] = rows.groupby(by, sort=False).size()
    return means


def report_on_variants(rows: pd.DataFrame) -> str:
    """All variants; then, for each half of the tables, the variant that is best on the other half, and how it does."""
    names = sorted(rows["table"].unique())
    first = rows["table"].isin(names[::2])
    lines = []
    for model in rows["model"].unique():
        own = rows["model"] == model
        for there, here, half in ((first, ~first, "second"), (~first, first, "first")):
            chosen = best_variant(rows[own & there])
            shown = rows[own & here & (rows["variant"] == chosen)]
            lines.append((model, half, chosen, *means_of(shown, ["model"]).round(3).iloc[0]))
    choices = pd.DataFrame(lines, columns=["model", "half", "chosen on the other", *SHOWN, "tables"])
    means = means_of(rows, ["model", "variant"]).round(3).to_string()
    return (
        f"{means}\n\nOn each half, the variant that is best on the other:\n{choices.to_string(index=False)}"
    )


def best_variant(rows: pd.DataFrame) -> str:
    """Of the variants that hold on the most tables the narrowest."""
    means = means_of(rows, ["variant"])
    return str(means.sort_values(["holds", "relative_width"], ascending=[False, True]).index[0])


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
    parser.add_argument("--variants", action="store_true")
    args = parser.parse_args()
    results = json.loads(args.out.read_text()) if args.out.exists() else {}
    if not args.report:
        run(args, results)
    rows = rows_of(results)
    print(report_on_variants(rows) if args.variants else report(rows))


if __name__ == "__main__":
    main()
