"""What forests do exactly at the edge of what is allowed or promised."""

import math
import re

import numpy as np
import pytest

from coterie import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from coterie.errors import InvalidParameter
from coterie.forests.growth import has_settled
from coterie.members.prediction_sets import set_threshold

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 3))
Y = X[:, 0] + RNG.normal(size=100)


def test_parts_may_hold_two_thirds_of_the_rows_and_no_more() -> None:
    fitted = RandomForestRegressor(4, bootstrap="partition", max_samples=66, random_state=0).fit(X, Y)
    assert len(fitted.estimators_) == 4
    with pytest.raises(InvalidParameter, match=r"max_samples=67 .* one part of all 100 rows"):
        RandomForestRegressor(4, bootstrap="partition", max_samples=67, random_state=0).fit(X, Y)


@pytest.mark.parametrize("n_rows", [9, 19, 49, 99, 199])
@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.2, 0.3, 0.4])
def test_the_threshold_is_the_score_of_the_promised_rank_despite_rounding(n_rows: int, alpha: float) -> None:
    """With n + 1 a multiple of ten, (1 - alpha) (n + 1) is a whole number that floats seldom hit."""
    own = np.linspace(0.99, 0.01, n_rows)
    proba = np.column_stack([own, 1 - own])
    rank = math.ceil(round((1 - alpha) * (n_rows + 1), 6))

    found = set_threshold(proba, np.zeros(n_rows, int), None, alpha)

    assert found == (pytest.approx(1 - own[rank - 1], abs=1e-12) if rank <= n_rows else math.inf)


def test_every_row_with_a_weight_counts_in_the_warning_of_rows_without_out_of_bag_prediction() -> None:
    weight = np.full(100, 0.5)
    weight[:10] = 0.0
    with pytest.warns(UserWarning, match="drawn by each of the 2 trees") as caught:
        model = RandomForestClassifier(2, oob_score=True, random_state=0).fit(X, Y > 0, sample_weight=weight)

    missing, n_rows = map(int, re.findall(r"\d+", str(caught[0].message))[:2])
    without = np.isnan(model.oob_decision_function_).any(axis=1)
    assert n_rows == 90
    assert missing == without[10:].sum() > 0


def test_by_default_every_decrease_of_impurity_is_worth_a_split() -> None:
    tiny = 1e-3 * Y  # the whole variance is far below one
    for forest in (RandomForestRegressor, ExtraTreesRegressor):
        model = forest(3, bootstrap=False, random_state=0).fit(X, tiny)
        np.testing.assert_allclose(model.predict(X), tiny, atol=1e-12)


@pytest.mark.parametrize(("last", "settled"), [(0.996, True), (0.994, False)])
def test_a_forest_is_large_enough_if_the_last_doubling_gained_less_than_half_a_percent(
    last: float, settled: bool
) -> None:
    """Of 100 trees: errors of trees 26 to 50 against those of trees 76 to 100, whatever lies between."""
    errors = np.full(100, 5.0)
    errors[25:50], errors[75:] = 1.0, last
    assert has_settled(errors) == settled


def test_trees_are_taken_as_from_a_list() -> None:
    trees = RandomForestRegressor(5, random_state=0).fit(X, Y).estimators_
    assert [tree.tree_ for tree in trees[1:5:2]] == [trees[1].tree_, trees[3].tree_]
    assert trees[5:] == []


def test_whether_an_error_has_settled_does_not_depend_on_its_unit() -> None:
    trees = np.arange(1, 401)
    for unit in (1e-3, 1.0, 1e3):
        assert [has_settled(unit * (1 + 1 / trees[:k])) for k in (200, 400)] == [False, True]
