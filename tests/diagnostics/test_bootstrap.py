"""Estimates by the bootstrap are those of the formulas, and are right about worlds that are known."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from coterie import DecisionTreeClassifier, RandomForestClassifier, RandomForestRegressor
from coterie.diagnostics import bootstrap
from coterie.errors import InvalidInput, InvalidParameter
from tests.naive.bootstrap import naive_bootstrap

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
WORDS = np.where(X[:, 0] + RNG.normal(size=40) > 0, "yes", "no")
NUMBERS = X[:, 0] + RNG.normal(size=40)


class Remembering(BaseEstimator):
    """Answers with the nearest row that it knows, and remembers in a list which rows these were."""

    kept: list[Any] = []

    def fit(self, X: Any, y: Any) -> Any:
        self.X_, self.y_ = np.asarray(X), np.asarray(y)
        self.classes_ = np.unique(y)
        self.kept.append(self)
        return self

    def predict(self, X: Any) -> Any:
        near = np.abs(np.asarray(X)[:, :1] - self.X_[None, :, 0]).argmin(axis=1)
        return self.y_[near]


class RememberingClassifier(ClassifierMixin, Remembering):
    kept: list[Any] = []


class RememberingRegressor(RegressorMixin, Remembering):
    kept: list[Any] = []


@pytest.mark.parametrize(
    ("model", "y", "loss", "row_loss"),
    [
        (RememberingClassifier(), WORDS, "auto", lambda y, found: float(y != found)),
        (RememberingRegressor(), NUMBERS, "auto", lambda y, found: (y - found) ** 2),
        (RememberingRegressor(), NUMBERS, "absolute_error", lambda y, found: abs(y - found)),
        (
            RememberingRegressor(),
            NUMBERS,
            lambda y, found: np.maximum(y - found, 0),
            lambda y, found: max(y - found, 0),
        ),
    ],
    ids=["zero one", "squared", "absolute", "own"],
)
def test_all_numbers_are_those_of_the_formulas(model: Any, y: Any, loss: Any, row_loss: Any) -> None:
    model.kept.clear()
    found = bootstrap(model, X[:12], y[:12], loss=loss, n_repeats=6, random_state=2)
    whole, *fits = model.kept
    draws = [[int(np.flatnonzero((row == X[:12]).all(axis=1))[0]) for row in fit.X_] for fit in fits]
    answers = [fit.predict(X[:12]) for fit in fits]
    expected = naive_bootstrap(y[:12], whole.predict(X[:12]), draws, answers, row_loss)

    assert len(fits) == 6
    error = expected.pop("standard_error")
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value, abs=1e-12), name
    assert found.standard_errors["leave_one_out"] == pytest.approx(error)
    ratio = found.error_632_plus / found.leave_one_out
    assert found.standard_errors["error_632_plus"] == pytest.approx(error * ratio)


def test_log_loss_of_a_class_that_a_fit_never_saw() -> None:
    y = np.array(["a"] * 20 + ["b"] * 19 + ["rare"])
    found = bootstrap(LogisticRegression(), X, y, loss="log_loss", n_repeats=8, random_state=0)

    assert found.row_errors[-1] == pytest.approx(-np.log(1e-15), rel=0.01)
    assert found.loss == "log_loss"


def test_labels_without_meaning_are_seen_through() -> None:
    """The nearest neighbour knows every label by heart, and the truth is a coin: .632 is too hopeful, .632+ is not."""
    coin = np.random.default_rng(1).integers(0, 2, size=200)
    table = np.random.default_rng(2).normal(size=(200, 5))
    found = bootstrap(KNeighborsClassifier(1), table, coin, n_repeats=60, random_state=0)

    assert found.apparent == 0
    assert found.error_632 < 0.37
    assert found.error_632_plus == pytest.approx(0.5, abs=0.06)
    low, high = found.interval()
    assert low < 0.5 < high
    assert found.interval(confidence=0.5)[0] > low


def test_the_standard_error_is_the_spread_over_worlds() -> None:
    """The mean of n numbers as a model: what the estimate does from one sample to the next is known."""
    estimates, errors = [], []
    for seed in range(60):
        y = np.random.default_rng(seed).normal(size=30)
        found = bootstrap(DummyRegressor(), np.zeros((30, 1)), y, n_repeats=40, random_state=seed)
        estimates.append(found.leave_one_out)
        errors.append(found.standard_errors["leave_one_out"])

    assert np.mean(errors) == pytest.approx(np.std(estimates), rel=0.3)
    assert np.mean(estimates) == pytest.approx(1 + 1 / 15, abs=0.1)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames_with_words_are_welcome_and_threads_change_nothing(make: Any) -> None:
    frame = make({"a": X[:, 0], "word": np.where(X[:, 1] > 0, "x", "y")})
    runs = [
        bootstrap(RandomForestRegressor(3), frame, NUMBERS, n_repeats=4, n_jobs=n, random_state=0)
        for n in (1, 2)
    ]

    np.testing.assert_array_equal(runs[0].row_errors, runs[1].row_errors)
    assert runs[0].error_632_plus == runs[1].error_632_plus
    assert repr(runs[0]).splitlines()[0] == "squared error, 4 fits to 40 rows"


def test_a_function_may_ask_for_probabilities() -> None:
    def brier(y: Any, found: Any) -> Any:
        return ((found[:, 1] - (y == "yes")) ** 2) / 1

    found = bootstrap(
        RandomForestClassifier(10),
        X,
        WORDS,
        loss=brier,
        response_method="predict_proba",
        n_repeats=5,
        random_state=0,
    )

    assert found.loss == "brier"
    assert 0 < found.error_632 < 0.5


def test_a_bootstrap_of_one_class_is_drawn_again() -> None:
    y = np.array([0, 0, 0, 1])
    found = bootstrap(LogisticRegression(), X[:4], y, n_repeats=30, random_state=0)

    assert len(found.fit_errors) == 30


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("loss", "squared_error", "'auto' or 'zero_one' or 'log_loss' or a function"),
        ("n_repeats", 1, "a whole number >= 2"),
        ("response_method", "score", "'predict' or 'predict_proba'"),
    ],
)
def test_what_is_refused(name: str, value: Any, allowed: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        bootstrap(DecisionTreeClassifier(), X, WORDS, **{name: value})
    assert (caught.value.parameter, caught.value.received, caught.value.allowed) == (name, value, allowed)


def test_losses_that_cannot_be() -> None:
    with pytest.raises(InvalidParameter) as no_proba:
        bootstrap(LinearSVC(), X, WORDS, loss="log_loss")
    assert (no_proba.value.parameter, no_proba.value.hint) == ("loss", "Choose 'zero_one'.")
    with pytest.raises(InvalidInput) as caught:
        bootstrap(LinearRegression(), X, NUMBERS, loss=lambda y, found: np.mean(y - found), n_repeats=2)
    assert (caught.value.parameter, caught.value.received) == ("loss", ())
    with pytest.raises(InvalidInput) as caught:
        bootstrap(LinearRegression(), [[1.0]], [1.0], n_repeats=2)
    assert (caught.value.parameter, caught.value.received) == ("X", 1)
    found = bootstrap(LinearRegression(), X, NUMBERS, n_repeats=2)
    with pytest.raises(InvalidParameter) as no_proba:
        found.interval("apparent")
    assert (no_proba.value.parameter, no_proba.value.received) == ("estimate", "apparent")
