"""Forks, pools and grid searches: nothing hangs, nothing differs, and threads do not multiply."""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.helpers import estimators
from tests.helpers.estimators import (
    ESTIMATORS,
    OF_ENGINE,
    WITHOUT_TARGET,
    fingerprint,
    make,
    no_score,
    random_table,
    two_sizes,
)

ROOT = Path(__file__).parents[2]
HANG = 120  # seconds; only a guard


each_group = pytest.mark.parametrize(
    "group", ["OF_TREES", pytest.param("OF_LEARNERS", marks=pytest.mark.slow)]
)


def run(group: str, body: str) -> dict[str, str]:
    """What `probe(estimator)` returns for each of a group, by name, in a process of its own with two threads."""
    start = f"""\
        import multiprocessing, os, signal, threading
        import numpy
        from tests.helpers.estimators import {group}, answers, fingerprint, make, random_table
        def n_tasks():
            return len(os.listdir("/proc/self/task"))
        """
    end = f"""
        for estimator in {group}:
            print(estimator.__name__, probe(estimator), flush=True)
        """
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore::DeprecationWarning",
            "-c",
            dedent(start) + dedent(body) + dedent(end),
        ],
        cwd=ROOT,
        env={**os.environ, "COTERIE_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    results = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert set(results) == {estimator.__name__ for estimator in getattr(estimators, group)}
    return results


@each_group
def test_a_fork_after_a_threaded_fit_fits_the_same_model(group: str) -> None:
    results = run(
        group,
        """
        def child(estimator):
            X, y = random_table(estimator, 20_000, 12)
            model = make(estimator, n_estimators=2, max_depth=5, n_jobs=2).fit(X, y)
            answers(model, X)
            return fingerprint(model)
        def probe(estimator):
            expected = child(estimator)
            pid = os.fork()
            if pid == 0:
                os._exit(0 if child(estimator) == expected else 1)
            same = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
            with multiprocessing.get_context("fork").Pool(4) as pool:
                return same and set(pool.map(child, [estimator] * 4)) == {expected}
        """,
    )
    assert set(results.values()) == {"True"}, results


@each_group
def test_a_fit_starts_no_more_threads_than_cores(group: str) -> None:
    """With two threads allowed the caller needs one helper, however many are asked for."""
    results = run(
        group,
        """
        before = n_tasks()
        def probe(estimator):
            X, y = random_table(estimator, 20_000, 12)
            more = []
            for n_jobs in (2, 64, -1, None):
                make(estimator, n_estimators=2, max_depth=5, n_jobs=n_jobs).fit(X, y)
                more.append(n_tasks() - before)
            return max(more)
        """,
    )
    assert max(map(int, results.values())) <= 1, results


@each_group
def test_an_interrupted_fit_says_so_leaves_nothing_and_can_be_repeated(group: str) -> None:
    results = run(
        group,
        """
        # Shells tell what they run in the background to ignore it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        X = numpy.random.default_rng(0).random((600_000, 40))
        y = (X[:, 0] + X[:, 1] ** 2 > 0.8) + (X[:, 2] > 0.5)
        def probe(estimator):
            small = random_table(estimator, 5_000, 12)
            expected = fingerprint(make(estimator, n_jobs=2).fit(*small))
            model = make(estimator, n_estimators=100_000, n_jobs=2)
            before, caught = n_tasks(), 0
            for delay in (0.05, 0.25):
                timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
                timer.start()
                try:
                    model.fit(X, y)
                except KeyboardInterrupt:
                    caught += 1
                timer.join()
            again = fingerprint(model.set_params(**make(estimator).get_params()).fit(*small))
            return caught, n_tasks() - before, again == expected
        """,
    )
    assert set(results.values()) == {"(2, 0, True)"}, results


def fit_in_worker(estimator: type[Any], seed: int) -> tuple[str, int]:
    """For a worker: the model's hash, and the threads of the process that the fit added."""
    before = len(os.listdir("/proc/self/task"))
    model = make(estimator, n_jobs=2).fit(*random_table(estimator, 5_000, 12, seed))
    return fingerprint(model), len(os.listdir("/proc/self/task")) - before


@pytest.mark.filterwarnings("ignore")
def test_fits_inside_joblib_workers_are_the_fits_outside() -> None:
    from joblib import Parallel, delayed

    cores = multiprocessing.cpu_count()
    jobs = [(estimator, seed) for estimator in OF_ENGINE for seed in range(2)]

    inside = Parallel(n_jobs=2, timeout=HANG)(delayed(fit_in_worker)(*job) for job in jobs)

    assert [digest for digest, _ in inside] == [fit_in_worker(*job)[0] for job in jobs]
    assert max(threads for _, threads in inside) <= cores - 1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_grid_search_in_two_processes_finds_what_one_finds(estimator: type[Any]) -> None:
    from sklearn.model_selection import GridSearchCV

    X, y = random_table(estimator, 300)
    grid = two_sizes(estimator)

    alone, together = (
        GridSearchCV(
            make(estimator, n_jobs=2),
            grid,
            cv=3,
            n_jobs=n,
            scoring=no_score if estimator in WITHOUT_TARGET else None,
        ).fit(X, y)
        for n in (1, 2)
    )

    assert alone.best_params_ == together.best_params_
    assert list(alone.cv_results_["mean_test_score"]) == list(together.cv_results_["mean_test_score"])
    assert fingerprint(alone.best_estimator_) == fingerprint(together.best_estimator_)
