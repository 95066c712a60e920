"""The least and the largest value of a parameter, for every estimator that has it, as the guides name them."""

from typing import Any

import pytest

from coterie.errors import InvalidParameter
from tests.helpers.errors import raised
from tests.helpers.estimators import ESTIMATORS, make, random_table

# What is refused, and the nearest values that are allowed.
BOUNDS: dict[str, tuple[list[Any], list[Any]]] = {
    "n_estimators": ([0], [1]),
    "min_samples_leaf": ([0], [1]),
    "min_samples_split": ([1], [2]),
    "max_leaf_nodes": ([1], [2]),
    "max_depth": ([0], [1]),
    "min_weight_fraction_leaf": ([-1e-9, 0.51], [0.0, 0.5]),
    "min_impurity_decrease": ([-1e-9], [0.0]),
    "ccp_alpha": ([-1e-9], [0.0]),
    "validation_fraction": ([0.0, 1.0], [1e-6, 0.99]),
    "n_iter_no_change": ([0], [1]),
    "max_bins": ([1, 256], [2, 255]),
    "subsample": ([0.0, 1.01], [1e-6, 1.0]),
    "max_iter": ([0], [1]),
    "tol": ([-1e-9], [0.0]),
    "n_bags": ([0], [1]),
    "n_start": ([0], [1]),
    "code_size": ([0.0], [1e-6]),
    "dropout_rate": ([-1e-9, 1.01], [0.0]),
    "l2_regularization": ([-1e-9], [0.0]),
    "max_samples": ([0, 0.0, 1.01], [1, 1e-6, 1.0]),
    "max_features": ([0, 0.0, 1.01], [1, 1e-6, 1.0]),
    "time_limit": ([0], [1e-3]),
    "max_members": ([0], [1]),
    "contamination": ([0.0, 0.51], [1e-6, 0.5]),
}
CASES = [
    pytest.param(estimator, name, id=f"{estimator.__name__}-{name}")
    for estimator in ESTIMATORS
    for name in BOUNDS
    if name in estimator.PARAMS
]


@pytest.mark.parametrize(("estimator", "name"), CASES)
def test_what_lies_outside_the_bounds_is_refused_and_the_bounds_are_not(
    estimator: type[Any], name: str
) -> None:
    outside, inside = BOUNDS[name]
    X, y = random_table(estimator)
    for value in outside:
        with raised(InvalidParameter, parameter=name, received=value):
            make(estimator).set_params(**{name: value}).fit(X, y)
    for value in inside:
        assert any(
            rule is value or getattr(rule, "accepts", lambda _: False)(value)
            for rule in estimator.PARAMS[name]
        ), value
