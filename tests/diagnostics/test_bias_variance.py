"""Bias, variance and noise add up to the error; bagging takes from the variance, boosting from the bias."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as some
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import AdaBoostRegressor as TheirAdaBoost
from sklearn.ensemble import BaggingClassifier as TheirBagging
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.ensemble import RandomForestRegressor as TheirForest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

from coterie import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from coterie.diagnostics import BiasVariance, bias_variance
from coterie.diagnostics.bias_variance import domingos, kohavi_wolpert, squared_error
from coterie.diagnostics.votes import staged_predictions
from coterie.errors import InvalidInput, InvalidParameter
from tests.naive.bias_variance import naive_domingos, naive_kohavi_wolpert, naive_squared

RNG = np.random.default_rng(0)
X = RNG.uniform(-3, 3, size=(120, 2))
NUMBERS = np.sin(X[:, 0]) + RNG.normal(scale=0.3, size=120)
WORDS = np.where(X[:, 0] + RNG.normal(scale=0.8, size=120) > 0, "up", "down")


def adds_up(found: BiasVariance) -> None:
    np.testing.assert_allclose(found.error, found.bias + found.variance + found.noise, atol=1e-12)
    rows = found.rows
    np.testing.assert_allclose(rows.error, rows.bias + rows.variance + rows.noise, atol=1e-12)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    answers=some.arrays(np.int64, st.tuples(st.integers(1, 7), st.just(1)), elements=st.integers(0, 2)),
    parts=st.tuples(*[st.integers(0, 5)] * 3).filter(any),
)
def test_classes_in_parts_are_those_of_the_definitions(answers: Any, parts: Any) -> None:
    truth = np.array([parts]) / sum(parts)
    for formula, naive in ((domingos, naive_domingos), (kohavi_wolpert, naive_kohavi_wolpert)):
        found = formula(answers, truth)
        expected = naive(answers[:, 0].tolist(), truth[0].tolist())
        np.testing.assert_allclose([own[0] for own in found[:4]], expected, atol=1e-12)
        assert found.error[0] == pytest.approx(found.bias[0] + found.variance[0] + found.noise[0], abs=1e-12)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    answers=st.lists(st.floats(-10, 10), min_size=1, max_size=6),
    right=st.floats(-10, 10),
    spread=st.floats(0, 3),
)
def test_numbers_in_parts_are_those_of_the_definitions(
    answers: list[float], right: float, spread: float
) -> None:
    found = squared_error(np.array(answers)[:, None], np.array([right]), np.array([spread**2]))

    np.testing.assert_allclose(
        [own[0] for own in found[:4]], naive_squared(answers, right, spread), atol=1e-9
    )
    assert found.error[0] == pytest.approx(found.bias[0] + found.variance[0] + found.noise[0], abs=1e-9)


class Says(RegressorMixin, BaseEstimator):
    """Says the mean of what it was given, and so what can be computed by hand."""

    def fit(self, X: Any, y: Any) -> "Says":
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


def test_an_example_by_hand() -> None:
    means = []

    def draw(_: int) -> tuple[Any, Any]:
        means.append(float(len(means) % 2))  # fits say 0 and 1 in turn
        return np.zeros((3, 1)), np.full(3, means[-1])

    truth = np.array([0.0, 2.0])
    found = bias_variance(
        Says(), np.zeros((2, 1)), [0.0, 2.0], draw=draw, truth=truth, noise=[1.0, 0.5], n_repeats=4
    )

    assert found.rows.bias.tolist() == [[0.25, 2.25]]
    assert found.rows.variance.tolist() == [[0.25, 0.25]]
    assert (found.bias[0], found.variance[0], found.noise[0], found.error[0]) == (1.25, 0.25, 0.75, 2.25)


@pytest.mark.parametrize("method", ["domingos", "kohavi_wolpert"])
def test_classes_add_up_with_and_without_noise(method: str) -> None:
    plain = bias_variance(DecisionTreeClassifier(), X, WORDS, method=method, n_repeats=7, random_state=1)
    chance = 1 / (1 + np.exp(-2 * X[:, 0]))
    noisy = bias_variance(
        DecisionTreeClassifier(),
        X,
        WORDS,
        method=method,
        n_repeats=7,
        random_state=1,
        truth=np.stack([1 - chance, chance], axis=1),
    )

    adds_up(plain)
    adds_up(noisy)
    assert plain.noise[0] == 0 < noisy.noise[0]
    wrong = plain.classes[plain.predictions[:, 0]] != plain.classes[plain.truth.argmax(axis=1)]
    assert plain.error[0] == pytest.approx(wrong.mean())


def test_the_same_fits_in_other_parts() -> None:
    options: dict[str, Any] = {"n_repeats": 6, "random_state": 3}
    one = bias_variance(GaussianNB(), X, WORDS, method="kohavi_wolpert", **options)
    other = bias_variance(GaussianNB(), X, WORDS, **options).by("kohavi_wolpert")

    np.testing.assert_array_equal(one.bias, other.bias)
    np.testing.assert_array_equal(one.variance, other.variance)
    adds_up(other)
    with pytest.raises(InvalidParameter, match="method='squared_error': expected 'domingos'"):
        other.by("squared_error")


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (GradientBoostingRegressor(n_estimators=6), NUMBERS),
        (RandomForestRegressor(6), NUMBERS),
        (BaggingRegressor(n_estimators=6), NUMBERS),
        (BaggingRegressor(LinearRegression(), n_estimators=6), NUMBERS),
        (TheirForest(6), NUMBERS),
        (TheirAdaBoost(n_estimators=6), NUMBERS),
        (HistGradientBoostingRegressor(max_iter=6), NUMBERS),
        (RandomForestClassifier(6), WORDS),
        (BaggingClassifier(n_estimators=6), WORDS),
        (TheirBagging(n_estimators=6), WORDS),
        (AdaBoostClassifier(n_estimators=6), WORDS),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_last_stage_is_the_whole_model(model: Any, y: Any) -> None:
    model.set_params(random_state=0).fit(X, y)
    numbers, stages = staged_predictions(model, X, "all")
    some_numbers, some_stages = staged_predictions(model, X, [2, 5])

    assert numbers.tolist() == list(
        range(1, len(model.estimators_ if hasattr(model, "estimators_") else stages) + 1)
    )
    if y.dtype.kind == "U":
        assert (stages[-1] == model.predict(X)).all()
        assert (some_stages[1] == stages[4]).all()
    else:
        np.testing.assert_allclose(stages[-1], model.predict(X))
        np.testing.assert_allclose(some_stages[1], stages[4])
    assert some_numbers.tolist() == [2, 5]


def test_stages_that_every_fit_has() -> None:
    """AdaBoost stops when a member is perfect, after other numbers of rounds in other samples."""
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=30)
    found = bias_variance(model, X[:60], WORDS[:60], stages="all", n_repeats=8, random_state=0)
    single = bias_variance(model, X[:60], WORDS[:60], n_repeats=8, random_state=0)

    assert found.stages.tolist() == list(range(1, len(found.stages) + 1))
    assert len(found.stages) < single.stages[0] <= 30
    adds_up(found)


def test_a_model_without_stages() -> None:
    with pytest.raises(InvalidParameter) as caught:
        bias_variance(LogisticRegression(), X, WORDS, stages="all", n_repeats=2)
    error = caught.value
    assert (error.parameter, error.received, error.allowed) == ("stages", "all", "None")


def test_threads_change_nothing_and_frames_are_welcome() -> None:
    frame = pd.DataFrame({"a": X[:, 0], "word": np.where(X[:, 1] > 0, "x", "y")})
    runs = [
        bias_variance(
            RandomForestRegressor(3), frame, pd.Series(NUMBERS), n_repeats=4, n_jobs=n, random_state=5
        )
        for n in (1, 2)
    ]

    np.testing.assert_array_equal(runs[0].predictions, runs[1].predictions)
    assert (runs[0].predictions[0] != runs[0].predictions[1]).any()
    adds_up(runs[0])
    assert repr(runs[0]).startswith("4 fits, 36 rows, squared error\n  stage")


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("method", "domingos", "'auto' or 'squared_error'"),
        ("n_repeats", 1, "a whole number >= 2"),
        ("test_size", 1.0, "a number in (0, 1)"),
        ("draw", 3, "a function or None"),
        ("truth", [1.0], "finite numbers, for each row of X"),
        ("noise", 1.0, "None without truth"),
    ],
)
def test_what_is_refused(name: str, value: Any, allowed: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        bias_variance(LinearRegression(), X, NUMBERS, **{name: value})
    assert (caught.value.parameter, caught.value.received, caught.value.allowed) == (name, value, allowed)


def test_no_threads_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="n_jobs=0: expected None"):
        bias_variance(LinearRegression(), X, NUMBERS, n_jobs=0)


def test_two_rows_at_least_are_left_to_fit_to() -> None:
    with pytest.raises(InvalidInput) as caught:
        bias_variance(LinearRegression(), X[:20], NUMBERS[:20], test_size=0.99)
    assert (caught.value.parameter, caught.value.received) == ("test_size", 0.99)


@pytest.mark.parametrize(("test_size", "n_test"), [(0.8, 8), (0.7, 7), (0.01, 1), (0.85, 8)])
def test_a_share_of_the_rows_is_set_aside_and_two_are_enough_to_fit_to(test_size: float, n_test: int) -> None:
    found = bias_variance(Says(), X[:10], NUMBERS[:10], test_size=test_size, n_repeats=2, random_state=0)
    assert found.predictions.shape == (2, 1, n_test)


def test_one_row_is_too_few_to_fit_to() -> None:
    with pytest.raises(InvalidInput, match=r"X has 10 rows, and test_size=0.9 leaves fewer than two"):
        bias_variance(Says(), X[:10], NUMBERS[:10], test_size=0.9)


def test_an_estimator_is_wanted() -> None:
    with pytest.raises(InvalidParameter) as caught:
        bias_variance(DecisionTreeRegressor, X, NUMBERS)
    assert (caught.value.parameter, caught.value.allowed) == ("estimator", "a classifier or a regressor")


def wave(seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    sample = rng.uniform(-3, 3, size=(100, 1))
    return sample, np.sin(2 * sample[:, 0]) + rng.normal(scale=0.3, size=100)


GRID = np.linspace(-2.8, 2.8, 60)[:, None]
TRUTH = np.sin(2 * GRID[:, 0])


def parts_of(model: Any, stages: Any = None) -> BiasVariance:
    return bias_variance(
        model, GRID, TRUTH, draw=wave, truth=TRUTH, noise=0.09, n_repeats=60, stages=stages, random_state=0
    )


def errors_of_means(found: BiasVariance) -> Any:
    """Standard errors of the mean bias and variance, by leaving out one fit after the other."""
    answers = found.predictions[:, -1]
    left = np.array(
        [
            [
                own.mean()
                for own in squared_error(np.delete(answers, place, axis=0), TRUTH, np.full(60, 0.09))[1:3]
            ]
            for place in range(len(answers))
        ]
    )
    return np.sqrt((len(left) - 1) * left.var(axis=0))


def test_bagging_a_deep_tree_takes_variance_and_leaves_bias() -> None:
    tree, bagged = parts_of(DecisionTreeRegressor()), parts_of(BaggingRegressor(n_estimators=25))
    (bias_error, variance_error), (_, bagged_error) = errors_of_means(tree), errors_of_means(bagged)

    assert tree.variance[0] - bagged.variance[0] > 5 * np.hypot(variance_error, bagged_error)
    assert bagged.variance[0] < 0.6 * tree.variance[0]
    assert abs(tree.bias[0] - bagged.bias[0]) < 0.1 * tree.variance[0]
    assert bias_error < 0.1 * tree.variance[0]


def test_boosting_stumps_takes_bias() -> None:
    found = parts_of(
        GradientBoostingRegressor(n_estimators=80, max_leaf_nodes=2, learning_rate=0.3, min_samples_leaf=3),
        stages=[1, 10, 80],
    )

    adds_up(found)
    assert found.bias[0] > 1.5 * found.bias[1] > 1.5 * 1.5 * found.bias[2]
    assert found.bias[2] < 0.1 * found.bias[0]
    assert found.variance[2] > found.variance[0]
    assert found.error[2] < 0.5 * found.error[0]


def test_a_truth_that_is_too_short_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="for each row of X"):
        bias_variance(LinearRegression(), X, NUMBERS, truth=NUMBERS[:5], n_repeats=2, random_state=0)
