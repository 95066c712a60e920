"""The engine's boosted trees are those of the naive twin: same features, same rows in each leaf, same gains."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from coterie import _engine
from coterie._engine import Growth
from tests.helpers.tree_problems import NO_ROWS, NO_WEIGHT, Problem, assert_same_tree, random_problem
from tests.naive.boosted_tree import SlowGrower, SlowTree


def grow_fast(problem: Problem) -> tuple[Any, Any, Any]:
    """The engine's tree, its bins, and how they were made."""
    mapper = _engine.BinMapper.fit(problem.columns, problem.n_levels, NO_WEIGHT, problem.max_bins, 0, 1)
    matrix = _engine.BinnedMatrix(problem.columns, problem.n_levels, mapper, 1)
    grower = _engine.TreeGrower(matrix, problem.options, 2)
    return grower.grow(problem.gradient, problem.hessian, problem.rows, problem.seed), matrix, mapper


def grow_both(problem: Problem) -> tuple[Any, SlowTree, NDArray[np.uint32]]:
    """The engine's tree, the twin's, and the leaf of each row in the engine's."""
    tree, matrix, mapper = grow_fast(problem)
    bins = np.stack([matrix.column(feature) for feature in range(matrix.n_features)], axis=1).astype(np.int64)
    slow = SlowGrower(bins, mapper.n_bins().astype(np.int64), problem.n_levels > 0, problem.options)
    forest = _engine.Forest(matrix.n_features, 1)
    forest.add(tree)
    leaves = np.empty(matrix.n_rows, np.uint32)
    forest.find_leaves(problem.columns, problem.n_levels, leaves, 1)
    return (
        tree,
        slow.grow(problem.gradient, problem.hessian, problem.rows.astype(np.int64), problem.seed),
        leaves,
    )


@pytest.mark.parametrize("first", range(0, 320, 20))
def test_small_trees_are_those_of_the_twin(first: int) -> None:
    for seed in range(first, first + 20):
        problem = random_problem(seed)

        tree, slow, leaves = grow_both(problem)

        assert_same_tree(tree, slow, leaves)


@pytest.mark.parametrize("seed", range(4))
def test_trees_of_many_rows_are_those_of_the_twin(seed: int) -> None:
    """From 65,536 rows on, cells hold no counts, and rows are counted only where the hessian leaves a doubt."""
    problem = random_problem(1000 + seed, n_rows=70_000)
    problem.options.min_samples_leaf = [1, 20, 2000, 9000][seed % 4]
    problem.options.max_leaf_nodes = 12

    tree, slow, leaves = grow_both(problem)

    assert_same_tree(tree, slow, leaves)


def test_rows_are_counted_where_hessians_lie_about_them() -> None:
    """A few heavy rows look like many: the split that hessians would choose keeps too few rows."""
    n_rows = 70_000
    value = np.arange(n_rows) % 10.0
    value[:50] = 20.0
    heavy = value == 20.0
    problem = random_problem(0)._replace(
        columns=[value],
        n_levels=np.zeros(1, np.int32),
        gradient=np.where(heavy, -64.0, (value % 3) - 1).astype(np.float32),
        hessian=np.where(heavy, 16.0, 0.5).astype(np.float32),
        rows=NO_ROWS,
    )
    options = _engine.GrowOptions()
    options.min_samples_leaf = 1000
    problem = problem._replace(options=options)

    tree, slow, leaves = grow_both(problem)

    assert_same_tree(tree, slow, leaves)
    assert tree.n_rows[tree.feature < 0].min() >= 1000
    assert tree.n_nodes > 3


def test_the_problems_are_not_all_easy() -> None:
    """The random problems reach what they are meant to: depth, levels, missing values, constraints."""
    problems = [random_problem(seed) for seed in range(80)]
    trees = [grow_fast(problem)[0] for problem in problems]

    assert sum(tree.n_nodes > 9 for tree in trees) > 15
    assert sum((tree.levels >= 0).any() for tree in trees) > 15
    assert sum(bool(problem.options.monotone) for problem in problems) > 15
    assert sum(bool(problem.options.interaction_sets) for problem in problems) > 10
    assert sum(len(problem.rows) > 0 for problem in problems) > 10
    assert sum(problem.options.split_noise > 0 for problem in problems) > 20


OFF = {
    "growth": Growth.leaf,
    "split_noise": 0.0,
    "l1": 0.0,
    "max_step": 0.0,
    "leaf_penalty": 0.0,
    "max_features_per_tree": 1.0,
    "max_features_per_level": 1.0,
    "path_smoothing": 0.0,
}


@pytest.mark.parametrize("name", OFF)
def test_a_twin_that_forgets_an_option_is_told_apart(name: str) -> None:
    """Each option changes trees of the random problems, so the comparison sees it."""
    differ = 0
    for seed in range(40):
        problem = random_problem(seed)
        if getattr(problem.options, name) == OFF[name]:
            continue
        tree, _, leaves = grow_both(problem)
        setattr(problem.options, name, OFF[name])
        _, slow, _ = grow_both(problem)
        try:
            assert_same_tree(tree, slow, leaves)
        except AssertionError:
            differ += 1
    assert differ >= 3


@pytest.mark.parametrize("seed", range(4))
def test_oblivious_trees_of_many_rows_are_those_of_the_twin(seed: int) -> None:
    problem = random_problem(2000 + seed, n_rows=70_000)
    problem.options.growth = Growth.oblivious
    problem.options.min_samples_leaf = [1, 20, 2000, 9000][seed % 4]
    problem.options.max_depth = 4

    tree, slow, leaves = grow_both(problem)

    assert_same_tree(tree, slow, leaves)


def test_a_twin_with_another_rule_is_told_apart() -> None:
    """The comparison would notice: with other options the twin grows other trees."""
    differ = 0
    for seed in range(20):
        problem = random_problem(seed)
        tree, _, leaves = grow_both(problem)
        problem.options.l2 = problem.options.l2 + 5.0
        _, slow, _ = grow_both(problem)
        try:
            assert_same_tree(tree, slow, leaves)
        except AssertionError:
            differ += 1
    assert differ > 10


def random_table(seed: int, n_rows: int) -> tuple[Problem, Any, Any]:
    problem = random_problem(seed, n_rows)._replace(rows=NO_ROWS)
    mapper = _engine.BinMapper.fit(problem.columns, problem.n_levels, NO_WEIGHT, problem.max_bins, 0, 1)
    matrix = _engine.BinnedMatrix(problem.columns, problem.n_levels, mapper, 1)
    return problem, matrix, _engine.TreeGrower(matrix, problem.options, 2)


@pytest.mark.parametrize("some_rows", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_walking_raw_values_ends_where_the_grower_put_the_rows(seed: int, some_rows: bool) -> None:
    """Scores added by the grower, bin by bin, are those of the finished tree on the values themselves."""
    problem, matrix, grower = random_table(seed, 300)
    hessian = problem.hessian if len(problem.hessian) == 300 else np.empty(0, np.float32)
    rows = np.arange(0, 300, 3, dtype=np.uint32) if some_rows else NO_ROWS
    tree = grower.grow(problem.gradient, hessian, rows, 7)

    added = np.zeros(matrix.n_rows, np.float32)
    grower.add_predictions(added)
    walked = np.zeros(matrix.n_rows)
    forest = _engine.Forest(matrix.n_features, 1)
    forest.add(tree)
    forest.add_scores(problem.columns, problem.n_levels, walked, 1)

    np.testing.assert_array_equal(added, walked.astype(np.float32))
