"""How often the trees of a model split on each feature."""

from typing import Any

import numpy as np

from coterie._typing import AnyArray, FloatArray
from coterie.errors import InvalidParameter

__all__ = ["split_counts"]


def split_counts(model: Any) -> FloatArray:
    """Splits on each column, over all trees; a feature made from several columns counts in parts for each of them."""
    n_features = getattr(model, "n_features_in_", None)
    if n_features is None:
        raise _no_trees(model)
    made_from = getattr(getattr(model, "statistics_", None), "features", [])
    counts = _counts(model, int(n_features) + len(made_from))
    made, counts = counts[n_features:], counts[:n_features]
    for count, columns in zip(made, made_from, strict=True):
        counts[list(columns)] += count / len(columns)
    return counts


def _counts(model: Any, n_features: int) -> FloatArray:
    if hasattr(model, "forest_"):  # ours
        trees = [model.forest_.tree(place).feature for place in range(len(model.forest_))]
        return np.asarray(np.sum([_of_tree(tree, n_features) for tree in trees], axis=0))
    if hasattr(model, "tree_"):  # a tree, ours or scikit-learn's
        return _of_tree(np.asarray(getattr(model.tree_, "native", model.tree_).feature), n_features)
    if isinstance(getattr(model, "feature", None), int | np.integer):  # a stump of AdaBoost
        return _of_tree(np.array([model.feature]), n_features)
    if not hasattr(model, "estimators_"):
        raise _no_trees(model)
    members = np.ravel(np.array(list(model.estimators_), dtype=object))
    columns = getattr(model, "estimators_features_", None)
    total = np.zeros(n_features)
    for place, member in enumerate(members):
        if columns is None:
            total += _counts(member, n_features)
        else:
            total[columns[place]] += _counts(member, len(columns[place]))
    return total


def _of_tree(feature: AnyArray, n_features: int) -> FloatArray:
    return np.bincount(feature[feature >= 0], minlength=n_features).astype(np.float64)


def _no_trees(model: Any) -> InvalidParameter:
    return InvalidParameter(
        f"method='split': {type(model).__name__} has no trees whose splits could be counted. "
        "method='permutation' takes any model."
    )
