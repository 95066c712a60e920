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

import coterie
from coterie import load, save
from coterie.fitting.monitor import FitEvent, monitored
from tests.helpers.estimators import ESTIMATORS, OF_ENGINE, answers, fingerprint, make, random_table
from tests.helpers.oracles import needs_callbacks

# Filters of warnings belong to the process before Python 3.14: where two threads set them at once, as scikit-learn does
# in every parallel loop, it may find none, and says so.
pytestmark = pytest.mark.filterwarnings("ignore:`sklearn.utils.parallel.delayed` should be used:UserWarning")
# One of each family, those that the engine grows and those that fit learners in a loop of Python.
FAMILIES = [
    coterie.GradientBoostingClassifier,
    coterie.RandomForestRegressor,
    coterie.AdaBoostClassifier,
    coterie.DecisionTreeRegressor,
    coterie.BaggingClassifier,
    coterie.StackingRegressor,
    coterie.AnyBoostRegressor,
    coterie.CommitteeClassifier,
]
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


def test_different_ensembles_are_fitted_at_once() -> None:
    """They share the engine's threads, pools of memory and kernels; each gets the bits that it has alone."""
    tables = [random_table(estimator, 300, 5) for estimator in FAMILIES]
    alone = [fingerprint(make(each).fit(X, y)) for each, (X, y) in zip(FAMILIES, tables, strict=True)]

    results = at_once(
        *(
            lambda each=each, table=table: fingerprint(make(each, n_jobs=2).fit(*table))
            for each, table in zip(FAMILIES, tables, strict=True)
        )
    )

    assert results == [[own] * N_TURNS for own in alone]


def watched_fit(n_estimators: int, stop_after: int | None = None) -> tuple[list[int], int, str]:
    """The rounds that a monitor was told of, the rounds of the model, and the model."""
    rounds: list[int] = []

    def monitor(event: FitEvent) -> bool:
        rounds.append(event.done)
        return event.done == stop_after

    X, y = random_table(coterie.GradientBoostingRegressor, 200, 4)
    with monitored(monitor):
        model = make(coterie.GradientBoostingRegressor, n_estimators=n_estimators, n_jobs=2).fit(X, y)
    return rounds, model.n_estimators_, fingerprint(model)


def test_a_monitor_hears_of_the_fits_of_its_own_thread_alone_and_stops_no_other() -> None:
    asked = [(5, None), (20, 3), (12, None), (20, 7)]
    alone = [watched_fit(*each) for each in asked]
    assert [rounds for rounds, _, _ in alone] == [list(range(1, n + 1)) for n in (5, 3, 12, 7)]
    assert [n_estimators for _, n_estimators, _ in alone] == [5, 3, 12, 7]

    results = at_once(*(lambda each=each: watched_fit(*each) for each in asked))

    assert results == [[own] * N_TURNS for own in alone]


class Rounds:
    """A callback of scikit-learn that keeps what the model of each round predicts."""

    def __init__(self) -> None:
        self.answers: list[bytes] = []

    def setup(self, estimator: Any, context: Any) -> None: ...

    def teardown(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_end(self, estimator: Any, context: Any, *, X: Any, fitted_estimator: Any) -> None:
        if context.parent is not None and fitted_estimator is not None:
            self.answers.append(answers(fitted_estimator, X).tobytes())


@needs_callbacks
def test_callbacks_see_the_models_of_their_own_fits() -> None:
    chosen = [
        coterie.GradientBoostingClassifier,
        coterie.GradientBoostingRegressor,
        coterie.AdaBoostClassifier,
    ]

    def fit(estimator: type[Any], seed: int) -> list[bytes]:
        watcher = Rounds()
        make(estimator, n_jobs=2).set_callbacks(watcher).fit(*random_table(estimator, 150, 4, seed))
        return watcher.answers

    asked = [(estimator, seed) for estimator in chosen for seed in (0, 1)]
    alone = [fit(*each) for each in asked]
    assert all(len(seen) == 5 for seen in alone)

    assert at_once(*(lambda each=each: fit(*each) for each in asked)) == [[own] * N_TURNS for own in alone]


def test_a_fit_that_fails_leaves_those_beside_it_alone() -> None:
    """One thread fails before the engine is at work, one in the middle of a fit; two go on to the end."""
    X, y = random_table(coterie.GradientBoostingRegressor, 200, 4)
    alone = fingerprint(make(coterie.GradientBoostingRegressor, n_estimators=20).fit(X, y))

    def bad_input() -> str:
        with pytest.raises(coterie.errors.InvalidInput) as raised:
            coterie.GradientBoostingRegressor().fit(X, np.full(len(y), np.nan))
        return type(raised.value).__name__

    def interrupted() -> str:
        def fail(event: FitEvent) -> None:
            if event.done == 4:
                raise KeyError("enough")

        with pytest.raises(KeyError, match="enough"), monitored(fail):
            make(coterie.GradientBoostingRegressor, n_estimators=20).fit(X, y)
        return "KeyError"

    def fit() -> str:
        return fingerprint(make(coterie.GradientBoostingRegressor, n_estimators=20, n_jobs=2).fit(X, y))

    results = at_once(bad_input, fit, interrupted, fit)

    assert results == [[each] * N_TURNS for each in ("InvalidInput", alone, "KeyError", alone)]


def test_threads_explain_one_model_at_once() -> None:
    X, y = random_table(coterie.GradientBoostingClassifier, 200, 5)
    model = make(coterie.GradientBoostingClassifier, n_estimators=20).fit(X, y)
    expected = model.explain(X).values.tobytes()

    results = at_once(*[lambda: model.explain(X).values.tobytes() == expected] * N_THREADS)

    assert results == [[True] * N_TURNS] * N_THREADS


def test_a_failure_in_one_thread_is_seen() -> None:
    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(AssertionError, match="no"):
        at_once(fail, lambda: None)
