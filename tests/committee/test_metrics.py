"""Scores of a committee and how far they may be from those of other rows, against the textbook."""

import math

import numpy as np
import pytest

from coterie.committee.metrics import LogLossMetric, RowTargets, SquaredErrorMetric, mean_with_error

RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=12)


def test_the_error_of_a_mean_is_the_spread_over_the_root_of_the_number() -> None:
    score = mean_with_error(VALUES, RowTargets(np.zeros(12), np.full(12, 3.0)))

    assert score.value == pytest.approx(VALUES.mean())
    assert score.error == pytest.approx(VALUES.std(ddof=1) / math.sqrt(12))


def test_rows_without_weight_count_for_nothing() -> None:
    weight = (np.arange(12) % 3 > 0).astype(float)
    score = mean_with_error(VALUES, RowTargets(np.zeros(12), weight))
    kept = VALUES[weight > 0]

    assert score.value == pytest.approx(kept.mean())
    assert score.error == pytest.approx(kept.std(ddof=1) / math.sqrt(8))


def test_rows_of_a_group_err_together() -> None:
    groups = np.arange(12) // 3
    score = mean_with_error(VALUES, RowTargets(np.zeros(12), np.ones(12), groups))
    means = VALUES.reshape(4, 3).mean(axis=1)

    assert score.value == pytest.approx(VALUES.mean())
    assert score.error == pytest.approx(means.std(ddof=1) / 2)


def test_of_one_row_or_one_group_nobody_knows_the_error() -> None:
    row, group = (
        RowTargets(np.zeros(1), np.ones(1)),
        RowTargets(np.zeros(3), np.ones(3), np.ones(3, dtype=int)),
    )

    assert math.isnan(mean_with_error(np.array([2.0]), row).error)
    assert math.isnan(mean_with_error(np.array([2.0, 3.0, 4.0]), group).error)
    two = RowTargets(np.zeros(2), np.ones(2))
    assert mean_with_error(np.array([1.0, 3.0]), two).error == pytest.approx(1.0)


def test_losses_of_rows_are_those_of_the_definitions() -> None:
    proba = np.array([[0.25, 0.75], [1.0, 0.0]])
    np.testing.assert_allclose(
        LogLossMetric().losses(proba, np.array([1, 1])), [-math.log(0.75), -math.log(np.finfo(float).eps)]
    )
    assert SquaredErrorMetric().losses(np.array([[1.0], [5.0]]), np.array([3.0, 4.0])).tolist() == [4.0, 1.0]
