"""Trees that serve all classes are those of the naive twin: the splits of a direction, and every class's own values."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from coterie import _engine
from tests.boosting.test_linear_twin import linear_problem, said_by
from tests.helpers.tree_problems import NO_WEIGHT, Problem, random_problem
from tests.naive.boosted_tree import SlowGrower
from tests.naive.linear_leaves import slow_line
from tests.naive.shared_tree import direction_derivatives, values_of_output

Float32 = NDArray[np.float32]


def without_constraints(problem: Problem, seed: int) -> Problem:
    problem.options.monotone = []
    problem.options.free_step = [0.0, 0.5, 2.0][seed % 3]
    return problem


def outputs_of(problem: Problem, seed: int) -> list[tuple[Float32, Float32]]:
    """Derivatives of three outputs, zero for rows that take no part; the last has next to no hessian."""
    rng = np.random.default_rng(seed + 30_000)
    n_rows = len(problem.gradient)
    taking_part = np.ones(n_rows, bool)
    if len(problem.rows):
        taking_part[np.setdiff1d(np.arange(n_rows), problem.rows)] = False
    outputs = []
    for size in (1.0, 1.0, 1e-6):
        gradient = rng.integers(-200, 200, n_rows) / 64 * taking_part
        hessian = rng.integers(1, 16, n_rows) / 8 * size * taking_part
        outputs.append((gradient.astype(np.float32), hessian.astype(np.float32)))
    return outputs


def grow_both(problem: Problem) -> tuple[Any, Any, SlowGrower, Any]:
    mapper = _engine.BinMapper.fit(problem.columns, problem.n_levels, NO_WEIGHT, problem.max_bins, 0, 1)
    matrix = _engine.BinnedMatrix(problem.columns, problem.n_levels, mapper, 1)
    grower = _engine.TreeGrower(matrix, problem.options, 2)
    splits = grower.grow_splits(problem.gradient, problem.hessian, problem.rows, problem.seed)
    bins = np.stack([matrix.column(f) for f in range(matrix.n_features)], axis=1).astype(np.int64)
    slow = SlowGrower(bins, mapper.n_bins().astype(np.int64), problem.n_levels > 0, problem.options)
    twin = slow.grow(problem.gradient, problem.hessian, problem.rows.astype(np.int64), problem.seed)
    assert_array_equal(splits.feature, twin.feature)
    return grower, splits, slow, twin


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_the_values_of_each_output_are_those_of_the_twin(first: int) -> None:
    for seed in range(first, first + 20):
        problem = without_constraints(random_problem(seed), seed)
        grower, splits, slow, twin = grow_both(problem)
        is_leaf = splits.feature < 0
        for gradient, hessian in outputs_of(problem, seed):
            tree = grower.tree_for(splits, gradient, hessian)
            expected = values_of_output(slow, twin, gradient, hessian)

            for same in ("feature", "threshold", "left", "gain", "cover", "n_rows"):
                assert_array_equal(getattr(tree, same), getattr(splits, same))
            assert_allclose(tree.value[is_leaf, 0], expected[is_leaf], rtol=1e-8, atol=1e-10)
            scores = np.zeros(len(gradient), np.float32)
            grower.add_predictions(scores)
            said = said_by(tree, problem.columns, problem.n_levels)
            assert_array_equal(scores, said.astype(np.float32))


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_the_lines_of_each_output_are_those_of_the_twin(first: int) -> None:
    n_lines = 0
    for seed in range(first, first + 20):
        problem = without_constraints(linear_problem(seed), 0)
        grower, splits, slow, twin = grow_both(problem)
        values = np.stack(problem.columns, axis=1).astype(float)
        leaves = [leaf for leaf in slow.nodes if twin.feature[leaf.number] < 0]
        for gradient, hessian in outputs_of(problem, seed)[:2]:
            tree = grower.tree_for(splits, gradient, hessian, problem.columns, problem.n_levels)
            said = said_by(tree, problem.columns, problem.n_levels)
            constants = values_of_output(slow, twin, gradient, hessian)
            for leaf in leaves if len(leaves) > 1 else []:
                line = slow_line(slow, leaf, values, gradient, hessian)
                constant = constants[leaf.number]
                expected = constant if line is None else line.answers(values[leaf.rows], constant)
                assert_allclose(said[leaf.rows], expected, rtol=1e-8, atol=1e-8)
                n_lines += line is not None

    assert n_lines >= 20


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_derivatives_along_a_direction_are_those_of_the_loss(n_classes: int, weighted: bool) -> None:
    rng = np.random.default_rng(n_classes)
    scores = (rng.normal(size=(500, n_classes)) * 5).astype(np.float32)
    y = rng.integers(n_classes, size=500).astype(np.int32)
    direction = rng.normal(size=n_classes).astype(np.float32)
    weight = rng.integers(0, 4, 500).astype(np.float32) if weighted else np.empty(0, np.float32)
    log_sum, gradient, hessian = (np.empty(500, np.float32) for _ in range(3))
    _engine.softmax_direction_derivatives(
        np.ascontiguousarray(scores.T).reshape(-1), direction, y, weight, log_sum, gradient, hessian, 1
    )
    slope, curvature = direction_derivatives(scores.astype(float), y, direction.astype(float))
    times = weight if weighted else np.ones(500)

    assert_allclose(gradient, slope * times, rtol=2e-5, atol=1e-7)
    assert_allclose(hessian, curvature * times, rtol=2e-5, atol=3e-6)
    assert_allclose(log_sum, np.logaddexp.reduce(scores.astype(float), axis=1), rtol=1e-6, atol=1e-6)
