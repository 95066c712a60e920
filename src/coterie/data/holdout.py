"""Setting rows aside: a share of the rows, chosen once from a seed, to measure on.

Rows may come in *groups* (the visits of one patient) that stay together: whole groups are set aside, or put into one
fold. Groups differ in size, so they are dealt out greedily, each where it brings the sizes, and the classes,
closest to what they should be.
"""

import numpy as np

from coterie._typing import AnyArray, BoolArray, FloatArray, RowArray
from coterie.errors import InvalidInput

_LEAST_OF_A_STRATUM = 10


def holdout_rows(
    n_rows: int,
    fraction: float,
    seed: int,
    stratify_codes: AnyArray | None = None,
    groups: AnyArray | None = None,
) -> tuple[RowArray, RowArray]:
    """The rows to train on and the rows to keep aside, both in increasing order.

    The same seed gives the same rows. There is at least one row on each side. With `stratify_codes`
    every class keeps its share, and a class with a single row stays on the training side. With `groups`, the number
    of each row's group, rows of a group stay together, and the shares are kept as well as groups allow.

    Examples
    --------
    >>> train, valid = holdout_rows(10, 0.2, seed=0)
    >>> len(train), len(valid)
    (8, 2)
    """
    if n_rows < 2:
        raise _too_few_rows(n_rows, "rows")
    if groups is not None:
        aside_groups = _groups_aside(_group_counts(groups, stratify_codes), fraction, seed)
        return np.flatnonzero(~aside_groups[groups]), np.flatnonzero(aside_groups[groups])
    order = np.random.Generator(np.random.PCG64(seed)).permutation(n_rows)
    wanted = min(max(1, round(fraction * n_rows)), n_rows - 1)
    aside = order[:wanted]
    if stratify_codes is not None:
        aside = _stratified(order, np.asarray(stratify_codes), wanted)
    kept = np.ones(n_rows, dtype=bool)
    kept[aside] = False
    return np.flatnonzero(kept), np.sort(aside)


def last_rows(n_rows: int, fraction: float) -> tuple[RowArray, RowArray]:
    """The first rows to train on and the last ones to keep aside: for tables in the order of time.

    Examples
    --------
    >>> last_rows(5, 0.4)
    (array([0, 1, 2]), array([3, 4]))
    """
    if n_rows < 2:
        raise _too_few_rows(n_rows, "the last rows")
    n_aside = min(max(1, round(fraction * n_rows)), n_rows - 1)
    return np.arange(n_rows - n_aside), np.arange(n_rows - n_aside, n_rows)


def _too_few_rows(n_rows: int, part: str) -> InvalidInput:
    return InvalidInput(
        f"Cannot set {part} aside from a table of {n_rows} row(s): at least 2 are needed.",
        parameter="X",
        received=n_rows,
        allowed="at least 2 rows",
        hint="Fit on more rows or without a holdout.",
    )


def fold_numbers(
    n_rows: int,
    n_folds: int,
    seed: int,
    stratify_codes: AnyArray | None = None,
    groups: AnyArray | None = None,
) -> RowArray:
    """The fold of each row, 0 to n_folds - 1; folds differ in size by one row at most.

    With `stratify_codes` the rows of a class are dealt out one after the other, so that every fold has its share.
    With `groups`, the number of each row's group, rows of a group are in one fold; folds are as even as that allows.

    Examples
    --------
    >>> np.bincount(fold_numbers(10, 4, seed=0)).tolist()
    [3, 3, 2, 2]
    """
    if n_folds > n_rows:
        raise InvalidInput(
            f"Cannot divide {n_rows} row(s) among {n_folds} boosters, each of which leaves a part of its own out.",
            parameter="n_folds",
            received=n_folds,
            allowed=f"at most {n_rows}",
            hint=f"Fit on more rows, or set n_folds to at most {n_rows}.",
        )
    if groups is not None:
        return _fold_of_groups(_group_counts(groups, stratify_codes), n_folds, seed)[groups]
    order = np.random.Generator(np.random.PCG64(seed)).permutation(n_rows)
    if stratify_codes is not None:
        order = order[np.argsort(np.asarray(stratify_codes)[order], kind="stable")]
    folds = np.empty(n_rows, dtype=np.int64)
    folds[order] = np.arange(n_rows) % n_folds
    return folds


def strata(codes: AnyArray) -> AnyArray:
    """What to divide rows by, from codes of classes: the classes, or of several labels what is often seen together.

    Rows whose labels fewer than ten rows have together are one stratum.

    Examples
    --------
    >>> strata(np.array([2, 0, 1])).tolist()
    [2, 0, 1]
    >>> strata(np.repeat([[0, 1], [1, 1], [1, 0]], [12, 10, 1], axis=0))[[0, 15, 22]].tolist()
    [1, 2, 0]
    """
    if codes.ndim == 1:
        return codes
    together, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)[1:]
    often = counts >= _LEAST_OF_A_STRATUM
    return np.asarray(np.where(often, np.cumsum(often), 0)[together.reshape(-1)])


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


def _group_counts(groups: AnyArray, codes: AnyArray | None) -> FloatArray:
    """Rows of each group and class, as shares of the class; without classes all rows are of one."""
    codes = np.zeros(len(groups), dtype=np.int64) if codes is None else np.asarray(codes)
    n_classes = int(codes.max()) + 1
    cells = groups.astype(np.int64) * n_classes + codes
    counts = np.bincount(cells, minlength=(int(groups.max()) + 1) * n_classes).reshape(-1, n_classes)
    return np.asarray(counts / np.sqrt(np.maximum(counts.sum(axis=0), 1)))


def _groups_aside(counts: FloatArray, fraction: float, seed: int) -> BoolArray:
    """Which groups to set aside: in a random order, those that bring the classes closer to their share."""
    if len(counts) < 2:
        raise InvalidInput(
            "Cannot set whole groups aside: all rows are of one group, and at least 2 are needed.",
            parameter="groups",
            received=len(counts),
            allowed="at least 2 groups",
            hint="Fit without groups, or without a holdout.",
        )
    aside = np.zeros(len(counts), dtype=bool)
    missing = fraction * counts.sum(axis=0)
    order = np.random.Generator(np.random.PCG64(seed)).permutation(len(counts))
    for group in order:
        if aside.sum() < len(counts) - 1 and counts[group] @ (2 * missing - counts[group]) > 0:
            aside[group] = True
            missing = missing - counts[group]
    if not aside.any():
        aside[order[counts[order].sum(axis=1).argmin()]] = True
    return aside


def _fold_of_groups(counts: FloatArray, n_folds: int, seed: int) -> RowArray:
    """The fold of each group: the largest first (rare classes count more), each to the fold least like it."""
    n_groups = len(counts)
    if n_folds > n_groups:
        raise InvalidInput(
            f"Cannot divide {n_groups} group(s) among {n_folds} boosters, each of which leaves groups of its own out.",
            parameter="n_folds",
            received=n_folds,
            allowed=f"at most {n_groups}",
            hint=f"Fit on more groups, or set n_folds to at most {n_groups}.",
        )
    order = np.random.Generator(np.random.PCG64(seed)).permutation(n_groups)
    order = order[np.argsort(-counts[order].sum(axis=1), kind="stable")]
    filled = np.zeros((n_folds, counts.shape[1]))
    folds = np.empty(n_groups, dtype=np.int64)
    for place, group in enumerate(order):
        # Every fold gets one of the largest groups, so that none stays empty.
        fold = place if place < n_folds else int((filled @ counts[group]).argmin())
        filled[fold] += counts[group]
        folds[group] = fold
    return folds


def rows_held_out(predicted: FloatArray, weight: FloatArray | None, most: int) -> RowArray:
    """At most so many rows with weight whose predictions are known, evenly spaced; NaN are those of other rows.

    Examples
    --------
    >>> rows_held_out(np.array([1.0, np.nan, 2.0, 3.0]), np.array([1.0, 1.0, 0.0, 1.0]), 10)
    array([0, 3])
    """
    known = np.isfinite(predicted).reshape(len(predicted), -1).all(axis=1)
    if weight is not None:
        known &= weight > 0
    rows = np.flatnonzero(known)
    if len(rows) > most:
        rows = rows[np.linspace(0, len(rows) - 1, most).round().astype(np.int64)]
    return np.asarray(rows, dtype=np.int64)
