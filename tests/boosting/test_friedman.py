"""Boosting by the gradient alone: nodes of too few rows, and leaves that take Newton's step of other derivatives."""

from typing import Any

import numpy as np
import pytest

from coterie import _engine
from coterie.boosting.friedman import LossHistory, ScoreHistory

rng = np.random.default_rng(0)
X = rng.normal(size=(500, 3))
GRADIENT = (X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=500)).astype(np.float32)
ALL = np.empty(0, dtype=np.uint32)


def grower(**settings: Any) -> Any:
    levels = np.zeros(3, dtype=np.int32)
    mapper = _engine.BinMapper.fit(X, levels, np.empty(0), 64, 0, 1)
    options = _engine.GrowOptions()
    options.min_samples_leaf, options.learning_rate = 1, 0.5
    for name, value in settings.items():
        setattr(options, name, value)
    return _engine.TreeGrower(_engine.BinnedMatrix(X, levels, mapper, 1), options, 1)


def leaves_of(tree: Any) -> Any:
    forest = _engine.Forest(3, 1)
    forest.add(tree)
    leaves = np.empty(len(X), dtype=np.uint32)
    forest.find_leaves(X, np.zeros(3, dtype=np.int32), leaves, 1)
    return leaves


@pytest.mark.parametrize("fewest", [2, 40, 200])
def test_a_node_of_too_few_rows_is_a_leaf(fewest: int) -> None:
    tree = grower(min_samples_split=fewest, max_leaf_nodes=0).grow(GRADIENT, np.empty(0, np.float32), ALL, 0)
    assert tree.n_rows[tree.feature >= 0].min() >= fewest
    assert tree.n_nodes > 3


@pytest.mark.parametrize("rows", [ALL, np.arange(0, 500, 2, dtype=np.uint32)], ids=["all rows", "some rows"])
def test_leaves_take_newtons_step_of_the_rows_of_the_tree(rows: Any) -> None:
    grown = grower(max_leaf_nodes=8)
    tree = grown.grow(GRADIENT, np.empty(0, np.float32), rows, 0)
    gradient = rng.normal(size=500).astype(np.float32)
    hessian = rng.uniform(0.1, 1.0, size=500).astype(np.float32)
    hessian[leaves_of(tree) == leaves_of(tree).max()] = 0.0  # where nothing is known, nothing is done
    grown.set_newton_values(tree, gradient, hessian)
    used = np.arange(500) if len(rows) == 0 else rows
    leaves = leaves_of(tree)
    for leaf in np.unique(leaves):
        own = used[leaves[used] == leaf]
        total = hessian[own].sum(dtype=np.float64)
        step = -gradient[own].sum(dtype=np.float64) / total if total > 0 else 0.0
        assert tree.value[leaf, 0] == pytest.approx(0.5 * step, rel=1e-6)
    scores = np.zeros(500, dtype=np.float32)
    grown.add_predictions(scores)
    np.testing.assert_allclose(scores, tree.value[leaves, 0], rtol=1e-5)


def test_newtons_step_needs_a_number_for_each_row() -> None:
    grown = grower()
    tree = grown.grow(GRADIENT, np.empty(0, np.float32), ALL, 0)
    with pytest.raises(ValueError, match="one gradient and one hessian"):
        grown.set_newton_values(tree, GRADIENT[:5], GRADIENT)


def test_the_rules_of_stopping_are_scikit_learns() -> None:
    def by_window(losses: list[float], n: int, tol: float) -> int:
        """How many rounds `GradientBoosting*` of scikit-learn takes: a ring of the last losses that were accepted."""
        ring = [np.inf] * n
        for number, loss in enumerate(losses):
            if not any(loss + tol < other for other in ring):
                return number + 1
            ring[number % n] = loss
        return len(losses)

    def by_reference(losses: list[float], n: int, tol: float) -> int:
        """How many `HistGradientBoosting*` takes: the best of the last n rounds against the one before them."""
        for number in range(n, len(losses)):
            if min(losses[number - n + 1 : number + 1]) >= losses[number - n] - tol:
                return number
        return len(losses) - 1

    for seed in range(20):
        losses = np.cumsum(np.random.default_rng(seed).normal(-0.1, 0.5, size=60)).tolist()
        window, reference = LossHistory(4, 0.1), ScoreHistory(losses[0], 4, 0.1)
        assert next((i + 1 for i, each in enumerate(losses) if window.reached(each)), 60) == by_window(
            losses, 4, 0.1
        )
        taken = next((i for i, each in enumerate(losses[1:], 1) if reference.reached(each)), 59)
        assert taken == by_reference(losses, 4, 0.1)
