"""The same bits for any number of threads, for both instruction sets, and whatever else runs."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.estimators import (
    ESTIMATORS,
    NETWORKS,
    OF_COPIES,
    OF_MEMBERS,
    OF_PORTFOLIOS,
    answers,
    fingerprint,
    make,
    random_table,
)
from tests.helpers.fit_and_hash import MODELS, TABLES

ROOT = Path(__file__).parents[2]
JOBS = ["1", "2", "3", "8"]


def hashes(jobs: list[str], **environment: str) -> tuple[dict[tuple[str, ...], str], list[str]]:
    """Hash by (model, table, threads); then the kernels in use and the threads allowed."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.helpers.fit_and_hash", *jobs],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    *models, engine = [line.split() for line in run.stdout.splitlines()]
    return {tuple(words[:3]): words[3] for words in models}, engine


@pytest.fixture(scope="module")
def many_threads() -> dict[tuple[str, ...], str]:
    models, (_, threads) = hashes(JOBS, COTERIE_NUM_THREADS="8")
    assert threads == "8"
    return models


@pytest.fixture(scope="module")
def plain_kernels() -> dict[tuple[str, ...], str]:
    models, (kernels, _) = hashes(["2"], COTERIE_ISA="generic")
    assert kernels == "generic"
    return models


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("model", MODELS)
def test_threads_do_not_change_a_bit(
    model: str, table: str, many_threads: dict[tuple[str, ...], str]
) -> None:
    digests = [many_threads[model, table, n_jobs] for n_jobs in JOBS]
    assert len(set(digests)) == 1, digests


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("model", MODELS)
def test_instruction_sets_do_not_change_a_bit(
    model: str,
    table: str,
    many_threads: dict[tuple[str, ...], str],
    plain_kernels: dict[tuple[str, ...], str],
) -> None:
    assert many_threads[model, table, "2"] == plain_kernels[model, table, "2"]


def test_lines_are_another_model(many_threads: dict[tuple[str, ...], str]) -> None:
    lines = [name for name in MODELS if name.endswith("+lines")]

    assert len(lines) == 2
    for name in lines:
        assert many_threads[name, "wide", "1"] != many_threads[name.removesuffix("+lines"), "wide", "1"]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_hash_tells_models_apart(estimator: type[Any]) -> None:
    X, y = random_table(estimator)
    model = make(estimator).fit(X, y)

    assert fingerprint(model) == fingerprint(make(estimator).fit(X, y))
    assert fingerprint(model) != fingerprint(make(estimator).fit(X[:-8], y[:-8]))


@pytest.mark.parametrize("estimator", OF_MEMBERS + OF_COPIES + OF_PORTFOLIOS)
def test_jobs_do_not_change_a_bit_of_members(estimator: type[Any]) -> None:
    X, y = random_table(estimator, 3_000, 12)
    models = [
        make(estimator, n_estimators=2, max_depth=6, n_jobs=n_jobs).fit(X, y) for n_jobs in (None, 1, 2, 8)
    ]

    assert len({fingerprint(model) for model in models}) == 1
    assert len({answers(model, X).tobytes() for model in models}) == 1


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_fits_in_four_threads_at_once_are_the_fits_alone(estimator: type[Any]) -> None:
    # Members are fitted several times, and epochs are loops of Python.
    n_rows = 500 if estimator in OF_MEMBERS + OF_PORTFOLIOS + NETWORKS else 4_000
    tables = [random_table(estimator, n_rows, 12, seed) for seed in range(8)]
    alone = [fingerprint(make(estimator, n_jobs=2).fit(X, y)) for X, y in tables]

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda table: fingerprint(make(estimator, n_jobs=2).fit(*table)), tables))

    assert together == alone


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_one_model_answers_many_threads_at_once(estimator: type[Any]) -> None:
    X, y = random_table(estimator, 500, 6)
    model = make(estimator).fit(X, y)
    expected = answers(model, X)

    with ThreadPoolExecutor(8) as pool:
        given = list(pool.map(lambda _: answers(model, X), range(100)))

    assert all(np.array_equal(each, expected) for each in given)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_same_seed_gives_the_same_model_and_another_fit_does_not_disturb_it(estimator: type[Any]) -> None:
    X, y = random_table(estimator, 200)
    first = fingerprint(make(estimator, max_features=0.5, random_state=3).fit(X, y))
    make(estimator, max_features=0.5, random_state=4).fit(X, y)

    assert fingerprint(make(estimator, max_features=0.5, random_state=3).fit(X, y)) == first
