"""Processes that fit are killed, as the system kills them, at random moments; another goes on from what they left."""

import multiprocessing
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coterie
from coterie import Checkpoint
from tests.helpers.checkpoints import bits, parts_in, timeless

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1500, 8))
Y = X[:, 0] + X[:, 1] ** 2 + RNG.normal(size=1500)
LABELS = np.digitize(Y, [0.0, 1.0, 2.0])
PATIENCE = 300.0  # seconds until a process is thought to be stuck

# By name: a class, its parameters, the target, and how many parts a fit writes.
FITS: dict[str, tuple[type[Any], dict[str, Any], Any, int]] = {
    "boosting": (
        coterie.GradientBoostingClassifier,
        {"n_estimators": 40, "subsample": 0.5, "max_features": 0.5, "n_jobs": 2},
        LABELS,
        40,
    ),
    "boosting by the recipe": (
        coterie.GradientBoostingRegressor,
        {"n_iter_no_change": 10, "learning_rate": 0.3, "n_jobs": 2},
        Y,
        3,
    ),
    "forest": (coterie.RandomForestRegressor, {"n_estimators": 40, "n_jobs": 2}, Y, 40),
    "AdaBoost": (coterie.AdaBoostClassifier, {"n_estimators": 60, "method": "resample"}, LABELS, 60),
}
PORTFOLIO = ["linear", "boosting", "extra_trees", "neighbors", "forest"]


def fit(name: str, folder: Path | None, resume: bool) -> Any:
    checkpoint = None if folder is None else Checkpoint(folder, every=1)
    if name == "committee":
        model = coterie.CommitteeRegressor(
            None, portfolio=PORTFOLIO, cv=2, random_state=0, n_jobs=2, checkpoint=checkpoint
        )
        return model.fit(X[:300], Y[:300], resume=resume)
    cls, params, target, _ = FITS[name]
    return cls(random_state=0, checkpoint=checkpoint, **params).fit(X, target, resume=resume)


def kill_a_fit(name: str, folder: Path, n_parts: int, pause: float, resume: bool = False) -> bool:
    """Kill it a moment after so many parts were written; False if it was done by then."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.fitting.test_killed_fits"])
    process = context.Process(target=fit, args=(name, folder, resume))
    process.start()
    until = time.monotonic() + PATIENCE
    while process.is_alive() and (not folder.is_dir() or len(parts_in(folder)) < n_parts):
        assert time.monotonic() < until
        time.sleep(0.001)
    time.sleep(pause)
    process.kill()
    process.join()
    return process.exitcode == -9


@pytest.mark.slow
@pytest.mark.parametrize("name", FITS)
def test_after_any_of_twenty_kills_the_bits_are_the_same(name: str, tmp_path: Path) -> None:
    whole = bits(fit(name, None, resume=False))
    rng = np.random.default_rng(len(name))
    n_killed = 0
    for moment in range(20):
        folder = tmp_path / str(moment)
        n_parts = int(rng.integers(0, FITS[name][3]))
        n_killed += kill_a_fit(name, folder, n_parts, float(rng.uniform(0, 0.05)))
        if moment % 4 == 0:  # and once more
            kill_a_fit(name, folder, n_parts + 1, float(rng.uniform(0, 0.05)), resume=True)

        assert bits(fit(name, folder, resume=True)) == whole, f"killed after {n_parts} parts"
    assert n_killed >= 10


@pytest.mark.slow
def test_after_any_of_ten_kills_the_committee_is_the_same(tmp_path: Path) -> None:
    whole = timeless(fit("committee", None, resume=False))
    rng = np.random.default_rng(5)
    n_killed = 0
    for moment in range(10):
        folder = tmp_path / str(moment)
        n_parts = int(rng.integers(0, 4))
        n_killed += kill_a_fit("committee", folder, n_parts, float(rng.uniform(0, 0.3)))

        assert timeless(fit("committee", folder, resume=True)) == whole, f"killed after {n_parts} parts"
    assert n_killed >= 5
