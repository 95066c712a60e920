"""A tree as another library has it, checked and put into the order of the engine.

Some libraries round values to single precision before they compare them with thresholds.
Rounding keeps the order of numbers. So "the rounded value is at most t" is "the value is at most T" for another T, the
largest double that rounds to at most t. With such thresholds the engine compares values as they are, without a
rounded copy of the table, and sends every row where the other library sends it.

Libraries split by sets of categories; the engine knows small codes instead.

Words
  category   the whole number by which the other library knows a level; any number
  kind       categories that every set of a coding treats alike, and so need not be told apart
  code       the number of a kind, at most 254; categories that no set lists are of kind 0
A column with too many kinds for one coding has several. Each is a feature of its own, for some of the sets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import coterie._engine as _engine
from coterie._storage import expect, storable
from coterie._typing import AnyArray, BoolArray, CodeArray, FloatArray
from coterie._value_types import BOOL, COUNT, FLOAT_VECTOR, array
from coterie.errors import ModelFileError

MOST_KINDS = 255


@dataclass(frozen=True)
class CategorySet:
    """The categories that go left; all others do if it is `inverted`."""

    categories: tuple[int, ...]
    inverted: bool = False


def _verify_category_codes(coding: Any) -> None:
    expect(len(coding.codes) == len(coding.categories) > 0, "has other codes than categories")
    expect((np.diff(coding.categories) > 0).all(), "has categories that are not in order")
    expect(1 <= coding.n_codes <= MOST_KINDS, f"has {coding.n_codes} codes; expected 1 to {MOST_KINDS}")
    expect(((coding.codes >= 0) & (coding.codes < coding.n_codes)).all(), "has a code that does not exist")


@storable(
    "import.Coding",
    {"categories": FLOAT_VECTOR, "codes": array("i", 1), "n_codes": COUNT, "single": BOOL},
    verify=_verify_category_codes,
)
@dataclass(frozen=True)
class Coding:
    """The code of each category that some set lists.

    A value that is not whole is cut: towards zero, or, if the other library works in single precision, rounded to that
    and down.
    """

    categories: AnyArray
    codes: CodeArray
    n_codes: int
    single: bool

    def read(self, values: AnyArray) -> CodeArray:
        """The codes of a column; -1 where it is missing.

        Examples
        --------
        >>> coding = Coding(np.array([2.0, 9.0]), np.array([1, 2], dtype=np.int32), n_codes=3, single=False)
        >>> coding.read(np.array([9.0, 2.5, 4.0, np.nan]))
        array([ 2,  1,  0, -1], dtype=int32)
        """
        with np.errstate(over="ignore"):
            whole = np.floor(values.astype(np.float32)) if self.single else np.trunc(values)
        place = np.searchsorted(self.categories, whole).clip(max=len(self.categories) - 1)
        codes = np.where(self.categories[place] == whole, self.codes[place], 0)
        codes[np.isnan(whole)] = -1
        return codes.astype(np.int32)

    def bits(self, levels: CategorySet) -> AnyArray:
        """Four words of 64 bits: the codes that go left."""
        place = np.searchsorted(self.categories, np.array(levels.categories, dtype=np.float64))
        left = np.zeros(256, dtype=bool)
        left[self.codes[place]] = True
        if levels.inverted:
            left[: self.n_codes] ^= True
        return np.packbits(left, bitorder="little").view("<u8").astype(np.uint64)


def code_sets(sets: Sequence[CategorySet], *, single: bool) -> tuple[list[Coding], list[int]]:
    """Codings that tell apart what the sets of a column tell apart, and which of them each set uses.

    Examples
    --------
    Four categories, of which the sets treat 1 and 2 alike.

    >>> codings, used = code_sets([CategorySet((1, 2, 3)), CategorySet((3, 70))], single=False)
    >>> codings[0].categories, codings[0].codes, used
    (array([ 1.,  2.,  3., 70.]), array([1, 1, 2, 3], dtype=int32), [0, 0])
    """
    kinds, used = [_Kinds()], []
    for levels in sets:
        if not kinds[-1].tell_apart(levels.categories):
            kinds.append(_Kinds())
            kinds[-1].tell_apart(levels.categories)  # one set makes two kinds: there is room
        used.append(len(kinds) - 1)
    return [each.coding(single=single) for each in kinds], used


class _Kinds:
    """Categories by kind, while sets arrive that split kinds in two."""

    def __init__(self) -> None:
        self._kind: dict[int, int] = {}
        self._size = [0]  # of each kind; that of kind 0, which is everything else, is not counted

    def tell_apart(self, categories: Sequence[int]) -> bool:
        """Split the kinds of which only some are in the set; do nothing and return False if there would be too many."""
        members: dict[int, list[int]] = {}
        for category in set(categories):
            members.setdefault(self._kind.get(category, 0), []).append(category)
        split = {kind: found for kind, found in members.items() if kind == 0 or len(found) < self._size[kind]}
        if len(self._size) + len(split) > MOST_KINDS:
            return False
        for kind, found in split.items():
            self._size[kind] -= len(found)
            self._kind.update(dict.fromkeys(found, len(self._size)))
            self._size.append(len(found))
        return True

    def coding(self, *, single: bool) -> Coding:
        categories = sorted(self._kind) or [-1]
        codes = [self._kind.get(category, 0) for category in categories]
        return Coding(
            np.array(categories, dtype=np.float64), np.array(codes, dtype=np.int32), len(self._size), single
        )


@dataclass(frozen=True)
class LinearLeaf:
    """A leaf that predicts base + the sum of slope * value over some columns, if none of these is missing."""

    base: float
    columns: AnyArray
    slopes: FloatArray


@dataclass(frozen=True)
class RawTree:
    """Parallel arrays, one entry per node, root at 0. Children may be anywhere.

    Attributes
    ----------
    column : the column that a split looks at, -1 at a leaf.
    threshold : values up to it go left.
    missing_left : whether missing values go left.
    left, right : the children; of no meaning at a leaf.
    value : array of shape (n_nodes, n_values)
    leaf_id : how the other library calls the node, which `apply` returns.
    output : the first of the outputs to which the values are added.
    sets : of splits by category, the categories that go left.
    zero_missing : of splits that take zero for a missing value, whether they do; None if no split does.
    linear : of leaves that are lines.
    """

    column: AnyArray
    threshold: FloatArray
    missing_left: BoolArray
    left: AnyArray
    right: AnyArray
    value: FloatArray
    leaf_id: AnyArray
    output: int = 0
    sets: Mapping[int, CategorySet] = field(default_factory=dict)
    zero_missing: BoolArray | None = None
    linear: Mapping[int, LinearLeaf] = field(default_factory=dict)


def level_order(tree: RawTree, n_columns: int, where: str) -> AnyArray:
    """The nodes level by level, the two children of a split side by side; nodes that cannot be reached are left out.

    Raises ModelFileError where the arrays are not a tree over `n_columns` columns.
    """
    n_nodes = len(tree.column)
    is_split = tree.column >= 0
    seen = np.zeros(n_nodes, dtype=bool)
    level = np.zeros(1, dtype=np.int64)
    seen[0] = True
    levels = [level]
    while True:
        splits = level[is_split[level]]
        if len(splits) == 0:
            break
        level = np.stack([tree.left[splits], tree.right[splits]], axis=1).reshape(-1)
        outside = (level < 0) | (level >= n_nodes)
        if outside.any():
            place = int(np.argmax(outside))
            raise ModelFileError(
                f"{where}: node {splits[place // 2]} has the child {level[place]}, and the tree has the nodes 0 to "
                f"{n_nodes - 1}."
            )
        again = seen[level]
        seen[level] = True
        if again.any() or len(np.unique(level)) < len(level):
            raise ModelFileError(f"{where}: a node has two parents, or is its own ancestor.")
        levels.append(level)
    order = np.concatenate(levels)
    _check_nodes(tree, order, n_columns, where)
    return order


def _check_nodes(tree: RawTree, order: AnyArray, n_columns: int, where: str) -> None:
    splits = order[tree.column[order] >= 0]
    leaves = order[tree.column[order] < 0]
    for name, wrong in (
        (f"a column that is not one of 0 to {n_columns - 1}", tree.column[splits] >= n_columns),
        ("NaN for a threshold", np.isnan(tree.threshold[splits])),
    ):
        if wrong.any():
            raise ModelFileError(f"{where}: node {splits[int(np.argmax(wrong))]} has {name}.")
    unknown = np.isnan(tree.value[leaves]).any(axis=1)
    if unknown.any():
        leaf = tree.leaf_id[leaves[int(np.argmax(unknown))]]
        raise ModelFileError(
            f"{where}: the value of leaf {leaf} is NaN.", parameter=where, received=float("nan")
        )


@dataclass(frozen=True)
class Placement:
    """Where the engine finds what a tree looks at: features by node, and words of bits by node with a set."""

    feature: AnyArray
    bits: Mapping[int, AnyArray]
    term_feature: Mapping[int, AnyArray]
    n_features: int


def native_tree(tree: RawTree, order: AnyArray, placed: Placement) -> Any:
    """The engine's tree."""
    n_nodes = len(order)
    is_split = tree.column[order] >= 0
    left = np.zeros(n_nodes, dtype=np.uint32)
    left[is_split] = 1 + 2 * np.arange(is_split.sum(), dtype=np.uint32)
    levels = np.full(n_nodes, -1, dtype=np.int32)
    with_set = np.flatnonzero(np.isin(order, list(placed.bits)))
    levels[with_set] = np.arange(len(with_set), dtype=np.int32)
    bits = [placed.bits[node] for node in order[with_set].tolist()]
    state = {
        "n_outputs": tree.value.shape[1],
        "feature": np.where(is_split, placed.feature[order], -1).astype(np.int32),
        "threshold": np.where(is_split, tree.threshold[order], 0.0),
        "levels": levels,
        "missing_left": (is_split & tree.missing_left[order]).astype(np.uint8),
        "left": left,
        "value": np.ascontiguousarray(tree.value[order], dtype=np.float64).reshape(-1),
        "gain": np.zeros(n_nodes),
        "cover": np.zeros(n_nodes),
        "n_rows": np.zeros(n_nodes, dtype=np.uint32),
        "impurity": np.zeros(0),
        "level_bits": np.concatenate(bits) if bits else np.zeros(0, dtype=np.uint64),
        **_linear_state(tree, order, placed),
    }
    return _engine.Tree.from_state(state, placed.n_features)


def _linear_state(tree: RawTree, order: AnyArray, placed: Placement) -> dict[str, AnyArray]:
    n_nodes = len(order) if tree.linear else 0
    base, first_term = np.zeros(n_nodes), [0] if tree.linear else []
    features, slopes = [np.zeros(0, dtype=np.int32)], [np.zeros(0)]
    for place, node in enumerate(order.tolist() if tree.linear else []):
        leaf = tree.linear.get(node)
        if leaf is not None:
            base[place] = leaf.base
            features.append(placed.term_feature[node].astype(np.int32))
            slopes.append(leaf.slopes)
        first_term.append(first_term[-1] + (0 if leaf is None else len(leaf.slopes)))
    slope = np.concatenate(slopes)
    most = np.full(len(slope), np.finfo(np.float64).max)
    return {
        "linear_first_term": np.array(first_term, dtype=np.uint32),
        "linear_base": base,
        "linear_low": np.full(n_nodes, -np.inf),
        "linear_high": np.full(n_nodes, np.inf),
        "linear_feature": np.concatenate(features),
        "linear_slope": slope,
        "linear_centre": np.zeros(len(slope)),
        "linear_least": -most,
        "linear_most": most,
    }


_BEYOND = 2.0**128 - 2.0**103  # from here on numbers round to infinity


def at_most(threshold: FloatArray) -> FloatArray:
    """The largest doubles that, rounded to single precision, are at most the threshold.

    Examples
    --------
    The single above 1 is 1 + 2**-23; what is up to half way there rounds to 1.

    >>> bool(at_most(np.array([1.0]))[0] == 1 + 2**-24)
    True
    """
    with np.errstate(all="ignore"):  # numbers beyond the largest single are infinity, as they should be
        rounded = threshold.astype(np.float32)
        above = rounded > threshold  # as doubles: numpy compares in the wider type
        return _last_that_rounds_to(np.where(above, np.nextafter(rounded, np.float32(-np.inf)), rounded))


def less_than(condition: NDArray[np.float32]) -> FloatArray:
    """The largest doubles that, rounded to single precision, are less than the condition.

    Examples
    --------
    >>> last = less_than(np.array([1.0], dtype=np.float32))
    >>> bool(np.float32(last[0]) < 1), bool(np.float32(np.nextafter(last[0], 2)) < 1)
    (True, False)
    """
    with np.errstate(all="ignore"):
        return _last_that_rounds_to(np.nextafter(condition, np.float32(-np.inf)))


def _last_that_rounds_to(single: NDArray[np.float32]) -> FloatArray:
    """The largest double that rounds to each single; half way between two, the one with an even last bit wins."""
    low = np.where(np.isneginf(single), -_BEYOND, single.astype(np.float64))
    high = np.nextafter(single, np.float32(np.inf)).astype(np.float64)
    half = np.where(np.isinf(high), _BEYOND, (low + np.where(np.isinf(high), 0.0, high)) / 2)
    even = single.view(np.uint32) & 1 == 0
    last = np.where(even, half, np.nextafter(half, -np.inf))
    last = np.where(np.isneginf(single), -_BEYOND, last)  # which rounds to -infinity
    return np.where(np.isposinf(single), np.inf, last)
