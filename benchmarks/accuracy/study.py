"""The study behind the defaults of gradient boosting: variants of the recipe, cross-validated over a folder of tables.

    python benchmarks/accuracy/study.py --data FOLDER --out results.json [--variants recipe,no_bags] [--folds 0]
    python benchmarks/accuracy/study.py --out results.json --report

FOLDER holds `manifest.csv` (columns name, task) and `<name>.parquet` with a column `target`. Every variant sees the
same three folds of the same at most 10,000 rows. A lever is judged over all tables together: by the mean of the log
ratio of its loss to the recipe's, by the share of tables that it wins, and by its time. Results are kept in the file,
so that a study can go on where it stopped.
"""

import argparse
import json
import pathlib
import time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold

from coterie import GradientBoostingClassifier, GradientBoostingRegressor

VARIANTS: dict[str, dict[str, Any]] = {
    "recipe": {},
    "exact_100": {"n_estimators": 100},
    "one_booster": {"n_folds": 1},
    "four_boosters": {"n_folds": 4},
    "sixteen_boosters": {"n_folds": 16},
    "leaf_only": {"growth": "leaf"},
    "oblivious_only": {"growth": "oblivious"},
    "no_statistics": {"target_statistics": "none"},
    "pairs": {"target_statistics": "pairs"},
    "all_features": {"max_features": 1.0},
    "third_of_features": {"max_features": 0.33},
    "all_rows": {"subsample": 1.0},
    "bayesian": {"sampling_method": "bayesian"},
    "leaves_of_20": {"min_samples_leaf": 20},
    "no_l2": {"l2_regularization": 0.0},
    "l2_5": {"l2_regularization": 5.0},
    "smoothing_3": {"path_smoothing": 3.0},
    "noise_1": {"split_noise": 1.0},
    "steps_of_0.1": {"learning_rate": 0.1},
    "patience_60": {"n_iter_no_change": 60},
    "linear_leaves": {"linear_leaves": True},
}
MAX_ROWS = 10_000


def load(folder: pathlib.Path, name: str, task: str) -> tuple[pd.DataFrame, Any]:
    """At most 10,000 rows of a table; text becomes categories."""
    frame = pd.read_parquet(folder / f"{name}.parquet")
    if len(frame) > MAX_ROWS:
        frame = frame.sample(MAX_ROWS, random_state=0).reset_index(drop=True)
    target = frame.pop("target")
    for column in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            values = frame[column].astype(object)
            frame[column] = values.where(values.notna(), None).astype("category")
    if task == "regression":
        return frame, target.astype("float64").to_numpy()
    return frame, target.astype("category").cat.codes.to_numpy()


def measure(task: str, frame: pd.DataFrame, y: Any, settings: dict[str, Any], fold: int) -> dict[str, float]:
    """Loss (RMSE or log loss), second metric (R2, AUC or accuracy) and seconds on one fold."""
    regression = task == "regression"
    folds = (KFold if regression else StratifiedKFold)(3, shuffle=True, random_state=0)
    learn, new = list(folds.split(frame, y))[fold]
    made: Any = GradientBoostingRegressor if regression else GradientBoostingClassifier
    began = time.perf_counter()
    model = made(random_state=0, n_jobs=-1, **settings).fit(frame.iloc[learn], y[learn])
    answer = model.predict(frame.iloc[new]) if regression else model.predict_proba(frame.iloc[new])
    seconds = time.perf_counter() - began
    if regression:
        error = float(np.mean((answer - y[new]) ** 2))
        return {"loss": error**0.5, "second": 1 - error / float(np.var(y[new])), "seconds": seconds}
    labels = np.arange(y.max() + 1)
    proba = np.full((len(new), len(labels)), 1e-6)
    proba[:, model.classes_] = np.clip(answer, 1e-6, 1)
    proba /= proba.sum(axis=1, keepdims=True)
    two = len(labels) == 2
    second = roc_auc_score(y[new], proba[:, 1]) if two else np.mean(proba.argmax(axis=1) == y[new])
    return {"loss": log_loss(y[new], proba, labels=labels), "second": float(second), "seconds": seconds}


def run(options: argparse.Namespace) -> None:
    folder = pathlib.Path(options.data)
    out = pathlib.Path(options.out)
    results = json.loads(out.read_text()) if out.exists() else {}
    tables = pd.read_csv(folder / "manifest.csv")
    tables = tables[tables["task"].isin(["binary", "multiclass", "regression"])]
    skipped = set(options.skip.split(","))
    for variant in options.variants.split(","):
        for name, task in zip(tables["name"], tables["task"], strict=True):
            if name in skipped:
                continue
            frame, y = load(folder, name, task)
            for fold in map(int, options.folds.split(",")):
                key = f"{variant}|{name}|{fold}"
                if key not in results:
                    results[key] = measure(task, frame, y, VARIANTS[variant], fold)
            out.write_text(json.dumps(results, indent=0))
        print(variant, "done", flush=True)


def report(results: dict[str, dict[str, float]]) -> None:
    """Each variant beside the recipe, over the tables and folds that both have."""
    print(
        f"{'variant':18s} {'fits':>5s} {'loss':>8s} {'median':>8s} {'wins':>6s} {'second wins':>12s} {'time':>6s}"
    )
    for variant in VARIANTS:
        keys = [key.split("|", 1)[1] for key in results if key.startswith(f"{variant}|")]
        pairs = [
            (results[f"{variant}|{key}"], results[f"recipe|{key}"])
            for key in keys
            if f"recipe|{key}" in results
        ]
        if not pairs or variant == "recipe":
            continue
        ratio = np.log([own["loss"] / base["loss"] for own, base in pairs])
        second = np.array([own["second"] - base["second"] for own, base in pairs])
        cost = sum(own["seconds"] for own, _ in pairs) / sum(base["seconds"] for _, base in pairs)
        print(
            f"{variant:18s} {len(pairs):5d} {100 * ratio.mean():+7.2f}% {100 * np.median(ratio):+7.2f}% "
            f"{np.mean(ratio < 0):6.2f} {np.mean(second > 0):12.2f} {cost:5.2f}x"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", help="folder of tables")
    parser.add_argument("--out", required=True, help="JSON file of results, continued if it exists")
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--folds", default="0,1,2")
    parser.add_argument("--skip", default="", help="names of tables to leave out")
    parser.add_argument("--report", action="store_true", help="only compare what the file holds")
    given = parser.parse_args()
    if not given.report:
        run(given)
    report(json.loads(pathlib.Path(given.out).read_text()))
