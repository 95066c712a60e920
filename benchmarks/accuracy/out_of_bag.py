"""Is what forests say of themselves true? Errors out of bag beside held-out ones, and the coverage of intervals.

`python benchmarks/accuracy/out_of_bag.py --data FOLDER`, where the folder has a `manifest.csv` (name, task) and a table
`NAME.parquet` with a column `target` for each line. Every table is parted in halves at random, three times; a forest of
300 trees is fitted to one half. Losses of rows are 0 or 1 for classes, squared errors for numbers. A standard error is
that of the difference of two means. Intervals are asked for 90 %; their width is in standard deviations of the target.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from coterie import RandomForestClassifier, RandomForestRegressor

MOST_ROWS = 10_000
N_REPEATS = 3


def read(path: Path) -> tuple[pd.DataFrame, Any]:
    frame = pd.read_parquet(path)
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0).reset_index(drop=True)
    return frame.drop(columns="target"), frame["target"]


def honesty(X: pd.DataFrame, y: Any, *, numbers: bool, seed: int) -> dict[str, float]:
    """The two errors, how many standard errors lie between them, and what intervals cover."""
    rows = np.random.default_rng(seed).permutation(len(y))
    train, test = np.sort(rows[: len(y) // 2]), np.sort(rows[len(y) // 2 :])
    kind = RandomForestRegressor if numbers else RandomForestClassifier
    model: Any = kind(n_estimators=300, oob_score=True, random_state=seed).fit(X.iloc[train], y[train])
    answers = model.predict(X.iloc[test])
    if numbers:
        inside = (model.oob_prediction_ - y[train]) ** 2
        outside = (answers - y[test]) ** 2
    else:
        inside = model.classes_[model.oob_decision_function_.argmax(axis=1)] != y[train]
        outside = answers != y[test]
    inside, outside = np.asarray(inside, dtype=float), np.asarray(outside, dtype=float)
    inside = inside[model.oob_coverage_ > 0]
    error = np.sqrt(inside.var() / len(inside) + outside.var() / len(outside))
    found = {
        "out_of_bag": inside.mean(),
        "held_out": outside.mean(),
        "between": (inside.mean() - outside.mean()) / max(error, 1e-300),
    }
    if numbers:
        low, high = model.predict_interval(X.iloc[test], alpha=0.1).T
        found["covered"] = np.mean((low <= y[test]) & (y[test] <= high))
        found["width"] = np.mean(high - low) / y.std()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    folder = parser.parse_args().data
    tables = pd.read_csv(folder / "manifest.csv")
    tables = tables[tables["task"].isin(["binary", "multiclass", "regression"])]
    found = []
    for name, task in zip(tables["name"], tables["task"], strict=True):
        numbers = task == "regression"
        X, y = read(folder / f"{name}.parquet")
        target = y.to_numpy(dtype=float) if numbers else y.astype("category").cat.codes.to_numpy()
        found += [
            {"name": name, "task": task, **honesty(X, target, numbers=numbers, seed=seed)}
            for seed in range(N_REPEATS)
        ]
        print(pd.DataFrame(found[-N_REPEATS:]).round(4).to_string(index=False, header=False), flush=True)
    result = pd.DataFrame(found)
    print(f"\n{result['name'].nunique()} tables, {len(result)} forests")
    print(f"within two standard errors: {(result['between'].abs() <= 2).mean():.1%} of the forests")
    by_table = result.groupby("name")["between"].mean()
    print(f"mean of a table within two standard errors: {(by_table.abs() <= 2).mean():.1%} of the tables")
    print(f"mean of the differences: {result['between'].mean():+.2f} standard errors")
    of_numbers = result.dropna(subset="covered")
    covered = of_numbers.groupby("name")[["covered", "width"]].mean()
    print(f"intervals of {len(covered)} tables: {covered['covered'].mean():.1%} covered on average, ", end="")
    print(
        f"{covered['covered'].min():.1%} to {covered['covered'].max():.1%}, width {covered['width'].mean():.2f}"
    )


if __name__ == "__main__":
    main()
