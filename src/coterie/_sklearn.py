"""What scikit-learn keeps to itself and we need all the same: the one place that knows where its versions have it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.metrics import make_scorer
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import validate_parameter_constraints
from sklearn.utils.metaestimators import _BaseComposition as BaseComposition
from sklearn.utils.validation import _check_feature_names_in as check_feature_names_in
from sklearn.utils.validation import _check_monotonic_cst as check_monotonic_cst

__all__ = [
    "BaseComposition",
    "check_as_theirs",
    "check_feature_names_in",
    "check_monotonic_cst",
    "is_scorer",
    "parallel_block",
    "safe_indexing",
    "serial_block",
]

_SCORER_BASES = tuple(
    kind for kind in type(make_scorer(max)).__mro__ if kind.__module__ == "sklearn.metrics._scorer"
)


def is_scorer(function: Any) -> bool:
    """Whether a function is a scorer of scikit-learn, which takes an estimator, and not a metric."""
    return isinstance(function, _SCORER_BASES)


def safe_indexing(X: Any, indices: Any, *, axis: int = 0) -> Any:
    """Rows or columns of anything with rows and columns, in its own type; before 1.7 it cannot take rows of Arrow's.

    Examples
    --------
    >>> safe_indexing([[1, 2], [3, 4]], [1])
    [[3, 4]]
    """
    if axis == 0 and type(X).__module__.split(".")[0] == "pyarrow":
        return X.take(np.arange(len(X))[np.asarray(indices)])
    return _safe_indexing(X, indices, axis=axis)


def _visual_block() -> Any:
    try:
        from sklearn.utils._repr_html.estimator import _VisualBlock
    except ImportError:  # before 1.7
        from sklearn.utils._estimator_html_repr import _VisualBlock
    return _VisualBlock


def parallel_block(estimators: Any, names: Any, **options: Any) -> Any:
    """The drawing of models side by side, for `_sk_visual_block_`."""
    return _visual_block()("parallel", estimators, names=names, **options)


def serial_block(blocks: Any, **options: Any) -> Any:
    """The drawing of models one after the other."""
    return _visual_block()("serial", blocks, **options)


def check_as_theirs(theirs: type, params: Mapping[str, Any], name: str) -> None:
    """Refuse parameters that scikit-learn's class refuses, with its error; `name` is what the error calls ours."""
    constraints: Any = getattr(theirs, "_parameter_constraints", {})
    validate_parameter_constraints(constraints, dict(params), caller_name=name)
