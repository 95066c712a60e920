"""Random problems for the growers of boosting, and how two trees are compared."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coterie import _engine
from coterie._engine import Growth
from tests.naive.boosted_tree import SlowTree

NO_ROWS = np.empty(0, np.uint32)


NO_WEIGHT = np.empty(0)


class Problem(NamedTuple):
    """A table as columns, derivatives that are whole multiples of 1/64, and how to grow."""

    columns: list[NDArray[Any]]
    n_levels: NDArray[np.int32]
    gradient: NDArray[np.float32]
    hessian: NDArray[np.float32]
    rows: NDArray[np.uint32]
    options: Any
    max_bins: int
    seed: int


def random_columns(rng: np.random.Generator, n_rows: int, n_features: int) -> tuple[list[Any], Any]:
    """Numbers with ties, missing values and infinities; some columns are levels."""
    columns: list[Any] = []
    n_levels = np.zeros(n_features, np.int32)
    for feature in range(n_features):
        if rng.random() < 0.3:
            n_levels[feature] = rng.integers(1, 20)
            columns.append(rng.integers(-1, n_levels[feature], n_rows).astype(np.int32))
            continue
        values = rng.integers(0, rng.choice([1, 2, 5, 1000]), n_rows) + rng.normal(size=n_rows) * rng.choice(
            [0, 1]
        )
        if rng.random() < 0.5:
            values = np.where(rng.random(n_rows) < rng.choice([0.1, 0.5, 1.0]), np.nan, values)
        if rng.random() < 0.1:
            values = np.where(rng.random(n_rows) < 0.1, rng.choice([-np.inf, np.inf]), values)
        columns.append(values.astype(str(rng.choice(["f4", "f8"]))))
    return columns, n_levels


def random_options(rng: np.random.Generator, n_levels: NDArray[np.int32]) -> Any:
    n_features = len(n_levels)
    options = _engine.GrowOptions()
    options.max_leaf_nodes = int(rng.choice([0, 2, 5, 31]))
    options.max_depth = int(rng.choice([0, 0, 1, 3]))
    options.min_samples_leaf = int(rng.choice([1, 2, 5, 20]))
    options.min_child_weight = float(rng.choice([0.0, 1e-3, 3.0]))
    options.l2 = float(rng.choice([0.0, 1.0, 10.0]))
    options.min_gain = float(rng.choice([0.0, 0.0, 2.0]))
    options.max_features = float(rng.choice([1.0, 1.0, 0.4]))
    options.level_smoothing = float(rng.choice([0.0, 10.0]))
    options.level_l2 = float(rng.choice([0.0, 10.0]))
    options.learning_rate = float(rng.choice([1.0, 0.1]))
    if rng.random() < 0.4:
        options.monotone = [int(rng.integers(-1, 2)) if levels == 0 else 0 for levels in n_levels]
    if rng.random() < 0.3:
        groups = [rng.choice(n_features, rng.integers(1, n_features + 1), replace=False) for _ in range(3)]
        options.interaction_sets = [sorted(map(int, group)) for group in groups]
    return options


def regularise(rng: np.random.Generator, options: Any) -> Any:
    """Options that are off by default; most problems have some of them on."""
    options.split_noise = float(rng.choice([0.0, 0.0, 0.5, 4.0]))
    options.growth = [Growth.leaf, Growth.leaf, Growth.level, Growth.oblivious][rng.integers(4)]
    if options.growth == Growth.oblivious and options.max_depth == 0 and options.max_leaf_nodes == 0:
        options.max_depth = 5
    options.leaf_penalty = float(rng.choice([0.0, 0.0, 3.0, 20.0]))
    options.l1 = float(rng.choice([0.0, 0.0, 0.0, 5.0]))
    options.max_step = float(rng.choice([0.0, 0.0, 0.0, 0.7]))
    options.max_features_per_tree = float(rng.choice([1.0, 1.0, 0.6]))
    options.max_features_per_level = float(rng.choice([1.0, 1.0, 0.5]))
    options.path_smoothing = float(rng.choice([0.0, 0.0, 3.0, 40.0]))
    return options


def random_problem(seed: int, n_rows: int | None = None) -> Problem:
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(5, 400)) if n_rows is None else n_rows
    columns, n_levels = random_columns(rng, n_rows, int(rng.integers(1, 25)))
    signal = sum(np.nan_to_num(column, posinf=9, neginf=-9) % 3 for column in columns[:3])
    gradient = np.round(64 * (np.asarray(signal) - np.mean(signal)) + rng.integers(-200, 200, n_rows)) / 64
    hessian = rng.integers(1, 16, n_rows) / 8 if rng.random() < 0.5 else np.empty(0)
    rows = np.flatnonzero(rng.random(n_rows) < 0.7) if rng.random() < 0.3 else np.empty(0)
    for derivative in (gradient, hessian) if len(rows) else ():
        derivative[np.setdiff1d(np.arange(len(derivative)), rows)] = 0
    return Problem(
        columns,
        n_levels,
        gradient.astype(np.float32),
        hessian.astype(np.float32),
        rows.astype(np.uint32),
        regularise(np.random.default_rng(seed + 10_000), random_options(rng, n_levels)),
        int(rng.choice([2, 7, 64, 255])),
        int(rng.integers(2**63)),
    )


def assert_same_tree(tree: Any, slow: SlowTree, leaves: NDArray[np.uint32], rtol: float = 1e-9) -> None:
    np.testing.assert_array_equal(tree.feature, slow.feature)
    np.testing.assert_array_equal(tree.left, slow.left)
    np.testing.assert_allclose(tree.gain, slow.gain, rtol=1e-9)
    part = slow.leaf >= 0
    np.testing.assert_array_equal(leaves[part], slow.leaf[part])
    is_leaf = tree.feature < 0
    np.testing.assert_allclose(tree.value[is_leaf, 0], np.array(slow.value)[is_leaf], rtol=rtol, atol=1e-12)
