"""Which models are sums of trees: those that have `tree_sum` and `tree_features`, of `coterie.members.protocols`."""

from typing import Any

from coterie._params import in_short
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
            f"{in_short(model)} is no model of trees. Export takes {_EXPECTED}.",
            parameter="model",
            received=model,
            allowed=_EXPECTED,
        )
    found: HasTreeSum = model
    return found
