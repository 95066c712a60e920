"""Quantile forests: the training targets that leaves hold, and any quantile of them for new rows.

What a forest of regression trees predicts is a weighted mean of training targets: each tree gives a new row the
targets in the leaf it reaches. The same weights describe more than a mean: the share of the weight at or below a
value estimates the chance of a target at or below it, hence every quantile (Meinshausen, 2006).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import coterie._engine as _engine
from coterie._params import in_short
from coterie._typing import BoolArray, FloatArray
from coterie.errors import InvalidInput, InvalidParameter


class LeafTargets:
    """Targets of the rows that each tree drew, leaf by leaf; trees are added one by one or several at once.

    Parameters
    ----------
    y : float array of shape (n_rows,), the targets of the training rows
    weight : float array of shape (n_rows,), or None if every row counts alike

    Examples
    --------
    Two trees. The first has drawn rows 0 and 1 once and row 2 twice, and holds them in two leaves.

    >>> targets = LeafTargets(np.array([1.0, 2.0, 6.0]))
    >>> targets.add(np.array([0, 1, 1]), np.array([1, 1, 2]))
    >>> targets.add(np.array([0, 0, 0]), np.array([2, 1, 0]))

    A row in leaf 1 of the first tree and leaf 0 of the second gives row 0 the weight 1/3, row 1 1/3, row 2 1/3.

    >>> targets.quantiles(np.array([[1, 0]]), [0.3, 0.5, 0.9])
    array([[1., 2., 6.]])

    Notes
    -----
    A row drawn twice has twice the weight. Memory is 8 bytes for each row that a tree has drawn, and 4 for each of
    the tree's leaf numbers. Weights are kept as integers, so the number of threads changes no bit; the level of a
    quantile counts as reached when less than one part in 2**31 is missing.

    References
    ----------
    Meinshausen, Quantile regression forests, CheckpointWriter of Machine Learning Research 7 (2006).
    """

    def __init__(self, y: FloatArray, weight: FloatArray | None = None) -> None:
        nothing = np.empty(0)
        self._targets = _engine.LeafTargets(_floats(y), nothing if weight is None else _floats(weight))

    def __len__(self) -> int:
        """The number of trees."""
        return len(self._targets)

    def add(self, leaves: NDArray[Any], counts: NDArray[Any], *, n_threads: int = 1) -> None:
        """Add a tree, or several.

        Parameters
        ----------
        leaves : whole numbers of shape (n_rows,) or (n_trees, n_rows), the leaf that each training row reaches
        counts : whole numbers of the same shape, how often the tree drew the row
        n_threads : int, 0 for as many as there are; more than one helps only with several trees
        """
        leaves, counts = np.atleast_2d(leaves), np.atleast_2d(counts)
        if leaves.shape != counts.shape or leaves.shape[1] != self._targets.n_rows:
            raise InvalidInput(
                f"leaves have the shape {leaves.shape} and counts {counts.shape}; expected (n_trees, "
                f"{self._targets.n_rows}) for both, a column for each training row."
            )
        self._targets.add(
            whole_numbers("leaves", leaves, np.uint32).reshape(-1),
            whole_numbers("counts", counts, np.uint16).reshape(-1),
            _engine.usable_threads(n_threads),
        )

    def quantiles(
        self, new_leaves: NDArray[Any], q: Any, out_of_bag: BoolArray | None = None, n_threads: int = 1
    ) -> FloatArray:
        """The least targets with at least the share `q` of the weight at or below them.

        Parameters
        ----------
        new_leaves : whole numbers of shape (m, n_trees), the leaves that rows reach
        q : numbers in [0, 1], in any order
        out_of_bag : bool array of shape (m, n_trees), which trees count for each row; None for all. With those that
            did not draw a row, the quantiles of training rows are out of bag.
        n_threads : int, 0 for as many as there are

        Returns
        -------
        float array of shape (m, len(q)); NaN for rows without any tree
        """
        levels = _levels(q)
        new_leaves = whole_numbers("new_leaves", np.asarray(new_leaves), np.uint32)
        if new_leaves.ndim != 2 or new_leaves.shape[1] != len(self):
            raise InvalidInput(
                f"new_leaves have the shape {new_leaves.shape}; expected a row for each new row and a column for "
                f"each of the {len(self)} trees."
            )
        use = np.empty(0, np.uint8)
        if out_of_bag is not None:
            chosen = np.asarray(out_of_bag)
            if chosen.dtype != np.bool_ or chosen.shape != new_leaves.shape:
                raise InvalidInput(
                    f"out_of_bag holds {chosen.dtype} of shape {chosen.shape}; expected True and False in the shape "
                    f"of new_leaves, {new_leaves.shape}."
                )
            use = np.ascontiguousarray(chosen).view(np.uint8).reshape(-1)
        found = np.empty(len(new_leaves) * len(levels))
        self._targets.quantiles(new_leaves.reshape(-1), use, levels, found, _engine.usable_threads(n_threads))
        return found.reshape(len(new_leaves), len(levels))


def whole_numbers(name: str, values: NDArray[Any], kind: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    """The values in one of the engine's types, contiguous; an error if one of them does not fit.

    Examples
    --------
    >>> whole_numbers("counts", np.array([0, 3]), np.uint16)
    array([0, 3], dtype=uint16)
    """
    if values.dtype == kind:
        return np.ascontiguousarray(values)
    if values.dtype.kind not in "iu":
        raise InvalidInput(f"{name} are of type {values.dtype}; expected whole numbers.")
    if values.size:
        low, high = int(values.min()), int(values.max())
        if low < 0 or high > np.iinfo(kind).max:
            raise InvalidInput(
                f"{name} go from {low} to {high}; expected whole numbers from 0 to {np.iinfo(kind).max}."
            )
    return np.ascontiguousarray(values, dtype=kind)


def _levels(q: Any) -> FloatArray:
    try:
        levels = np.asarray(q, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidParameter(f"q={in_short(q)}: expected numbers in [0, 1].") from error
    if levels.ndim != 1 or not ((levels >= 0) & (levels <= 1)).all():
        raise InvalidParameter(f"q={in_short(q)}: expected a list of numbers in [0, 1].")
    return np.ascontiguousarray(levels)


def _floats(values: FloatArray) -> FloatArray:
    return np.ascontiguousarray(values, dtype=np.float64)
