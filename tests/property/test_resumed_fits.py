"""Whatever the parameters, the weights and the moment: a fit that is killed and goes on ends with the same bits."""

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import coterie
from coterie import Checkpoint
from tests.helpers.checkpoints import bits, killed_after

QUICK = settings(
    max_examples=8, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
SEEDS = st.integers(0, 999)
MOMENTS = st.integers(0, 7)


def same_bits(make: Any, moment: int, every: int, *data: Any) -> bool:
    """Whether a model is the same if its fit is killed after so many parts."""
    with tempfile.TemporaryDirectory() as name, np.errstate(all="ignore"):
        folder = Path(name)
        fsync, os.fsync = os.fsync, lambda _: None
        try:
            with killed_after(moment):
                make(checkpoint=Checkpoint(folder, every=every)).fit(*data)
            resumed = make(checkpoint=Checkpoint(folder, every=every)).fit(*data, resume=True)
        finally:
            os.fsync = fsync
    return bits(resumed) == bits(make().fit(*data))


def lesson(seed: int, n_classes: int) -> tuple[Any, Any, Any]:
    """A few rows with ties, missing values and categories, a target and weights."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(12, 50))
    X = {f"x{i}": rng.normal(size=n_rows).round(int(rng.integers(0, 3))) for i in range(3)}
    X["x0"][rng.random(n_rows) < 0.1] = np.nan
    X["word"] = np.array(["a", "b", "c", "d"], dtype=object)[rng.integers(0, 4, n_rows)]
    y = rng.normal(size=n_rows).round(1) if n_classes == 0 else np.arange(n_rows) % n_classes
    weight = None if seed % 2 else rng.integers(0, 4, n_rows) + 0.5 * (seed % 3)
    return X, y, weight if weight is None else weight + (np.arange(n_rows) < 8)


@QUICK
@given(
    seed=SEEDS,
    moment=MOMENTS,
    every=st.integers(1, 3),
    n_classes=st.sampled_from([0, 2, 3]),
    subsample=st.sampled_from([0.5, 1.0]),
    sampling=st.sampled_from(["uniform", "gradient_based"]),
    columns=st.sampled_from([0.5, 1.0]),
    dropout=st.sampled_from([0.0, 0.3]),
    n_folds=st.integers(1, 2),
    growth=st.sampled_from(["leaf", "level", "oblivious"]),
    early=st.booleans(),
)
def test_boosting(
    seed: int,
    moment: int,
    every: int,
    n_classes: int,
    subsample: float,
    sampling: str,
    columns: float,
    dropout: float,
    n_folds: int,
    growth: str,
    early: bool,
) -> None:
    cls = coterie.GradientBoostingClassifier if n_classes else coterie.GradientBoostingRegressor

    def make(**more: Any) -> Any:
        return cls(
            n_estimators=7,
            subsample=subsample,
            sampling_method=sampling if subsample < 1 else "uniform",
            max_features=columns,
            dropout_rate=0.0 if early else dropout,
            n_folds=n_folds,
            growth=growth,
            early_stopping=early,
            n_iter_no_change=2,
            min_samples_leaf=2,
            random_state=seed,
            n_jobs=1,
            **more,
        )

    assert same_bits(make, moment, every, *lesson(seed, n_classes))


@QUICK
@given(
    seed=SEEDS,
    moment=MOMENTS,
    every=st.integers(1, 3),
    n_classes=st.sampled_from([0, 2, 3]),
    bootstrap=st.sampled_from([True, False, "partition"]),
    samples=st.sampled_from([None, 0.5]),
    prune=st.sampled_from([None, "oob"]),
    extra=st.booleans(),
)
def test_forests(
    seed: int,
    moment: int,
    every: int,
    n_classes: int,
    bootstrap: Any,
    samples: float | None,
    prune: str | None,
    extra: bool,
) -> None:
    cls: Any = {
        (True, True): coterie.ExtraTreesClassifier,
        (True, False): coterie.ExtraTreesRegressor,
        (False, True): coterie.RandomForestClassifier,
        (False, False): coterie.RandomForestRegressor,
    }[extra, n_classes > 0]
    leaves_rows_out = bootstrap is True or samples is not None

    def make(**more: Any) -> Any:
        return cls(
            7,
            bootstrap=bootstrap if samples is not None or bootstrap != "partition" else True,
            max_samples=samples,
            prune=prune if leaves_rows_out else None,
            random_state=seed,
            n_jobs=1,
            **more,
        )

    assert same_bits(make, moment, every, *lesson(seed, n_classes))


@QUICK
@given(
    seed=SEEDS,
    moment=MOMENTS,
    every=st.integers(1, 3),
    n_classes=st.sampled_from([2, 3]),
    algorithm=st.sampled_from(["samme", "confidence", "real", "gentle"]),
    method=st.sampled_from(["reweight", "resample"]),
    on_weak=st.sampled_from(["flip", "stop"]),
    corrective=st.sampled_from([None, "exponential"]),
)
def test_adaboost(
    seed: int,
    moment: int,
    every: int,
    n_classes: int,
    algorithm: str,
    method: str,
    on_weak: str,
    corrective: str | None,
) -> None:
    def make(**more: Any) -> Any:
        return coterie.AdaBoostClassifier(
            n_estimators=7,
            algorithm=algorithm,
            method=method,
            on_weak=on_weak,
            corrective=corrective,
            random_state=seed,
            n_jobs=1,
            **more,
        )

    assert same_bits(make, moment, every, *lesson(seed, n_classes))
