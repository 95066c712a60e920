"""The summary of a fitted AdaBoost: what it reads, what it refuses, what it prints."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from coterie.diagnostics import bounds, margins
from coterie.errors import InvalidInput, InvalidParameter
from tests.naive.stump_boosting import StumpBoosting

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = (X[:, 0] + X[:, 1] + 0.2 * RNG.normal(size=120) > 0).astype(int)
MODEL = AdaBoostClassifier(n_estimators=30, random_state=0).fit(X, Y)


def test_other_rows_than_those_of_the_fit_are_recognised() -> None:
    new = RNG.normal(size=(200, 3))
    with pytest.raises(InvalidInput) as caught:
        bounds.adaboost(MODEL, new, RNG.integers(2, size=200))
    assert caught.value.parameter == "X"
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("Give the table, the labels and the sample_weight")


@pytest.mark.parametrize(
    ("model", "y", "allowed"),
    [
        (
            AdaBoostClassifier(n_estimators=3).fit(X, Y + (X[:, 2] > 1)),
            Y,
            "two classes",
        ),
        (RandomForestClassifier(3).fit(X, Y), Y, "a fitted AdaBoostClassifier"),
    ],
    ids=["three classes", "a forest"],
)
def test_models_without_such_bounds(model: Any, y: Any, allowed: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        bounds.adaboost(model, X, y)
    assert (caught.value.parameter, caught.value.allowed) == ("model", allowed)


def test_a_risk_is_checked_also_when_there_is_nothing_to_risk() -> None:
    deep = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=3, random_state=0).fit(X, Y)

    with pytest.raises(InvalidParameter) as caught:
        bounds.adaboost(deep, X, Y, delta=2)
    assert (caught.value.parameter, caught.value.received) == ("delta", 2)


def test_the_size_of_the_class_is_counted_given_or_not_known() -> None:
    deep = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=9, random_state=0).fit(X, Y)

    assert bounds.adaboost(MODEL, X, Y).n_learners == bounds.stump_count(X)
    assert np.isnan(bounds.adaboost(deep, X, Y).generalization_bound).all()
    assert "give n_learners" in repr(bounds.adaboost(deep, X, Y))
    known = bounds.adaboost(deep, X, Y, n_learners=10**6, theta=0.2, delta=0.1)
    expected = bounds.generalization_error(
        known.margin_error[-1], 0.2, n_rows=120, n_learners=10**6, delta=0.1
    )
    np.testing.assert_array_equal(known.generalization_bound, expected)


def test_votes_of_half_the_log_odds_and_of_all_of_them_are_the_same() -> None:
    """scikit-learn's votes are twice those of the textbook."""
    twin = StumpBoosting(X, Y, n_rounds=30)
    ours, theirs = bounds.adaboost(twin, X, Y), bounds.adaboost(MODEL, X, Y)

    np.testing.assert_allclose(ours.errors[0], theirs.errors[0])
    np.testing.assert_allclose(ours.votes[0], theirs.votes[0])
    np.testing.assert_allclose(ours.training_loss[0], theirs.training_loss[0])


def test_a_perfect_member_of_scikit_learn_has_no_bound_by_its_edge() -> None:
    """It votes with 1 and not without end, so its loss is not zero, as the edge of 1/2 would have it."""
    y = (X[:, 0] > 0).astype(int)
    found = bounds.adaboost(AdaBoostClassifier(n_estimators=5).fit(X, y), X, y)

    assert found.edge == 0.5
    assert np.isnan(found.training_loss_by_edge).all()
    assert found.first_round_without_error == 1
    assert "not known" in repr(found)


def test_every_quantity_is_printed_beside_its_bound() -> None:
    found = bounds.adaboost(MODEL, X, Y, theta=[0.1, 0.2])
    lines = repr(found).splitlines()

    assert lines[0].split() == ["after", "round", "30,", "120", "rows", "measured", "bound"]
    assert [line for line in lines if line.startswith("share of margins <= 0.2")]
    assert f"{found.margin_error_bound[-1, 1]:.4f}" in repr(found)
    assert "which means nothing" in lines[-1]


def test_a_training_error_that_never_reaches_zero() -> None:
    y = RNG.integers(2, size=120)
    found = bounds.adaboost(AdaBoostClassifier(n_estimators=3, random_state=0).fit(X, y), X, y)

    assert found.first_round_without_error == np.inf
    assert "never" in repr(found)


class Shares:
    """Members that answer numbers in [-1, 1], with any votes; all that is known of them is their normalizers."""

    classes_ = np.array([0, 1])

    def __init__(self, votes: Any) -> None:
        self.answers = np.clip(0.4 * (2 * Y - 1) + RNG.normal(size=(len(votes), len(Y))), -1, 1)
        self.estimator_weights_ = np.array(votes)
        losses = np.exp(-np.cumsum(self.estimator_weights_[:, None] * self.answers, axis=0) * (2 * Y - 1))
        mean = losses.mean(axis=1)
        self.normalizers_ = mean / np.append(1.0, mean[:-1])
        self.estimator_errors_ = np.full(len(votes), 0.4)

    def staged_votes(self, X: Any) -> Any:
        sums = np.cumsum(self.estimator_weights_[:, None] * self.answers, axis=0)
        return (np.stack([-own, own], axis=1) / 2 for own in sums)


@pytest.mark.parametrize("votes", [[0.5, 0.3, 0.2, 0.6], [0.4, -0.1, 0.3, 0.2]])
def test_members_that_answer_with_numbers_have_the_bounds_of_their_normalizers(votes: list[float]) -> None:
    found = bounds.adaboost(Shares(votes), X, Y, theta=[-0.5, 0.0, 0.2, 0.5])

    np.testing.assert_allclose(found.training_loss, found.training_loss_bound)
    assert (found.margin_error <= found.margin_error_bound + 1e-9).all()
    assert found.n_learners is None
    assert np.isnan(found.margin_limit)


def test_votes_that_change_later_have_margins_by_round_and_no_bounds() -> None:
    """After the first round the only vote is 1; after the second they are 2 and 1, not 1 and 1."""

    class Corrected:
        classes_ = np.array([0, 1])
        estimator_errors_ = np.array([0.3, 0.3])
        estimator_weights_ = np.array([2.0, 1.0])
        vote_history_ = np.array([[1.0, 0.0], [2.0, 1.0]])

        def staged_votes(self, X: Any) -> Any:
            yield np.tile([0.0, 1.0], (len(X), 1))
            yield np.tile([1.0, 2.0], (len(X), 1))

    found = margins(Corrected(), X[:2], [1, 0], rounds="all")
    np.testing.assert_allclose(found.margins, [[1, -1], [1 / 3, -1 / 3]])
    with pytest.raises(ValueError, match="changed those of earlier rounds"):
        bounds.adaboost(Corrected(), X[:2], [1, 0])


def test_numbers_of_any_size_keep_to_their_columns() -> None:
    """An edge of nothing: the rounds that it promises are very many."""
    found = bounds.adaboost(MODEL, X, Y)
    slow = replace(found, rounds_to_zero_error=4.9e10, training_loss_by_edge=found.training_loss * 1e9)
    lines = repr(slow).splitlines()

    assert "4.9e+10" in repr(slow)
    assert len({line.index(line.split("  ")[-1]) for line in lines[1:4]}) == 1
