"""Quantile forests: what leaves hold of the targets, and the quantiles of new rows."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.ensemble import RandomForestRegressor

from coterie import _engine
from coterie.errors import InvalidInput, InvalidParameter
from coterie.forests._regressor_base import LeafTargets
from tests.naive.forest_arrays import ForestArrays, random_forest
from tests.naive.leaf_quantiles import naive_quantiles

LEVELS = [0.5, 0.0, 1.0, 0.1, 0.3, 0.9, 1 / 3, 0.75]


def targets_of(forest: ForestArrays, *, weighted: bool = True) -> LeafTargets:
    targets = LeafTargets(forest.y, forest.weight if weighted else None)
    for leaves, counts in zip(forest.leaves.T, forest.counts.T, strict=True):
        targets.add(leaves, counts)
    return targets


def twin(forest: ForestArrays, new_leaves: Any, use: Any) -> Any:
    return [
        naive_quantiles(forest, leaves, trees, LEVELS) for leaves, trees in zip(new_leaves, use, strict=True)
    ]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 14),
    n_trees=st.integers(1, 6),
    n_leaves=st.integers(1, 5),
)
def test_quantiles_are_those_of_the_twin(seed: int, n_rows: int, n_trees: int, n_leaves: int) -> None:
    forest = random_forest(seed, n_rows, n_trees, min(n_leaves, 2 * n_rows))
    new = np.random.default_rng(seed).permutation(forest.leaves)
    every = np.ones_like(new, dtype=bool)
    assert_array_equal(targets_of(forest).quantiles(new, LEVELS), twin(forest, new, every))
    out = forest.counts == 0
    found = targets_of(forest).quantiles(forest.leaves, LEVELS, out_of_bag=out)
    assert_array_equal(found, twin(forest, forest.leaves, out))


@pytest.mark.parametrize("n_leaves", [1, 30, 300])
def test_sorted_targets_and_summed_ones_give_the_same(n_leaves: int) -> None:
    """With few targets in a leaf the engine sorts them, with many it sums them by rank."""
    forest = random_forest(n_leaves, n_rows=600, n_trees=3, n_leaves=n_leaves)
    rows = np.arange(0, 600, 60)
    expected = twin(forest, forest.leaves[rows], np.ones((len(rows), 3), bool))
    assert_array_equal(targets_of(forest).quantiles(forest.leaves[rows], LEVELS), expected)


@pytest.mark.parametrize("n_leaves", [3, 300])
def test_threads_change_no_bit(n_leaves: int) -> None:
    forest = random_forest(1, n_rows=1000, n_trees=20, n_leaves=n_leaves)
    forest.y, forest.weight = np.random.default_rng(0).normal(size=(2, 1000)) ** 2
    one = targets_of(forest).quantiles(forest.leaves, LEVELS, forest.counts == 0)
    for n_threads in (2, 3, 8):
        targets = LeafTargets(forest.y, forest.weight)
        targets.add(forest.leaves.T, forest.counts.T, n_threads=n_threads)
        more = targets.quantiles(forest.leaves, LEVELS, forest.counts == 0, n_threads=n_threads)
        assert_array_equal(one, more)


def test_a_single_leaf_gives_the_quantiles_of_all_targets() -> None:
    y = np.random.default_rng(0).normal(size=101)
    targets = LeafTargets(y)
    targets.add(np.zeros(101, np.uint32), np.ones(101, np.uint16))
    levels = np.arange(0, 102) / 101
    expected = np.sort(y)[np.maximum(np.arange(0, 102) - 1, 0)]
    assert_array_equal(targets.quantiles(np.zeros((1, 1), int), levels)[0], expected)


def test_a_weight_of_two_is_the_row_twice() -> None:
    forest = random_forest(5, n_rows=10)
    forest.weight = np.repeat([1.0, 2.0], 5)
    twice = np.append(np.arange(10), np.arange(5, 10))
    again = ForestArrays(forest.leaves[twice], forest.counts[twice], forest.y[twice], np.ones(15))
    assert_array_equal(
        targets_of(forest).quantiles(forest.leaves, LEVELS),
        targets_of(again, weighted=False).quantiles(forest.leaves, LEVELS),
    )


def test_weights_of_any_size_are_ratios() -> None:
    forest = random_forest(6)
    expected = targets_of(forest).quantiles(forest.leaves, LEVELS)
    for scale in (2.0**-1040, 2.0**900):
        scaled = ForestArrays(forest.leaves, forest.counts, forest.y, forest.weight * scale)
        assert_array_equal(targets_of(scaled).quantiles(forest.leaves, LEVELS), expected)


def test_intervals_of_a_real_forest_hold_what_they_should() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(1500, 2))
    y = X[:, 0] + X[:, 0] * rng.normal(size=1500)
    forest = RandomForestRegressor(30, min_samples_leaf=10, random_state=0).fit(X[:1000], y[:1000])
    targets = LeafTargets(y[:1000])
    for tree, drawn in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        targets.add(tree.apply(X[:1000]), np.bincount(drawn, minlength=1000))
    low, high = targets.quantiles(forest.apply(X[1000:]), [0.05, 0.95]).T
    covered = (low <= y[1000:]) & (y[1000:] <= high)
    assert 0.87 < covered.mean() < 0.95
    wide = high - low
    assert wide[X[1000:, 0] > 0.7].mean() > 2 * wide[X[1000:, 0] < 0.3].mean()


def test_what_was_pickled_comes_back() -> None:
    forest = random_forest(2)
    targets = targets_of(forest)
    back = pickle.loads(pickle.dumps(targets))
    assert len(back) == len(targets) == 5
    assert_array_equal(back.quantiles(forest.leaves, LEVELS), targets.quantiles(forest.leaves, LEVELS))
    for each in (back, targets):
        each.add(forest.leaves[:, 0], forest.counts[:, 1])
    more = np.c_[forest.leaves, forest.leaves[:, 0]]
    assert_array_equal(back.quantiles(more, LEVELS), targets.quantiles(more, LEVELS))


def test_a_broken_pickle_is_refused() -> None:
    y, weight, trees = targets_of(random_forest(2))._targets.__getstate__()
    first, rank, share = trees[0]
    share[0] += 1
    broken = _engine.LeafTargets.__new__(_engine.LeafTargets)
    with pytest.raises(InvalidInput, match="add up to one"):
        broken.__setstate__((y, weight, [(first, rank, share)]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"q": [0.5, 1.5]}, r"q=\[0.5, 1.5\]: expected a list of numbers in \[0, 1\]"),
        ({"q": [np.nan]}, "expected a list of numbers"),
        ({"q": 0.5}, "q=0.5: expected a list"),
        ({"q": ["half"]}, "expected numbers"),
        ({"new_leaves": np.zeros((3, 4), int)}, r"shape \(3, 4\).*5 trees"),
        ({"new_leaves": np.full((3, 5), 9)}, "leaf 9 of tree 0"),
        ({"new_leaves": np.full((3, 5), -1)}, "go from -1"),
        ({"new_leaves": np.zeros((3, 5))}, "type float64"),
        ({"out_of_bag": np.ones((3, 5))}, "holds float64"),
        ({"out_of_bag": np.ones((3, 4), bool)}, r"shape \(3, 4\)"),
    ],
)
def test_questions_that_make_no_sense(arguments: dict[str, Any], message: str) -> None:
    targets = targets_of(random_forest(0))
    with pytest.raises((InvalidInput, InvalidParameter), match=message):
        targets.quantiles(**{"new_leaves": np.zeros((3, 5), int), "q": [0.5], **arguments})


@pytest.mark.parametrize(
    ("leaves", "counts", "message"),
    [
        (np.zeros(3, int), np.zeros(3, int), r"\(1, 3\)"),
        (np.zeros(12, int), np.zeros((2, 12), int), r"counts \(2, 12\)"),
        (np.full(12, 24), np.ones(12, int), "fewer than 24 nodes"),
        (np.zeros(12, int), np.full(12, 70_000), "from 0 to 65535"),
    ],
)
def test_trees_that_cannot_be(leaves: Any, counts: Any, message: str) -> None:
    targets = LeafTargets(random_forest(0).y)
    with pytest.raises(InvalidInput, match=message):
        targets.add(leaves, counts)
    assert len(targets) == 0


def test_targets_and_weights_that_cannot_be() -> None:
    with pytest.raises(InvalidInput, match="not finite"):
        LeafTargets(np.array([1.0, np.inf]))
    with pytest.raises(InvalidInput, match="3 weights for 2 targets"):
        LeafTargets(np.zeros(2), np.ones(3))
    with pytest.raises(InvalidInput, match="negative"):
        LeafTargets(np.zeros(2), np.array([1.0, -1.0]))
