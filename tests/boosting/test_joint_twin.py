"""The engine's trees of several outputs are those of the naive twin: same splits, same rows, every output's answers."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from coterie import _engine
from coterie._engine import Growth
from tests.helpers.tree_problems import NO_WEIGHT, Problem, assert_same_tree, random_problem
from tests.naive.boosted_tree import SlowTree
from tests.naive.joint_tree import SlowJointGrower

FLOAT32 = 1e-7  # answers of joint trees are float32


def joint_problem(seed: int, n_rows: int | None = None) -> tuple[Problem, NDArray[np.float32]]:
    """A problem and gradients of one to five outputs: some go with the first, one may be all zero."""
    problem = random_problem(seed, n_rows)
    rng = np.random.default_rng(seed + 20_000)
    n_rows, n_outputs = len(problem.gradient), int(rng.integers(1, 6))
    gradients = np.tile(problem.gradient, (n_outputs, 1))
    for output in range(1, n_outputs):
        noise = rng.integers(-200, 200, n_rows) / 64
        signal = np.nan_to_num(problem.columns[rng.integers(len(problem.columns))], posinf=9, neginf=-9) % 4
        kind = rng.integers(4)
        if kind == 0:
            gradients[output] += noise.astype(np.float32)
        elif kind < 3:
            gradients[output] = rng.choice([1, 4]) * (noise + np.round(16 * (signal - signal.mean())) / 16)
        else:
            gradients[output] = 0
    if len(problem.rows):
        gradients[:, np.setdiff1d(np.arange(n_rows), problem.rows)] = 0
    problem.options.monotone = []
    if problem.options.max_leaf_nodes == 0:
        problem.options.max_leaf_nodes = 40  # the twin is slow
    if problem.options.growth == Growth.oblivious:
        problem.options.growth = Growth.leaf
    return problem, gradients


def grow_fast(problem: Problem, gradients: NDArray[np.float32], n_threads: int = 2) -> tuple[Any, Any, Any]:
    mapper = _engine.BinMapper.fit(problem.columns, problem.n_levels, NO_WEIGHT, problem.max_bins, 0, 1)
    matrix = _engine.BinnedMatrix(problem.columns, problem.n_levels, mapper, 1)
    grower = _engine.JointGrower(matrix, problem.options, np.ones(len(gradients)), n_threads)
    trees = grower.grow(gradients.reshape(-1), problem.hessian, problem.rows, problem.seed)
    return trees, matrix, mapper


def grow_both(problem: Problem, gradients: NDArray[np.float32]) -> tuple[Any, list[SlowTree], Any]:
    trees, matrix, mapper = grow_fast(problem, gradients)
    bins = np.stack([matrix.column(feature) for feature in range(matrix.n_features)], axis=1).astype(np.int64)
    slow = SlowJointGrower(bins, mapper.n_bins().astype(np.int64), problem.n_levels > 0, problem.options)
    forest = _engine.Forest(matrix.n_features, 1)
    forest.add(trees[0])
    leaves = np.empty(matrix.n_rows, np.uint32)
    forest.find_leaves(problem.columns, problem.n_levels, leaves, 1)
    rows = problem.rows.astype(np.int64)
    return trees, slow.grow_joint(gradients, problem.hessian, rows, problem.seed), leaves


@pytest.mark.parametrize("first", range(0, 160, 20))
def test_joint_trees_are_those_of_the_twin(first: int) -> None:
    for seed in range(first, first + 20):
        trees, slow, leaves = grow_both(*joint_problem(seed))

        assert len(trees) == len(slow)
        for tree, twin in zip(trees, slow, strict=True):
            assert_same_tree(tree, twin, leaves, rtol=FLOAT32)


@pytest.mark.parametrize("seed", range(3))
def test_joint_trees_of_many_rows_are_those_of_the_twin(seed: int) -> None:
    problem, gradients = joint_problem(3000 + seed, n_rows=70_000)
    problem.options.min_samples_leaf = [1, 20, 9000][seed]
    problem.options.max_leaf_nodes = 6

    trees, slow, leaves = grow_both(problem, gradients)

    for tree, twin in zip(trees, slow, strict=True):
        assert_same_tree(tree, twin, leaves, rtol=FLOAT32)


def test_the_problems_are_not_all_easy() -> None:
    problems = [joint_problem(seed) for seed in range(80)]
    trees = [grow_fast(*problem)[0][0] for problem in problems]

    assert sum(tree.n_nodes > 9 for tree in trees) > 15
    assert sum((tree.levels >= 0).any() for tree in trees) > 10
    assert sum(len(gradients) > 2 for _, gradients in problems) > 30
    assert sum(len(problem.rows) > 0 for problem, _ in problems) > 10


def test_every_output_has_a_say_in_the_splits() -> None:
    """A grower that hears the first output only grows other trees."""
    differ = 0
    for seed in range(40):
        problem, gradients = joint_problem(seed)
        trees, _, _ = grow_fast(problem, gradients)
        alone, _, _ = grow_fast(problem, gradients[:1])
        differ += not np.array_equal(trees[0].feature, alone[0].feature)
    assert differ > 15


def test_one_output_has_the_tree_of_the_ordinary_grower() -> None:
    """Of numbers only: the price of sorted levels is that of the whole split here, of each level set there."""
    agreed = 0
    for seed in range(40):
        problem, gradients = joint_problem(seed)
        numeric = [i for i, n_levels in enumerate(problem.n_levels) if n_levels == 0]
        columns = [problem.columns[i] for i in numeric]
        problem = problem._replace(columns=columns, n_levels=np.zeros(len(columns), np.int32))
        problem.options.interaction_sets = []
        problem.options.max_leaf_nodes = 5  # of many small leaves, some tie, and float32 decides
        if not columns:
            continue
        (joint,), matrix, _ = grow_fast(problem, gradients[:1])
        grower = _engine.TreeGrower(matrix, problem.options, 1)
        one = grower.grow(gradients[0], problem.hessian, problem.rows, problem.seed)
        np.testing.assert_array_equal(joint.feature, one.feature)
        is_leaf = joint.feature < 0
        np.testing.assert_allclose(joint.value[is_leaf], one.value[is_leaf], rtol=FLOAT32, atol=1e-12)
        agreed += joint.n_nodes > 1
    assert agreed > 20


@pytest.mark.parametrize("n_rows", [2_000, 70_000])
def test_threads_do_not_change_a_joint_tree(n_rows: int) -> None:
    problem, gradients = joint_problem(7, n_rows=n_rows)
    problem.options.max_leaf_nodes, problem.options.max_depth = 31, 0
    problem.options.min_samples_leaf = 5
    first = [tree.state() for tree in grow_fast(problem, gradients, 1)[0]]
    assert len(first[0]["feature"]) > 9
    for n_threads in (2, 3, 8):
        other = [tree.state() for tree in grow_fast(problem, gradients, n_threads)[0]]
        for one, two in zip(first, other, strict=True):
            for name in one:
                np.testing.assert_array_equal(one[name], two[name])


@pytest.mark.parametrize("seed", range(20))
def test_walking_raw_values_ends_where_the_grower_put_the_rows(seed: int) -> None:
    problem, gradients = joint_problem(seed, 300)
    mapper = _engine.BinMapper.fit(problem.columns, problem.n_levels, NO_WEIGHT, problem.max_bins, 0, 1)
    matrix = _engine.BinnedMatrix(problem.columns, problem.n_levels, mapper, 1)
    grower = _engine.JointGrower(matrix, problem.options, np.ones(len(gradients)), 2)
    trees = grower.grow(gradients.reshape(-1), problem.hessian, problem.rows, problem.seed)
    for output, tree in enumerate(trees):
        added = np.zeros(300, np.float32)
        grower.add_predictions(output, added)
        walked = np.zeros(300)
        forest = _engine.Forest(matrix.n_features, 1)
        forest.add(tree)
        forest.add_scores(problem.columns, problem.n_levels, walked, 1)
        np.testing.assert_array_equal(added, walked.astype(np.float32))
