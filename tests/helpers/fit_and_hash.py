"""Run as a program: fit every estimator with several numbers of threads, and print the hash of each model.

    python -m tests.helpers.fit_and_hash N_JOBS [N_JOBS ...]

One line per model: its name, table, threads, hash. The last line says which kernels ran and how many threads
the engine may use.
"""

import sys
from typing import Any

from coterie import _engine
from tests.helpers.estimators import OF_ENGINE, fingerprint, has, make, random_table

# Options of boosting and of forests that draw, sum or share work in ways of their own. Lines add floats, all others
# whole numbers. "class_weight" is there to find the classifiers.
VARIANTS: dict[str, dict[str, Any]] = {
    "": {},
    "+lines": {"linear_leaves": True},
    "+oblivious": {"growth": "oblivious"},
    "+level": {"growth": "level", "leaf_penalty": 0.1, "split_noise": 1.0},
    "+mixed": {"growth": "mixed", "n_folds": 3, "early_stopping": True},
    "+smoothed": {"path_smoothing": 3.0, "l1_regularization": 0.5, "max_step": 0.5},
    "+drawn": {"max_features_per_tree": 0.7, "max_features_per_level": 0.7},
    "+uniform": {"subsample": 0.6, "sampling_method": "uniform"},
    "+gradient": {"subsample": 0.6, "sampling_method": "gradient_based"},
    "+bayesian": {"sampling_method": "bayesian"},
    "+dropout": {"dropout_rate": 0.5, "dropout_skip": 0.0},
    "+no-interactions": {"interaction_cst": "no_interactions"},
    "+drawn-rows": {"bootstrap": False, "max_samples": 0.3},
    "+parts": {"bootstrap": "partition", "max_samples": 0.2, "features_per": "tree"},
    "+balanced": {"bootstrap": "balanced", "class_weight": "balanced_subsample"},
    "+pruned": {"bootstrap": True, "prune": "oob", "ccp_alpha": 1e-4},
    "+few-leaves": {"bootstrap": True, "max_leaf_nodes": 12, "keep_rows": False},
}
MODELS = {
    estimator.__name__ + name: (estimator, settings)
    for estimator in OF_ENGINE  # those made of members have the bits of their members
    for name, settings in VARIANTS.items()
    if has(estimator, *settings)
}

# The large table is above the 65,536 rows from which cells do not count; the wide one has many tiles.
TABLES = {"large": (70_000, 8), "wide": (10_000, 30)}


def main() -> None:
    for name, (estimator, settings) in MODELS.items():
        for table, shape in TABLES.items():
            X, y = random_table(estimator, *shape)
            X[::7, 2] = float("nan")
            for n_jobs in map(int, sys.argv[1:]):
                own = {"max_features": 0.9, "max_epochs": 2, "n_jobs": n_jobs, **settings}
                model = make(estimator, n_estimators=2, max_depth=6, **own)
                sys.stdout.write(f"{name} {table} {n_jobs} {fingerprint(model.fit(X, y))}\n")
    sys.stdout.write(f"{_engine.instruction_set()} {_engine.available_threads()}\n")


if __name__ == "__main__":
    main()
