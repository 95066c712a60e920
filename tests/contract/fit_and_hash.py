"""Run as a program: fit every estimator with several numbers of threads, and print the hash of each model.

    python -m tests.contract.fit_and_hash N_JOBS [N_JOBS ...]

One line per model: its name, table, threads, hash. The last line says which kernels ran and how many threads
the engine may use.
"""

import sys

from coterie import _engine
from tests.contract.estimators import ESTIMATORS, fingerprint, has, make, random_table

# Boosting with lines in its leaves adds floats, row by row; everything else adds whole numbers.
VARIANTS = {"": {}, "+lines": {"linear_leaves": True}}
MODELS = {
    estimator.__name__ + name: (estimator, settings)
    for estimator in ESTIMATORS
    for name, settings in VARIANTS.items()
    if has(estimator, *settings)
}

# The large table is above the 65,536 rows from which cells do not count; the wide one has many tiles.
TABLES = {"large": (100_000, 8), "wide": (20_000, 30)}


def main() -> None:
    for name, (estimator, settings) in MODELS.items():
        for table, shape in TABLES.items():
            X, y = random_table(estimator, *shape)
            X[::7, 2] = float("nan")
            for n_jobs in map(int, sys.argv[1:]):
                model = make(
                    estimator, n_estimators=2, max_depth=6, max_features=0.9, n_jobs=n_jobs, **settings
                )
                sys.stdout.write(f"{name} {table} {n_jobs} {fingerprint(model.fit(X, y))}\n")
    sys.stdout.write(f"{_engine.instruction_set()} {_engine.available_threads()}\n")


if __name__ == "__main__":
    main()
