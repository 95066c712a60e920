"""Several labels in one target: each has two classes, or one that all rows have, and a score if there are two."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie._params import in_short
from coterie._typing import AnyArray
from coterie.errors import InvalidInput


def check_labels(classes: Sequence[AnyArray]) -> None:
    """Refuse labels of more than two classes."""
    for place, own in enumerate(classes):
        if len(own) > 2:
            raise InvalidInput.expecting(
                f"column {place} of y holds {len(own)} classes, {in_short(own.tolist())}, and y has {len(classes)} "
                "columns",
                "two classes in each of several columns",
                "y",
                len(own),
                hint="Fit a model for each column, or a RandomForestClassifier, which takes targets of many classes.",
            )


def labels_of_codes(classes: Sequence[AnyArray], codes: AnyArray) -> AnyArray:
    """The labels of codes, a column for each target; of objects if their labels are of different kinds.

    Examples
    --------
    >>> labels_of_codes([np.array([0, 1]), np.array(["no", "yes"])], np.array([[1, 0]])).tolist()
    [[1, 'no']]
    """
    columns = [own[code] for own, code in zip(classes, codes.T, strict=True)]
    same_kind = len({own.dtype.kind for own in columns}) == 1
    return np.stack(columns if same_kind else [own.astype(object) for own in columns], axis=1)


def outputs_of_labels(classes: Sequence[AnyArray]) -> tuple[Any, ...]:
    """The second class of each label that has one, with the number of the label."""
    named = [f"y{place}: {own.tolist()[1]}" for place, own in enumerate(classes) if len(own) == 2]
    return tuple(named) if len(named) > 1 else tuple(named or [None])
