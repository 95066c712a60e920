"""Any tree, with its nodes in any order, answers as a walk does; what is no tree is refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.errors import ModelFileError
from coterie.export.readers.assemble import Findings, assemble
from coterie.export.readers.raw_tree import CategorySet, LinearLeaf, RawTree
from coterie.trees.links import NumberLink
from tests.naive.imported_tree import answer_of, leaf_of

N_COLUMNS = 4


def model_of(*trees: RawTree, n_columns: int = N_COLUMNS):  # type: ignore[no-untyped-def]
    n_outputs = max(tree.output + tree.value.shape[1] for tree in trees)
    return assemble(Findings("Test", "", trees, n_columns, NumberLink(), np.zeros(n_outputs), n_outputs))


def random_tree(seed: int, *, n_splits: int = 12, linear: bool = False) -> RawTree:
    """Splits of every kind on every column, so that columns are read in several ways; nodes are shuffled."""
    rng = np.random.default_rng(seed)
    n_nodes = 2 * n_splits + 1
    left, right = np.full(n_nodes, -1), np.full(n_nodes, -1)
    leaves = [0]
    for split in range(n_splits):
        node = leaves.pop(int(rng.integers(len(leaves))))
        left[node], right[node] = 2 * split + 1, 2 * split + 2
        leaves += [2 * split + 1, 2 * split + 2]
    place = np.concatenate([[0], 1 + rng.permutation(n_nodes - 1)])
    moved = np.argsort(place)
    left, right = (np.where(child < 0, -1, place[child])[moved] for child in (left, right))
    is_split = left >= 0
    sets = {
        int(node): CategorySet(
            tuple(sorted(set(rng.integers(0, 6, 3).tolist()))), inverted=bool(rng.integers(2))
        )
        for node in np.flatnonzero(is_split)
        if rng.random() < 0.3
    }
    lines = {
        int(node): LinearLeaf(1.0, rng.integers(0, N_COLUMNS, 2), rng.normal(size=2))
        for node in np.flatnonzero(~is_split)
        if linear
    }
    return RawTree(
        column=np.where(is_split, rng.integers(0, N_COLUMNS, n_nodes), -1),
        threshold=rng.integers(-2, 6, n_nodes) / 2,
        missing_left=rng.random(n_nodes) < 0.5,
        left=left,
        right=right,
        value=rng.normal(size=(n_nodes, 1)),
        leaf_id=np.arange(n_nodes),
        sets=sets,
        zero_missing=rng.random(n_nodes) < 0.3,
        linear=lines,
    )


def rows(seed: int, n_rows: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.integers(-1, 7, (n_rows, N_COLUMNS)) / rng.choice([1.0, 2.0], (n_rows, N_COLUMNS))
    return np.where(rng.random(values.shape) < 0.2, np.nan, np.maximum(values, 0))


@settings(max_examples=60, derandomize=True, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_rows=st.sampled_from([1, 3, 30]), linear=st.booleans())
def test_trees_of_any_order_and_kind_answer_as_a_walk_does(seed: int, n_rows: int, linear: bool) -> None:
    trees = [random_tree(seed + place, linear=linear) for place in range(3)]
    X, model = rows(seed, n_rows), model_of(*trees)
    np.testing.assert_array_equal(model.apply(X), [[leaf_of(tree, row) for tree in trees] for row in X])
    expected = np.zeros(n_rows)
    for tree in trees:
        expected += [answer_of(tree, row)[0] for row in X]
    np.testing.assert_array_equal(model.predict(X), expected)


def test_a_column_that_is_read_in_several_ways_has_several_features() -> None:
    model = model_of(*[random_tree(seed, n_splits=40) for seed in range(3)])
    assert len(model.recipe_.reader.features) > N_COLUMNS
    assert model.n_features_in_ == N_COLUMNS


def test_more_categories_than_codes_are_no_obstacle() -> None:
    tree = random_tree(0, n_splits=0)
    trees = [
        replace(
            tree,
            column=np.array([0, -1, -1]),
            threshold=np.zeros(3),
            missing_left=np.zeros(3, dtype=bool),
            left=np.array([1, -1, -1]),
            right=np.array([2, -1, -1]),
            value=np.array([[0.0], [float(category)], [0.0]]),
            leaf_id=np.arange(3),
            sets={0: CategorySet((category,))},
            zero_missing=None,
        )
        for category in range(1000)
    ]
    X = np.tile(np.array([[0.0], [7.0], [998.0], [2000.0]]), (10, 1))  # few rows walk, many take another way
    model = model_of(*trees, n_columns=1)
    assert model.predict(X[:4]).tolist() == [0.0, 7.0, 998.0, 0.0]
    assert model.predict(X).tolist() == [0.0, 7.0, 998.0, 0.0] * 10


def test_a_tree_of_one_leaf_always_says_the_same() -> None:
    assert (
        model_of(replace(random_tree(0, n_splits=0), value=np.array([[4.5]]))).predict(rows(0, 20)).tolist()
        == [4.5] * 20
    )


def test_nodes_that_cannot_be_reached_do_no_harm() -> None:
    tree = random_tree(1)
    longer = {
        name: np.concatenate([getattr(tree, name), getattr(tree, name)[:1]])
        for name in (
            "column",
            "threshold",
            "missing_left",
            "left",
            "right",
            "value",
            "leaf_id",
            "zero_missing",
        )
    }
    X = rows(1, 20)
    np.testing.assert_array_equal(model_of(replace(tree, **longer)).predict(X), model_of(tree).predict(X))


def changed(tree: RawTree, name: str, node: int, value: float) -> RawTree:
    array = getattr(tree, name).copy()
    array[node] = value
    return replace(tree, **{name: array})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("left", 0, "two parents, or is its own ancestor"),
        ("left", 99, "has the child 99, and the tree has the nodes 0 to 24"),
        ("left", -5, "has the child -5"),
        ("threshold", np.nan, "NaN for a threshold"),
        ("column", N_COLUMNS, "a column that is not one of 0 to 3"),
    ],
)
def test_what_is_no_tree_is_refused(name: str, value: float, message: str) -> None:
    tree = replace(random_tree(2), sets={})
    with pytest.raises(ModelFileError, match=rf"Test, tree 1: .*{message}"):
        model_of(tree, changed(tree, name, 0, value))


def test_both_children_must_not_be_the_same() -> None:
    tree = random_tree(2)
    with pytest.raises(ModelFileError, match="two parents"):
        model_of(changed(tree, "right", 0, tree.left[0]))


def test_the_value_of_a_leaf_is_not_nan() -> None:
    with pytest.raises(ModelFileError, match="the value of leaf 0 is NaN"):
        model_of(changed(random_tree(0, n_splits=0), "value", 0, np.nan))


def test_a_very_deep_tree_is_no_obstacle() -> None:
    n_splits = 3000
    place = np.arange(n_splits)
    tree = RawTree(
        column=np.where(np.arange(2 * n_splits + 1) < n_splits, 0, -1),
        threshold=np.arange(2 * n_splits + 1.0),
        missing_left=np.zeros(2 * n_splits + 1, dtype=bool),
        left=np.concatenate([place + n_splits, np.full(n_splits + 1, -1)]),
        right=np.concatenate([place[:-1] + 1, [2 * n_splits], np.full(n_splits + 1, -1)]),
        value=np.arange(2 * n_splits + 1.0).reshape(-1, 1),
        leaf_id=np.arange(2 * n_splits + 1),
    )
    model = model_of(tree, n_columns=1)
    assert model.predict(np.array([[0.0], [2999.0], [5000.0]])).tolist() == [3000.0, 5999.0, 6000.0]
