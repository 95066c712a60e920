"""What growing by a criterion needs to know, for a single tree and for the trees of a forest."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie._engine import CriterionOptions, Tree
from coterie._typing import BoolArray, FloatArray
from coterie.data.encoding import Encoded
from coterie.data.prepare import TrainingData
from coterie.errors import InvalidInput, InvalidParameter
from coterie.losses.loss import power_of_two_above
from coterie.trees.limits import monotone_of, rows_of

__all__ = [
    "classes_per_output",
    "criterion_options",
    "features_with_missing",
    "in_units",
    "refuse_impossible_counts",
    "unit_of",
]

_MOST_DEPTH = 2**31
_ROWS_AT_ONCE = 65_536


def criterion_options(
    estimator: Any,
    train: TrainingData,
    *,
    unit: float,
    random_splits: bool,
    total_weight: float,
    max_features: int,
    seed: int,
    n_threads: int,
) -> CriterionOptions:
    """The parameters of an estimator as the engine takes them; targets are divided by `unit`."""
    n_rows = train.encoded.n_rows
    squared = estimator.criterion == "squared_error"
    return CriterionOptions(
        criterion=estimator.criterion,
        random_splits=random_splits,
        max_depth=0 if estimator.max_depth is None else min(int(estimator.max_depth), _MOST_DEPTH),
        min_rows_split=rows_of(estimator.min_samples_split, n_rows, at_least=2),
        min_rows_leaf=rows_of(estimator.min_samples_leaf, n_rows, at_least=1),
        min_weight_leaf=estimator.min_weight_fraction_leaf * total_weight,
        min_impurity_decrease=min(
            float(estimator.min_impurity_decrease) / unit / (unit if squared else 1), 1e300
        ),
        max_features=min(max_features, train.encoded.n_features),
        max_leaves=0 if estimator.max_leaf_nodes is None else min(int(estimator.max_leaf_nodes), _MOST_DEPTH),
        monotone=_monotone(estimator.monotonic_cst, train),
        seed=seed,
        n_threads=n_threads,
    )


def _monotone(constraints: Any, train: TrainingData) -> NDArray[np.int8]:
    if constraints is None:
        return np.zeros(0, dtype=np.int8)
    n_classes = classes_per_output(train)
    if train.target.n_outputs > 1:
        raise InvalidParameter(
            "Monotonicity constraints are not supported with multiple outputs: y has "
            f"{train.target.n_outputs} columns.",
            parameter="monotonic_cst",
            received=constraints,
            allowed="None if y has several columns",
            hint="Fit one model for each, or set monotonic_cst=None.",
        )
    if len(n_classes) and n_classes[0] > 2:
        raise InvalidParameter(
            f"Monotonicity constraints are not supported with multiclass classification: y has {n_classes[0]} "
            "classes.",
            parameter="monotonic_cst",
            received=constraints,
            allowed="None if y has more than two classes",
            hint="Set monotonic_cst=None.",
        )
    monotone = monotone_of(constraints, train.schema, train.encoded.n_levels > 0)
    # The user speaks of the second class; the engine bounds the share of the first.
    return -monotone if len(n_classes) else monotone


def refuse_impossible_counts(values: FloatArray) -> None:
    """Poisson deviance is about counts and rates: none negative, and some positive for each output."""
    if (values < 0).any():
        row = int(np.argwhere(values < 0)[0][0])
        raise InvalidInput(
            f"Some value(s) of y are negative which is not allowed for Poisson regression: row {row} is {values[row]}.",
            parameter="y",
            received=values[row],
            allowed="numbers >= 0",
            hint="Use criterion='squared_error' for such targets.",
            row=row,
        )
    totals = np.atleast_1d(values.sum(axis=0))
    if (totals <= 0).any():
        raise InvalidInput(
            "Sum of y is not positive which is necessary for Poisson regression: all values of output "
            f"{int(np.argmin(totals))} are zero.",
            parameter="y",
            received=0.0,
            allowed="at least one number above zero in each output",
        )


def classes_per_output(train: TrainingData) -> NDArray[np.int32]:
    """Empty for regression."""
    classes = train.target.classes
    if classes is None:
        return np.zeros(0, dtype=np.int32)
    outputs = classes if isinstance(classes, list) else [classes]
    return np.array([len(own) for own in outputs], dtype=np.int32)


def unit_of(y: FloatArray) -> float:
    """1, or for targets whose squares leave the range of floats, a power of two that scales them back."""
    largest = float(np.abs(y).max(initial=0.0))
    return 1.0 if largest == 0 or 1e-100 < largest < 1e100 else power_of_two_above(largest)


def in_units(native: Tree, n_features: int, unit: float, *, squared: bool) -> Tree:
    """The tree of `y / unit` as the tree of `y`; impurities too large for a float become infinite."""
    state = native.state()
    with np.errstate(over="ignore"):
        state["value"] = state["value"] * unit
        for name in ("impurity", "gain"):
            state[name] = state[name] * unit * (unit if squared else 1.0)
    return Tree.from_state(state, n_features)


def features_with_missing(encoded: Encoded) -> BoolArray:
    """Which features had missing values in training; drawings show the way of missing values for these."""
    if isinstance(encoded.values, list):
        nominal = encoded.n_levels > 0
        return np.array(
            [
                bool((column < 0).any() if is_nominal else np.isnan(column).any())
                for column, is_nominal in zip(encoded.values, nominal, strict=True)
            ],
            dtype=bool,
        )
    found = np.zeros(encoded.n_features, dtype=bool)
    for first in range(0, encoded.n_rows, _ROWS_AT_ONCE):
        rows = encoded.values[first : first + _ROWS_AT_ONCE]
        with np.errstate(all="ignore"):
            may_have_some = np.isnan(rows.sum())  # a sum is quicker to look at
        if may_have_some:
            found |= np.isnan(rows).any(axis=0)
    return found
