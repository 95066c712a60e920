"""Models of LightGBM.

The text that LightGBM writes: a header, a section for each tree, and what does not matter for predictions.

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
from coterie.errors import InvalidType, ModelFileError
from coterie.export.imported import ImportedClassifier, ImportedRegressor
from coterie.export.readers.assemble import Findings, assemble, check_sizes
from coterie.export.readers.model_file import bytes_of, format_of, is_file_like
from coterie.export.readers.raw_tree import CategorySet, LinearLeaf, RawTree
from coterie.export.readers.table_reader import Labels
from coterie.trees.links import Logistic, NumberLink, OneVersusRest, Softmax

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
        return ModelFileError.expecting(
            f"{self.where}: {name}={in_short(self.lines.get(name, ''))}",
            expected,
            name,
            self.lines.get(name, ""),
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


_NUMBERS = {
    **dict.fromkeys(("regression", "regression_l1", "huber", "fair", "quantile", "mape"), "identity"),
    **dict.fromkeys(("lambdarank", "rank_xendcg", "custom", "none", ""), "identity"),
    **dict.fromkeys(("poisson", "gamma", "tweedie"), "exp"),
    "cross_entropy": "logistic",
    "cross_entropy_lambda": "log1p_exp",
}
_CLASSES = ("binary", "multiclass", "multiclassova")


def from_lightgbm(model: Any) -> ImportedClassifier | ImportedRegressor:
    """A model of LightGBM, with LightGBM's predictions.

    Categories, missing values of every kind, linear trees, forests and early stopping are supported: an object predicts
    with its best iteration, a file with all the trees it holds. A ranker, and a model with an objective of its own,
    predicts its scores.

    Parameters
    ----------
    model : `lightgbm.Booster`, a model with the scikit-learn interface, a path, or text
        A path is that of a file made by `Booster.save_model`; text is what `Booster.model_to_string` gives.

    Returns
    -------
    ImportedClassifier or ImportedRegressor
        A classifier for the objectives `binary`, `multiclass` and `multiclassova`. A file does not know the labels of
        the classes; they are 0, 1, ... then.

    Examples
    --------
    >>> text = '''tree
    ... version=v4
    ... num_class=1
    ... num_tree_per_iteration=1
    ... max_feature_idx=0
    ... objective=regression
    ... feature_names=age
    ...
    ... Tree=0
    ... num_leaves=2
    ... num_cat=0
    ... split_feature=0
    ... threshold=18
    ... decision_type=2
    ... left_child=-1
    ... right_child=-2
    ... leaf_value=1.5 2.5
    ... is_linear=0
    ... shrinkage=1
    ...
    ... end of trees
    ... '''
    >>> from_lightgbm(text).predict({"age": [18.0, 18.1]})
    array([1.5, 2.5])
    """
    if is_file_like(model):
        data = bytes_of(model)
        if format_of(data) != "lightgbm text":
            raise ModelFileError(
                "from_lightgbm: the file is not a model in LightGBM's text format.",
                parameter="model",
                allowed="a model in LightGBM's text format",
                hint="Save it with Booster.save_model; XGBoost's files are read by from_xgboost.",
            )
        return assemble(_findings(read_text(_decoded(data)), None))
    booster = getattr(model, "booster_", model)
    if not hasattr(booster, "model_to_string"):
        raise InvalidType.expecting(
            f"from_lightgbm received {type(model).__name__}",
            "a Booster or a fitted model of LightGBM, the path of a file, or its text",
            "model",
            model,
        )
    return assemble(_findings(read_text(booster.model_to_string()), getattr(model, "classes_", None)))


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ModelFileError(f"LightGBM: the text is not UTF-8: {error}.") from error


def _findings(text: LightGBMText, classes: AnyArray | None) -> Findings:
    header = text.header
    n_columns = header.whole("max_feature_idx") + 1
    names = header.text("feature_names").split(" ")
    if len(names) != n_columns:
        raise ModelFileError.expecting(
            f"LightGBM, header: {len(names)} feature_names, and max_feature_idx={n_columns - 1}",
            f"{n_columns} names",
            "feature_names",
            len(names),
        )
    n_outputs = header.whole("num_tree_per_iteration")
    if n_outputs < 1 or len(text.trees) % n_outputs:
        raise header.wrong("num_tree_per_iteration", f"a divisor of the number of trees, {len(text.trees)}")
    check_sizes("LightGBM", n_columns, n_outputs)
    link = _link(header, n_outputs)
    if isinstance(link, NumberLink):
        classes = None
    elif classes is None:
        classes = np.arange(max(n_outputs, 2))
    elif len(classes) != max(n_outputs, 2):
        raise ModelFileError(f"LightGBM: {len(classes)} classes_, and scores for {max(n_outputs, 2)}.")
    n_rounds = len(text.trees) // n_outputs
    return Findings(
        source="LightGBM",
        objective=header.lines.get("objective", "").strip(),
        trees=[raw_tree(section, number % n_outputs, n_columns) for number, section in enumerate(text.trees)],
        n_columns=n_columns,
        link=link,
        start=np.zeros(n_outputs),
        n_outputs=n_outputs,
        divisor=float(max(n_rounds, 1)) if "average_output" in header.lines else 1.0,
        names=_real_names(names),
        classes=classes,
        labels=Labels(in_order=text.labels),
        underlines=True,
    )


def _real_names(names: Sequence[str]) -> Sequence[str] | None:
    """None for the names that LightGBM makes up for columns without."""
    made_up = all(name == f"Column_{place}" for place, name in enumerate(names))
    return None if made_up or len(set(names)) < len(names) else names


def _link(header: LightGBMSection, n_outputs: int) -> Any:
    words = header.lines.get("objective", "").split()
    name, options = (words[0], words[1:]) if words else ("", [])
    values = dict(option.split(":", 1) for option in options if ":" in option)
    if name in _CLASSES:
        if (name == "binary") != (n_outputs == 1):
            raise header.wrong(
                "num_tree_per_iteration", "1 for two classes, and one tree for each of several"
            )
        if name == "multiclass":
            return Softmax()
        try:
            scale = float(values.get("sigmoid", "1"))
        except ValueError:
            raise header.wrong("objective", "a number after 'sigmoid:'") from None
        return Logistic(scale) if name == "binary" else OneVersusRest(scale)
    if name not in _NUMBERS:
        raise header.wrong("objective", f"one of {', '.join([*_CLASSES, *filter(None, _NUMBERS)])}")
    return NumberLink("signed_square" if "sqrt" in options else _NUMBERS[name])
