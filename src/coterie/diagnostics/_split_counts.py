"""How often the trees of a model split on each column."""

from typing import Any

import numpy as np

from coterie._typing import FloatArray
from coterie.diagnostics.sklearn_adapters import with_protocols
from coterie.errors import InvalidParameter


def split_counts(model: Any) -> FloatArray:
    """Splits on each column, over all trees of the model or of its members."""
    owner = with_protocols(model)
    if hasattr(owner, "split_counts"):
        return np.asarray(owner.split_counts(), dtype=np.float64)
    if not hasattr(model, "estimators_") or not hasattr(model, "n_features_in_"):
        raise InvalidParameter(
            f"method='split': {type(model).__name__} has no trees whose splits could be counted.",
            parameter="method",
            received="split",
            hint="method='permutation' takes any model.",
        )
    columns = getattr(model, "estimators_features_", None)
    total = np.zeros(int(model.n_features_in_))
    for place, member in enumerate(model.estimators_):
        own = slice(None) if columns is None else columns[place]
        for part in member if isinstance(member, list | np.ndarray) else [member]:
            total[own] += split_counts(part)
    return total
