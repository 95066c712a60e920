"""The engine's trees against the slow twin, node by node, on random problems."""

from dataclasses import dataclass

import numpy as np
import pytest

from coterie.trees import DecisionTreeClassifier, DecisionTreeRegressor
from tests.naive.criterion_tree import Node, Split, splits, value

CRITERIA = ["gini", "entropy", "squared_error", "absolute_error", "poisson"]


@dataclass
class Problem:
    """A small table with numbers, ties, categories and missing values, and what to predict from it."""

    X: dict[str, np.ndarray]
    matrix: np.ndarray  # the same for the twin: levels as numbers, missing as NaN
    nominal: np.ndarray
    y: np.ndarray
    weight: np.ndarray


def random_problem(rng: np.random.Generator, criterion: str, n_classes: int, n_outputs: int) -> Problem:
    n_rows = int(rng.integers(8, 32))
    matrix = np.column_stack(
        [
            rng.normal(size=n_rows).round(1),
            rng.integers(0, 4, n_rows),
            rng.integers(0, int(rng.integers(2, 6)), n_rows),
            rng.integers(0, 3, n_rows),
        ]
    ).astype(float)
    if rng.random() < 0.6:
        matrix[rng.random(matrix.shape) < 0.15] = np.nan
    nominal = np.array([False, False, True, True])
    columns: dict[str, np.ndarray] = {}
    for index, column in enumerate(matrix.T):
        text = np.array([None if np.isnan(v) else f"level {int(v)}" for v in column], dtype=object)
        columns[f"f{index}"] = text if nominal[index] else column
    if criterion in ("gini", "entropy"):
        y = rng.integers(0, n_classes, (n_rows, n_outputs))
        y[:n_classes] = np.arange(n_classes)[:, None]
    elif criterion == "poisson":
        y = rng.poisson(1.5, (n_rows, n_outputs)) + (rng.random((n_rows, n_outputs)) < 0.1)
        y[0] = 1
    else:
        y = rng.normal(size=(n_rows, n_outputs))
    weight = rng.uniform(0.5, 2.0, n_rows) if rng.random() < 0.5 else np.ones(n_rows)
    return Problem(columns, matrix, nominal, y, weight)


def rows_going_left(tree, node: int, problem: Problem, rows: np.ndarray) -> np.ndarray:
    feature = int(tree.native.feature[node])
    column = problem.matrix[rows, feature]
    missing = np.isnan(column)
    if problem.nominal[feature]:
        levels = np.unique(problem.matrix[:, feature][~np.isnan(problem.matrix[:, feature])])
        code = np.searchsorted(levels, np.where(missing, levels[0], column))
        left = tree.levels_going_left(node)[code]
    else:
        left = column <= tree.native.threshold[node]
    return np.where(missing, bool(tree.native.missing_left[node]), left)


def allowed_splits(model, problem: Problem, node: Node, monotone: np.ndarray | None, bounds) -> list[Split]:
    return splits(
        node,
        criterion=model.criterion,
        nominal=problem.nominal,
        min_samples_leaf=model.min_samples_leaf,
        monotone=monotone,
        bounds=bounds,
    )


def compare(model, problem: Problem, monotone: np.ndarray | None = None) -> tuple[int, int]:
    """Checks each node; returns how many splits had no rival, and how many there were."""
    tree, total = model.tree_, problem.weight.sum()
    n_alone = n_splits = 0
    stack = [(0, np.arange(len(problem.y)), (-np.inf, np.inf))]
    while stack:
        node, rows, bounds = stack.pop()
        n_classes = int(problem.y.max()) + 1 if model.criterion in ("gini", "entropy") else 0
        own = Node(problem.matrix[rows], problem.y[rows], problem.weight[rows], n_classes)
        pure = (own.y == own.y[0]).all()
        found = [] if pure else allowed_splits(model, problem, own, monotone, bounds)
        assert (tree.native.feature[node] < 0) == (not found)
        if not found:
            continue
        best = max(split.decrease for split in found)
        rivals = [split for split in found if split.decrease > best - 1e-9]
        left = rows_going_left(tree, node, problem, rows)
        assert tree.native.gain[node] * total == pytest.approx(best, abs=1e-9)
        chosen = [split for split in rivals if split.feature == tree.native.feature[node]]
        assert any((left == split.left).all() or (left == ~split.left).all() for split in chosen)
        assert tree.native.feature[node] == rivals[0].feature or len({split.feature for split in rivals}) > 1
        n_splits += 1
        n_alone += len({side.tobytes() for split in rivals for side in (split.left, ~split.left)}) == 2
        first = int(tree.native.left[node])
        sign = 0 if monotone is None else monotone[tree.native.feature[node]]
        middle = (value(own, left, model.criterion) + value(own, ~left, model.criterion)) / 2
        low, high = bounds
        below, above = ((low, middle), (middle, high)) if sign > 0 else ((middle, high), (low, middle))
        sides = (bounds, bounds) if sign == 0 else (below, above)
        stack += [(first, rows[left], sides[0]), (first + 1, rows[~left], sides[1])]
    return n_alone, n_splits


def make_model(criterion: str, **options):
    make = DecisionTreeClassifier if criterion in ("gini", "entropy") else DecisionTreeRegressor
    return make(criterion=criterion, **options)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_each_split_is_the_best_of_all_partitions(criterion):
    rng = np.random.default_rng(CRITERIA.index(criterion))
    n_alone = n_splits = 0
    for _ in range(40):
        problem = random_problem(rng, criterion, n_classes=2, n_outputs=1)
        model = make_model(criterion, min_samples_leaf=int(rng.integers(1, 4)))
        model.fit(problem.X, problem.y[:, 0], sample_weight=problem.weight)
        alone, total = compare(model, problem)
        n_alone, n_splits = n_alone + alone, n_splits + total
    assert n_splits > 150
    assert n_alone > 0.5 * n_splits


@pytest.mark.parametrize("criterion", CRITERIA)
def test_several_classes_and_outputs_get_the_best_cut_of_each_ordering(criterion):
    rng = np.random.default_rng(10 + CRITERIA.index(criterion))
    n_splits = 0
    for _ in range(15):
        problem = random_problem(rng, criterion, n_classes=3, n_outputs=int(rng.integers(1, 3)))
        model = make_model(criterion, min_samples_leaf=2)
        model.fit(problem.X, problem.y, sample_weight=problem.weight)
        n_splits += compare(model, problem)[1]
    assert n_splits > 30


@pytest.mark.parametrize("criterion", CRITERIA)
def test_constrained_splits_are_the_best_of_those_allowed(criterion):
    rng = np.random.default_rng(20 + CRITERIA.index(criterion))
    n_splits = 0
    for _ in range(15):
        problem = random_problem(rng, criterion, n_classes=2, n_outputs=1)
        monotone = np.array([rng.choice([-1, 1]), rng.choice([-1, 0, 1]), 0, 0])
        model = make_model(criterion, min_samples_leaf=2, monotonic_cst=monotone)
        model.fit(problem.X, problem.y[:, 0], sample_weight=problem.weight)
        n_splits += compare(model, problem, monotone)[1]
    assert n_splits > 30
