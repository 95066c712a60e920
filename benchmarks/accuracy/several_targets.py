"""Shared trees beside one tree per target: several columns of a table as targets, at its other columns.

    python benchmarks/accuracy/several_targets.py --data FOLDER --out results.json --kind labels [--rounds 200]
    python benchmarks/accuracy/several_targets.py --out results.json --report

FOLDER is that of study.py. Targets are at most five numeric columns of a table, the original one among them if it
is a number, drawn once by the name of the table: as they are for `squared`, `absolute` and `poisson` (columns that
are not negative), and whether they exceed their median, or a higher quantile, for `labels`. Losses are means over
the targets, each as a share of its constant's, on rows held out; CPU time is that of the fit.
"""

import argparse
import json
import pathlib
import time
import zlib
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_multilabel_classification, make_regression
from sklearn.metrics import log_loss

from coterie import GradientBoostingClassifier, GradientBoostingRegressor

_MOST_TARGETS = 5
_LEAST_SHARE_OF_LABEL = 0.03
_LOSSES = {"squared": "squared_error", "absolute": "absolute_error", "poisson": "poisson"}


def generated(kind: str) -> dict[str, tuple[pd.DataFrame, Any]]:
    """Tables whose targets have causes in common, and some whose targets have none."""
    found = {}
    for seed, n_targets in enumerate((3, 5, 8, 12, 20, 40)):
        if kind == "labels":
            X, Y = make_multilabel_classification(1500, 20, n_classes=n_targets, random_state=seed)
            Y = Y[:, np.abs(Y.mean(axis=0) - 0.5) < 0.5 - _LEAST_SHARE_OF_LABEL]
        else:
            X, Y = make_regression(
                1500, 15, n_informative=8, n_targets=n_targets, noise=20.0, random_state=seed
            )
            Y = np.exp(Y / (2 * Y.std(axis=0))) if kind == "poisson" else Y
        found[f"generated_{n_targets}"] = (pd.DataFrame(X).add_prefix("x"), Y)
    return found


def table_of(path: pathlib.Path, kind: str, max_rows: int) -> tuple[pd.DataFrame, Any] | None:
    frame = pd.read_parquet(path)
    if len(frame) > max_rows:
        frame = frame.sample(max_rows, random_state=0).reset_index(drop=True)
    for name in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            values = frame[name].astype(object)
            frame[name] = values.where(values.notna(), None).astype("category")
    rng = np.random.default_rng(zlib.crc32(path.stem.encode()))
    numeric = [
        name
        for name in frame.columns
        if pd.api.types.is_numeric_dtype(frame[name])
        and frame[name].notna().all()
        and frame[name].nunique() > (1 if kind == "labels" else 10)
        and (kind != "poisson" or (frame[name] >= 0).all())
    ]
    others = [name for name in numeric if name != "target"]
    n_chosen = min(_MOST_TARGETS - 1, len(others) // 2)
    chosen = ["target"] * ("target" in numeric) + [str(name) for name in rng.permutation(others)[:n_chosen]]
    Y = frame[chosen].to_numpy(dtype=float)
    if kind == "labels":
        level = rng.choice([0.5, 0.8, 0.93], len(chosen))
        Y = ([np.quantile(own, each) for own, each in zip(Y.T, level, strict=True)] < Y).astype(int)
        share = np.minimum(Y.mean(axis=0), 1 - Y.mean(axis=0))
        Y = Y[:, share >= _LEAST_SHARE_OF_LABEL]
    X = frame.drop(columns=list(dict.fromkeys([*chosen, "target"])))
    return None if Y.shape[1] < 2 or X.shape[1] < 2 else (X, Y)


def losses_of(kind: str, y: Any, predicted: Any, of_constant: Any) -> float:
    """The mean over targets of the loss, as a share of the constant's."""

    def loss(truth: Any, own: Any) -> float:
        if kind == "labels":
            return float(log_loss(truth, np.clip(own, 1e-7, 1 - 1e-7), labels=[0, 1]))
        if kind == "poisson":
            return float(
                np.mean(own - truth * np.log(own) - (truth - truth * np.log(np.maximum(truth, 1e-12))))
            )
        return float(np.mean(np.abs(own - truth) if kind == "absolute" else (own - truth) ** 2))

    shares = [
        loss(a, b) / loss(a, np.full(len(a), c))
        for a, b, c in zip(y.T, predicted.T, of_constant, strict=True)
    ]
    return float(np.mean(shares))


def fitted(kind: str, settings: dict[str, Any], X: Any, Y: Any) -> Any:
    if kind == "labels":
        return GradientBoostingClassifier(random_state=0, n_jobs=1, **settings).fit(X, Y)
    return GradientBoostingRegressor(random_state=0, n_jobs=1, loss=_LOSSES[kind], **settings).fit(X, Y)


def variants_of(kind: str, rounds: int | None) -> dict[str, dict[str, Any]]:
    apart = {"multi_strategy": "one_tree_per_class" if kind == "labels" else "one_tree_per_target"}
    shared = {"multi_strategy": "shared_trees"}
    if rounds is not None:
        many = {"n_estimators": rounds}
        return {
            "apart": apart | many,
            "shared": shared | many,
            "shared_x3": shared | {"n_estimators": 3 * rounds},
        }
    found = {"apart": apart, "shared": shared}
    return found | {"directions": shared | {"growth": "mixed"}} if kind == "squared" else found


def measure(kind: str, settings: dict[str, Any], X: pd.DataFrame, Y: Any) -> tuple[float, float]:
    fold = np.random.default_rng(0).permutation(len(X)) % 3
    losses, seconds = [], 0.0
    for held in (0,):
        learn, new = fold != held, fold == held
        begun = time.process_time()
        model = fitted(kind, settings, X[learn].reset_index(drop=True), Y[learn])
        seconds += time.process_time() - begun
        predicted = model.predict_proba(X[new]) if kind == "labels" else model.predict(X[new])
        if kind == "labels":
            predicted = np.column_stack([own[:, -1] for own in predicted])
        middle = np.median if kind == "absolute" else np.mean
        losses.append(losses_of(kind, Y[new], predicted, middle(Y[learn], axis=0)))
    return float(np.mean(losses)), seconds


def report(results: dict[str, dict[str, list[float]]]) -> None:
    for case in sorted({name.rsplit("/", 1)[0] for name in results}):
        own = {
            name.rsplit("/", 1)[1]: each for name, each in results.items() if name.rsplit("/", 1)[0] == case
        }
        own = {name: each for name, each in own.items() if "apart" in each}
        for variant in sorted({each for found in own.values() for each in found} - {"apart"}):
            pairs = [(found[variant], found["apart"]) for found in own.values() if variant in found]
            logs = np.array([np.log(a[0] / b[0]) for a, b in pairs])
            time_ratio = sum(a[1] for a, _ in pairs) / sum(b[1] for _, b in pairs)
            rng, kept = np.random.default_rng(0), []
            for _ in range(50):  # chosen on a half of the tables, reported on the other, both ways
                half = rng.permutation(len(logs)) < len(logs) // 2
                kept += [logs[~part].mean() if logs[part].mean() < 0 else 0.0 for part in (half, ~half)]
            print(
                f"{case:>14} {variant:>11}: {len(logs)} tables, mean {100 * logs.mean():+.1f} %, median "
                f"{100 * np.median(logs):+.1f} %, won {(logs < 0).sum()}, CPU {time_ratio:.2f}, "
                f"by choice on others {100 * np.mean(kept):+.1f} %"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--kind", choices=["labels", *_LOSSES], default="labels")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--max-rows", type=int, default=1500)
    parser.add_argument("--tables", nargs="*", default=[])
    parser.add_argument("--report", action="store_true")
    given = parser.parse_args()
    results = json.loads(given.out.read_text()) if given.out.exists() else {}
    if given.report:
        report(results)
        return
    tables = generated(given.kind)
    for path in sorted(given.data.glob("*.parquet")):
        if (not given.tables or path.stem in given.tables) and (
            own := table_of(path, given.kind, given.max_rows)
        ):
            tables[path.stem] = own
    case = given.kind if given.rounds is None else f"{given.kind}_{given.rounds}"
    for name, (X, Y) in tables.items():
        done = results.setdefault(f"{case}/{name}", {})
        for variant, settings in variants_of(given.kind, given.rounds).items():
            if variant not in done:
                done[variant] = measure(given.kind, settings, X, Y)
                given.out.write_text(json.dumps(results, indent=1))
        print(name, Y.shape[1], {key: (round(a, 4), round(b, 2)) for key, (a, b) in done.items()}, flush=True)


if __name__ == "__main__":
    main()
