"""Proximities: two rows are alike if the trees of a forest send them to the same leaves.

Words
  place       a leaf of a tree, numbered through all trees
  bound       how many training rows share a leaf with a row, counted once per tree: at most so many are close to it
  block       some rows at a time, so many that their bounds stay within a budget of memory
Nothing here is a dense matrix of rows by rows. A forest of unpruned trees leaves most pairs of rows without any leaf
in common, and those are not stored.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coterie._params import Integer, OneOf, in_short
from coterie._typing import AnyArray, BoolArray, FloatArray, RowArray
from coterie.errors import InvalidInput, InvalidParameter

ProximityMethod: TypeAlias = Literal["shared", "gap"]
Leaves: TypeAlias = NDArray[np.unsignedinteger[Any]]

_BLOCK_ENTRIES = 2_000_000
_ONES = np.array([int(byte).bit_count() for byte in range(256)], dtype=np.uint8)  # by byte


def proximities(
    leaves: Leaves,
    new_leaves: Leaves | None = None,
    top_k: int | None = None,
    out_of_bag_counts: AnyArray | None = None,
    *,
    method: ProximityMethod = "shared",
) -> sparse.csr_matrix:
    """How alike rows are: the share of trees in which two rows reach the same leaf.

    Leaves have the shape (n_rows, n_trees); without `new_leaves` training rows are compared with each other. With
    `out_of_bag_counts`, how often each tree drew each row, only trees that drew neither of two rows count. In "gap", in
    each tree that did not draw the row, every draw that its leaf holds gets an equal part, averaged over those trees. A
    row that every tree drew has no out-of-bag proximity, and its row of the CSR matrix is empty.

    Examples
    --------
    Three rows and two trees. Rows 0 and 1 share a leaf in both, row 2 joins them in the second.

    >>> leaves = np.array([[1, 0], [1, 0], [2, 0]])
    >>> proximities(leaves).toarray()
    array([[1. , 1. , 0.5],
           [1. , 1. , 0.5],
           [0.5, 0.5, 1. ]])

    References
    ----------
    Breiman and Cutler, Random forests (2003), for "shared"; Rhodes, Cutler and Moon, Geometry- and accuracy-preserving
    random forest proximities (2023), for "gap".
    """
    if top_k is not None:
        _check_top("top_k", top_k)
    blocks = list(_blocks(leaves, new_leaves, out_of_bag_counts, method, top_k))
    return sparse.vstack(blocks, format="csr")


def outlier_measure(leaves: Leaves, y_codes: AnyArray) -> FloatArray:
    """How far each training row is from the others of its class, in units of what is usual in the class.

    The raw measure of a row is the size of its class over the sum of its squared proximities to the class, itself
    included. The median of the class is taken off, and what remains is divided by the mean absolute deviation from it.
    Breiman calls a row with more than 10 a likely outlier.

    0 in classes whose rows do not differ; `y_codes` are all the same for a regression.

    Examples
    --------
    >>> leaves = np.array([[0], [0], [0], [1]])
    >>> outlier_measure(leaves, np.zeros(4, dtype=int))
    array([0., 0., 0., 4.])
    """
    leaves, y_codes = _leaves("leaves", leaves), _codes(y_codes, len(leaves))
    measure = np.zeros(len(leaves))
    for code in np.unique(y_codes):
        rows = np.flatnonzero(y_codes == code)
        squares = [
            np.asarray(block.multiply(block).sum(axis=1)).reshape(-1)
            for block in _blocks(leaves[rows], None, None, "shared")
        ]
        raw = len(rows) / np.concatenate(squares)
        away = raw - np.median(raw)
        spread = np.abs(away).mean()
        # Rows that are equally far may differ by a rounding error.
        if spread > 1e-12 * np.median(raw):
            measure[rows] = away / spread
    return measure


@dataclass(frozen=True)
class Prototype:
    """A typical row of a class, and the rows that make it one.

    Parameters
    ----------
    code : int, the class
    case : int, the row with most of the class among its nearest rows
    neighbours : rows of the class among those, nearest first
    lower, middle, upper : float arrays of shape (n_features,), quartiles of the neighbours, missing values left out;
        for a nominal feature the most frequent code, three times. NaN if there is nothing to take them of.
    """

    code: int
    case: int
    neighbours: RowArray
    lower: FloatArray
    middle: FloatArray
    upper: FloatArray


def prototypes(
    leaves: Leaves, y_codes: AnyArray, X: FloatArray, k: int, nominal: BoolArray | None = None
) -> list[Prototype]:
    """For each class the row with the most rows of that class among its `k` nearest, and what these look like.

    One for each class, in the order of codes. X holds numbers, or codes of `nominal` features; NaN is missing.

    Examples
    --------
    >>> leaves = np.array([[0, 0], [0, 0], [0, 1], [1, 2], [1, 2]])
    >>> X = np.array([[1.0], [2.0], [3.0], [7.0], [8.0]])
    >>> first, second = prototypes(leaves, np.array([0, 0, 0, 1, 1]), X, k=2)
    >>> first.case, first.neighbours, first.middle
    (0, array([1, 2]), array([2.5]))

    Notes
    -----
    Of several rows with as many, the one that is closest to them in total, then the first. Rows that share no leaf with
    a row are not near it, so a row may have fewer than `k`.

    References
    ----------
    Breiman and Cutler, Random forests (2003).
    """
    leaves, y_codes = _leaves("leaves", leaves), _codes(y_codes, len(leaves))
    _check_top("k", k)
    X, nominal = _features(X, nominal, len(leaves))
    near = sparse.vstack(list(_blocks(leaves, None, None, "shared", k, itself=False)), format="csr")
    row_of = np.repeat(np.arange(len(leaves)), np.diff(near.indptr))
    found = []
    for code in np.unique(y_codes):
        of_class = y_codes[near.indices] == code
        how_many = np.bincount(row_of[of_class], minlength=len(leaves))
        how_close = np.bincount(row_of[of_class], near.data[of_class], minlength=len(leaves)).round(12)
        case = int(np.lexsort((-how_close, -how_many))[0])
        own = slice(near.indptr[case], near.indptr[case + 1])
        rows, closeness = near.indices[own], near.data[own]
        nearest = rows[np.lexsort((rows, -closeness))].astype(np.int64)
        neighbours = nearest[y_codes[nearest] == code]
        found.append(Prototype(int(code), case, neighbours, *_quartiles(X[neighbours], nominal)))
    return found


def _blocks(
    leaves: Leaves,
    new_leaves: Leaves | None,
    counts: AnyArray | None,
    method: str,
    top_k: int | None = None,
    *,
    itself: bool = True,
) -> Iterator[sparse.csr_matrix]:
    """Proximities of some rows after the other; `itself`: whether a row is compared with itself."""
    leaves = _leaves("leaves", leaves)
    counts = _check_counts(counts, leaves, method)
    places, new_places = _places(leaves, new_leaves)
    held = _Held.of(places, counts, method)
    out = np.ones_like(leaves, bool) if counts is None else counts == 0
    new_out = out if new_leaves is None else np.ones_like(new_places, bool)
    both_out = np.packbits(out, axis=1) if method == "shared" and counts is not None else None
    for rows in _row_blocks(held.sizes[new_places].sum(axis=1), len(leaves)):
        block = (_one_hot(new_places[rows], new_out[rows], held.n_places) @ held.rows_by_place).tocsr()
        if both_out is None:
            block.data /= np.repeat(new_out[rows].sum(axis=1), np.diff(block.indptr))
        else:
            _divide_by_both(block, np.packbits(new_out[rows], axis=1), both_out)
        if not itself:
            _forget_itself(block, rows.start)
        block.sort_indices()
        yield block if top_k is None else _largest(block, top_k)


@dataclass(frozen=True)
class _Held:
    """What places hold of the training rows: which, how much each counts, and how many they are."""

    rows_by_place: sparse.csr_matrix  # (n_places, n_rows)
    sizes: RowArray
    n_places: int

    @classmethod
    def of(cls, places: RowArray, counts: AnyArray | None, method: str) -> "_Held":
        n_places = int(places.max()) + 1
        kept = np.ones_like(places, bool) if counts is None else (counts > 0) == (method == "gap")
        matrix = _one_hot(places, kept, n_places)
        if counts is not None and method == "gap":
            drawn = counts[kept].astype(np.float64)
            draws = np.bincount(places[kept], drawn, minlength=n_places)
            matrix.data = drawn / draws[places[kept]]
        sizes = np.bincount(places[kept], minlength=n_places)
        return cls(matrix.T.tocsr(), sizes, n_places)


def _one_hot(places: RowArray, kept: BoolArray, n_places: int) -> sparse.csr_matrix:
    """A row for each row with a one at each place it reaches, in the trees that are kept."""
    columns, ends = places[kept], np.append(0, np.cumsum(kept.sum(axis=1)))
    return sparse.csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(places), n_places))


def _divide_by_both(block: sparse.csr_matrix, new_bits: AnyArray, bits: AnyArray) -> None:
    """By the number of trees that drew neither of two rows; a bit per tree says which did not draw a row."""
    row_of = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
    step = max(1, 16 * _BLOCK_ENTRIES // bits.shape[1])
    for first in range(0, len(row_of), step):
        some = slice(first, first + step)
        both = new_bits[row_of[some]] & bits[block.indices[some]]
        block.data[some] /= _ONES[both].sum(axis=1, dtype=np.int64)


def _row_blocks(bounds: RowArray, n_columns: int) -> Iterator[slice]:
    """Slices of rows whose bounds add up to a budget; a row has at most `n_columns` entries."""
    total = np.cumsum(np.minimum(bounds, n_columns))
    first = 0
    while first < len(bounds):
        before = total[first - 1] if first else 0
        end = max(first + 1, int(np.searchsorted(total, before + _BLOCK_ENTRIES, side="right")))
        yield slice(first, end)
        first = end


def _forget_itself(block: sparse.csr_matrix, first: int) -> None:
    row_of = np.repeat(np.arange(first, first + block.shape[0]), np.diff(block.indptr))
    block.data[block.indices == row_of] = 0.0
    block.eliminate_zeros()


def _largest(block: sparse.csr_matrix, top_k: int) -> sparse.csr_matrix:
    """The largest entries of each row; of equal ones those of the first columns."""
    row_of = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
    # Equal sums of parts may differ by a rounding error.
    order = np.lexsort((block.indices, -block.data.round(12), row_of))
    kept = np.sort(order[np.arange(len(order)) - block.indptr[row_of] < top_k])
    ends = np.append(0, np.cumsum(np.minimum(np.diff(block.indptr), top_k)))
    return sparse.csr_matrix((block.data[kept], block.indices[kept], ends), shape=block.shape)


def _quartiles(values: FloatArray, nominal: BoolArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    found = np.full((3, len(nominal)), np.nan)
    for feature, is_nominal in enumerate(nominal):
        known = values[:, feature][~np.isnan(values[:, feature])]
        if len(known) == 0:
            continue
        if is_nominal:
            codes, how_often = np.unique(known, return_counts=True)
            found[:, feature] = codes[how_often.argmax()]
        else:
            found[:, feature] = np.quantile(known, [0.25, 0.5, 0.75])
    return found[0], found[1], found[2]


def _places(leaves: Leaves, new_leaves: Leaves | None) -> tuple[RowArray, RowArray]:
    """Leaves numbered through all trees."""
    n_leaves = leaves.max(axis=0).astype(np.int64) + 1
    before = np.cumsum(n_leaves) - n_leaves
    places = leaves.astype(np.int64) + before
    if new_leaves is None:
        return places, places
    new_leaves = _leaves("new_leaves", new_leaves)
    if new_leaves.shape[1] != leaves.shape[1]:
        raise InvalidInput(
            f"new_leaves are of {new_leaves.shape[1]} trees and leaves of {leaves.shape[1]}; expected the same trees."
        )
    beyond = (new_leaves >= n_leaves).any(axis=0)
    if beyond.any():
        tree = int(np.argmax(beyond))
        raise InvalidInput(
            f"new_leaves have the leaf {new_leaves[:, tree].max()} in tree {tree}; training rows reached numbers below "
            f"{n_leaves[tree]}."
        )
    return places, new_leaves.astype(np.int64) + before


def _leaves(name: str, leaves: Any) -> Leaves:
    array = np.asarray(leaves)
    if array.ndim != 2 or array.dtype.kind not in "iu" or array.size == 0 or array.min() < 0:
        raise InvalidInput(
            f"{name} hold {array.dtype} of shape {array.shape}; expected whole numbers >= 0 of shape (n_rows, "
            "n_trees), with one row and one tree at least."
        )
    return array


def _check_counts(counts: Any, leaves: Leaves, method: str) -> AnyArray | None:
    rule = OneOf("shared", "gap")
    if not rule.accepts(method):
        raise InvalidParameter(f"method={in_short(method)}: expected {rule.describe()}.")
    if counts is None:
        if method == "gap":
            raise InvalidParameter("method='gap' needs out_of_bag_counts: how often each tree drew each row.")
        return None
    array = np.asarray(counts)
    if array.shape != leaves.shape or array.dtype.kind not in "iu" or array.min() < 0:
        raise InvalidInput(
            f"out_of_bag_counts hold {array.dtype} of shape {array.shape}; expected whole numbers >= 0 in the shape of "
            f"leaves, {leaves.shape}."
        )
    return array


def _check_top(name: str, top: Any) -> None:
    if not Integer(1).accepts(top):
        raise InvalidParameter(f"{name}={in_short(top)}: expected {Integer(1).describe()}.")


def _codes(y_codes: Any, n_rows: int) -> AnyArray:
    array = np.asarray(y_codes)
    if array.shape != (n_rows,) or array.dtype.kind not in "iu":
        raise InvalidInput(
            f"y_codes hold {array.dtype} of shape {array.shape}; expected whole numbers of shape ({n_rows},)."
        )
    return array


def _features(X: Any, nominal: Any, n_rows: int) -> tuple[FloatArray, BoolArray]:
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 2 or len(values) != n_rows:
        raise InvalidInput(f"X has the shape {values.shape}; expected ({n_rows}, n_features).")
    flags = np.zeros(values.shape[1], bool) if nominal is None else np.asarray(nominal)
    if flags.dtype != np.bool_ or flags.shape != (values.shape[1],):
        raise InvalidInput(
            f"nominal holds {flags.dtype} of shape {flags.shape}; expected True or False for each of the "
            f"{values.shape[1]} features."
        )
    return values, flags
