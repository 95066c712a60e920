"""What the arrays and the drawing of a tree hold."""

import numpy as np
import pandas as pd

import coterie
from coterie.trees.layout import place_nodes


def test_a_split_by_categories_has_no_threshold():
    colours = np.array(["red", "green", "blue", "grey"] * 25)
    X = pd.DataFrame({"colour": pd.Categorical(colours)})
    tree = coterie.DecisionTreeClassifier().fit(X, np.isin(colours, ["red", "blue"])).tree_
    assert tree.feature[0] == 0
    assert np.isnan(tree.threshold[0])


def test_only_nodes_below_which_something_is_left_out_are_cut():
    X = np.arange(8.0)[:, None]
    tree = coterie.DecisionTreeClassifier().fit(X, [0, 0, 1, 1, 0, 0, 1, 1]).tree_
    assert not any(node.is_cut for node in place_nodes(tree))
    assert [node.is_cut for node in place_nodes(tree, max_depth=0)] == [True]
