"""Setting rows aside: a share of the rows, chosen once from a seed, to measure on."""

import numpy as np

from coterie._typing import AnyArray, RowArray
from coterie.errors import InvalidInput

__all__ = ["fold_numbers", "holdout_rows"]


def holdout_rows(
    n_rows: int, fraction: float, seed: int, stratify_codes: AnyArray | None = None
) -> tuple[RowArray, RowArray]:
    """The rows to train on and the rows to keep aside, both in increasing order.

    The same seed gives the same rows. There is at least one row on each side. With `stratify_codes`
    every class keeps its share, and a class with a single row stays on the training side.

    Examples
    --------
    >>> train, valid = holdout_rows(10, 0.2, seed=0)
    >>> len(train), len(valid)
    (8, 2)
    """
    if n_rows < 2:
        raise InvalidInput(
            f"Cannot set rows aside from a table of {n_rows} row(s): at least 2 are needed. "
            "Fit on more rows or without a holdout."
        )
    order = np.random.Generator(np.random.PCG64(seed)).permutation(n_rows)
    wanted = min(max(1, round(fraction * n_rows)), n_rows - 1)
    aside = order[:wanted]
    if stratify_codes is not None:
        aside = _stratified(order, np.asarray(stratify_codes), wanted)
    kept = np.ones(n_rows, dtype=bool)
    kept[aside] = False
    return np.flatnonzero(kept), np.sort(aside)


def fold_numbers(n_rows: int, n_folds: int, seed: int, stratify_codes: AnyArray | None = None) -> RowArray:
    """The fold of each row, 0 to n_folds - 1; folds differ in size by one row at most.

    With `stratify_codes` the rows of a class are dealt out one after the other, so that every fold has its share.

    Examples
    --------
    >>> np.bincount(fold_numbers(10, 4, seed=0)).tolist()
    [3, 3, 2, 2]
    """
    if n_folds > n_rows:
        raise InvalidInput(
            f"Cannot divide {n_rows} row(s) among {n_folds} boosters, each of which leaves a part of its own out. "
            f"Fit on more rows, or set n_bags to at most {n_rows}."
        )
    order = np.random.Generator(np.random.PCG64(seed)).permutation(n_rows)
    if stratify_codes is not None:
        order = order[np.argsort(np.asarray(stratify_codes)[order], kind="stable")]
    folds = np.empty(n_rows, dtype=np.int64)
    folds[order] = np.arange(n_rows) % n_folds
    return folds


def _stratified(order: RowArray, codes: AnyArray, wanted: int) -> RowArray:
    """The first rows of each class in `order`, as many as its share; the largest remainders round up."""
    counts = np.bincount(codes)
    share = counts * (wanted / len(order))
    take = np.floor(share).astype(np.int64)
    remainder = np.where(take < counts - 1, share - take, -1.0)
    for k in np.lexsort((np.arange(len(counts)), -remainder)):
        if take.sum() >= wanted:
            break
        if remainder[k] >= 0:
            take[k] += 1
    if take.sum() == 0:
        return order[:wanted]
    rows = [order[codes[order] == k][: take[k]] for k in np.flatnonzero(take)]
    return np.concatenate(rows)
