"""The features that trees see, as one matrix of numbers."""

from typing import Any

from coterie._typing import FloatArray
from coterie.export.tree_models import tree_model


def feature_matrix(model: Any, X: Any) -> FloatArray:
    """What the trees of a model see of a table: numbers as they are, categories as codes, NaN where a value is missing.

    Formats without text, such as treelite, take this matrix. Target statistics are the last columns.

    Examples
    --------
    >>> from coterie import DecisionTreeRegressor
    >>> from coterie.export import feature_matrix
    >>> rides = {"hour": [7, 8, 17], "weather": ["dry", "rain", "dry"]}
    >>> tree = DecisionTreeRegressor().fit(rides, [90, 20, 80])
    >>> feature_matrix(tree, {"hour": [9, 10], "weather": ["rain", "hail"]})
    array([[ 9.,  1.],
           [10., nan]])
    """
    return tree_model(model).tree_features(X)
