"""Trees of other libraries are checked node by node, those of the first column too."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from coterie.errors import ModelFileError
from coterie.export.readers.raw_tree import RawTree, level_order


def tree_of(column: int, threshold: float = 0.5) -> RawTree:
    """One split, its children out of order, and a node that cannot be reached."""
    return RawTree(
        column=np.array([column, -1, -1, -1]),
        threshold=np.array([threshold, np.nan, np.nan, np.nan]),
        missing_left=np.zeros(4, bool),
        left=np.array([2, -1, -1, -1]),
        right=np.array([1, -1, -1, -1]),
        value=np.arange(4.0)[:, None],
        leaf_id=np.arange(4),
    )


@pytest.mark.parametrize("column", [0, 1])
def test_nodes_come_level_by_level(column: int) -> None:
    assert_array_equal(level_order(tree_of(column), 2, "tree 7"), [0, 2, 1])


@pytest.mark.parametrize("column", [0, 1])
def test_a_split_without_a_threshold_is_refused(column: int) -> None:
    with pytest.raises(ModelFileError, match="tree 7: node 0 has NaN for a threshold"):
        level_order(tree_of(column, np.nan), 2, "tree 7")


def test_a_split_on_a_column_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ModelFileError, match="node 0 has a column that is not one of 0 to 1"):
        level_order(tree_of(2), 2, "tree 7")


def test_a_leaf_without_a_number_is_refused_if_it_can_be_reached() -> None:
    tree = tree_of(0)
    level_order(replace(tree, value=np.array([[0.0], [1.0], [2.0], [np.nan]])), 2, "tree 7")
    with pytest.raises(ModelFileError, match="tree 7"):
        level_order(replace(tree, value=np.array([[0.0], [1.0], [np.nan], [0.0]])), 2, "tree 7")


@pytest.mark.parametrize(("left", "right"), [(0, 1), (1, 1), (4, 1), (-1, 1)])
def test_children_are_other_nodes_of_the_tree(left: int, right: int) -> None:
    tree = replace(tree_of(0), left=np.array([left, -1, -1, -1]), right=np.array([right, -1, -1, -1]))
    with pytest.raises(ModelFileError, match="tree 7"):
        level_order(tree, 2, "tree 7")
