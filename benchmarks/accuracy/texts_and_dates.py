"""What columns of texts and dates bring: loss on new rows if they are used, taken for labels or days, and left out.

    python benchmarks/accuracy/texts_and_dates.py --data FOLDER --out results.json [--only NAME ...] [--seeds 3]
    python benchmarks/accuracy/texts_and_dates.py --out results.json --report

FOLDER holds `<name>.parquet` with a column `target`. Dates are put together of columns for the year, the month, the
day and the hour; columns that follow from them, such as the weekday, are left out. Three generated tables have a target
that depends on the weekday, on the season, and on no date. Each seed draws at most 8,000 rows, of which a quarter is
held out, and fits committees of three quick members. Results are kept in the file, so that a run can go on where it
stopped. One thread.
"""

import argparse
import json
import pathlib
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss, root_mean_squared_error

from coterie import CommitteeClassifier, CommitteeRegressor
from coterie.committee import TableFeatures

TEXTS = {
    "chicago_crimes_10k": "Description",
    "compas_two_year": "c_charge_desc",
    "fuel_economy": "model",
    "covid_testing": "clinic_name",
}
# The year (or its column), month, day and hour; then columns that follow from them.
DATES: dict[str, tuple[tuple[Any, ...], tuple[str, ...]]] = {
    "hotel_cancellation": (
        ("arrival_date_year", "arrival_date_month", "arrival_date_day_of_month", None),
        ("arrival_date_week_number",),
    ),
    "rain_australia": (("year", "month", "day", None), ()),
    "metro_traffic": (("year", "month", "day", "hour"), ("weekday",)),
    "bike_sharing_hourly": (("yr", "mnth", "day", "hr"), ("weekday", "season", "workingday")),
    "nyc_flights_delay": ((2013, "month", "day", None), ("weekday",)),
    "king_county_houses": (("sale_year", "sale_month", None, None), ()),
    "melbourne_housing": (("sale_year", "sale_month", None, None), ()),
}
GENERATED = ("weekday", "season", "no date")
MONTHS = ("January", "February", "March", "April", "May", "June", "July")
MONTHS += ("August", "September", "October", "November", "December")
MOST_ROWS = 8_000
MEMBERS = ["quick_boosting", "linear", "extra_trees"]
WAYS = {"text": ("used", "as labels", "left out"), "date": ("used", "as days alone", "left out")}


def table_of(name: str, folder: pathlib.Path, seed: int) -> tuple[pd.DataFrame, str, str]:
    """Some rows, the column in question, and whether it is one of texts or of dates."""
    rng = np.random.default_rng(seed)
    if name in GENERATED:
        return generated(name, rng), "when", "date"
    frame = pd.read_parquet(folder / f"{name}.parquet")
    frame = frame.iloc[np.sort(rng.permutation(len(frame))[:MOST_ROWS])].reset_index(drop=True)
    column = TEXTS.get(name, "when")
    if name in DATES:
        parts, others = DATES[name]
        frame["when"] = moments(frame, parts)
        frame = frame.drop(columns=[*(own for own in parts if isinstance(own, str)), *others])
    for other in frame.columns:
        if other not in ("when", "target") and not pd.api.types.is_numeric_dtype(frame[other]):
            values = frame[other].astype(object)
            held = values.where(values.notna(), None)
            frame[other] = held if other == column else held.astype("category")
    return frame, column, "text" if name in TEXTS else "date"


def moments(frame: pd.DataFrame, parts: tuple[Any, ...]) -> Any:
    year, month, day, hour = (
        np.full(len(frame), least if part is None else part)
        if part is None or isinstance(part, int)
        else np.array([MONTHS.index(own) + 1 if own in MONTHS else int(own) for own in frame[part]])
        for part, least in zip(parts, (2000, 1, 1, 0), strict=True)
    )
    year = np.where(year < 100, year + 2011, year)
    months = ((year - 1970) * 12 + month - 1).astype("M8[M]")
    return (months.astype("M8[D]") + (day - 1)).astype("M8[us]") + hour * np.timedelta64(1, "h")


def generated(name: str, rng: np.random.Generator) -> pd.DataFrame:
    """Two thousand days of three years; sales that follow the weekday, the season, or neither."""
    when = np.datetime64("2021-01-01", "us") + rng.integers(0, 3 * 365, 2000) * np.timedelta64(1, "D")
    x = rng.normal(size=(2000, 3))
    days = when.astype("M8[D]").astype(int)
    effect = {"weekday": (days + 3) % 7 >= 5, "season": np.cos(2 * np.pi * days / 365.25), "no date": 0.0}[
        name
    ]
    target = x[:, 0] + 0.5 * x[:, 1] + 2.0 * effect + 0.5 * rng.normal(size=2000)
    return pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "when": when, "target": target})


def loss(frame: pd.DataFrame, column: str, kind: str, way: str, seed: int) -> float:
    """On a quarter of the rows, of a committee fitted to the others."""
    y = frame["target"].to_numpy()
    X = frame.drop(columns=["target", *([column] if way == "left out" else [])])
    own = [column] if way == "used" else []
    features = TableFeatures(text=own if kind == "text" else [], dates=own if kind == "date" else [])
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = np.sort(order[len(y) // 4 :]), np.sort(order[: len(y) // 4])
    is_class = y.dtype.kind in "iuO" and len(np.unique(y)) <= 20
    settings: dict[str, Any] = {"portfolio": MEMBERS, "cv": 3, "random_state": seed, "n_jobs": 1}
    committee = CommitteeClassifier if is_class else CommitteeRegressor
    model: Any = committee(None, features=features, **settings).fit(X.iloc[train], y[train])
    if is_class:
        return float(log_loss(y[test], model.predict_proba(X.iloc[test]), labels=model.classes_))
    return float(root_mean_squared_error(y[test], model.predict(X.iloc[test])))


def run(args: argparse.Namespace, results: dict[str, Any]) -> None:
    for seed in range(args.seeds):
        for name in args.only or (*TEXTS, *DATES, *GENERATED):
            frame, column, kind = table_of(name, args.data, seed)
            for way in WAYS[kind]:
                key = f"{name}|{seed}|{kind}|{way}"
                if key not in results:
                    results[key] = loss(frame, column, kind, way, seed)
                    args.out.write_text(json.dumps(results, indent=1))


def report(results: dict[str, Any]) -> str:
    """By table: mean losses over the seeds, and in how many of them that with the column used is below the others."""
    rows = pd.DataFrame(
        [(*key.split("|"), value) for key, value in results.items()],
        columns=["table", "seed", "kind", "way", "loss"],
    )
    lines = []
    for (kind, name), own in rows.groupby(["kind", "table"], sort=False):
        losses = own.pivot(index="seed", columns="way", values="loss")[list(WAYS[str(kind)])].dropna()
        used, other, without = (losses[way] for way in WAYS[str(kind)])
        lines.append(
            f"{kind:5} {name:20} used {used.mean():11.5g}  {WAYS[str(kind)][1]} {other.mean():11.5g}  left out "
            f"{without.mean():11.5g}  used / left out {(used / without).mean() - 1:+7.2%} "
            f"(below in {(used < without).sum()} of {len(losses)})  used / {WAYS[str(kind)][1]} "
            f"{(used / other).mean() - 1:+7.2%} (below in {(used < other).sum()})"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--report", action="store_true")
    args = parser.parse_args()
    results = json.loads(args.out.read_text()) if args.out.exists() else {}
    if not args.report:
        run(args, results)
    print(report(results))


if __name__ == "__main__":
    main()
