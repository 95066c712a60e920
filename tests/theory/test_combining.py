"""Stacks, blends and codes: who is believed, on which rows that is learned, and how many errors a code corrects."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_friedman1
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coterie import (
    BlendingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    OutputCodeClassifier,
    StackingRegressor,
    VotingRegressor,
)

X, Y = make_friedman1(1300, noise=1, random_state=0)
TABLE, TARGET, NEW, NEW_TARGET = X[:300], Y[:300], X[300:], Y[300:]
MEMBERS = [
    ("tree", DecisionTreeRegressor()),
    ("linear", LinearRegression()),
    ("neighbours", KNeighborsRegressor()),
]


def test_a_meta_learner_of_the_rows_that_members_know_believes_the_one_that_knows_them_by_heart() -> None:
    members = [learner.fit(TABLE, TARGET) for _, learner in MEMBERS]
    inside = np.column_stack([member.predict(TABLE) for member in members])
    meta = LinearRegression().fit(inside, TARGET)

    np.testing.assert_allclose(meta.coef_, [1, 0, 0], atol=1e-9)
    outside = np.column_stack([member.predict(NEW) for member in members])
    assert meta.score(outside, NEW_TARGET) == pytest.approx(members[0].score(NEW, NEW_TARGET))


def test_a_meta_learner_of_rows_out_of_fold_is_better_than_every_member() -> None:
    stack = StackingRegressor(MEMBERS).fit(TABLE, TARGET)
    members = [member.score(NEW, NEW_TARGET) for member in stack.estimators_]

    assert stack.score(NEW, NEW_TARGET) > max(members) + 0.04
    assert stack.final_estimator_.coef_.min() > 0.1
    assert stack.oof_score_ == pytest.approx(stack.score(NEW, NEW_TARGET), abs=0.06)


def test_a_stack_beats_a_plain_mean_where_members_are_not_equally_good() -> None:
    stack, mean = StackingRegressor(MEMBERS).fit(TABLE, TARGET), VotingRegressor(MEMBERS).fit(TABLE, TARGET)
    weighted = VotingRegressor(MEMBERS, weights="learned").fit(TABLE, TARGET)

    assert stack.score(NEW, NEW_TARGET) > mean.score(NEW, NEW_TARGET)
    assert weighted.score(NEW, NEW_TARGET) > mean.score(NEW, NEW_TARGET)
    assert weighted.weights_.argmax() == 1


def test_a_blend_learns_from_fewer_rows_than_a_stack() -> None:
    stack, blend = (
        StackingRegressor(MEMBERS).fit(TABLE, TARGET),
        BlendingRegressor(MEMBERS, random_state=0).fit(TABLE, TARGET),
    )

    assert (blend.oof_coverage_ > 0).sum() == 75
    assert (stack.oof_coverage_ > 0).all()
    assert stack.score(NEW, NEW_TARGET) > blend.score(NEW, NEW_TARGET)


def test_a_neural_network_may_learn_the_weights() -> None:
    final = make_pipeline(
        StandardScaler(),
        MLPRegressor(hidden_layer_sizes=(4,), solver="lbfgs", alpha=1.0, max_iter=2000, random_state=0),
    )
    stack = StackingRegressor(MEMBERS, final).fit(TABLE, TARGET)

    assert stack.score(NEW, NEW_TARGET) > max(member.score(NEW, NEW_TARGET) for member in stack.estimators_)


def test_four_classes_are_told_apart_by_three_ways_of_parting_them_in_two_pairs() -> None:
    """Every member parts the classes in two pairs; any two of the three name the class."""
    X = np.arange(40.0)[:, None]
    y = np.repeat(list("ABCD"), 10)
    pairs = [[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    model = OutputCodeClassifier(DecisionTreeClassifier(), code=pairs, decoding="hamming").fit(X, y)

    assert model.score(X, y) == 1.0
    assert model.separation_ == 2
    assert all(np.array(pairs)[:, column].sum() == 0 for column in range(3))


def test_a_code_corrects_less_than_half_of_its_separation() -> None:
    book = OutputCodeClassifier(DecisionTreeClassifier(), code="exhaustive", decoding="hamming").fit(
        np.arange(50.0)[:, None], np.arange(50) % 5
    )
    words = book.code_book_
    correctable = (book.separation_ - 1) // 2

    assert correctable == 3
    for wrong in combinations(range(words.shape[1]), correctable):
        for own, word in enumerate(words):
            received = word.copy()
            received[list(wrong)] *= -1
            assert (words != received).sum(axis=1).argmin() == own


def test_long_codes_of_weak_learners_beat_one_learner_of_all_classes() -> None:
    X, y = load_digits(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)

    def score(code: str) -> float:
        model = OutputCodeClassifier(tree, code=code, code_size=4, random_state=0)
        return float(model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]))

    alone = tree.fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    assert alone < 0.6 < 0.75 < score("one_vs_rest") < score("dense")
