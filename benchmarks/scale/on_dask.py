"""Boosting on a cluster of Dask on one machine: ours, XGBoost's and LightGBM's, and ours in one process.

    python on_dask.py 4000000 --peers /path/to/python   # all ways, one after the other; the peers by another Python
    python on_dask.py 4000000 --ways coterie alone      # some of them
    python on_dask.py 20000000 --ways coterie alone --trees 30

Every way grows 100 trees of 31 leaves with 255 bins on all rows of 28 float32 columns, in a process of its own that
starts a cluster of 2 workers of one thread. The rows are made by the workers and persisted before the clock starts.
`alone` is our fit in one process with as many threads.

A line of JSON for each way: seconds of the fit, seconds of the trees (the fit minus a fit of one tree), the peak memory
of a worker in GiB (RssAnon, read every 20 ms), and a digest of predictions. The price of being distributed is the
seconds of trees of `coterie` over those of `alone`. At 20 million rows the table takes 2.3 GB, once: in one process, or
in both workers together.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

N_COLUMNS = 28
WAYS = ("alone", "coterie", "xgboost", "lightgbm")


def block(number: int, n_rows: int) -> Any:
    """The columns and the target of one partition, side by side."""
    rng = np.random.default_rng(number)
    X = rng.standard_normal((n_rows, N_COLUMNS), dtype=np.float32)
    score = X[:, 0] + X[:, 1] * X[:, 2] + np.where(X[:, 3] > 0.5, X[:, 4], -X[:, 5]) + np.sin(3 * X[:, 6])
    y = (score + rng.standard_normal(n_rows, dtype=np.float32) > 0).astype(np.float32)
    return np.column_stack([X, y])


def sizes(n_rows: int, n_partitions: int) -> list[int]:
    edges = [n_rows * place // n_partitions for place in range(n_partitions + 1)]
    return [edges[place + 1] - edges[place] for place in range(n_partitions)]


class Holder:
    """Where a process keeps its peak; on a cluster the worker itself, since functions of this file come by value."""


HERE: Any = Holder()


def watch_memory(dask_worker: Any = None) -> None:
    """Start to look at the memory of this process."""
    held = HERE if dask_worker is None else dask_worker
    held.peak_memory, held.is_measured = 0, False

    def look() -> None:
        while not held.is_measured:
            lines = Path("/proc/self/status").read_text().splitlines()
            anonymous = next(line for line in lines if line.startswith("RssAnon"))
            held.peak_memory = max(held.peak_memory, 1024 * int(anonymous.split()[1]))
            time.sleep(0.02)

    threading.Thread(target=look, daemon=True).start()


def peak_memory(dask_worker: Any = None) -> int:
    held = HERE if dask_worker is None else dask_worker
    held.is_measured = True
    return int(held.peak_memory)


def fit_coterie(n_trees: int, X: Any, y: Any, threads: int) -> Any:
    import coterie

    model = coterie.GradientBoostingClassifier(
        n_estimators=n_trees, subsample=1.0, random_state=0, n_jobs=threads
    )
    return model.fit(X, y)


def fit_xgboost(n_trees: int, X: Any, y: Any, _: int) -> Any:
    from xgboost import dask as on_dask

    model = on_dask.DaskXGBClassifier(
        n_estimators=n_trees,
        tree_method="hist",
        max_bin=255,
        max_leaves=31,
        max_depth=0,
        grow_policy="lossguide",
    )
    return model.fit(X, y)


def fit_lightgbm(n_trees: int, X: Any, y: Any, _: int) -> Any:
    from lightgbm import DaskLGBMClassifier

    return DaskLGBMClassifier(n_estimators=n_trees, num_leaves=31, max_bin=255, verbose=-1).fit(X, y)


FITS = {"coterie": fit_coterie, "alone": fit_coterie, "xgboost": fit_xgboost, "lightgbm": fit_lightgbm}


def timed(fit: Any, n_trees: int, X: Any, y: Any, threads: int) -> tuple[float, Any]:
    begin = time.perf_counter()
    model = fit(n_trees, X, y, threads)
    return time.perf_counter() - begin, model


def measured(way: str, n_rows: int, n_trees: int, n_workers: int, n_partitions: int) -> dict[str, Any]:
    fit, test = FITS[way], block(10**6, 10_000)[:, :-1]
    if way == "alone":
        X, y = np.empty((n_rows, N_COLUMNS), np.float32), np.empty(n_rows, np.int64)
        end = 0
        for number, size in enumerate(sizes(n_rows, n_partitions)):  # one copy, and one block
            begin, end = end, end + size
            part = block(number, size)
            X[begin:end], y[begin:end] = part[:, :-1], part[:, -1]
        timed(fit, 1, X, y, n_workers)  # imports
        first, _ = timed(fit, 1, X, y, n_workers)
        watch_memory()
        seconds, model = timed(fit, n_trees, X, y, n_workers)
        memory = peak_memory()
    else:
        seconds, first, memory, model = on_cluster(fit, n_rows, n_trees, n_workers, n_partitions)
    found = {"way": way, "rows": n_rows, "seconds": round(seconds, 2), "trees": round(seconds - first, 2)}
    found["gib"] = round(memory / 2**30, 2)
    if FITS[way] is fit_coterie:
        found["digest"] = hashlib.sha256(model.predict_proba(test).tobytes()).hexdigest()[:16]
    return found


def on_cluster(fit: Any, n_rows: int, n_trees: int, n_workers: int, n_partitions: int) -> tuple[Any, ...]:
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        make = dask.delayed(block)
        parts = [
            da.from_delayed(make(number, size), (size, N_COLUMNS + 1), dtype=np.float32)
            for number, size in enumerate(sizes(n_rows, n_partitions))
        ]
        table = da.concatenate(parts)
        X, y = table[:, :-1].persist(), table[:, -1].astype(np.int64).persist()
        wait([X, y])
        timed(fit, 1, X, y, 1)  # imports, on the workers too
        first, _ = timed(fit, 1, X, y, 1)
        client.run(watch_memory)
        seconds, model = timed(fit, n_trees, X, y, 1)
        memory = max(client.run(peak_memory).values())
        return seconds, first, memory, model


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", type=int)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--partitions", type=int, default=16)
    parser.add_argument("--peers", default=sys.executable, help="the Python that has the other libraries")
    parser.add_argument("--here", action="store_true", help="measure the one way in this process")
    given = parser.parse_args()
    if given.here:
        found = measured(given.ways[0], given.rows, given.trees, given.workers, given.partitions)
        print(json.dumps(found), flush=True)
        return
    for way in given.ways:
        python = given.peers if way in ("xgboost", "lightgbm") else sys.executable
        others = [f"--trees={given.trees}", f"--workers={given.workers}", f"--partitions={given.partitions}"]
        subprocess.run([python, __file__, str(given.rows), "--here", "--ways", way, *others], check=True)


if __name__ == "__main__":
    main()
