"""The study behind the defaults of gradient boosting: variants of the recipe, cross-validated over a folder of tables.

    python benchmarks/accuracy/study.py --data FOLDER --out results.json [--variants recipe,no_bags] [--folds 0]
    python benchmarks/accuracy/study.py --out results.json --report
    python benchmarks/accuracy/study.py --out results.json --choose 0.5

FOLDER holds `manifest.csv` (columns name, task) and `<name>.parquet` with a column `target`. Every variant sees the
same folds of the same rows; folds 0, 1 and 2 are one division of a table in three, 3, 4 and 5 the next. A lever is
judged over all tables together: by the mean of the log ratio of its loss to the recipe's, by the share of tables that
it wins, by its mean rank among the peers that the file has, and by its CPU time. Results are kept in the file, so that
a study can go on where it stopped. A peer that fails on a table is last there.

`--choose LIMIT` cross-validates the choice itself, over tables: on half of them it takes the variant with the lowest
mean loss among those that need at most LIMIT times the recipe's time (or a peer's, with `--against lightgbm`), and
reports that variant on the other half; both ways, for many random halves.
"""

import argparse
import json
import math
import pathlib
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold

from coterie import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.boosting.plan import EFFORTS, EffortSettings

# Parameters of the estimator, and what the recipe has beside them (coterie.boosting.plan.EffortSettings).
VARIANTS: dict[str, dict[str, Any]] = {
    "recipe": {},
    "quick": {"effort": "quick"},
    "best": {"effort": "best"},
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
    "constant_leaves": {"linear_leaves": False},
}
PEERS = ("lightgbm", "xgboost", "catboost", "hist_boosting", "forest")
_OF_EFFORT = {each.name for each in fields(EffortSettings)}
_DEFAULT_EFFORT = EFFORTS["default"]
_N_DIVISIONS = 50


def load(folder: pathlib.Path, name: str, task: str, max_rows: int = 10_000) -> tuple[pd.DataFrame, Any]:
    """At most `max_rows` rows of a table; text becomes categories."""
    frame = pd.read_parquet(folder / f"{name}.parquet")
    if len(frame) > max_rows:
        frame = frame.sample(max_rows, random_state=0).reset_index(drop=True)
    target = frame.pop("target")
    for column in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            values = frame[column].astype(object)
            frame[column] = values.where(values.notna(), None).astype("category")
    if task == "regression":
        return frame, target.astype("float64").to_numpy()
    return frame, target.astype("category").cat.codes.to_numpy()


def settings_of(variant: str) -> dict[str, Any]:
    """A variant by its name, or as `key=value;key=value`."""
    if "=" not in variant:
        return VARIANTS[variant]
    pairs = (pair.split("=") for pair in variant.split(";"))
    return {key: _value(text) for key, text in pairs}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def estimator(variant: str, frame: pd.DataFrame, *, regression: bool) -> tuple[Any, pd.DataFrame]:
    """The estimator of a variant or a peer, on one thread, and the table as it takes it."""
    if variant in PEERS:
        return _peer(variant, frame, regression=regression)
    settings = settings_of(variant)
    effort = {key: value for key, value in settings.items() if key in _OF_EFFORT}
    EFFORTS["default"] = replace(_DEFAULT_EFFORT, **effort)
    made: Any = GradientBoostingRegressor if regression else GradientBoostingClassifier
    own = {key: value for key, value in settings.items() if key not in _OF_EFFORT}
    return made(random_state=0, n_jobs=1, **own), frame


def _peer(name: str, frame: pd.DataFrame, *, regression: bool) -> tuple[Any, pd.DataFrame]:
    kind = "Regressor" if regression else "Classifier"
    categories = frame.select_dtypes("category").columns
    if name == "lightgbm":
        import lightgbm

        frame = frame.set_axis([f"f{place}" for place in range(frame.shape[1])], axis=1)
        return getattr(lightgbm, f"LGBM{kind}")(n_jobs=1, verbose=-1), frame
    if name == "xgboost":
        import xgboost

        frame = frame.set_axis([f"f{place}" for place in range(frame.shape[1])], axis=1)
        return getattr(xgboost, f"XGB{kind}")(n_jobs=1, enable_categorical=True), frame
    if name == "catboost":
        import catboost

        texts = {
            each: frame[each].astype(object).where(frame[each].notna(), "missing").astype(str)
            for each in categories
        }
        made = getattr(catboost, f"CatBoost{kind}")
        quiet = {"verbose": 0, "allow_writing_files": False}
        return made(thread_count=1, cat_features=list(categories), **quiet), frame.assign(**texts)
    import sklearn.ensemble as peers

    codes = {column: frame[column].cat.codes.astype("float64") for column in categories}
    if name == "forest":
        return getattr(peers, f"RandomForest{kind}")(n_jobs=1, random_state=0), frame.assign(**codes)
    many = {column: code for column, code in codes.items() if frame[column].nunique() > 254}
    return getattr(peers, f"HistGradientBoosting{kind}")(random_state=0), frame.assign(**many)


def measure(task: str, frame: pd.DataFrame, y: Any, variant: str, fold: int) -> dict[str, float]:
    """Loss (RMSE or log loss), second metric (R2, AUC or accuracy) and CPU seconds on one fold."""
    regression = task == "regression"
    folds = (KFold if regression else StratifiedKFold)(3, shuffle=True, random_state=fold // 3)
    learn, new = list(folds.split(frame, y))[fold % 3]
    model, frame = estimator(variant, frame, regression=regression)
    began = time.process_time()
    model.fit(frame.iloc[learn], y[learn])
    answer = model.predict(frame.iloc[new]) if regression else model.predict_proba(frame.iloc[new])
    seconds = time.process_time() - began
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
    tables = tables[tables["task"].isin(options.tasks.split(","))]
    if "rows" in tables and options.fewer_than:
        tables = tables[tables["rows"] < options.fewer_than]
    skipped = set(options.skip.split(","))
    for variant in options.variants.split(","):
        for name, task in zip(tables["name"], tables["task"], strict=True):
            wanted = [f"{variant}|{name}|{fold}" for fold in options.folds.split(",")]
            if name in skipped or all(key in results for key in wanted):
                continue
            frame, y = load(folder, name, task, options.rows)
            for key in wanted:
                if key in results:
                    continue
                try:
                    results[key] = measure(task, frame, y, variant, int(key.rsplit("|", 1)[1]))
                except Exception:
                    if variant not in PEERS:
                        raise
                    results[key] = {"loss": math.inf, "second": -math.inf, "seconds": 0.0}
            out.write_text(json.dumps(results, indent=0))
        print(variant, "done", flush=True)


def by_table(results: dict[str, dict[str, float]]) -> dict[str, pd.DataFrame]:
    """For each measure a row for each table, the mean over the folds that all variants have, and a column a variant."""
    rows = [
        (*key.split("|"), found["loss"], found["second"], found["seconds"]) for key, found in results.items()
    ]
    names = ["variant", "table", "fold", "loss", "second", "seconds"]
    frame = pd.DataFrame(rows, columns=names).set_index(["table", "fold", "variant"]).unstack()
    whole = frame.dropna()
    if len(whole) < len(frame):
        print(f"{len(whole)} of {len(frame)} folds have every variant")
    means = whole.groupby("table").mean()
    return {measure: means[measure] for measure in ("loss", "second", "seconds")}


def mean_ranks(found: dict[str, pd.DataFrame], variant: str) -> tuple[float, float]:
    """The mean rank of a variant alone among the peers, by loss and by the second metric."""
    among = [variant, *(peer for peer in PEERS if peer in found["loss"] and peer != variant)]
    by_loss = found["loss"][among].rank(axis=1)[variant].mean()
    by_second = (-found["second"][among]).rank(axis=1)[variant].mean()
    return float(by_loss), float(by_second)


def report(found: dict[str, pd.DataFrame], base: str) -> None:
    """Each variant beside the one that they are compared with, over the tables and folds that all have."""
    loss, second, seconds = found["loss"], found["second"], found["seconds"]
    print(f"{len(loss)} tables; times are in those of {base}, {seconds[base].sum():.1f} s")
    heads = ("rank", "second", "loss", "median", "wins", "wins 2", "time")
    print(f"{'variant':50s}" + "".join(f"{head:>9s}" for head in heads))
    for variant in loss.columns:
        ratio = 100 * np.log(loss[variant] / loss[base])
        numbers = (
            *(f"{rank:.2f}" for rank in mean_ranks(found, variant)),
            f"{ratio.mean():+.2f}%",
            f"{ratio.median():+.2f}%",
            f"{(ratio < 0).mean():.2f}",
            f"{(second[variant] > second[base]).mean():.2f}",
            f"{seconds[variant].sum() / seconds[base].sum():.3f}x",
        )
        print(f"{variant:50s}" + "".join(f"{number:>9s}" for number in numbers))


def choose(
    found: dict[str, pd.DataFrame], variants: Sequence[str], limit: float, against: str, base: str
) -> None:
    """Choose on half of the tables, report on the other half, both ways, for many random halves."""
    loss, seconds = np.log(found["loss"]), found["seconds"]
    random = np.random.default_rng(0)
    chosen: Counter[str] = Counter()
    reports = []
    for _ in range(_N_DIVISIONS):
        order = random.permutation(len(loss))
        middle = len(loss) // 2
        for own, other in ((order[:middle], order[middle:]), (order[middle:], order[:middle])):
            time_of = seconds.iloc[own].sum()
            allowed = [each for each in variants if time_of[each] <= limit * time_of[against]]
            if not allowed:
                continue
            best = min(allowed, key=lambda each: loss[each].iloc[own].mean())
            chosen[best] += 1
            there = {measure: values.iloc[other] for measure, values in found.items()}
            change = (loss[best] - loss[base]).iloc[other].mean()
            time_there = there["seconds"].sum()
            reports.append((*mean_ranks(there, best), 100 * change, time_there[best] / time_there[against]))
    if not reports:
        print(f"nothing takes at most {limit} times {against}'s time")
        return
    rank, second, change, cost = np.mean(reports, axis=0)
    print(f"chosen on half of the tables, at most {limit} times {against}'s time; on the other half:")
    print(f"  rank {rank:.2f}, by the second metric {second:.2f}, loss {change:+.2f}% of {base}'s")
    print(f"  {cost:.2f} times {against}'s time")
    for variant, count in chosen.most_common(6):
        print(f"  {count / len(reports):5.0%} {variant}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", help="folder of tables")
    parser.add_argument("--out", required=True, help="JSON file of results, continued if it exists")
    parser.add_argument(
        "--variants", default=",".join(VARIANTS), help="names, also of peers, or key=value;key=value"
    )
    parser.add_argument("--folds", default="0,1,2")
    parser.add_argument(
        "--rows", type=int, default=10_000, help="at most so many of a table; one file, one number"
    )
    parser.add_argument("--fewer-than", type=int, help="only tables of fewer rows, by the manifest")
    parser.add_argument("--tasks", default="binary,multiclass,regression")
    parser.add_argument("--skip", default="", help="names of tables to leave out")
    parser.add_argument("--report", action="store_true", help="only compare what the file holds")
    parser.add_argument("--choose", type=float, metavar="LIMIT", help="cross-validate the choice over tables")
    parser.add_argument(
        "--among",
        help="variants to compare and choose from, separated by commas; all of the file if not given",
    )
    parser.add_argument("--against", default="recipe", help="whose time LIMIT is about")
    parser.add_argument("--base", default="recipe", help="whose losses are compared with")
    given = parser.parse_args()
    if not given.report and given.choose is None:
        run(given)
    results = json.loads(pathlib.Path(given.out).read_text())
    if given.among:
        shown = {*given.among.split(","), *PEERS, given.base, given.against}
        results = {key: found for key, found in results.items() if key.split("|")[0] in shown}
    measured = by_table(results)
    if given.base in measured["loss"]:
        report(measured, given.base)
    if given.choose is not None:
        own = (
            given.among.split(",")
            if given.among
            else [each for each in measured["loss"] if each not in PEERS]
        )
        choose(measured, own, given.choose, given.against, given.base)
