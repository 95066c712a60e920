"""Ten points, ten bags, ten stumps: the worked example of bagging in Tan, Steinbach and Kumar (figures 5.35, 5.36)."""

from typing import Any

import numpy as np
import pytest

from coterie import BaggingClassifier, DecisionTreeClassifier, RandomForestClassifier

X = np.arange(1, 11).reshape(-1, 1) / 10
Y = np.array([1, 1, 1, -1, -1, -1, -1, 1, 1, 1])

# Tenths that were drawn; the threshold that was found; the classes at or below it and above it.
ROUNDS: list[tuple[list[int], float, int, int]] = [
    ([1, 2, 2, 3, 4, 4, 5, 6, 9, 9], 0.35, 1, -1),
    ([1, 2, 3, 4, 5, 8, 9, 10, 10, 10], 0.65, 1, 1),
    ([1, 2, 3, 4, 4, 5, 7, 7, 8, 9], 0.35, 1, -1),
    ([1, 1, 2, 4, 4, 5, 5, 7, 8, 9], 0.3, 1, -1),
    ([1, 1, 2, 5, 6, 6, 6, 10, 10, 10], 0.35, 1, -1),
    ([2, 4, 5, 6, 7, 7, 7, 8, 9, 10], 0.75, -1, 1),
    ([1, 4, 4, 6, 7, 8, 9, 9, 9, 10], 0.75, -1, 1),
    ([1, 2, 5, 5, 5, 7, 7, 8, 9, 10], 0.75, -1, 1),
    ([1, 3, 4, 4, 6, 7, 7, 8, 10, 10], 0.75, -1, 1),
    ([1, 1, 1, 1, 3, 3, 8, 8, 9, 9], 0.05, 1, 1),  # all of one class: nothing to split
]


def stump(tenths: list[int]) -> DecisionTreeClassifier:
    counts = np.bincount(np.array(tenths) - 1, minlength=10)
    return DecisionTreeClassifier(max_depth=1).fit(X, Y, sample_weight=counts)


@pytest.mark.parametrize(("tenths", "threshold", "below", "above"), ROUNDS)
def test_the_stump_of_each_bag_is_the_one_of_the_book(
    tenths: list[int], threshold: float, below: int, above: int
) -> None:
    found = stump(tenths)

    assert found.predict(X).tolist() == np.where(X[:, 0] <= threshold, below, above).tolist()
    if found.get_n_leaves() == 2:
        assert found.tree_.threshold[0] == pytest.approx(threshold)
    else:
        assert below == above


def test_the_majority_of_the_ten_stumps_is_right_everywhere() -> None:
    votes = np.sum([stump(tenths).predict(X) for tenths, *_ in ROUNDS], axis=0)

    assert votes.tolist() == [2, 2, 2, -6, -6, -6, -6, 2, 2, 2]
    assert np.sign(votes).tolist() == Y.tolist()


def impurity(tree: Any, rows: Any) -> float:
    return float((tree.predict_proba(X[rows]) * (1 - tree.predict_proba(X[rows]))).sum())


@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestClassifier(40, max_depth=1, max_features=None, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(max_depth=1), 40, random_state=0),
    ],
)
def test_every_tree_is_a_best_stump_of_its_own_bag(ensemble: Any) -> None:
    """Of equal stumps a tree alone takes the one with the lowest threshold; trees of an ensemble take any of them."""
    ensemble.fit(X, Y)

    same = 0
    for member, rows in zip(ensemble.estimators_, ensemble.estimators_samples_, strict=True):
        assert len(rows) == 10
        alone = stump((rows + 1).tolist())
        assert member.get_n_leaves() == alone.get_n_leaves()
        assert impurity(member, rows) == pytest.approx(impurity(alone, rows), rel=1e-12)
        same += np.allclose(member.predict_proba(X[rows]), alone.predict_proba(X[rows]))
    assert 20 < same < 40


def test_bagging_with_the_bags_of_the_book_votes_as_in_the_book() -> None:
    bags = [np.array(tenths) - 1 for tenths, *_ in ROUNDS]
    model = BaggingClassifier(DecisionTreeClassifier(max_depth=1), 10, bootstrap=bags, voting="hard").fit(
        X, Y
    )

    for member, (_, threshold, below, above) in zip(model.estimators_, ROUNDS, strict=True):
        assert member.predict(X).tolist() == np.where(X[:, 0] <= threshold, below, above).tolist()
    votes = 10 * (model.predict_proba(X) @ [-1, 1])
    assert votes.round(9).tolist() == [2, 2, 2, -6, -6, -6, -6, 2, 2, 2]
    assert model.predict(X).tolist() == Y.tolist()
