"""Prediction side by side: the same trees on coterie's engine, in ONNX Runtime and in treelite.

    python benchmarks/speed/prediction.py [--rows 200000] [--threads 2] [--repeats 5]

Needs `pip install 'coterie[export]' onnxruntime`. Runs are interleaved, and medians are shown: nanoseconds for
a row and tree in a batch, microseconds for one row. The last column is the largest difference from coterie's answers.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from coterie.export import to_onnx, to_treelite

Rows = NDArray[np.float32]
Predict = Callable[[Rows], NDArray[Any]]
ONE_ROW_CALLS = 300


@dataclass(frozen=True)
class Runner:
    """Something that answers as the model does."""

    name: str
    predict: Predict


def table(n_rows: int, seed: int) -> tuple[Rows, NDArray[np.int64]]:
    """Numbers that every library compares alike, because they are floats of 32 bits."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 28)).astype(np.float32)
    noise = rng.normal(size=n_rows)
    return X, (X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * noise > 0).astype(np.int64)


def models(threads: int) -> dict[str, Any]:
    X, y = table(20_000, seed=0)
    common = {"random_state": 0, "n_jobs": threads}
    return {
        "boosting, 100 trees of 31 leaves": GradientBoostingClassifier(n_estimators=100, **common).fit(X, y),
        "boosting, 100 trees of 255 leaves": GradientBoostingClassifier(
            n_estimators=100, max_leaf_nodes=255, **common
        ).fit(X, y),
        "boosting, 100 symmetric trees of 64 leaves": GradientBoostingRegressor(
            n_estimators=100, growth="oblivious", max_leaf_nodes=64, **common
        ).fit(X, y),
        "forest, 100 trees": RandomForestClassifier(100, **common).fit(X, y),
        "extra trees, 100 trees": ExtraTreesClassifier(100, **common).fit(X, y),
        "AdaBoost, 200 stumps": AdaBoostClassifier(n_estimators=200, random_state=0).fit(X, y),
    }


def runners(model: Any, threads: int) -> list[Runner]:
    ask = model.predict_proba if hasattr(model, "predict_proba") else model.predict
    return [Runner("coterie", ask), *onnx_runtime(model, threads), *treelite(model, threads)]


def onnx_runtime(model: Any, threads: int) -> list[Runner]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(to_onnx(model, dtype="float32").SerializeToString(), options)
    name = session.get_inputs()[0].name
    answer = [each.name for each in session.get_outputs()][-1]
    return [Runner("ONNX Runtime", lambda X: np.asarray(session.run([answer], {name: X})[0]))]


def treelite(model: Any, threads: int) -> list[Runner]:
    import treelite as library

    exported = to_treelite(model)
    return [Runner("treelite", lambda X: np.asarray(library.gtil.predict(exported, X, nthread=threads)))]


def seconds(call: Callable[[], object]) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


def last_column(answers: NDArray[Any]) -> NDArray[Any]:
    """The probability of the second class, or the number."""
    flat: NDArray[Any] = answers.reshape(len(answers), -1)
    return flat[:, -1]


def show(title: str, model: Any, X: Rows, threads: int, repeats: int) -> None:
    competing = runners(model, threads)
    one = X[:1].copy()
    batch: dict[str, list[float]] = {each.name: [] for each in competing}
    single: dict[str, list[float]] = {each.name: [] for each in competing}
    answers = {each.name: last_column(each.predict(X)) for each in competing}
    for each in competing:
        each.predict(one)
    for _ in range(repeats):
        for each in competing:
            batch[each.name].append(seconds(lambda each=each: each.predict(X)))
            single[each.name] += [seconds(lambda each=each: each.predict(one)) for _ in range(ONE_ROW_CALLS)]
    n_trees = 200 if isinstance(model, AdaBoostClassifier) else 100
    print(f"\n{title}")
    print(
        f"  {'':20s} {'ns a row and tree':>18s} {'ratio':>7s} {'us a row alone':>15s} {'ratio':>7s} {'difference':>11s}"
    )
    ours, ours_alone = median(batch["coterie"]), median(single["coterie"])
    for each in competing:
        whole, alone = median(batch[each.name]), median(single[each.name])
        difference = np.abs(answers[each.name] - answers["coterie"]).max()
        print(
            f"  {each.name:20s} {whole / len(X) / n_trees * 1e9:18.2f} {whole / ours:7.1f} {alone * 1e6:15.1f} "
            f"{alone / ours_alone:7.1f} {difference:11.1e}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Prediction on coterie's engine, in ONNX Runtime and in treelite."
    )
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    X, _ = table(given.rows, seed=1)
    print(
        f"{given.rows} rows of 28 columns, {given.threads} threads, medians of {given.repeats} runs by turns"
    )
    for title, model in models(given.threads).items():
        show(title, model, X, given.threads, given.repeats)


if __name__ == "__main__":
    main()
