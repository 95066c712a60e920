"""Models of trees as shap's `TreeExplainer` takes them: a dict of arrays."""

from typing import Any

import numpy as np

from coterie._typing import FloatArray
from coterie.errors import InvalidInput
from coterie.export.tree_models import tree_sum_of
from coterie.trees.flat_tree import FlatTree


def to_shap(model: Any) -> dict[str, Any]:
    """A model of trees for `shap.TreeExplainer`, and so for shap's plots.

    `shap.TreeExplainer` knows models by the path of their class, and trees of scikit-learn by a compiled type; what it
    takes of others is this dict. It explains raw predictions: of boosting before the link, of forests and trees their
    shares or numbers. `model.explain(X)` gives the same values without shap, and takes categories as well.

    Parameters
    ----------
    model : fitted gradient boosting, forest, extra trees, decision tree, bagged trees, or an imported model
        Splits of categories and linear leaves are refused, because shap has none.

    Returns
    -------
    dict
        For `shap.TreeExplainer(to_shap(model))`; its rows are `feature_matrix(model, X)`, which for columns of numbers
        is the table itself.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import RandomForestRegressor
    >>> from coterie.export import to_shap
    >>> X = np.arange(40.0).reshape(20, 2)
    >>> model = RandomForestRegressor(3, random_state=0).fit(X, X[:, 0])
    >>> len(to_shap(model)["trees"])
    3
    """
    whole = tree_sum_of(model)
    for tree in whole.trees:
        _refuse_what_shap_lacks(whole.name, tree)
    scale = whole.unit / whole.divisor
    trees = [_tree(tree, whole.n_outputs, scale) for tree in whole.trees]
    # shap adds one number at most; a tree adds one for each output.
    trees[0]["value"] = trees[0]["value"] + whole.start * scale
    return {
        "trees": trees,
        "internal_dtype": np.float64,
        "input_dtype": np.float64,
        "tree_output": "raw_value",
        "objective": None,
    }


def _refuse_what_shap_lacks(name: str, tree: FlatTree) -> None:
    lacking = {
        "splits of categories": bool(tree.sets),
        "leaves that are lines": tree.lines is not None,
        "no weights of rows in its nodes": tree.cover is None,
    }
    for what, is_so in lacking.items():
        if is_so:
            raise InvalidInput(
                f"This {name} has {what}, and shap's explainer of trees does not take that.",
                parameter="model",
                hint="model.explain(X) gives SHAP values of it, where it has the method.",
            )


def _tree(tree: FlatTree, n_outputs: int, scale: float) -> dict[str, Any]:
    is_leaf = tree.feature < 0
    left, right = (np.where(is_leaf, -1, own) for own in (tree.left, tree.right))
    return {
        "children_left": left,
        "children_right": right,
        "children_default": np.where(tree.missing_left, left, right),
        "feature": np.where(is_leaf, -2, tree.feature),
        "threshold": np.where(is_leaf, -2.0, tree.threshold),
        "value": _by_output(tree, n_outputs) * scale,
        "node_sample_weight": np.asarray(tree.cover, dtype=np.float64),
    }


def _by_output(tree: FlatTree, n_outputs: int) -> FloatArray:
    """Values with a column for each output of the model."""
    if tree.value.shape[1] == n_outputs:
        return tree.value
    values = np.zeros((len(tree.value), n_outputs))
    values[:, tree.output : tree.output + tree.value.shape[1]] = tree.value
    return values
