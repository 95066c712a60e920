"""Margins by round: what moves to the right, what the theorems bound, and figures that were published."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from coterie import AdaBoostClassifier, DecisionTreeClassifier
from coterie.diagnostics import bounds, error_by_round, margins
from tests.theory.small_tables import disc


@cache
def boosted_digits(n_rounds: int) -> Any:
    X, y = load_digits(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=8, random_state=0)
    model = AdaBoostClassifier(tree, n_estimators=n_rounds, random_state=0).fit(X[::2], y[::2])
    return model, (X[::2], y[::2]), (X[1::2], y[1::2])


@pytest.mark.slow
def test_margins_of_boosted_trees_after_5_100_and_1000_rounds() -> None:
    """The numbers of the chapter; the training error is zero from round 5 on, and margins still move."""
    model, training, new = boosted_digits(1000)
    found = margins(model, *training, rounds=[5, 100, 1000])
    errors = error_by_round(model, *new)

    assert model.train_errors_[[4, 99, 999]].tolist() == [0.0, 0.0, 0.0]
    assert found.minimum.round(2).tolist() == [0.32, 0.6, 0.63]
    assert (100 * found.distribution(0.5)).round(1).ravel().tolist() == [2.1, 0.0, 0.0]
    assert (100 * errors[[4, 99, 999]]).round(1).tolist() == [10.5, 2.7, 2.6]


def test_margins_rise_after_the_training_error_is_zero() -> None:
    model, training, new = boosted_digits(100)
    found = margins(model, *training, rounds=[5, 20, 100])
    errors = error_by_round(model, *new)

    assert found.error().tolist() == [0.0, 0.0, 0.0]
    assert (np.diff(found.minimum) > 0).all()
    assert (np.diff(found.distribution(0.5)) <= 0).all()
    assert errors[99] < 0.5 * errors[4]


def test_rows_with_margins_to_spare_lose_some_of_them() -> None:
    model, training, _ = boosted_digits(100)
    found = margins(model, *training, rounds=[5, 100])

    assert found.quantile(0.9)[0] > found.quantile(0.9)[1]


def test_the_error_on_new_rows_neither_rises_nor_stays_where_training_ends() -> None:
    X, y = disc(1200)
    model = AdaBoostClassifier(n_estimators=1000).fit(X[:400], y[:400])
    errors = error_by_round(model, X[400:], y[400:])
    done = int(np.flatnonzero(model.train_errors_ > 0)[-1]) + 1

    assert done < 300
    assert errors[-1] < errors[done // 2]
    assert errors[-1] < errors.min() + 0.01


def test_the_margin_error_at_zero_is_the_training_error() -> None:
    X, y = disc(400)
    model = AdaBoostClassifier(n_estimators=50).fit(X, y)
    found = margins(model, X, y, rounds=[10, 50])

    assert found.error(0.0).tolist() == model.train_errors_[[9, 49]].tolist()
    assert (np.diff([found.error(rho) for rho in (-0.5, 0.0, 0.1, 0.5, 1.0)], axis=0) >= 0).all()


def test_the_share_of_small_margins_is_below_its_bound_in_every_round() -> None:
    X, y = disc(400)
    model = AdaBoostClassifier(n_estimators=300).fit(X, y)
    thetas = np.array([-0.2, 0.0, 0.02, 0.05, 0.1, 0.3])
    found = margins(model, X, y, rounds="all")

    assert (found.distribution(thetas) <= bounds.margin_error(model.estimator_errors_, thetas) + 1e-12).all()


def test_below_the_limit_of_its_edge_a_margin_is_reached_in_the_end() -> None:
    """Every stump is better than chance by the edge; so the share of margins below the limit goes to zero."""
    X, y = disc(400)
    model = AdaBoostClassifier(n_estimators=4000).fit(X, y)
    edge = model.edges_.min()
    limit = float(bounds.margin_limit(edge))

    assert margins(model, X, y).minimum[0] > limit
    at_half = np.sqrt((1 + 2 * edge) ** (1 + limit / 2) * (1 - 2 * edge) ** (1 - limit / 2))
    above = np.sqrt((1 + 2 * edge) ** (1 + 2 * limit) * (1 - 2 * edge) ** (1 - 2 * limit))
    assert at_half < 1 < above


def test_the_bound_for_new_rows_does_not_look_at_the_number_of_rounds() -> None:
    one = bounds.generalization_error(0.05, 0.2, n_rows=10**6, n_learners=1000, delta=0.05)

    assert 0.05 < float(one) < 0.5
    wider = bounds.generalization_error(0.05, 0.4, n_rows=10**6, n_learners=1000, delta=0.05)
    richer = bounds.generalization_error(0.05, 0.2, n_rows=10**6, n_learners=10**6, delta=0.05)
    assert float(wider) < float(one) < float(richer)
