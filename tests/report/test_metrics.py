"""Scores are those of scikit-learn, and their intervals those of a bootstrap."""

import numpy as np
import pytest
from sklearn import metrics

from coterie.report.evaluated_model import Predictions
from coterie.report.scores.metrics import score_estimates

RNG = np.random.default_rng(0)


def of_two_classes(n_rows: int = 300) -> Predictions:
    y_true = RNG.integers(0, 2, n_rows)
    score = np.clip(0.3 * y_true + RNG.uniform(0, 0.7, n_rows), 0, 1).round(2)  # with ties
    proba = np.column_stack([1 - score, score])
    return Predictions(y_true, proba.argmax(axis=1), proba)


def test_scores_of_two_classes_are_those_of_scikit_learn() -> None:
    predictions = of_two_classes()
    assert predictions.proba is not None
    score = predictions.proba[:, 1]

    found = {own.key: own.value for own in score_estimates(predictions, 2, n_repeats=2)}

    assert found["auc"] == pytest.approx(metrics.roc_auc_score(predictions.y_true, score), abs=1e-12)
    assert found["average_precision"] == pytest.approx(
        metrics.average_precision_score(predictions.y_true, score), abs=1e-12
    )
    assert found["accuracy"] == metrics.accuracy_score(predictions.y_true, predictions.y_pred)
    assert found["balanced_accuracy"] == pytest.approx(
        metrics.balanced_accuracy_score(predictions.y_true, predictions.y_pred)
    )
    assert found["log_loss"] == pytest.approx(metrics.log_loss(predictions.y_true, predictions.proba))
    assert found["brier"] == pytest.approx(metrics.brier_score_loss(predictions.y_true, score))


def test_scores_of_numbers_are_those_of_scikit_learn() -> None:
    y_true = RNG.normal(size=101)
    y_pred = y_true + RNG.normal(scale=0.5, size=101)

    found = {own.key: own.value for own in score_estimates(Predictions(y_true, y_pred), None, n_repeats=2)}

    assert found == pytest.approx(
        {
            "r2": metrics.r2_score(y_true, y_pred),
            "rmse": metrics.root_mean_squared_error(y_true, y_pred),
            "mae": metrics.mean_absolute_error(y_true, y_pred),
            "median_error": metrics.median_absolute_error(y_true, y_pred),
        }
    )


def test_intervals_hold_the_value_and_shrink_with_rows() -> None:
    y_true = RNG.integers(0, 2, 4_000)
    y_pred = np.where(RNG.uniform(size=4_000) < 0.2, 1 - y_true, y_true)

    few, many = (score_estimates(Predictions(y_true[:n], y_pred[:n]), 2)[0] for n in (100, 4_000))

    assert few.low < few.value < few.high
    assert many.high - many.low < (few.high - few.low) / 3
    # A share of 80 % of 4,000 rows has a standard error of 0.0063.
    assert many.high - many.low == pytest.approx(2 * 1.96 * 0.0063, rel=0.25)


def test_what_cannot_be_measured_is_no_number() -> None:
    one_class = Predictions(np.ones(30, dtype=int), np.ones(30, dtype=int), np.tile([0.2, 0.8], (30, 1)))

    found = {own.key: own for own in score_estimates(one_class, 2, n_repeats=5)}

    assert np.isnan(found["auc"].value)
    assert np.isnan(found["auc"].low)
    assert found["accuracy"].value == 1.0
