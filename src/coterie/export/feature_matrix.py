"""The features that trees see, as one matrix of numbers."""

from typing import Any

import numpy as np

from coterie._typing import FloatArray
from coterie.data.encoding import Encoded
from coterie.data.prepare import prepare_prediction
from coterie.export.imported import ImportedClassifier, ImportedRegressor
from coterie.export.tree_sum import owner_of_trees

__all__ = ["feature_matrix"]


def feature_matrix(model: Any, X: Any) -> FloatArray:
    """What the trees of a model see of a table: numbers as they are, categories as codes, NaN where a value is missing.

    Formats without text, such as treelite, are asked with this matrix. Target statistics are the last columns.

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
    encoded = _encoded(model, X)
    if not isinstance(encoded.values, list):
        matrix = encoded.values.astype(np.float64)
    else:
        matrix = np.column_stack([np.asarray(own, dtype=np.float64) for own in encoded.values])
    nominal = np.flatnonzero(encoded.n_levels > 0)
    codes = matrix[:, nominal]
    matrix[:, nominal] = np.where(codes < 0, np.nan, codes)
    return matrix


def _encoded(model: Any, X: Any) -> Encoded:
    owner = owner_of_trees(model)
    if isinstance(owner, ImportedClassifier | ImportedRegressor):
        return owner._read(X)
    encoded = prepare_prediction(owner, X)
    statistics = getattr(owner, "statistics_", None)
    return statistics.extend(encoded) if statistics else encoded
