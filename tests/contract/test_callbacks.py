"""scikit-learn's callbacks: each round is seen, a wish to stop is granted, an exception reaches the caller."""

from typing import Any

import numpy as np
import pytest

from tests.helpers.estimators import ESTIMATORS, answers, fingerprint, make, random_table

# Ensembles of any learners tell callbacks of members instead: tests/members/test_watched_members.py.
ROUNDS = [
    estimator
    for estimator in ESTIMATORS
    if hasattr(estimator, "set_callbacks") and hasattr(estimator, "staged_predict")
]
pytestmark = pytest.mark.parametrize("estimator", ROUNDS)


class Watcher:
    """Writes down what it is told; may ask to stop, or fail, at the end of a round."""

    def __init__(self, stop_after: int | None = None, fail_after: int | None = None) -> None:
        self.stop_after, self.fail_after = stop_after, fail_after
        self.events: list[str] = []
        self.answers: list[Any] = []

    def setup(self, estimator: Any, context: Any) -> None:
        self.events.append("setup")

    def teardown(self, estimator: Any, context: Any) -> None:
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.events.append("begin" if context.parent is None else "round")

    def on_fit_task_end(self, estimator: Any, context: Any, *, X: Any, fitted_estimator: Any) -> bool:
        if context.parent is None:
            self.events.append("end")
            return False
        if fitted_estimator is not None:
            self.answers.append(answers(fitted_estimator, X))
        done = self.events.count("round")
        if done == self.fail_after:
            raise RuntimeError("the watcher has seen enough")
        return done == self.stop_after


def test_a_callback_sees_every_round(estimator: type[Any]) -> None:
    watcher = Watcher()
    make(estimator, n_estimators=7).set_callbacks(watcher).fit(*random_table(estimator))

    assert watcher.events == ["setup", "begin", *["round"] * 7, "end", "teardown"]


def test_a_callback_can_ask_the_model_so_far(estimator: type[Any]) -> None:
    X, y = random_table(estimator)
    watcher = Watcher()
    make(estimator, n_estimators=4).set_callbacks(watcher).fit(X, y)

    for n_estimators, so_far in enumerate(watcher.answers, start=1):
        alone = make(estimator, n_estimators=n_estimators).fit(X, y)
        np.testing.assert_array_equal(so_far, answers(alone, X))
    assert len(watcher.answers) == 4


def test_a_wish_to_stop_is_granted(estimator: type[Any]) -> None:
    X, y = random_table(estimator)

    stopped = make(estimator, n_estimators=50).set_callbacks(Watcher(stop_after=3)).fit(X, y)

    assert stopped.n_estimators_ == 3
    assert fingerprint(stopped) == fingerprint(make(estimator, n_estimators=3).fit(X, y))


def test_an_exception_of_a_callback_reaches_the_caller(estimator: type[Any]) -> None:
    X, y = random_table(estimator)
    model = make(estimator).set_callbacks(Watcher(fail_after=2))

    with pytest.raises(RuntimeError, match="seen enough"):
        model.fit(X, y)

    model.set_callbacks(Watcher())
    assert fingerprint(model.fit(X, y)) == fingerprint(make(estimator).fit(X, y))


def test_a_callback_changes_no_bit(estimator: type[Any]) -> None:
    X, y = random_table(estimator)

    watched = make(estimator).set_callbacks(Watcher()).fit(X, y)

    assert fingerprint(watched) == fingerprint(make(estimator).fit(X, y))
