"""The text that LightGBM writes: a header, a section for each tree, and what does not matter for predictions.

    tree                                   Tree=0
    version=v4                             num_leaves=4
    num_tree_per_iteration=1               split_feature=0 1 0
    objective=binary sigmoid:1             threshold=0.3 0 -0.4
    feature_names=age town income          decision_type=10 1 8
    ...                                    left_child=1 2 -1
                                           ...

Splits are numbered from 0. A child of -1 is leaf 0, a child of -2 is leaf 1, and so on.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from coterie._params import in_short
from coterie._typing import AnyArray
from coterie.errors import ModelFileError
from coterie.export.readers.category_sets import CategorySet
from coterie.export.readers.raw_tree import LinearLeaf, RawTree

_CATEGORICAL, _DEFAULT_LEFT = 1, 2
_ZERO_IS_MISSING, _NAN_IS_MISSING = 1, 2


@dataclass(frozen=True)
class LightGBMSection:
    """Lines of the form name=value, and what the section is called in messages."""

    where: str
    lines: dict[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str:
        if name not in self.lines:
            raise ModelFileError(f"{self.where} has no line {name!r}.", parameter=name, allowed="a line")
        return self.lines[name]

    def whole(self, name: str) -> int:
        text = self.text(name)
        try:
            return int(text)
        except ValueError:
            raise self.wrong(name, "a whole number") from None

    def array(self, name: str, dtype: DTypeLike, length: int) -> AnyArray:
        """Numbers with blanks between them."""
        words = self.text(name).split()
        try:
            array = np.array(words, dtype=dtype)
        except (ValueError, OverflowError):
            raise self.wrong(name, "numbers with blanks between them") from None
        if len(array) != length:
            raise self.wrong(name, f"{length} numbers, not {len(array)}")
        return array

    def wrong(self, name: str, expected: str) -> ModelFileError:
        return ModelFileError(
            f"{self.where}: {name}={in_short(self.lines.get(name, ''))}; expected {expected}.",
            parameter=name,
            received=self.lines.get(name, ""),
            allowed=expected,
        )


@dataclass(frozen=True)
class LightGBMText:
    """The parts of a model that matter for predictions."""

    header: LightGBMSection
    trees: Sequence[LightGBMSection]
    labels: Sequence[Sequence[Any]] | None


def read_text(text: str) -> LightGBMText:
    """Take the text apart."""
    lines = iter(text.replace("\r\n", "\n").split("\n"))
    if next(lines).strip() != "tree":
        raise ModelFileError("LightGBM: the first line of a model is 'tree'.")
    header = LightGBMSection("LightGBM, header")
    trees: list[LightGBMSection] = []
    for line in lines:
        name, equals, value = line.partition("=")
        if line.strip() == "end of trees":
            return LightGBMText(header, trees, _labels(list(lines)))
        if name == "Tree":
            trees.append(LightGBMSection(f"LightGBM, tree {len(trees)}"))
        elif line.strip():
            (trees[-1] if trees else header).lines[name.strip()] = value if equals else ""
    raise ModelFileError(
        f"LightGBM: the text ends after {len(trees)} trees without the line 'end of trees'. The file is not complete."
    )


def _labels(lines: Sequence[str]) -> Sequence[Sequence[Any]] | None:
    """What the categories of a pandas frame were."""
    given = [line for line in lines if line.startswith("pandas_categorical:")]
    if not given:
        return None
    try:
        labels = json.loads(given[-1].partition(":")[2])
    except (ValueError, RecursionError):
        raise ModelFileError("LightGBM: the line 'pandas_categorical:' holds no valid JSON.") from None
    if labels is None:
        return None
    if not isinstance(labels, list) or not all(isinstance(each, list) for each in labels):
        raise ModelFileError("LightGBM: the line 'pandas_categorical:' holds no list of lists.")
    if any(isinstance(label, list | dict) for each in labels for label in each):
        raise ModelFileError("LightGBM: a label of the line 'pandas_categorical:' is a list.")
    return labels or None


def raw_tree(section: LightGBMSection, output: int, n_columns: int) -> RawTree:
    """One tree. Leaves are put behind the splits."""
    n_leaves = section.whole("num_leaves")
    if n_leaves < 1:
        raise section.wrong("num_leaves", "at least 1")
    leaf_value = section.array("leaf_value", np.float64, n_leaves)
    n_splits = n_leaves - 1
    if n_splits == 0:
        column, threshold, kind = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0, dtype=np.int64)
        left = right = column
    else:
        column = section.array("split_feature", np.int64, n_splits)
        threshold = section.array("threshold", np.float64, n_splits)
        kind = section.array("decision_type", np.int64, n_splits)
        left = _children(section, "left_child", n_splits)
        right = _children(section, "right_child", n_splits)
        if (column < 0).any():
            raise section.wrong("split_feature", f"columns from 0 to {n_columns - 1}")
    linear = _linear_leaves(section, n_splits, n_columns)
    for node, leaf in linear.items():
        if len(leaf.columns) == 0:
            leaf_value[node - n_splits] = leaf.base
    by_category = kind & _CATEGORICAL != 0
    zero_missing = kind >> 2 & 3 == _ZERO_IS_MISSING
    return RawTree(
        column=_padded(column, n_leaves, -1),
        threshold=_padded(np.where(by_category, 0.0, threshold), n_leaves, 0.0),
        missing_left=_padded(_missing_left(kind, threshold) & ~by_category, n_leaves, False),
        left=_padded(left, n_leaves, -1),
        right=_padded(right, n_leaves, -1),
        value=_padded(np.zeros(n_splits), n_leaves, leaf_value).reshape(-1, 1),
        leaf_id=np.concatenate([np.arange(n_splits), np.arange(n_leaves)]),
        output=output,
        sets=_sets(section, np.flatnonzero(by_category), threshold),
        zero_missing=_padded(zero_missing, n_leaves, False) if zero_missing.any() else None,
        linear=linear,
    )


def _missing_left(kind: AnyArray, threshold: AnyArray) -> AnyArray:
    """Where a split knows no missing values, NaN counts as zero."""
    missing = kind >> 2 & 3
    has_side = (missing == _ZERO_IS_MISSING) | (missing == _NAN_IS_MISSING)
    return np.where(has_side, kind & _DEFAULT_LEFT != 0, threshold >= 0.0)


def _padded(of_splits: AnyArray, n_leaves: int, of_leaves: Any) -> AnyArray:
    return np.concatenate([of_splits, np.broadcast_to(of_leaves, n_leaves)]).astype(of_splits.dtype)


def _children(section: LightGBMSection, name: str, n_splits: int) -> AnyArray:
    """Places of splits as they are, and those of leaves behind them."""
    children = section.array(name, np.int64, n_splits)
    if ((children >= n_splits) | (children < -n_splits - 1)).any():
        raise section.wrong(name, f"numbers from {-n_splits - 1} to {n_splits - 1}")
    return np.where(children < 0, n_splits - 1 - children, children)


def _sets(section: LightGBMSection, nodes: AnyArray, threshold: AnyArray) -> dict[int, CategorySet]:
    """The threshold of a split by category is the number of its set, a range of words of 32 bits."""
    if len(nodes) == 0:
        return {}
    n_sets = section.whole("num_cat")
    if not 1 <= n_sets <= len(section.text("cat_boundaries").split()):
        raise section.wrong("num_cat", "the number of sets")
    bounds = section.array("cat_boundaries", np.int64, n_sets + 1)
    if bounds[0] != 0 or (np.diff(bounds) < 0).any():
        raise section.wrong("cat_boundaries", "numbers that ascend from 0")
    words = section.array("cat_threshold", np.uint32, int(bounds[-1]))
    sets = {}
    for node in nodes.tolist():
        number = threshold[node]
        if not (0 <= number < n_sets):
            raise ModelFileError(
                f"{section.where}: split {node} has the set {number}; expected 0 to {n_sets - 1}."
            )
        own = words[bounds[int(number)] : bounds[int(number) + 1]]
        bits = np.unpackbits(own.astype("<u4").view(np.uint8), bitorder="little")
        sets[node] = CategorySet(tuple(np.flatnonzero(bits).tolist()))
    return sets


def _linear_leaves(section: LightGBMSection, n_splits: int, n_columns: int) -> dict[int, LinearLeaf]:
    if section.lines.get("is_linear", "0").strip() != "1":
        return {}
    n_leaves = n_splits + 1
    base = section.array("leaf_const", np.float64, n_leaves)
    counts = section.array("num_features", np.int64, n_leaves)
    if (counts < 0).any() or counts.sum() > len(section.text("leaf_features").split()):
        raise section.wrong("num_features", "as many as there are in leaf_features")
    columns = section.array("leaf_features", np.int64, int(counts.sum()))
    slopes = section.array("leaf_coeff", np.float64, int(counts.sum()))
    if ((columns < 0) | (columns >= n_columns)).any():
        raise section.wrong("leaf_features", f"columns from 0 to {n_columns - 1}")
    ends = np.cumsum(counts)
    return {
        n_splits + leaf: LinearLeaf(float(base[leaf]), columns[end - count : end], slopes[end - count : end])
        for leaf, (end, count) in enumerate(zip(ends.tolist(), counts.tolist(), strict=True))
    }
