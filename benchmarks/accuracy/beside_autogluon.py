"""AutoGluon and coterie's committee under one time limit, on one fold of one table: one system in a process.

    python benchmarks/accuracy/beside_autogluon.py --data FOLDER --table NAME --system coterie --out results.jsonl
    python benchmarks/accuracy/beside_autogluon.py --data FOLDER --table NAME --system autogluon --out results.jsonl
    python benchmarks/accuracy/beside_autogluon.py --out results.jsonl --report

Install coterie in one environment, and `pip install autogluon.tabular[all]` in another: they need not share one. The
program imports nothing else than numpy, pandas, scikit-learn and the system that it runs.

FOLDER holds `manifest.csv` (columns name, task) and `<name>.parquet` with a column `target`. Both systems get the same
rows: of at most 10,000, two thirds to learn from and one third to measure on, drawn by a seed. Both optimise the loss
that is compared, the log loss or the root of the mean squared error, with two threads. AutoGluon runs its preset
`best_quality`; `--preset` takes another. A line of results is added to the file after each run, and a run that the file
holds already is not done again, so that a loop of the shell over tables goes on where it stopped:

    for name in $(tail -n +2 FOLDER/manifest.csv | cut -d, -f1); do for system in coterie autogluon; do
        python benchmarks/accuracy/beside_autogluon.py --data FOLDER --table $name --system $system --out results.jsonl
    done; done
"""

import argparse
import json
import pathlib
import tempfile
import time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

MAX_ROWS = 10_000
N_THREADS = 2
LEAST_PROBABILITY = 1e-6


def parts_of(folder: pathlib.Path, name: str, seed: int) -> tuple[str, pd.DataFrame, pd.DataFrame]:
    """The task, the rows to learn from and the rows to measure on, with their column `target`."""
    manifest = pd.read_csv(folder / "manifest.csv").set_index("name")
    task = str(manifest.loc[name, "task"])
    frame = pd.read_parquet(folder / f"{name}.parquet")
    if len(frame) > MAX_ROWS:
        frame = frame.sample(MAX_ROWS, random_state=seed).reset_index(drop=True)
    if task != "regression":
        frame["target"] = frame["target"].astype(str)
        counts = frame["target"].value_counts()
        frame = frame[frame["target"].isin(counts.index[counts > 1])]
    labels = None if task == "regression" else frame["target"]
    learn, new = train_test_split(frame, test_size=1 / 3, random_state=seed, stratify=labels)
    return task, learn.reset_index(drop=True), new.reset_index(drop=True)


def by_coterie(task: str, learn: pd.DataFrame, new: pd.DataFrame, options: argparse.Namespace) -> Any:
    from coterie import CommitteeClassifier, CommitteeRegressor

    kind: Any = CommitteeRegressor if task == "regression" else CommitteeClassifier
    model = kind(options.seconds, n_jobs=N_THREADS, random_state=options.seed)
    model.fit(learn.drop(columns="target"), learn["target"])
    if task == "regression":
        return model.predict(new)
    return pd.DataFrame(model.predict_proba(new), columns=model.classes_)


def by_autogluon(task: str, learn: pd.DataFrame, new: pd.DataFrame, options: argparse.Namespace) -> Any:
    from autogluon.tabular import TabularPredictor

    metric = "root_mean_squared_error" if task == "regression" else "log_loss"
    with tempfile.TemporaryDirectory() as folder:
        predictor = TabularPredictor(
            "target", problem_type=task, eval_metric=metric, path=folder, verbosity=1
        )
        predictor.fit(
            learn, time_limit=options.seconds, presets=options.preset, num_cpus=N_THREADS, num_gpus=0
        )
        return predictor.predict(new) if task == "regression" else predictor.predict_proba(new)


SYSTEMS = {"coterie": by_coterie, "autogluon": by_autogluon}


def loss_of(task: str, predicted: Any, truth: pd.Series) -> float:
    """The root of the mean squared error, or the log loss of probabilities in columns by class."""
    if task == "regression":
        return float(
            np.sqrt(np.mean((np.asarray(predicted, dtype=float) - truth.to_numpy(dtype=float)) ** 2))
        )
    columns = {str(label): place for place, label in enumerate(predicted.columns)}
    proba = np.clip(predicted.to_numpy(dtype=float), LEAST_PROBABILITY, 1.0)
    proba /= proba.sum(axis=1, keepdims=True)
    of_truth = [
        row[columns[label]] if label in columns else LEAST_PROBABILITY
        for row, label in zip(proba, truth.astype(str), strict=True)
    ]
    return float(-np.mean(np.log(of_truth)))


def known_result(options: argparse.Namespace) -> dict[str, Any] | None:
    """The line of the file that such a run has left before, if there is one."""
    path = pathlib.Path(options.out or "")
    if not path.is_file():
        return None
    wanted = {
        "table": options.table,
        "system": options.system,
        "limit": options.seconds,
        "seed": options.seed,
    }
    if options.system == "autogluon":
        wanted["preset"] = options.preset
    for line in path.read_text(encoding="utf-8").splitlines():
        held = {"preset": "best_quality", **json.loads(line)}  # lines of before named no preset
        if all(held.get(key) == value for key, value in wanted.items()):
            return held
    return None


def run(options: argparse.Namespace) -> None:
    """One table by one system, unless it has been run; the result is printed, and added to the file."""
    known = known_result(options)
    if known is not None:
        print(json.dumps(known))
        return
    task, learn, new = parts_of(pathlib.Path(options.data), options.table, options.seed)
    began = time.perf_counter()
    predicted = SYSTEMS[options.system](task, learn, new.drop(columns="target"), options)
    seconds = time.perf_counter() - began
    result = {
        "table": options.table,
        "task": task,
        "system": options.system,
        "limit": options.seconds,
        "seed": options.seed,
        **({"preset": options.preset} if options.system == "autogluon" else {}),
        "loss": loss_of(task, predicted, new["target"]),
        "seconds": round(seconds, 1),
    }
    print(json.dumps(result))
    if options.out:
        with pathlib.Path(options.out).open("a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")


def report(path: pathlib.Path) -> None:
    """Tables that both systems have been run on, under the same limit and seed."""
    found = pd.DataFrame(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    losses = found.pivot_table(
        index=["table", "limit", "seed"], columns="system", values="loss", aggfunc="last"
    )
    losses = losses.dropna()
    ratio = np.log(losses["coterie"] / losses["autogluon"])
    print(losses.assign(difference=[f"{100 * np.expm1(own):+.1f} %" for own in ratio]).to_string())
    change = 100 * np.expm1(ratio.mean())
    print(
        f"coterie has the lower loss on {(ratio < 0).sum()} of {len(ratio)} tables; in the geometric mean its loss is "
        f"{abs(change):.1f} % {'lower' if change < 0 else 'higher'}."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", help="folder of tables")
    parser.add_argument("--table", help="the name of one of them")
    parser.add_argument("--system", choices=sorted(SYSTEMS))
    parser.add_argument("--seconds", type=float, default=60, help="time limit of the fit")
    parser.add_argument("--seed", type=int, default=0, help="which rows are drawn, and the fit's own seed")
    parser.add_argument("--preset", default="best_quality", help="that of AutoGluon")
    parser.add_argument("--out", help="file of results, a line a run")
    parser.add_argument("--report", action="store_true", help="only compare what the file holds")
    given = parser.parse_args()
    if given.report:
        report(pathlib.Path(given.out))
    else:
        run(given)
