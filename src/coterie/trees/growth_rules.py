"""From constructor parameters to what the engine takes: limits of trees, constraints, features that may interact."""

from collections.abc import Mapping, Sequence
from math import ceil
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie._engine import CriterionOptions, Tree
from coterie._params import in_short, unexpected
from coterie._typing import AnyArray, BoolArray, FloatArray
from coterie.data.encoding import Encoded
from coterie.data.prepare import TrainingData
from coterie.data.table import Schema
from coterie.errors import InvalidInput, InvalidParameter
from coterie.losses.loss import power_of_two_above

_MOST_DEPTH = 2**31
_MOST_ROWS = 2**62
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
    criterion = criterion_of(estimator)
    squared = criterion == "squared_error"
    return CriterionOptions(
        criterion=criterion,
        random_splits=random_splits,
        max_depth=0 if estimator.max_depth is None else min(int(estimator.max_depth), _MOST_DEPTH),
        min_rows_split=_rows_of(estimator.min_samples_split, n_rows, at_least=2),
        min_rows_leaf=_rows_of(estimator.min_samples_leaf, n_rows, at_least=1),
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


def criterion_of(estimator: Any) -> str:
    """What the engine calls the criterion.

    Friedman's improvement is what a split takes off the squared error: of one target, both are one criterion.
    """
    return "squared_error" if estimator.criterion == "friedman_mse" else str(estimator.criterion)


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
            "Sum of y is not strictly positive which is necessary for Poisson regression: all values of output "
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


def _rows_of(rule: float, n_rows: int, *, at_least: int) -> int:
    """A number of rows, from a number or a fraction of all rows (rounded up)."""
    wanted = int(rule) if isinstance(rule, Integral) else ceil(rule * n_rows)
    return min(max(at_least, wanted), _MOST_ROWS)


def max_features_of(rule: str | float | None, n_features: int) -> int:
    """How many features a split looks at.

    Examples
    --------
    >>> [max_features_of(rule, 100) for rule in ("sqrt", "log2", 0.25, 7, None)]
    [10, 6, 25, 7, 100]
    """
    if rule is None:
        return n_features
    if isinstance(rule, str):
        return max(1, int(np.sqrt(n_features) if rule == "sqrt" else np.log2(n_features)))
    return int(rule) if isinstance(rule, Integral) else max(1, int(rule * n_features))


def monotone_of(constraints: Any, schema: Schema, nominal: AnyArray) -> NDArray[np.int8]:
    """One of -1, 0, 1 for each feature, from an array or from a dict by column name; empty for None."""
    if constraints is None:
        return np.zeros(0, dtype=np.int8)
    given = _by_name(constraints, schema) if isinstance(constraints, Mapping) else np.asarray(constraints)
    if given.shape != (schema.n_features,):
        raise InvalidParameter(
            f"monotonic_cst has shape {given.shape} but the input data X has {schema.n_features} features; "
            "expected one number for each, or a dict by column name.",
            parameter="monotonic_cst",
            received=given.shape,
            allowed=f"{schema.n_features} numbers, or a dict by column name",
        )
    allowed = np.isin(given, (-1, 0, 1))
    if not allowed.all():
        feature = int(np.argmin(allowed))
        raise InvalidParameter(
            f"monotonic_cst must be None or an array-like of -1, 0 or 1, but got {in_short(given[feature])} for "
            f"feature {feature}.",
            parameter="monotonic_cst",
            received=given[feature],
            allowed="None or an array-like of -1, 0 or 1",
            column=f"x{feature}" if schema.names is None else schema.names[feature],
        )
    both = np.flatnonzero((given != 0) & nominal)
    if len(both):
        feature = int(both[0])
        label = feature if schema.names is None else repr(schema.names[feature])
        raise InvalidParameter(
            "Categorical features cannot have monotonic constraints: monotonic_cst constrains feature "
            f"{label}, which is categorical, and its categories have no order.",
            parameter="monotonic_cst",
            received=int(given[feature]),
            allowed="0 for a categorical column",
            hint="Set its constraint to 0, or pass the column as numbers.",
            column=f"x{feature}" if schema.names is None else schema.names[feature],
        )
    return given.astype(np.int8)


def _by_name(constraints: Mapping[Any, Any], schema: Schema) -> AnyArray:
    if schema.names is None:
        raise InvalidInput(
            "monotonic_cst is a dict by column name, but X has no column names.",
            parameter="monotonic_cst",
            received=constraints,
            allowed="an array with a constraint for each column",
            hint="Pass a data frame or a dict of columns, or give the constraints as an array.",
        )
    unknown = [name for name in constraints if name not in schema.names]
    if unknown:
        columns = in_short(list(schema.names))
        raise InvalidParameter(
            f"monotonic_cst contains {len(unknown)} unexpected feature names: {in_short(unknown)}. The columns are "
            f"{columns}.",
            parameter="monotonic_cst",
            received=unknown[0],
            allowed=f"the columns {columns}",
        )
    return np.array([constraints.get(name, 0) for name in schema.names])


def interaction_sets(
    interaction_cst: Any, n_features: int, names: Sequence[str] | None = None
) -> list[list[int]]:
    """Sets of features that may appear together on a path; an empty list if anything may.

    Sets hold numbers of features, or `names` of columns. Features that no set names form one more set.

    Examples
    --------
    >>> interaction_sets([{0, 1}], 4)
    [[0, 1], [2, 3]]
    >>> interaction_sets("no_interactions", 3)
    [[0], [1], [2]]
    >>> interaction_sets([{"area", "town"}], 3, ["area", "rooms", "town"])
    [[0, 2], [1]]
    """
    if interaction_cst is None:
        return []
    if isinstance(interaction_cst, str):
        if interaction_cst == "no_interactions":
            return [[feature] for feature in range(n_features)]
        if interaction_cst == "pairwise":
            return [[a, b] for a in range(n_features) for b in range(a + 1, n_features)] or [[0]]
        allowed = "None, 'pairwise', 'no_interactions', or a list of sets of feature numbers or column names"
        raise unexpected("interaction_cst", interaction_cst, allowed)
    sets = [
        sorted({_feature_number(item, n_features, names) for item in group})
        for group in _groups(interaction_cst)
    ]
    left_over = sorted(set(range(n_features)) - {feature for group in sets for feature in group})
    return [*sets, left_over] if left_over else sets


def with_made_features(
    sets: list[list[int]], n_features: int, made_from: Sequence[tuple[int, ...]]
) -> list[list[int]]:
    """The sets with features that were made from others: a set has those whose sources it has.

    Examples
    --------
    Features 3 and 4 were made from feature 2, and from 0 and 1.

    >>> with_made_features([[0, 1], [1, 2]], 3, [(2,), (0, 1)])
    [[0, 1, 4], [1, 2, 3]]
    """
    return [
        [*group, *(n_features + i for i, sources in enumerate(made_from) if set(sources) <= set(group))]
        for group in sets
    ]


def _groups(interaction_cst: Any) -> list[Any]:
    try:
        groups = [[group] if isinstance(group, str) else list(group) for group in interaction_cst]
    except TypeError:
        groups = []
    if not groups or any(len(group) == 0 for group in groups):
        allowed = "a list of non-empty sets of feature numbers or column names, such as [{0, 1}, {2, 3}]"
        raise InvalidParameter(
            "Interaction constraints must be a sequence of tuples or lists, or of sets. "
            f"interaction_cst={in_short(interaction_cst)}: expected {allowed}.",
            parameter="interaction_cst",
            received=interaction_cst,
            allowed=allowed,
        )
    return groups


def _feature_number(item: Any, n_features: int, names: Sequence[str] | None) -> int:
    if isinstance(item, str):
        return _number_of_name(item, names)
    if isinstance(item, bool) or not isinstance(item, int | np.integer) or not 0 <= item < n_features:
        allowed = f"feature numbers from 0 to {n_features - 1}"
        raise InvalidParameter(
            "Interaction constraints must consist of integer indices in [0, n_features - 1] = "
            f"[0, {n_features - 1}], specifying the position of features, and interaction_cst holds {in_short(item)}; "
            f"expected {allowed}.",
            parameter="interaction_cst",
            received=item,
            allowed=allowed,
        )
    return int(item)


def _number_of_name(name: str, names: Sequence[str] | None) -> int:
    if names is None:
        raise InvalidInput(
            f"interaction_cst names the column {name!r}, but X has no column names.",
            parameter="interaction_cst",
            received=name,
            allowed="feature numbers",
            hint="Pass a data frame or a dict of columns, or give the numbers of features.",
        )
    if name not in names:
        columns = in_short(list(names))
        raise InvalidParameter(
            f"interaction_cst names the column {name!r}, which X does not have. The columns are {columns}.",
            parameter="interaction_cst",
            received=name,
            allowed=f"the columns {columns}",
        )
    return list(names).index(name)
