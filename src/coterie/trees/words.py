"""A tree's nodes in words: the condition of a split, the prediction of a leaf."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._typing import AnyArray, BoolArray, CodeArray
from coterie.errors import InvalidInput
from coterie.trees.grown_tree import GrownTree

_MOST_LEVELS = 5


@dataclass(frozen=True)
class TreeWords:
    """Names and formats for one fitted tree.

    Attributes
    ----------
    names : the features
    levels : for nominal and ordered features, the labels and the code of each
    classes : the labels of each output, or None for regression
    saw_missing : features that had missing values in training
    criterion : what `impurity` measures
    decimals : digits after the point
    """

    names: list[str]
    levels: dict[int, tuple[AnyArray, CodeArray]]
    classes: list[AnyArray] | None
    saw_missing: BoolArray
    criterion: str
    decimals: int

    def split(self, tree: GrownTree, node: int) -> str:
        """The condition of the split; rows for which it holds go left."""
        feature = int(tree.native.feature[node])
        name = self.names[feature]
        threshold = float(tree.native.threshold[node])
        if tree.native.levels[node] >= 0:
            left = self._levels_going_left(tree, node)
            if not left.any() or left.all():
                return f"{name} is {'not ' if left.all() else ''}missing"
            condition = f"{name} {self._set_of_levels(feature, left)}"
        elif threshold == np.inf and not tree.native.missing_left[node]:
            return f"{name} is not missing"
        elif feature in self.levels:
            labels = self.levels[feature][0]
            condition = f"{name} <= {one_line(labels[min(int(threshold), len(labels) - 1)])}"
        else:
            condition = f"{name} <= {self.number(threshold)}"
        return condition + (" or missing" if self.missing_side(tree, node) == "left" else "")

    def missing_side(self, tree: GrownTree, node: int) -> str | None:
        """Where missing values go, if training had some in this feature: "left" or "right"."""
        if not self.saw_missing[tree.native.feature[node]]:
            return None
        return "left" if tree.native.missing_left[node] else "right"

    def prediction(self, tree: GrownTree, node: int) -> str:
        """What the node would predict as a leaf."""
        values = [part[0] for part in tree.by_output(tree.native.value[node : node + 1])]
        if self.classes is None:
            return ", ".join(self.number(float(part[0])) for part in values)
        best = [int(part.argmax()) for part in values]
        return ", ".join(
            f"{class_in_words(own[k])} {100 * part[k]:.0f}%"
            for own, part, k in zip(self.classes, values, best, strict=True)
        )

    def rows(self, tree: GrownTree, node: int) -> str:
        n_rows = int(tree.native.n_rows[node])
        return f"{n_rows:,} row{'' if n_rows == 1 else 's'}"

    def impurity(self, tree: GrownTree, node: int) -> str:
        if np.isnan(tree.native.impurity[node]):
            return ""  # a tree of a forest may not know
        return f"{self.criterion.replace('_', ' ')} {self.number(float(tree.native.impurity[node]))}"

    def number(self, value: float) -> str:
        return number_in_words(value, self.decimals)

    def _levels_going_left(self, tree: GrownTree, node: int) -> BoolArray:
        codes = self.levels[int(tree.native.feature[node])][1]
        return tree.levels_going_left(node)[codes]

    def _set_of_levels(self, feature: int, left: BoolArray) -> str:
        """What the levels of the shorter side are, or are not: "is a", "in {a, b}", "is not c", "not in {c, d}"."""
        labels = self.levels[feature][0]
        shorter_left = left.sum() <= (~left).sum()
        listed = [one_line(label) for label in labels[left if shorter_left else ~left]]
        if len(listed) == 1:
            return f"is {listed[0]}" if shorter_left else f"is not {listed[0]}"
        more = f", {len(listed) - _MOST_LEVELS} more" if len(listed) > _MOST_LEVELS else ""
        return f"{'in' if shorter_left else 'not in'} {{{', '.join(listed[:_MOST_LEVELS])}{more}}}"


def words_of(estimator: Any, feature_names: Any = None, *, decimals: int) -> TreeWords:
    """The words for a fitted decision tree, with the names of its columns unless others are given."""
    n_features = estimator.n_features_in_
    if feature_names is None:
        feature_names = getattr(estimator, "feature_names_in_", [f"x{i}" for i in range(n_features)])
    elif len(feature_names) != n_features:
        raise InvalidInput(
            f"feature_names has {len(feature_names)} entries; the tree was fitted on {n_features} features.",
            parameter="feature_names",
            received=list(feature_names),
            allowed=f"{n_features} names",
        )
    encoder = estimator.encoder_
    levels = {
        i: (encoder.levels(i), encoder.codes(i)) for i in range(n_features) if encoder.levels(i) is not None
    }
    classes = getattr(estimator, "classes_", None)
    return TreeWords(
        names=[one_line(name) for name in feature_names],
        levels=levels,
        classes=[classes] if isinstance(classes, np.ndarray) else classes,
        saw_missing=estimator._saw_missing,
        criterion=estimator.criterion,
        decimals=decimals,
    )


def number_in_words(value: float, decimals: int) -> str:
    """At most so many digits after the point, no trailing zeros; small numbers keep their digits.

    Examples
    --------
    >>> [number_in_words(x, 2) for x in (1.5, 2.0, -0.004, 12345.678, 0.00012)]
    ['1.5', '2', '-0.004', '12345.68', '0.00012']
    """
    if value != 0 and abs(value) < 10.0**-decimals:
        return f"{value:.{max(decimals, 1)}g}"
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def class_in_words(label: object) -> str:
    """Text stands for itself; a number is called a class."""
    return one_line(label) if isinstance(label, str) else f"class {label}"


def one_line(label: object) -> str:
    """A name without line breaks, so that one node stays on one line."""
    return " ".join(str(label).split()) or repr(label)
