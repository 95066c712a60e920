"""AdaBoost on stumps against a page of numpy: stumps, errors, votes, normalizers and weights, round by round."""

from typing import Any

import numpy as np
import pytest

from coterie import AdaBoostClassifier
from tests.naive.adaboost import adaboost

ALGORITHMS = ["samme", "confidence", "real", "gentle"]


def problem(n_classes: int, seed: int, n_rows: int = 60) -> tuple[list[Any], list[bool], Any]:
    """Numbers with and without missing values, a zero-inflated column, flags, and two nominal columns."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, n_rows)).round(2)
    few, many = rng.integers(0, 4, n_rows).astype(float), rng.integers(0, 9, n_rows).astype(float)
    signal = a + 0.7 * b * (few > 1) + 0.3 * (many % 3) + 0.6 * rng.normal(size=n_rows)
    y = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    b[rng.random(n_rows) < 0.2] = np.nan
    many[rng.random(n_rows) < 0.1] = np.nan
    c[rng.random(n_rows) < 0.6] = 0.0
    flag = (rng.random(n_rows) < 0.4).astype(float)
    return [a, b, few, many, c, flag], [False, False, True, True, False, False], y


def fitted(columns: Any, nominal: Any, y: Any, weight: Any = None, **settings: Any) -> Any:
    model = AdaBoostClassifier(categorical_features=np.flatnonzero(nominal), **settings)
    return model.fit(np.column_stack(columns), y, sample_weight=weight)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("learning_rate", [1.0, 0.4])
def test_each_round_is_that_of_the_page(algorithm: str, n_classes: int, learning_rate: float) -> None:
    columns, nominal, y = problem(n_classes, seed=n_classes)
    n_rounds = 8

    naive = adaboost(columns, nominal, y, np.ones(len(y)), n_rounds, algorithm, learning_rate)
    model = fitted(
        columns, nominal, y, algorithm=algorithm, learning_rate=learning_rate, n_estimators=n_rounds
    )

    encoded = [stump.predict_proba(np.column_stack(columns)) for stump in model.estimators_]
    for right, proba in zip(naive.sides, encoded, strict=True):
        assert len(np.unique(proba[right], axis=0)) <= 1
        assert len(np.unique(proba[~right], axis=0)) <= 1
    np.testing.assert_allclose(model.estimator_errors_, naive.errors, rtol=1e-11)
    np.testing.assert_allclose(model.estimator_weights_, naive.votes, rtol=1e-9)
    np.testing.assert_allclose(model.normalizers_, naive.normalizers, rtol=1e-11)
    np.testing.assert_allclose(model.row_weights_, naive.weights[-1], rtol=1e-9)
    votes = list(model.staged_votes(np.column_stack(columns)))[-1]
    np.testing.assert_allclose(votes, naive.class_votes, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_page_agrees_with_weights_too(algorithm: str) -> None:
    columns, nominal, y = problem(2, seed=5)
    weight = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)

    naive = adaboost(columns, nominal, y, weight, 8, algorithm)
    model = fitted(columns, nominal, y, weight, algorithm=algorithm, n_estimators=8)

    np.testing.assert_allclose(model.estimator_errors_, naive.errors, rtol=1e-11)
    np.testing.assert_allclose(model.row_weights_, naive.weights[-1], rtol=1e-9)


@pytest.mark.parametrize("n_rounds", [1, 2, 5])
def test_weights_after_each_round_are_those_of_the_page(n_rounds: int) -> None:
    columns, nominal, y = problem(2, seed=9)
    naive = adaboost(columns, nominal, y, np.ones(len(y)), 5, "samme")

    model = fitted(columns, nominal, y, n_estimators=n_rounds)

    np.testing.assert_allclose(model.row_weights_, naive.weights[n_rounds], rtol=1e-10)


def test_many_rounds_do_not_drift() -> None:
    """Amounts are rescaled on the way; what they say stays what the weights say."""
    columns, nominal, y = problem(2, seed=3, n_rows=400)
    model = fitted(columns, nominal, y, n_estimators=600)

    table = np.column_stack(columns)
    sign = np.where(y == 1, 1.0, -1.0)
    weight = np.exp(-sign * model.decision_function(table))

    np.testing.assert_allclose(model.row_weights_, weight / weight.sum(), rtol=1e-8)
    np.testing.assert_allclose(np.cumprod(model.normalizers_), model.exponential_loss_, rtol=1e-9)
