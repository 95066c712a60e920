"""Proximities: rows that share leaves, and what is made of them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from coterie.errors import InvalidInput, InvalidParameter
from coterie.forests import _proximity
from coterie.forests._proximity import outlier_measure, prototypes, proximities
from tests.naive.forest_arrays import ForestArrays, random_forest
from tests.naive.proximity import naive_gap, naive_outliers, naive_prototype, naive_shared

problems = {
    "seed": st.integers(0, 2**32 - 1),
    "n_rows": st.integers(1, 12),
    "n_trees": st.integers(1, 10),
    "n_leaves": st.integers(1, 5),
}


@settings(max_examples=40, deadline=None)
@given(**problems)
def test_shared_leaves_are_counted_as_the_twin_counts(**problem: int) -> None:
    forest = random_forest(**problem)
    leaves = forest.leaves
    expected = [[naive_shared(one, other) for other in leaves] for one in leaves]
    found = proximities(leaves)
    assert_array_equal(found.toarray(), expected)
    assert found.has_canonical_format
    assert found.data.all()
    assert_array_equal(found.diagonal(), 1.0)
    new = leaves[: len(leaves) // 2 + 1, ::-1]
    new = np.minimum(new, leaves.max(axis=0))
    expected = [[naive_shared(one, other) for other in leaves] for one in new]
    assert_array_equal(proximities(leaves, new).toarray(), expected)


@settings(max_examples=40, deadline=None)
@given(**problems)
def test_out_of_bag_only_trees_count_that_drew_neither(**problem: int) -> None:
    forest = random_forest(**problem)
    leaves, out = forest.leaves, forest.counts == 0
    rows = range(len(leaves))
    expected = [[naive_shared(leaves[i], leaves[j], out[i] & out[j]) for j in rows] for i in rows]
    assert_array_equal(proximities(leaves, out_of_bag_counts=forest.counts).toarray(), expected)
    expected = [[naive_shared(leaves[i], leaves[j], out[j]) for j in rows] for i in rows]
    assert_array_equal(proximities(leaves, leaves, out_of_bag_counts=forest.counts).toarray(), expected)


@settings(max_examples=40, deadline=None)
@given(**problems)
def test_gap_proximities_are_those_of_the_twin(**problem: int) -> None:
    forest = random_forest(**problem)
    out, rows = forest.counts == 0, range(len(forest.y))
    expected = [[naive_gap(forest, forest.leaves[i], out[i], j) for j in rows] for i in rows]
    found = proximities(forest.leaves, out_of_bag_counts=forest.counts, method="gap")
    assert_allclose(found.toarray(), expected, rtol=1e-12)
    expected = [[naive_gap(forest, forest.leaves[i], np.ones_like(out[i]), j) for j in rows] for i in rows]
    found = proximities(forest.leaves, forest.leaves, out_of_bag_counts=forest.counts, method="gap")
    assert_allclose(found.toarray(), expected, rtol=1e-12)


def test_gap_proximities_repeat_the_forest() -> None:
    """The mean target with these weights is the out-of-bag answer; for new rows it is the forest's answer."""
    forest = random_forest(0, n_rows=300, n_trees=25, n_leaves=8)
    said = forest.in_bag_means
    out = forest.counts == 0
    answers = np.array([row[trees].mean() for row, trees in zip(said, out, strict=True)])
    weights = proximities(forest.leaves, out_of_bag_counts=forest.counts, method="gap")
    assert_allclose(weights.sum(axis=1), 1.0)
    assert_array_equal(weights.diagonal(), 0.0)
    assert_allclose(weights @ forest.y, answers, rtol=1e-12)
    weights = proximities(forest.leaves, forest.leaves, out_of_bag_counts=forest.counts, method="gap")
    assert_allclose(weights @ forest.y, said.mean(axis=1), rtol=1e-12)


def test_a_row_that_every_tree_drew_is_close_to_nothing_out_of_bag() -> None:
    forest = random_forest(1)
    forest.counts[3] = 2
    for method in ("shared", "gap"):
        found = proximities(forest.leaves, out_of_bag_counts=forest.counts, method=method)
        assert found[3].nnz == 0


@settings(max_examples=30, deadline=None)
@given(top_k=st.integers(1, 14), method=st.sampled_from(["shared", "gap"]), **problems)
def test_the_largest_are_kept_and_of_equal_ones_the_first(top_k: int, method: Any, **problem: int) -> None:
    forest = random_forest(**problem)
    every = proximities(forest.leaves, None, None, forest.counts, method=method).toarray()
    kept = np.zeros_like(every)
    for row, values in enumerate(every):
        best = [j for j in np.lexsort((np.arange(len(values)), -values.round(9))) if values[j] > 0][:top_k]
        kept[row, best] = values[best]
    found = proximities(forest.leaves, None, top_k, forest.counts, method=method)
    assert_array_equal(found.toarray(), kept)
    assert found.has_canonical_format


@pytest.mark.parametrize("method", ["shared", "gap"])
def test_blocks_change_nothing(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    forest = random_forest(2, n_rows=80, n_trees=11, n_leaves=6)
    arguments: dict[str, Any] = {"out_of_bag_counts": forest.counts, "method": method, "top_k": 9}
    whole = proximities(forest.leaves, **arguments)
    monkeypatch.setattr(_proximity, "_BLOCK_ENTRIES", 100)
    parts = proximities(forest.leaves, **arguments)
    assert isinstance(parts, sparse.csr_matrix)
    assert parts.shape == (80, 80)
    assert_array_equal(whole.toarray(), parts.toarray())


def test_blocks_change_no_prototype(monkeypatch: pytest.MonkeyPatch) -> None:
    leaves, X, y = iris_leaves()
    cases = [(each.case, each.neighbours.tolist()) for each in prototypes(leaves, y, X, k=5)]
    monkeypatch.setattr(_proximity, "_BLOCK_ENTRIES", 1000)
    assert cases == [(each.case, each.neighbours.tolist()) for each in prototypes(leaves, y, X, k=5)]


@settings(max_examples=40, deadline=None)
@given(**problems)
def test_outliers_are_those_of_the_twin(**problem: int) -> None:
    forest = random_forest(**problem)
    y_codes = (forest.y * 4).astype(int) % 3
    assert_allclose(
        outlier_measure(forest.leaves, y_codes), naive_outliers(forest.leaves, y_codes), atol=1e-9
    )


@settings(max_examples=40, deadline=None)
@given(k=st.integers(1, 6), **problems)
def test_prototypes_are_those_of_the_twin(k: int, **problem: int) -> None:
    forest = random_forest(**problem)
    y_codes = (forest.y * 4).astype(int) % 3
    X = np.c_[forest.y, forest.weight]
    for prototype in prototypes(forest.leaves, y_codes, X, k):
        case, neighbours = naive_prototype(forest.leaves, y_codes, prototype.code, k)
        assert (prototype.case, prototype.neighbours.tolist()) == (case, neighbours)
        if neighbours:
            assert_array_equal(prototype.middle, np.median(X[neighbours], axis=0))


def iris_leaves() -> tuple[Any, Any, Any]:
    X, y = load_iris(return_X_y=True)
    return RandomForestClassifier(50, random_state=0).fit(X, y).apply(X), X, y


def test_a_flower_with_a_wrong_label_is_an_outlier() -> None:
    leaves, _, y = iris_leaves()
    y[0] = 2
    measure = outlier_measure(leaves, y)
    assert measure[y == 2].argmax() == 0
    assert measure[0] > 10


def test_prototypes_of_flowers_are_flowers_of_their_kind() -> None:
    leaves, X, y = iris_leaves()
    found = prototypes(leaves, y, X, k=20)
    assert [y[prototype.case] for prototype in found] == [0, 1, 2]
    for prototype in found:
        assert len(prototype.neighbours) > 15
        assert (y[prototype.neighbours] == prototype.code).all()
        assert (prototype.lower <= prototype.middle).all()
        assert (prototype.middle <= prototype.upper).all()
        assert_allclose(prototype.middle, np.median(X[y == prototype.code], axis=0), atol=0.7)


def test_prototypes_know_codes_and_missing_values() -> None:
    leaves = np.zeros((5, 2), int)
    X = np.array(
        [[9.0, 0.0, np.nan], [1.0, 2.0, np.nan], [2.0, 2.0, np.nan], [3.0, 1.0, np.nan], [np.nan, 1.0, 1.0]]
    )
    (only,) = prototypes(leaves, np.zeros(5, int), X, k=4, nominal=np.array([False, True, False]))
    assert only.case == 0
    assert_array_equal([only.lower, only.middle, only.upper], [[1.5, 1, 1], [2, 1, 1], [2.5, 1, 1]])


def test_a_row_alone_is_no_outlier_and_has_no_neighbours() -> None:
    leaves = np.array([[0], [1]])
    assert_array_equal(outlier_measure(leaves, np.array([0, 1])), 0.0)
    first, _ = prototypes(leaves, np.array([0, 1]), np.zeros((2, 1)), k=3)
    assert first.neighbours.tolist() == []
    assert np.isnan(first.middle).all()


SOUND = ForestArrays(np.zeros((3, 2), np.uint32), np.ones((3, 2), np.uint16), np.zeros(3), np.ones(3))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"leaves": np.zeros(3, int)}, r"leaves hold int64 of shape \(3,\)"),
        ({"leaves": np.zeros((3, 2))}, "float64"),
        ({"leaves": np.full((3, 2), -1)}, ">= 0"),
        ({"leaves": np.zeros((0, 2), int)}, "one row"),
        ({"new_leaves": np.zeros((3, 1), int)}, "of 1 trees and leaves of 2"),
        ({"new_leaves": np.array([[0, 1]])}, "the leaf 1 in tree 1; training rows reached numbers below 1"),
        ({"top_k": 0}, "top_k=0: expected a whole number >= 1"),
        ({"top_k": 1.5}, "top_k=1.5"),
        ({"out_of_bag_counts": np.zeros((2, 3), int)}, r"in the shape of leaves, \(3, 2\)"),
        ({"method": "gap"}, "needs out_of_bag_counts"),
        ({"method": "cosine"}, "method='cosine': expected 'shared' or 'gap'"),
    ],
)
def test_proximities_that_make_no_sense(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((InvalidInput, InvalidParameter), match=message):
        proximities(**{"leaves": SOUND.leaves, **arguments})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y_codes": np.zeros(2, int)}, r"y_codes hold int64 of shape \(2,\)"),
        ({"y_codes": np.zeros(3)}, "float64"),
        ({"X": np.zeros((2, 1))}, r"X has the shape \(2, 1\)"),
        ({"k": None}, "k=None"),
        ({"nominal": np.array([0])}, "nominal holds int64"),
    ],
)
def test_prototypes_that_make_no_sense(arguments: dict[str, Any], message: str) -> None:
    sound: dict[str, Any] = {
        "leaves": SOUND.leaves,
        "y_codes": np.zeros(3, int),
        "X": np.zeros((3, 1)),
        "k": 2,
    }
    with pytest.raises((InvalidInput, InvalidParameter), match=message):
        prototypes(**{**sound, **arguments})
