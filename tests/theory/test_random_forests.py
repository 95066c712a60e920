"""Why a forest draws features: trees that differ, and two settings that hardly matter."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from coterie import DecisionTreeClassifier, RandomForestClassifier
from coterie.diagnostics import Voters, error_by_round, voters

DIGITS = load_digits(return_X_y=True)


def strong_column(n_rows: int = 1300) -> tuple[Any, Any]:
    """Eight columns, of which the first says most."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 8))
    return X, 2 * X[:, 0] + 0.7 * X[:, 1:].sum(axis=1) + rng.normal(size=n_rows) > 0


def measured(max_features: int) -> tuple[Any, Voters]:
    X, y = strong_column()
    forest = RandomForestClassifier(100, max_features=max_features, random_state=0).fit(X[:300], y[:300])
    return forest, voters(forest, X[300:], y[300:])


def test_without_a_draw_of_features_every_tree_begins_with_the_strong_column() -> None:
    def share_of_roots(max_features: int) -> float:
        forest, _ = measured(max_features)
        return float(np.mean([tree.tree_.feature[0] == 0 for tree in forest.estimators_]))

    assert share_of_roots(8) == 1.0
    assert share_of_roots(2) < 0.4


def test_the_fewer_features_a_split_sees_the_less_trees_are_correlated_and_the_worse_is_each() -> None:
    found = [measured(k)[1] for k in (1, 2, 3, 8)]

    assert (np.diff([own.correlation for own in found]) > 0).all()
    assert (np.diff([own.member_error for own in found]) < 0).all()


def test_trees_of_few_features_are_worse_alone_and_better_together() -> None:
    two, all_features = measured(2)[1], measured(8)[1]

    assert two.member_error > all_features.member_error
    assert two.majority_error < all_features.majority_error


def test_a_draw_of_features_adds_to_the_variance_of_one_tree() -> None:
    """Over many samples: how often does the answer of a single tree differ from what most trees say?"""
    X, _ = strong_column()

    def disagreement(max_features: int) -> float:
        answers = []
        for seed in range(40):
            rng = np.random.default_rng(seed)
            table = rng.normal(size=(150, 8))
            y = 2 * table[:, 0] + 0.7 * table[:, 1:].sum(axis=1) + rng.normal(size=150) > 0
            tree = DecisionTreeClassifier(max_features=max_features, random_state=seed)
            answers.append(tree.fit(table, y).predict(X))
        shares = np.mean(answers, axis=0)
        return float((shares * (1 - shares)).mean())

    assert disagreement(1) > 1.05 * disagreement(8)


def test_the_number_of_features_hardly_matters() -> None:
    """Digits have 64 columns. From 2 to 32 of them at each split, all errors lie within 1.5 % of the rows."""
    X, y = DIGITS
    errors = {
        k: 1
        - RandomForestClassifier(200, max_features=k, random_state=0)
        .fit(X[::2], y[::2])
        .score(X[1::2], y[1::2])
        for k in (2, 4, 8, 16, 32, 64)
    }
    square_root, all_features = errors[8], errors.pop(64)

    assert max(errors.values()) - min(errors.values()) < 0.015
    assert square_root < min(errors.values()) + 0.01
    assert all_features > square_root


def test_more_trees_are_never_worse_but_for_chance() -> None:
    X, y = DIGITS
    forest = RandomForestClassifier(1000, random_state=0).fit(X[::2], y[::2])
    errors = error_by_round(forest, X[1::2], y[1::2])

    assert errors[0] > 0.25
    assert errors[99] < 0.06
    assert np.abs(errors[199:] - errors[199:].mean()).max() < 0.01
    assert errors[99:].max() < errors[:20].min()


@pytest.mark.parametrize("change", [lambda X: X * 2.0 ** np.arange(8), lambda X: np.exp(X), lambda X: X**3])
def test_trees_do_not_change_with_the_scales_of_columns(change: Any) -> None:
    X, y = strong_column(400)
    one, two = (DecisionTreeClassifier().fit(table, y) for table in (X, change(X)))

    np.testing.assert_array_equal(one.tree_.feature, two.tree_.feature)
    np.testing.assert_array_equal(one.apply(X), two.apply(change(X)))


def test_forests_are_as_good_in_any_scale() -> None:
    """Draws follow from what rows hold, so the trees are others."""
    X, y = strong_column(400)
    scores = [RandomForestClassifier(100, random_state=0).fit(own, y).oob_score_ for own in (X, np.exp(X))]

    assert scores[0] == pytest.approx(scores[1], abs=0.03)


def test_of_many_columns_the_few_that_matter_are_found() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 200))
    y = X[:, [3, 50, 120]].sum(axis=1) + 0.5 * rng.normal(size=300) > 0
    forest = RandomForestClassifier(300, random_state=0).fit(X, y)

    assert set(np.argsort(forest.feature_importances_)[-3:]) == {3, 50, 120}
    assert forest.oob_score_ > DecisionTreeClassifier(max_features="sqrt", random_state=0).fit(
        X[:150], y[:150]
    ).score(X[150:], y[150:])
