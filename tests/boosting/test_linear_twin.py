"""The lines of the engine's leaves are those of the naive twin: same features, slopes, ranges and answers."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from coterie import _engine
from tests.helpers.tree_problems import NO_WEIGHT, Problem, random_problem
from tests.naive.boosted_tree import Floats, SlowGrower
from tests.naive.linear_leaves import slow_line


def linear_problem(seed: int) -> Problem:
    problem = random_problem(seed)
    rng = np.random.default_rng(seed)
    options = problem.options
    options.l1 = options.path_smoothing = 0.0
    options.linear_leaves = True
    options.linear_l2 = float(rng.choice([0.0, 0.01, 1.0]))
    if rng.random() < 0.5 and problem.n_levels[0] == 0:  # a feature twice, and one that says nearly the same
        problem.columns.append(problem.columns[0])
        columns = [*problem.columns, problem.columns[0] * 2 + rng.normal(size=len(problem.gradient))]
        if options.monotone:
            options.monotone = [*options.monotone, 0, 0]
        problem = problem._replace(columns=columns, n_levels=np.append(problem.n_levels, [0, 0]).astype("i4"))
    return problem


def matrix_of(problem: Problem) -> tuple[Any, Any]:
    mapper = _engine.BinMapper.fit(problem.columns, problem.n_levels, NO_WEIGHT, problem.max_bins, 0, 1)
    return _engine.BinnedMatrix(problem.columns, problem.n_levels, mapper, 1), mapper


def said_by(tree: Any, columns: list[Any], n_levels: Any) -> Floats:
    forest = _engine.Forest(len(columns), 1)
    forest.add(tree)
    scores = np.zeros(len(columns[0]))
    forest.add_scores(columns, n_levels, scores, 1)
    return scores


def check_one(problem: Problem) -> int:
    """Compares one tree, and says how many terms it has."""
    matrix, mapper = matrix_of(problem)
    grower = _engine.TreeGrower(matrix, problem.options, 2)
    tree = grower.grow(
        problem.gradient,
        problem.hessian,
        problem.rows,
        problem.seed,
        values=problem.columns,
        n_levels=problem.n_levels,
    )
    bins = np.stack([matrix.column(f) for f in range(matrix.n_features)], axis=1).astype(np.int64)
    slow = SlowGrower(bins, mapper.n_bins().astype(np.int64), problem.n_levels > 0, problem.options)
    expected = slow.grow(problem.gradient, problem.hessian, problem.rows.astype(np.int64), problem.seed)
    assert_array_equal(tree.feature, expected.feature)
    values = np.stack(problem.columns, axis=1).astype(float)
    said = said_by(tree, problem.columns, problem.n_levels)
    leaves = [leaf for leaf in slow.nodes if expected.feature[leaf.number] < 0]
    first = tree.linear_first_term
    for leaf in leaves if len(leaves) > 1 else []:
        line = slow_line(slow, leaf, values, problem.gradient, problem.hessian)
        own = slice(*first[leaf.number : leaf.number + 2]) if len(first) else slice(0)
        constant = expected.value[leaf.number]
        if line is None:
            assert len(tree.linear_slope[own]) == 0
            assert_allclose(said[leaf.rows], constant, rtol=1e-9, atol=1e-12)
            continue
        assert_array_equal(tree.linear_feature[own], line.features)
        assert_allclose(tree.linear_slope[own], line.slopes, rtol=1e-7, atol=1e-12)
        assert_allclose(tree.linear_centre[own], line.centre, rtol=1e-9, atol=1e-12)
        assert_array_equal(tree.linear_least[own], line.least)
        assert_array_equal(tree.linear_most[own], line.most)
        assert_allclose(said[leaf.rows], line.answers(values[leaf.rows], constant), rtol=1e-9, atol=1e-9)
    scores = np.zeros(matrix.n_rows, np.float32)
    grower.add_predictions(scores)
    assert_array_equal(scores, said.astype(np.float32))
    return len(tree.linear_slope)


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_the_lines_are_those_of_the_twin(first: int) -> None:
    n_terms = [check_one(linear_problem(seed)) for seed in range(first, first + 20)]

    assert sum(n > 0 for n in n_terms) >= 8
