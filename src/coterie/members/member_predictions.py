"""What each member of an ensemble predicts, before the predictions are combined."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from coterie._typing import AnyArray, FloatArray, RowArray


@dataclass(frozen=True)
class MemberPredictions:
    """The predictions of all members for some rows.

    Attributes
    ----------
    values : array of shape (n_members, n_rows, n_columns)
        For classes a column for each: probabilities, or a one for the class that is predicted; or one column of raw
        predictions, those of the second of two classes. For numbers a column for each target.
    weights : array of shape (n_members,), how much each member counts in the ensemble
    names : of the members
    classes : the labels of each target, in the order of the columns; empty for numbers

    Examples
    --------
    >>> values = np.array([[[0.2, 0.8]], [[0.6, 0.4]]])
    >>> MemberPredictions(values, np.ones(2), ("a", "b"), (np.array(["no", "yes"]),)).codes
    array([[1],
           [0]])
    """

    values: FloatArray
    weights: FloatArray
    names: tuple[str, ...]
    classes: tuple[AnyArray, ...] = ()

    @property
    def codes(self) -> AnyArray:
        """The class that each member predicts, as a code, shape (n_members, n_rows); on a tie the first."""
        return np.asarray(self.values.argmax(axis=2))

    @property
    def n_targets(self) -> int:
        return len(self.classes) or self.values.shape[2]


@dataclass(frozen=True)
class HeldOutPredictions:
    """What members predicted for training rows that they were not fitted to.

    Attributes
    ----------
    members : the predictions, with the weight of each member
    truth : the targets of these rows: codes of classes, or numbers
    weight : array of shape (n_rows,), how often each row counts
    """

    members: MemberPredictions
    truth: AnyArray
    weight: FloatArray


def numbered(what: str, n: int) -> tuple[str, ...]:
    """Names of members that have none.

    Examples
    --------
    >>> numbered("tree", 2)
    ('tree 1', 'tree 2')
    """
    return tuple(f"{what} {number}" for number in range(1, n + 1))


def predictions_after(
    members: Iterable[FloatArray], stages: RowArray, classes: AnyArray | None
) -> Iterator[AnyArray]:
    """The mean of the first members, or the class for which it is largest, for ascending numbers of members.

    Parameters
    ----------
    members : what each predicts, one after the other, arrays of shape (n_rows, n_columns)
    stages : how many members
    classes : the labels, or None for numbers

    Examples
    --------
    >>> members = [np.array([[1.0], [4.0]]), np.array([[3.0], [2.0]])]
    >>> list(predictions_after(members, np.array([1, 2]), None))
    [array([1., 4.]), array([2., 3.])]
    """
    total: FloatArray | float = 0.0
    wanted = set(stages.tolist())
    for number, values in enumerate(islice(members, int(stages[-1])), start=1):
        total = total + values
        if number not in wanted:
            continue
        if classes is not None:
            yield np.asarray(classes)[total.argmax(axis=1)]
        else:
            mean = total / number
            yield mean[:, 0] if mean.shape[1] == 1 else mean
