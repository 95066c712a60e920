"""What AdaBoost does with weights and votes, round by round."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from coterie import AdaBoostClassifier, DecisionTreeClassifier
from coterie.diagnostics import error_by_round, margins, row_weights
from tests.theory.small_tables import DISC, answers_of_stumps, disc, signs


def fitted(n_rounds: int, **settings: Any) -> Any:
    return AdaBoostClassifier(n_estimators=n_rounds, **settings).fit(*DISC)


def test_a_member_is_at_chance_under_the_weights_that_follow_it() -> None:
    X, y = DISC
    for n_rounds in range(1, 30):
        model = fitted(n_rounds)
        assert model.row_weights_[model.estimators_[-1].predict(X) != y].sum() == pytest.approx(0.5)


def test_no_member_comes_twice_in_a_row_but_some_come_back() -> None:
    X, y = disc(400)
    model = AdaBoostClassifier(n_estimators=200).fit(X, y)
    answers = [tuple(stump.predict(X)) for stump in model.estimators_]

    assert all(one != next_one for one, next_one in pairwise(answers))
    assert len(set(answers)) < 60
    first = answers.index(answers[-1])
    assert first < 199


def test_each_member_has_the_least_error_of_all_stumps_under_the_weights_of_its_round() -> None:
    X, y = DISC
    wrong = answers_of_stumps(X) != y
    weights = np.full(len(y), 1 / len(y))
    for n_rounds in range(1, 15):
        model = fitted(n_rounds)
        assert model.estimator_errors_[-1] == pytest.approx((wrong @ weights).min(), abs=1e-9)
        weights = model.row_weights_


def test_weights_are_the_share_of_each_row_in_the_loss() -> None:
    X, y = DISC
    model = fitted(25)
    losses = np.exp(-y * model.decision_function(X))

    np.testing.assert_allclose(model.row_weights_, losses / losses.sum(), rtol=1e-9)
    assert losses.mean() == pytest.approx(model.exponential_loss_[-1], rel=1e-9)


def test_rows_that_were_wrong_weigh_more_and_rows_that_were_right_less() -> None:
    X, y = DISC
    for n_rounds in range(1, 15):
        before = np.full(len(y), 1 / len(y)) if n_rounds == 1 else fitted(n_rounds - 1).row_weights_
        model = fitted(n_rounds)
        wrong = model.estimators_[-1].predict(X) != y
        vote, normalizer = model.estimator_weights_[-1], model.normalizers_[-1]

        expected = before * np.exp(np.where(wrong, vote, -vote)) / normalizer
        np.testing.assert_allclose(model.row_weights_, expected, rtol=1e-9)
        assert (model.row_weights_[wrong] > before[wrong]).all()
        assert (model.row_weights_[~wrong] < before[~wrong]).all()


def test_a_row_that_stays_wrong_is_drawn_more_and_more_often() -> None:
    """Of ten rows one has a label that no threshold explains: its weight rises until a member gets it right."""
    X = np.arange(10.0)[:, None]
    y = np.where(X[:, 0] < 5, -1, 1)
    y[2] = 1
    first, second = (AdaBoostClassifier(n_estimators=n).fit(X, y) for n in (1, 2))

    assert first.row_weights_[2] == pytest.approx(0.5)
    assert first.row_weights_.argmax() == 2
    assert signs(second.estimators_[1], X)[2] == 1
    draws = []
    for seed in range(1, 21):
        stump = DecisionTreeClassifier(max_depth=1)
        model = AdaBoostClassifier(stump, method="resample", n_estimators=2, random_state=seed).fit(X, y)
        draws.append(row_weights(model, X, y).draws[:2, 2])
    assert np.mean(draws, axis=0) == pytest.approx([1, 4], abs=1)


def test_weighted_errors_rise_although_not_in_every_round() -> None:
    X, y = disc(400)
    errors = AdaBoostClassifier(n_estimators=1000).fit(X, y).estimator_errors_

    assert errors[:10].mean() < errors[10:100].mean() < errors[-100:].mean() < 0.5
    assert (np.diff(errors) < 0).any()


def test_the_training_error_may_rise_where_the_loss_falls() -> None:
    X, y = disc(400)
    model = AdaBoostClassifier(n_estimators=100).fit(X, y)

    assert (np.diff(model.exponential_loss_) < 0).all()
    assert (np.diff(model.train_errors_) > 0).any()


def test_weak_members_make_a_strong_model() -> None:
    """No stump is right about two thirds of the rows of a disc; a hundred are right about 95 of 100."""
    X, y = disc(1200)
    model = AdaBoostClassifier(n_estimators=100).fit(X[:400], y[:400])

    assert np.mean(model.estimator_errors_) > 0.38
    assert max((stump.predict(X[400:]) == y[400:]).mean() for stump in model.estimators_) < 0.7
    assert model.score(X[400:], y[400:]) > 0.95


def test_the_model_is_linear_in_what_its_members_answer() -> None:
    X, _ = DISC
    model = fitted(25)
    features = np.column_stack([signs(stump, X) for stump in model.estimators_])

    np.testing.assert_allclose(model.decision_function(X), features @ model.estimator_weights_, rtol=1e-9)


def test_with_votes_that_sum_to_one_the_score_is_one_only_where_all_members_agree() -> None:
    X, y = disc(400)
    model = AdaBoostClassifier(n_estimators=5).fit(X, y)
    features = np.column_stack([signs(stump, X) for stump in model.estimators_])
    shares = model.estimator_weights_ / model.estimator_weights_.sum()
    scores = features @ shares

    assert (model.estimator_weights_ > 0).all()
    assert np.abs(scores).max() <= 1 + 1e-12
    np.testing.assert_array_equal(np.isclose(scores, 1), (features == 1).all(axis=1))
    np.testing.assert_allclose(margins(model, X, y).margins[0], y * scores, atol=1e-12)


def test_what_the_weights_are_divided_by_changes_no_member() -> None:
    X, y = DISC
    model = AdaBoostClassifier(n_estimators=10)
    one = model.fit(X, y).estimator_weights_
    many = AdaBoostClassifier(n_estimators=10).fit(X, y, sample_weight=np.full(len(y), 64.0))

    np.testing.assert_allclose(many.estimator_weights_, one, rtol=1e-9)


@pytest.mark.slow
def test_votes_found_together_overfit_sooner_than_votes_found_one_by_one() -> None:
    """A tenth of the labels is wrong. All votes anew in each round: the best is soon, and what follows is worse."""
    one_by_one, together = [], []
    for seed in range(3):
        X, y = disc(2300, seed, flipped=0.1)
        X_new, y_new = X[300:], disc(2300, seed)[1][300:]
        plain = AdaBoostClassifier(n_estimators=40).fit(X[:300], y[:300])
        joint = AdaBoostClassifier(n_estimators=40, corrective="exponential").fit(X[:300], y[:300])
        one_by_one.append(error_by_round(plain, X_new, y_new))
        answers = np.array([signs(stump, X_new) for stump in joint.estimators_])
        wrong = np.sign(joint.vote_history_ @ answers) != y_new
        together.append(wrong.mean(axis=1))
        assert joint.train_errors_[-1] < 0.6 * plain.train_errors_[-1]
    plain_error, joint_error = np.mean(one_by_one, axis=0), np.mean(together, axis=0)

    assert (100 * plain_error[[9, 19, 39]]).round(1).tolist() == [19.4, 15.4, 10.0]
    assert (100 * joint_error[[9, 19, 39]]).round(1).tolist() == [13.4, 14.4, 17.0]
    assert (plain_error.argmin() + 1, joint_error.argmin() + 1) == (39, 9)
    assert (100 * plain_error.min()).round(1) == 9.4
    assert (100 * joint_error.min()).round(1) == 12.8
