"""What a tree may not do: constraints as users write them, checked and by feature number."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coterie._params import in_short
from coterie.errors import InvalidParameter

__all__ = ["interaction_sets", "monotone_directions"]


def monotone_directions(
    monotonic_cst: Any, names: Sequence[str] | None, n_features: int, nominal: Sequence[bool]
) -> list[int]:
    """1 (increasing), -1 (decreasing) or 0 per feature; an empty list if nothing is constrained.

    Examples
    --------
    >>> monotone_directions({"age": 1}, ["income", "age"], 2, [False, False])
    [0, 1]
    """
    if monotonic_cst is None:
        return []
    if isinstance(monotonic_cst, Mapping):
        directions = _by_name(monotonic_cst, names)
    else:
        directions = list(np.asarray(monotonic_cst).tolist())
    if len(directions) != n_features:
        raise InvalidParameter(
            f"monotonic_cst has {len(directions)} entries, but X has {n_features} features. "
            "Give one of -1, 0 and 1 for each feature, or a dict from feature names."
        )
    for feature, direction in enumerate(directions):
        if direction not in (-1, 0, 1):
            raise InvalidParameter(
                f"monotonic_cst holds {direction!r} for feature {feature}; expected -1, 0 or 1."
            )
        if direction and nominal[feature]:
            raise InvalidParameter(
                f"monotonic_cst constrains feature {feature}, which is categorical and has no order. "
                "Use 0 for it."
            )
    return [int(direction) for direction in directions] if any(directions) else []


def _by_name(constraints: Mapping[Any, Any], names: Sequence[str] | None) -> list[Any]:
    if names is None:
        raise InvalidParameter(
            "monotonic_cst is a dict of feature names, but X has no feature names. "
            "Give a list with one entry per feature, or fit on a data frame."
        )
    unknown = [name for name in constraints if name not in names]
    if unknown:
        raise InvalidParameter(
            f"monotonic_cst names {in_short(unknown)}, which X does not have. Its features are {in_short(list(names))}."
        )
    return [constraints.get(name, 0) for name in names]


def interaction_sets(interaction_cst: Any, n_features: int) -> list[list[int]]:
    """Sets of features that may appear together on a path; an empty list if anything may.

    Features that no set names form one more set.

    Examples
    --------
    >>> interaction_sets([{0, 1}], 4)
    [[0, 1], [2, 3]]
    >>> interaction_sets("no_interactions", 3)
    [[0], [1], [2]]
    """
    if interaction_cst is None:
        return []
    if isinstance(interaction_cst, str):
        if interaction_cst == "no_interactions":
            return [[feature] for feature in range(n_features)]
        if interaction_cst == "pairwise":
            return [[a, b] for a in range(n_features) for b in range(a + 1, n_features)] or [[0]]
        raise InvalidParameter(
            f"interaction_cst={interaction_cst!r}: expected None, 'pairwise', 'no_interactions', "
            "or a list of sets of feature numbers."
        )
    sets = [
        sorted({_feature_number(item, n_features) for item in group}) for group in _groups(interaction_cst)
    ]
    left_over = sorted(set(range(n_features)) - {feature for group in sets for feature in group})
    return [*sets, left_over] if left_over else sets


def _groups(interaction_cst: Any) -> list[Any]:
    try:
        groups = [list(group) for group in interaction_cst]
    except TypeError:
        groups = []
    if not groups or any(len(group) == 0 for group in groups):
        raise InvalidParameter(
            f"interaction_cst={in_short(interaction_cst)}: expected a list of non-empty sets of feature numbers, "
            "such as [{0, 1}, {2, 3}]."
        )
    return groups


def _feature_number(item: Any, n_features: int) -> int:
    if isinstance(item, bool) or not isinstance(item, int | np.integer) or not 0 <= item < n_features:
        raise InvalidParameter(
            f"interaction_cst holds {in_short(item)}; expected feature numbers from 0 to {n_features - 1}."
        )
    return int(item)
