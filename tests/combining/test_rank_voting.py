"""Voting by rank: the mean of the members' ranks, translated back into what they usually predict."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, RegressorMixin

from coterie import VotingRegressor

N_STEPS = 256  # of a scale: with as many rows, each row is a step of its own
X = np.sort(np.random.default_rng(0).gamma(2.0, size=(N_STEPS, 1)), axis=0)


class Curve(RegressorMixin, BaseEstimator):
    """Predicts a power of the only column, whatever the target is."""

    def __init__(self, power: float = 1.0, sign: float = 1.0) -> None:
        self.power, self.sign = power, sign

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Curve":
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self.sign * np.asarray(X, dtype=float)[:, 0] ** self.power


def voting(*members: Curve, **options: Any) -> VotingRegressor:
    named = [(f"member {i}", member) for i, member in enumerate(members)]
    return VotingRegressor(named, voting="rank", **options)


def test_a_member_alone_is_translated_back_into_itself() -> None:
    model = voting(Curve()).fit(X, X[:, 0])
    between = (X[1:] + X[:-1]) / 2
    assert_allclose(model.predict(X), X[:, 0], rtol=1e-12)
    assert_allclose(model.predict(between), between[:, 0], rtol=1e-12)


def test_beyond_what_was_seen_the_rank_is_the_first_or_the_last() -> None:
    model = voting(Curve()).fit(X, X[:, 0])
    assert_allclose(model.predict([[-5.0], [500.0]]), [X.min(), X.max()], rtol=1e-12)


def test_members_that_rank_rows_alike_give_the_mean_of_their_predictions_at_that_rank() -> None:
    members = Curve(), Curve(power=3.0)
    x = X[:, 0]
    assert_allclose(voting(*members).fit(X, x).predict(X), (x + x**3) / 2, rtol=1e-12)
    assert_allclose(voting(*members, weights=[3, 1]).fit(X, x).predict(X), 0.75 * x + 0.25 * x**3, rtol=1e-12)


def test_members_that_rank_rows_the_other_way_round_put_every_row_in_the_middle() -> None:
    model = voting(Curve(), Curve(sign=-1.0)).fit(X, X[:, 0])
    assert_allclose(model.predict(X), np.zeros(N_STEPS), atol=1e-12)


def test_a_value_that_is_predicted_often_has_the_rank_of_its_middle() -> None:
    # Half of the rows share the smallest value: the other member puts them at a quarter of its own scale.
    tied = np.where(np.arange(N_STEPS) < N_STEPS // 2, 1.0, X[:, 0] + X.max())
    table = np.column_stack([tied, np.arange(N_STEPS)])

    class Second(Curve):
        def predict(self, X: Any) -> np.ndarray:
            return np.asarray(X, dtype=float)[:, 1]

    model = voting(Curve(), Second(), weights=[1, 0]).fit(table, tied)
    assert_allclose(model.predict(table), tied)
    mixed = voting(Curve(), Second(), weights=[1, 1]).fit(table, tied)
    # The ranks of the first row are 0.25 and 0.5 / 256: their mean is an eighth of the way up, where the first member
    # predicts 1 and the second 31.75.
    assert mixed.predict(table[:1])[0] == pytest.approx((1.0 + 31.75) / 2)


def test_a_row_of_weight_two_is_two_rows_of_the_scale() -> None:
    weight = np.where(np.arange(N_STEPS) % 3, 1, 2)
    few, many = X[::4], np.repeat(X[::4], weight[::4], axis=0)
    members = Curve(), Curve(power=3.0, sign=-1.0)

    weighted = voting(*members).fit(few, few[:, 0], sample_weight=weight[::4])
    repeated = voting(*members).fit(many, many[:, 0])

    assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-12)
