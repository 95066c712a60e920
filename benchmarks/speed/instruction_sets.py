"""How much slower the engine is with fewer instructions of the processor: generic kernels beside those of AVX2.

    python benchmarks/speed/instruction_sets.py [--rows 200000] [--features 28] [--trees 50] [--threads 2] [--repeats 5]

The engine chooses its kernels when it is loaded, so each set has a process of its own (COTERIE_ISA). Runs are
interleaved; the shortest of each is shown, with its ratio to AVX2.
"""

import argparse
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

SETS = ("avx2", "generic")


def seconds_of(task: Callable[[], Any]) -> float:
    begin = perf_counter()
    task()
    return perf_counter() - begin


def work(options: argparse.Namespace) -> None:
    """Reads a line for each turn and answers with the seconds of every job and a hash of what was predicted."""
    from coterie import GradientBoostingClassifier, RandomForestClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(options.rows, options.features)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=options.rows) > 0).astype(np.int64)
    common = {"n_estimators": options.trees, "random_state": 0, "n_jobs": options.threads}
    boosting = GradientBoostingClassifier(**common)
    forest = RandomForestClassifier(**common)
    for _ in sys.stdin:
        seconds = [
            seconds_of(lambda: boosting.fit(X, y)),
            seconds_of(lambda: forest.fit(X, y)),
            seconds_of(lambda: boosting.predict_proba(X)),
            seconds_of(lambda: forest.predict_proba(X)),
        ]
        bits = boosting.predict_proba(X[:1000]).tobytes() + forest.predict_proba(X[:1000]).tobytes()
        print(*seconds, hashlib.sha256(bits).hexdigest(), flush=True)


JOBS = ("boosting fit", "forest fit", "boosting predict", "forest predict")


def start(instructions: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, __file__, "--worker", *sys.argv[1:]],
        env={**os.environ, "COTERIE_ISA": instructions},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def ask(worker: subprocess.Popen[str]) -> list[str]:
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write("go\n")
    worker.stdin.flush()
    return worker.stdout.readline().split()


def compare(options: argparse.Namespace) -> None:
    workers = {name: start(name) for name in SETS}
    answers: dict[str, list[list[str]]] = {name: [] for name in SETS}
    for _ in range(options.repeats):
        for name, worker in workers.items():
            answers[name].append(ask(worker))
    for worker in workers.values():
        worker.communicate()
    hashes = {answer[-1] for each in answers.values() for answer in each}
    print(
        f"{options.rows:,} x {options.features}, {options.trees} trees, {options.threads} threads, ", end=""
    )
    print(f"best of {options.repeats}")
    for job, title in enumerate(JOBS):
        fast, slow = (min(float(answer[job]) for answer in answers[name]) for name in SETS)
        print(f"{title:18} AVX2 {fast:8.3f} s   generic {slow:8.3f} s   {slow / fast:.2f} times")
    print("the same bits" if len(hashes) == 1 else f"DIFFERENT PREDICTIONS: {sorted(hashes)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=28)
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    (work if options.worker else compare)(options)


if __name__ == "__main__":
    main()
