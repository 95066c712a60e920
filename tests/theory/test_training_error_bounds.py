"""The training error goes to zero: by the loss, by the edge, after a number of rounds that is known before."""

import numpy as np
import pytest

from coterie import AdaBoostClassifier
from coterie.diagnostics import bounds
from tests.theory.small_tables import disc

X, Y = disc(400)
MODEL = AdaBoostClassifier(n_estimators=300).fit(X, Y)


def test_a_wrong_row_costs_one_at_least() -> None:
    z = np.linspace(-5, 5, 101)

    assert ((z > 0) <= np.exp(z)).all()
    assert (MODEL.train_errors_ <= MODEL.exponential_loss_).all()


def test_the_loss_is_the_product_of_all_normalizers() -> None:
    errors = MODEL.estimator_errors_

    np.testing.assert_allclose(MODEL.normalizers_, 2 * np.sqrt(errors * (1 - errors)), rtol=1e-9)
    np.testing.assert_allclose(np.cumprod(MODEL.normalizers_), MODEL.exponential_loss_, rtol=1e-9)
    assert (MODEL.normalizers_ < 1).all()


def test_the_vote_of_half_the_log_odds_makes_the_normalizer_least() -> None:
    for error in (0.1, 0.2, 0.35, 0.49):
        votes = np.linspace(0, 3, 30_001)
        normalizers = (1 - error) * np.exp(-votes) + error * np.exp(votes)
        assert votes[normalizers.argmin()] == pytest.approx(np.log((1 - error) / error) / 2, abs=1e-4)
        assert normalizers.min() == pytest.approx(2 * np.sqrt(error * (1 - error)), abs=1e-8)


def test_the_bound_by_the_edge_is_above_the_loss() -> None:
    rounds = np.arange(1, 301)
    by_edge = bounds.training_loss_by_edge(MODEL.edges_.min(), rounds, n_rows=len(Y))

    assert (len(Y) * MODEL.exponential_loss_ <= by_edge + 1e-9).all()
    assert by_edge[-1] == pytest.approx(len(Y) * (1 - 4 * MODEL.edges_.min() ** 2) ** 150)


def test_after_as_many_rounds_as_the_formula_says_no_row_is_wrong() -> None:
    model = AdaBoostClassifier(n_estimators=4000).fit(X, Y)
    edge = model.edges_.min()
    promised = int(bounds.rounds_to_zero_error(edge, len(Y)))
    needed = int(np.flatnonzero(model.train_errors_ > 0)[-1]) + 2

    assert promised == int(2 * np.log(len(Y)) / np.log(1 / (1 - 4 * edge**2))) + 1
    assert needed < promised < 4000


def test_the_number_of_rounds_grows_like_the_logarithm_of_the_number_of_rows() -> None:
    rounds = bounds.rounds_to_zero_error(0.1, 10.0 ** np.arange(1, 8))

    assert np.ptp(np.diff(rounds)) <= 1
