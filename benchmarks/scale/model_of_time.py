"""What a tree takes on a cluster of Dask: measured on 2, 3 and 4 workers, and a formula fitted to some of the runs.

    python model_of_time.py runs.jsonl            # the whole grid; what the file holds already is not run again
    python model_of_time.py runs.jsonl --only 2   # so many runs that are missing
    python model_of_time.py runs.jsonl --fit      # the formula and its check, from what is there

A run grows trees on all rows (`subsample=1.0`) of a table of normal numbers that the workers, of one thread each, have
made and persisted. What it takes to begin, ingest and the first tree, is not counted. Each worker counts its exchanges
(swaps of messages with all others) and the bytes that it sends.

The formula, in seconds for a tree of L leaves, R rows, F features and P workers on C cores of one machine:

    a R F (1 + log2(L) / 2) / min(P, C) + r R / min(P, C) + l exchanges + b bytes + m messages

Coefficients are not negative, and are fitted to relative errors by least squares, on the runs with 2 and 4 workers
whose number of rows is the smallest or the largest; the others, all with 3 workers among them, are checked.
"""

import argparse
import itertools
import json
import os
import time
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy.optimize import nnls

WORKERS, ROWS, FEATURES, LEAVES = (2, 3, 4), (250_000, 1_000_000, 3_000_000), (8, 28), (31, 127)
N_TREES, N_PARTITIONS = 26, 12
KEY = ("workers", "rows", "features", "leaves")
TERMS = (
    "a: ns a row, feature and level",
    "r: ns a row",
    "l: ms an exchange",
    "b: ns a byte",
    "m: ms a message",
)
UNITS = (1e9, 1e9, 1e3, 1e9, 1e3)


def block(number: int, n_rows: int, n_features: int) -> Any:
    """The columns and the target of one partition, side by side."""
    rng = np.random.default_rng(number)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    score = X[:, 0] + X[:, 1] * X[:, 2] + np.where(X[:, 3] > 0.5, X[:, 4], -X[:, 5]) + np.sin(3 * X[:, 6])
    y = (score + rng.standard_normal(n_rows, dtype=np.float32) > 0).astype(np.float32)
    return np.column_stack([X, y])


def count_messages() -> None:
    """On a worker: count from now on."""
    from coterie.distributed.on_dask import connection

    kind: Any = connection.OpenGang
    kind.counted = [0, 0, 0]  # exchanges, messages, bytes
    if hasattr(kind, "swap_uncounted"):
        return
    kind.swap_uncounted = kind._swap

    def counting(self: Any, what: str, outgoing: Any) -> Any:
        others = [words for rank, words in enumerate(outgoing) if rank != self.rank]
        kind.counted[0] += 1
        kind.counted[1] += len(others)
        kind.counted[2] += sum(words.nbytes for words in others)
        return self.swap_uncounted(what, outgoing)

    kind._swap = counting


def counted() -> list[int]:
    """On a worker: exchanges, messages and bytes so far."""
    from coterie.distributed.on_dask import connection

    kind: Any = connection.OpenGang
    return list(kind.counted)


class Epochs:
    """Seconds of each epoch of a fit, and what workers have exchanged at its end."""

    def __init__(self, client: Any) -> None:
        from coterie.distributed.on_dask.gang import DaskGang

        self.ends: list[tuple[float, list[list[int]]]] = []
        self._kind: Any = DaskGang
        self._advance, self._client = DaskGang.advance, client

    def __enter__(self) -> Self:
        advance = self._advance

        def timed(gang: Any, *given: Any) -> Any:
            begin = time.perf_counter()
            found = advance(gang, *given)
            seconds = time.perf_counter() - begin
            self.ends.append((seconds, list(self._client.run(counted).values())))
            return found

        self._kind.advance = timed
        return self

    def __exit__(self, *_: object) -> None:
        self._kind.advance = self._advance


def run(client: Any, n_rows: int, n_features: int, n_leaves: int) -> dict[str, Any]:
    """One fit: the first tree begins it, the second epoch has all others."""
    import dask
    import dask.array as da
    from distributed import wait

    import coterie

    make = dask.delayed(block)
    edges = [n_rows * place // N_PARTITIONS for place in range(N_PARTITIONS + 1)]
    parts = [
        da.from_delayed(
            make(number, end - begin, n_features), (end - begin, n_features + 1), dtype=np.float32
        )
        for number, (begin, end) in enumerate(itertools.pairwise(edges))
    ]
    table = da.concatenate(parts)
    X, y = table[:, :-1].persist(), table[:, -1].astype(np.int64).persist()
    wait([X, y])
    client.run(count_messages)
    model = coterie.GradientBoostingClassifier(
        n_estimators=N_TREES, max_leaf_nodes=n_leaves, subsample=1.0, random_state=0
    )
    with coterie.cluster_settings(epoch_seconds=1000.0), Epochs(client) as epochs:
        model.fit(X, y)
    (_, before), (seconds, after) = epochs.ends[0], epochs.ends[-1]
    if len(epochs.ends) != 2:
        raise RuntimeError(f"The fit has taken {len(epochs.ends)} epochs instead of 2: a worker was lost.")
    n_trees = N_TREES - 1
    exchanges, messages, n_bytes = (np.array(after).max(axis=0) - np.array(before).max(axis=0)) / n_trees
    return {
        "seconds": seconds / n_trees,
        "exchanges": exchanges,
        "messages": messages,
        "bytes": n_bytes,
    }


def measure(path: Path, at_most: int | None) -> None:
    from distributed import Client, LocalCluster

    done = {tuple(each[name] for name in KEY) for each in runs_of(path)}
    missing = [key for key in itertools.product(WORKERS, ROWS, FEATURES, LEAVES) if key not in done][:at_most]
    for n_workers, keys in itertools.groupby(missing, key=lambda key: key[0]):
        with (
            LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0
            ) as cluster,
            Client(cluster) as client,
        ):
            run(client, 20_000, 8, 31)  # imports
            for key in keys:
                found = dict(zip(KEY, key, strict=True)) | {"cores": cores()} | run(client, *key[1:])
                with path.open("a") as file:
                    file.write(json.dumps(found) + "\n")
                print(json.dumps(found), flush=True)


def cores() -> int:
    return len(os.sched_getaffinity(0))


def runs_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def terms(found: dict[str, Any]) -> list[float]:
    """What each coefficient is multiplied by."""
    at_once = min(found["workers"], found["cores"])
    rows = found["rows"] / at_once
    visits = rows * found["features"] * (1 + np.log2(found["leaves"]) / 2)
    return [visits, rows, found["exchanges"], found["bytes"], found["messages"]]


def is_fitted_to(found: dict[str, Any], rows: list[int]) -> bool:
    return found["workers"] != 3 and found["rows"] in (min(rows), max(rows))


def fit(path: Path) -> None:
    found = runs_of(path)
    rows = sorted({each["rows"] for each in found})
    X, y = np.array([terms(each) for each in found]), np.array([each["seconds"] for each in found])
    known = np.array([is_fitted_to(each, rows) for each in found])
    scale = np.abs(X[known]).max(axis=0)
    weights, _ = nnls(X[known] / scale / y[known, None], np.ones(known.sum()))
    coefficients = weights / scale
    print(f"fitted to {known.sum()} runs, checked on {(~known).sum()}, {found[0]['cores']} cores")
    for name, coefficient, unit in zip(TERMS, coefficients, UNITS, strict=True):
        print(f"  {name}: {coefficient * unit:.4g}")
    print(
        "\n| workers | rows | features | leaves | exchanges | MB | measured, ms | formula, ms | |\n"
        + "|---" * 9
        + "|"
    )
    predicted = X @ coefficients
    for each, own, measured, is_known in zip(found, predicted, y, known, strict=True):
        numbers = [
            each["workers"],
            each["rows"],
            each["features"],
            each["leaves"],
            round(each["exchanges"], 1),
        ]
        numbers += [round(each["bytes"] / 1e6, 2), round(1e3 * measured, 1), round(1e3 * own, 1)]
        shown = "fitted" if is_known else f"{100 * (own / measured - 1):+.0f} %"
        print("| " + " | ".join(map(str, [*numbers, shown])) + " |")
    for n_workers in WORKERS:
        own = ~known & np.array([each["workers"] == n_workers for each in found])
        if own.any():
            errors = np.abs(predicted[own] / y[own] - 1)
            print(
                f"checked with {n_workers} workers: {own.sum()} runs, off by {100 * np.median(errors):.0f} % (median), "
                f"{100 * errors.max():.0f} % at most"
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", type=int, help="at most so many runs")
    parser.add_argument("--fit", action="store_true", help="run nothing")
    given = parser.parse_args()
    if not given.fit:
        measure(given.file, given.only)
    fit(given.file)


if __name__ == "__main__":
    main()
