"""What a majority of voters gets wrong: alone, alike, and where single rows are hard."""

from math import comb

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from coterie import RandomForestClassifier, VotingClassifier
from coterie.diagnostics import independent_voters, voters


def by_counting(n: int, error: float) -> float:
    return sum(comb(n, k) * error**k * (1 - error) ** (n - k) for k in range((n + 1) // 2, n + 1))


def test_twenty_five_independent_voters_at_35_per_cent_are_wrong_in_6_of_100_cases() -> None:
    assert independent_voters(25, 0.35) == pytest.approx(by_counting(25, 0.35), abs=1e-12)
    assert round(by_counting(25, 0.35), 2) == 0.06


def test_more_independent_voters_are_better_only_if_each_is_better_than_chance() -> None:
    for error, sign in ((0.35, -1), (0.5, 0), (0.65, 1)):
        steps = np.diff([independent_voters(n, error) for n in (1, 5, 25, 101)])
        assert (np.sign(steps.round(12)) == sign).all()


def test_voters_that_agree_always_are_no_better_than_one() -> None:
    assert independent_voters(25, 0.35, correlation=1) == pytest.approx(0.35)
    errors = independent_voters(25, 0.35, correlation=np.linspace(0, 1, 11))
    assert (np.diff(errors) > 0).all()


def test_a_row_that_most_voters_get_wrong_is_lost_by_the_majority() -> None:
    """Equal difficulty of all rows against the same mean error from easy and hard ones."""
    equal = independent_voters(25, 0.3)
    unequal = (independent_voters(25, 0.1) * 2 + independent_voters(25, 0.7)) / 3

    assert equal < 0.02
    assert unequal > 0.3


def test_five_predictors_that_are_wrong_on_different_days_are_right_together() -> None:
    weather = np.array([1, 0, 0, 1, 0, 1, 1])
    wrong_days = ([0, 2, 5], [0, 3, 6], [1, 4], [2, 5], [1, 6])
    forecasts = np.tile(weather, (5, 1))
    for own, days in zip(forecasts, wrong_days, strict=True):
        own[days] ^= 1

    assert (forecasts != weather).mean(axis=1).min() > 0.28
    assert ((forecasts.sum(axis=0) > 2) == weather).all()


def test_real_members_are_correlated_and_their_majority_is_that_of_correlated_voters() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(25, max_depth=1, max_features=1, random_state=0).fit(X[::2], y[::2])
    found = voters(forest, X[1::2], y[1::2])

    assert found.independent_error < 0.01 < 0.1 < found.majority_error < found.member_error
    assert found.correlation > 0.1
    assert found.correlated_error == pytest.approx(found.majority_error, abs=0.04)


def test_a_vote_is_a_safer_choice_than_one_member_taken_at_random() -> None:
    """Members that are as good on the training rows differ on others; their mean is near the best of them."""
    X, y = load_breast_cancer(return_X_y=True)
    members = [
        (f"tree {k}", RandomForestClassifier(1, max_features=3, bootstrap=False, random_state=k))
        for k in range(15)
    ]
    model = VotingClassifier(members, voting="hard").fit(X[::2], y[::2])
    training = [member.score(X[::2], y[::2]) for member in model.estimators_]
    new = [member.score(X[1::2], y[1::2]) for member in model.estimators_]

    assert training == [1.0] * 15
    assert max(new) - min(new) > 0.03
    assert model.score(X[1::2], y[1::2]) > np.mean(new) + 0.01
