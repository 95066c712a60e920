"""Sets of categories, as other libraries split by them, and the small codes that the engine knows instead.

Words
  category   the whole number by which the other library knows a level; any number
  kind       categories that every set of a coding treats alike, and so need not be told apart
  code       the number of a kind, at most 254; categories that no set lists are of kind 0
A column with too many kinds for one coding has several. Each is a feature of its own, for some of the sets.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._storage import expect, storable
from coterie._typing import AnyArray, CodeArray
from coterie._value_types import BOOL, COUNT, FLOAT_VECTOR, array

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
