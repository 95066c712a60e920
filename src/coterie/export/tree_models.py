"""Which models are sums of trees: those with `tree_sum` and `tree_features`; and the features that trees see."""

from typing import Any

from coterie._params import in_short
from coterie._typing import FloatArray
from coterie.errors import InvalidType
from coterie.members.protocols import HasTreeSum
from coterie.trees.tree_sum import TreeSum

_EXPECTED = (
    "gradient boosting, forests, extra trees, decision trees, bagged trees and AdaBoost of coterie, and what "
    "import_model makes of models of other libraries"
)


def tree_sum_of(model: Any) -> TreeSum:
    """The model as a sum of trees, or an error that says why it is none."""
    return tree_model(model).tree_sum()


def tree_model(model: Any) -> HasTreeSum:
    """The model itself; refuses one that has no trees."""
    if isinstance(model, type) or not hasattr(model, "tree_sum"):
        raise InvalidType(
            f"{in_short(model)} is no sum of trees with a link that other formats know. Export takes {_EXPECTED}.",
            parameter="model",
            received=model,
            allowed=_EXPECTED,
        )
    found: HasTreeSum = model
    return found


def feature_matrix(model: Any, X: Any) -> FloatArray:
    """What the trees of a model see of a table: numbers as they are, categories as codes, NaN where a value is missing.

    Formats without text, such as treelite, take this matrix. Target statistics are the last columns.

    Parameters
    ----------
    model : a fitted model of trees
    X : any table with the columns of `fit`

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
