"""Python threads that fit, predict, save and load at once, with the interpreter's lock or without: nothing differs.

Threads begin together, and the interpreter switches between them as often as it can, so that a race has its chance.
Without a lock (Python 3.14t) they do run at once; the bindings release it while the engine works in any case.
"""

import io
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from coterie import load, save
from tests.helpers.estimators import ESTIMATORS, OF_ENGINE, answers, fingerprint, make, random_table

N_THREADS = 6
N_TURNS = 4
LONGEST = 120  # seconds; only a guard against threads that wait for each other


@pytest.fixture(autouse=True)
def many_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(*tasks: Callable[[], Any]) -> list[list[Any]]:
    """The results of each task, in N_TURNS turns of a thread each; all threads begin a turn together."""
    barrier = threading.Barrier(len(tasks), timeout=LONGEST)
    results: list[list[Any]] = [[] for _ in tasks]
    failures: list[BaseException] = []

    def work(task: Callable[[], Any], into: list[Any]) -> None:
        try:
            for _ in range(N_TURNS):
                barrier.wait()
                into.append(task())
        except BaseException as error:
            failures.append(error)
            barrier.abort()

    threads = [
        threading.Thread(target=work, args=pair, daemon=True) for pair in zip(tasks, results, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONGEST)
    assert not failures, failures
    assert not any(thread.is_alive() for thread in threads)
    return results


def copy_by_file(model: Any) -> Any:
    file = io.BytesIO()
    save(model, file)
    file.seek(0)
    return load(file)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_threads_fit_and_predict_at_once(estimator: type[Any]) -> None:
    X, y = random_table(estimator, 200, 6)
    model = make(estimator, n_jobs=2).fit(X, y)
    expected, trees = answers(model, X), fingerprint(model)

    def fit() -> bool:
        return fingerprint(make(estimator, n_jobs=2).fit(X, y)) == trees

    def predict() -> bool:
        return np.array_equal(answers(model, X), expected)

    def store() -> bool:
        return np.array_equal(answers(copy_by_file(model), X), expected)

    def explore() -> bool:
        return np.array_equal(answers(pickle.loads(pickle.dumps(model)), X[:7]), expected[:7])

    results = at_once(fit, predict, store, explore, predict, fit)

    assert results == [[True] * N_TURNS] * N_THREADS


@pytest.mark.parametrize("estimator", OF_ENGINE)
def test_the_first_predictions_of_a_model_may_come_at_once(estimator: type[Any]) -> None:
    """What a model computes at its first prediction and keeps, every thread finds missing."""
    X, y = random_table(estimator, 300, 6)
    model = make(estimator, n_estimators=20).fit(X, y)
    stored = pickle.dumps(model)
    expected = answers(model, X)
    fresh = [pickle.loads(stored) for _ in range(N_TURNS)]
    turns = [iter(fresh) for _ in range(N_THREADS)]

    results = at_once(*(lambda turn=turn: np.array_equal(answers(next(turn), X), expected) for turn in turns))

    assert results == [[True] * N_TURNS] * N_THREADS


def test_a_failure_in_one_thread_is_seen() -> None:
    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(AssertionError, match="no"):
        at_once(fail, lambda: None)
