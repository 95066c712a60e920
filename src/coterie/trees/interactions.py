"""Which features may meet on a path, as users write it, checked and by feature number."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie._params import in_short, unexpected
from coterie.errors import InvalidParameter

__all__ = ["interaction_sets", "with_made_features"]


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
        allowed = "None, 'pairwise', 'no_interactions', or a list of sets of feature numbers"
        raise unexpected("interaction_cst", interaction_cst, allowed)
    sets = [
        sorted({_feature_number(item, n_features) for item in group}) for group in _groups(interaction_cst)
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
        groups = [list(group) for group in interaction_cst]
    except TypeError:
        groups = []
    if not groups or any(len(group) == 0 for group in groups):
        allowed = "a list of non-empty sets of feature numbers, such as [{0, 1}, {2, 3}]"
        raise unexpected("interaction_cst", interaction_cst, allowed)
    return groups


def _feature_number(item: Any, n_features: int) -> int:
    if isinstance(item, bool) or not isinstance(item, int | np.integer) or not 0 <= item < n_features:
        allowed = f"feature numbers from 0 to {n_features - 1}"
        raise InvalidParameter(
            f"interaction_cst holds {in_short(item)}; expected {allowed}.",
            parameter="interaction_cst",
            received=item,
            allowed=allowed,
        )
    return int(item)
