"""Boosting on a table of Parquet files: in memory, in batches, with bins in files, and by others.

    python larger_than_memory.py make /data/wide 20000000       # 20 float32 columns and a target, in files
    python larger_than_memory.py fit /data/wide 20000000 scan   # one line: seconds, nanoseconds a row, memory

Ways: `memory` (one table in memory), `scan`, `spill` (bins in mapped files beside the table), `xgboost`
(`ExtMemQuantileDMatrix`), `lightgbm` (`Sequence`). All grow 50 trees of 31 leaves with 255 bins on two threads; others
on all rows, ours on all rows or, with `--subsample auto`, on those of its default sampling. A file has a million rows.

Memory is the peak of RssAnon, the memory of the process that no file backs, read from /proc every 20 ms.
"""

import argparse
import json
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

ROWS_OF_A_FILE = 1_000_000
N_COLUMNS = 20


def make(folder: Path, n_rows: int) -> None:
    """Numbers with a target that takes many trees: sums, products and a threshold, with noise."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir(parents=True, exist_ok=True)
    for number in range((n_rows + ROWS_OF_A_FILE - 1) // ROWS_OF_A_FILE):
        path = folder / f"part-{number:04d}.parquet"
        if path.exists():
            continue
        rng = np.random.default_rng(number)
        X = rng.standard_normal((ROWS_OF_A_FILE, N_COLUMNS), dtype=np.float32)
        y = X[:, 0] + X[:, 1] * X[:, 2] + np.where(X[:, 3] > 0.5, X[:, 4], -X[:, 5]) + np.sin(3 * X[:, 6])
        y += rng.standard_normal(ROWS_OF_A_FILE, dtype=np.float32)
        columns = {f"x{i}": X[:, i].copy() for i in range(N_COLUMNS)} | {"y": y.astype(np.float32)}
        parquet.write_table(
            pa.table(columns), path, compression="none", use_dictionary=False, row_group_size=250_000
        )


def files_of(folder: Path, n_rows: int) -> list[str]:
    return [str(path) for path in sorted(folder.glob("part-*.parquet"))][: n_rows // ROWS_OF_A_FILE]


class PeakMemory(threading.Thread):
    """The largest RssAnon while it runs, in bytes."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self._done = 0, threading.Event()

    def run(self) -> None:
        while not self._done.wait(0.02):
            lines = Path("/proc/self/status").read_text().splitlines()
            anonymous = next(line for line in lines if line.startswith("RssAnon"))
            self.peak = max(self.peak, int(anonymous.split()[1]) * 1024)

    def end(self) -> int:
        self._done.set()
        self.join()
        return self.peak


def fit_ours(files: list[str], way: str, args: argparse.Namespace) -> Any:
    import coterie

    subsample = "auto" if args.subsample == "auto" else float(args.subsample)
    model = coterie.GradientBoostingRegressor(
        n_estimators=args.trees, max_leaf_nodes=31, subsample=subsample, n_jobs=args.threads, random_state=0
    )
    if way == "memory":
        from pyarrow import parquet

        table = parquet.read_table(files)
        begin = time.perf_counter()  # what is read already is not counted
        model.fit(table.drop(["y"]), table["y"])
        return model, time.perf_counter() - begin
    spill = Path(files[0]).parent if way == "spill" else None
    begin = time.perf_counter()
    model.fit(coterie.scan(files, target="y", spill=spill))
    return model, time.perf_counter() - begin


def fit_xgboost(files: list[str], args: argparse.Namespace) -> Any:
    import tempfile

    import xgboost
    from pyarrow import parquet

    class Batches(xgboost.DataIter):
        def __init__(self, cache: str) -> None:
            super().__init__(cache_prefix=cache)
            self.place = 0

        def next(self, input_data: Any) -> bool:
            if self.place == len(files):
                return False
            table = parquet.read_table(files[self.place])
            X = np.stack([table[f"x{i}"].to_numpy() for i in range(N_COLUMNS)], axis=1)
            input_data(data=X, label=table["y"].to_numpy())
            self.place += 1
            return True

        def reset(self) -> None:
            self.place = 0

    begin = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=Path(files[0]).parent) as cache:
        matrix = xgboost.ExtMemQuantileDMatrix(Batches(f"{cache}/cache"), max_bin=256, nthread=args.threads)
        params = {
            "tree_method": "hist",
            "grow_policy": "lossguide",
            "max_leaves": 31,
            "max_depth": 0,
            "eta": 0.1,
            "max_bin": 256,
            "nthread": args.threads,
        }
        model = xgboost.train(params, matrix, num_boost_round=args.trees)
        return model, time.perf_counter() - begin


def fit_lightgbm(files: list[str], args: argparse.Namespace) -> Any:
    import lightgbm
    from pyarrow import parquet

    held: dict[str, Any] = {}  # one file at a time

    class Rows(lightgbm.Sequence):  # type: ignore[misc]
        batch_size = 100_000

        def __init__(self, path: str) -> None:
            self.path = path
            self.n_rows = int(parquet.read_metadata(path).num_rows)

        def __getitem__(self, place: Any) -> Any:
            if self.path not in held:
                held.clear()
                table = parquet.read_table(self.path)
                held[self.path] = np.stack([table[f"x{i}"].to_numpy() for i in range(N_COLUMNS)], axis=1)
            return held[self.path][place].astype(np.float64)

        def __len__(self) -> int:
            return self.n_rows

    begin = time.perf_counter()
    y = np.concatenate([parquet.read_table(path, columns=["y"])["y"].to_numpy() for path in files])
    params = {
        "objective": "regression",
        "num_leaves": 31,
        "learning_rate": 0.1,
        "num_threads": args.threads,
        "verbosity": -1,
        "max_bin": 255,
    }
    data = lightgbm.Dataset([Rows(path) for path in files], label=y, params=params)
    model = lightgbm.train(params, data, num_boost_round=args.trees)
    return model, time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["make", "fit"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("rows", type=int)
    parser.add_argument(
        "way", nargs="?", default="scan", choices=["memory", "scan", "spill", "xgboost", "lightgbm"]
    )
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--subsample", default="1.0")
    args = parser.parse_args()
    if args.command == "make":
        make(args.folder, args.rows)
        return
    files = files_of(args.folder, args.rows)
    memory = PeakMemory()
    memory.start()
    if args.way == "xgboost":
        _, seconds = fit_xgboost(files, args)
    elif args.way == "lightgbm":
        _, seconds = fit_lightgbm(files, args)
    else:
        _, seconds = fit_ours(files, args.way, args)
    peak = memory.end()
    print(
        json.dumps(
            {
                "way": args.way,
                "rows": args.rows,
                "trees": args.trees,
                "subsample": args.subsample,
                "seconds": round(seconds, 2),
                "ns_per_row": round(seconds / args.rows * 1e9, 1),
                "rss_anon_gib": round(peak / 2**30, 3),
                "bytes_per_row": round(peak / args.rows, 1),
            }
        )
    )


if __name__ == "__main__":
    main()
