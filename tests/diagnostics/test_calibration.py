"""Reliability by its definition; the parts of the Brier score add up to it."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss
from sklearn.svm import LinearSVC

from coterie import AdaBoostClassifier, RandomForestClassifier
from coterie.diagnostics import Reliability, calibration
from coterie.errors import CoterieError, InvalidParameter
from tests.naive.calibration import naive_reliability


class GivenProbabilities(ClassifierMixin, BaseEstimator):
    """GivenProbabilities the probabilities that its table holds."""

    def __init__(self, classes: Any = (False, True)) -> None:
        self.classes = classes

    def fit(self, X: Any = None, y: Any = None) -> "GivenProbabilities":
        self.classes_ = np.array(self.classes)
        return self

    def predict_proba(self, X: Any) -> Any:
        shares = np.asarray(X)
        return np.column_stack([1 - shares, shares]) if shares.shape[1] == 1 else shares


def adds_up(found: Reliability) -> None:
    parts = found.reliability - found.resolution + found.uncertainty + found.within
    assert found.brier == pytest.approx(parts, abs=1e-12)


def test_an_example_by_hand() -> None:
    """Of five rows with 0.2 one happened, of five with 0.8 three did."""
    values = np.repeat([0.2, 0.8], 5)[:, None]
    y = np.array([1, 0, 0, 0, 0, 1, 1, 1, 0, 0], dtype=bool)
    found = calibration(GivenProbabilities().fit(), values, y).main

    assert found.label is True
    np.testing.assert_allclose(found.predicted, [0.2, 0.8])
    np.testing.assert_allclose(found.observed, [0.2, 0.6])
    assert found.expected_error == pytest.approx(0.1)
    assert found.maximum_error == pytest.approx(0.2)
    assert found.reliability == pytest.approx(0.02)
    assert found.resolution == pytest.approx(0.04)
    assert found.uncertainty == pytest.approx(0.24)
    assert found.within == pytest.approx(0)
    assert found.brier == pytest.approx(0.22)
    np.testing.assert_allclose(found.low, [0.0362, 0.2307], atol=1e-4)  # Wilson, from a table
    np.testing.assert_allclose(found.high, [0.6245, 0.8824], atol=1e-4)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    rows=st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=30),
    n_bins=st.integers(1, 8),
)
def test_every_number_is_that_of_its_definition(rows: list[tuple[int, bool]], n_bins: int) -> None:
    values = np.array([place / 20 for place, _ in rows])
    happened = np.array([own for _, own in rows])
    found = calibration(GivenProbabilities().fit(), values[:, None], happened, n_bins=n_bins).main

    for name, value in naive_reliability(values.tolist(), happened.tolist(), n_bins).items():
        np.testing.assert_allclose(getattr(found, name), value, atol=1e-9, err_msg=name)
    adds_up(found)
    distinct = calibration(GivenProbabilities().fit(), values[:, None], happened, n_bins=None).main
    assert distinct.within == pytest.approx(0, abs=1e-12)
    adds_up(distinct)


RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = np.where(X[:, 0] + RNG.normal(size=300) > 0, "yes", "no")
THREE = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_bins_are_those_of_scikit_learn(strategy: str) -> None:
    values = RNG.uniform(size=200)
    happened = RNG.uniform(size=200) < values
    found = calibration(
        GivenProbabilities().fit(), values[:, None], happened, n_bins=8, strategy=strategy
    ).main
    observed, predicted = calibration_curve(happened, values, n_bins=8, strategy=strategy)

    np.testing.assert_allclose(found.predicted, predicted)
    np.testing.assert_allclose(found.observed, observed)
    if strategy == "quantile":
        assert found.count.tolist() == [25] * 8


def test_several_classes_have_a_curve_each() -> None:
    model = RandomForestClassifier(20, random_state=0).fit(X[:200], THREE[:200])
    found = calibration(model, X[200:], THREE[200:])
    shares = model.predict_proba(X[200:])

    assert [curve.label for curve in found.curves] == ["top", "a", "b", "c"]
    assert found.brier == pytest.approx(
        ((shares - np.eye(3)[np.unique(THREE[200:], return_inverse=True)[1]]) ** 2).sum(1).mean()
    )
    for curve in found.curves:
        adds_up(curve)
        assert curve.count.sum() == 100
        assert ((curve.low <= curve.observed) & (curve.observed <= curve.high)).all()
    accuracy = found.main.observed @ found.main.count / 100
    assert accuracy == pytest.approx((model.predict(X[200:]) == THREE[200:]).mean())
    assert found.of("b").brier == pytest.approx(brier_score_loss(THREE[200:] == "b", shares[:, 1]))
    with pytest.raises(InvalidParameter, match="label='z': expected one of"):
        found.of("z")


def test_boosting_is_surer_than_it_should_be() -> None:
    """AdaBoost's votes as probabilities are too sure; a forest's shares are closer to what happens."""
    sure = AdaBoostClassifier(n_estimators=100).fit(X[:150], Y[:150])
    forest = RandomForestClassifier(100, min_samples_leaf=5, random_state=0).fit(X[:150], Y[:150])
    errors = [calibration(model, X[150:], Y[150:], n_bins=5).main.expected_error for model in (sure, forest)]

    assert errors[0] > 1.5 * errors[1]


def test_a_weight_of_two_is_the_row_twice() -> None:
    model = RandomForestClassifier(10, random_state=0).fit(X[:100], Y[:100])
    rows = np.r_[100:160, 100:120]
    weight = np.r_[np.full(20, 2), np.ones(40), 0, 0]
    one = calibration(model, X[100:162], Y[100:162], sample_weight=weight, strategy="quantile", n_bins=4).main
    other = calibration(model, pd.DataFrame(X[rows]), pd.Series(Y[rows]), strategy="quantile", n_bins=4).main

    for name in ("predicted", "observed", "low", "count", "expected_error", "brier", "within"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name))
    assert repr(one).startswith("reliability of 'yes': expected calibration error")


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("n_bins", 0, "a whole number >= 1 or None"),
        ("strategy", "equal", "'uniform' or 'quantile'"),
        ("confidence", 1, "a number in (0, 1)"),
    ],
)
def test_what_is_refused(name: str, value: Any, allowed: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        calibration(GivenProbabilities().fit(), X[:, :1], Y, **{name: value})
    assert (caught.value.parameter, caught.value.received, caught.value.allowed) == (name, value, allowed)


def test_models_without_probabilities() -> None:
    with pytest.raises(CoterieError) as caught:
        calibration(LinearSVC().fit(X, Y), X, Y)
    assert (caught.value.parameter, caught.value.allowed) == (
        "model",
        "a fitted classifier with predict_proba",
    )
    with pytest.raises(CoterieError) as caught:
        calibration(GivenProbabilities().fit(), np.abs(X[:, :1]) / 10, np.where(Y == "yes", 1, 2))
    assert (caught.value.parameter, caught.value.allowed) == ("y", "[False, True]")
    two = np.stack([Y, Y], axis=1)
    with pytest.raises(CoterieError) as caught:
        calibration(RandomForestClassifier(2).fit(X, two), X, Y)
    assert (caught.value.received, caught.value.allowed) == (2, "a model of one target")
