"""What a `TreeSum` means, row by row and node by node: the answers of any format that was made from it."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coterie.trees import column_readings as readings
from coterie.trees.flat_tree import FlatTree
from coterie.trees.links import Ascending, NumberLink, OneClass
from coterie.trees.tree_sum import TreeSum

Row = list[Any]


def naive_answers(whole: TreeSum, columns: list[list[Any]]) -> NDArray[np.float64]:
    """Numbers or probabilities of rows; each column holds numbers, NaN where missing, or text."""
    scores = np.array([_scores(whole, list(row)) for row in zip(*columns, strict=True)])
    if isinstance(whole.link, Ascending):
        return np.sort(scores, axis=1)
    if isinstance(whole.link, OneClass):
        return np.ones((len(scores), 1))
    if isinstance(whole.link, NumberLink):
        return whole.link.predictions(scores).reshape(len(scores), -1)
    return whole.link.probabilities(scores)


def read(reading: Any, row: Row) -> Any:
    """The value of a feature."""
    if isinstance(reading, readings.Values):
        return row[reading.column]
    if isinstance(reading, readings.LookUp):
        return dict(zip(reading.keys, reading.numbers, strict=True)).get(
            read(reading.source, row), reading.default
        )
    if isinstance(reading, readings.PairLookUp):
        key = read(reading.first, row) * reading.width + read(reading.second, row)
        return dict(zip(reading.keys, reading.numbers, strict=True)).get(key, reading.default)
    value = read(reading.source, row)
    if isinstance(reading, readings.WithoutNumber):
        return math.nan if np.float32(value) == np.float32(reading.number) else value
    if isinstance(reading, readings.WithoutZero):
        return math.nan if abs(value) <= np.float32(1e-35) else value
    if math.isnan(value):
        return math.nan
    whole = math.floor(np.float32(value)) if reading.single else math.trunc(value)
    return dict(zip(reading.keys, reading.codes, strict=True)).get(whole, 0.0)


def _scores(whole: TreeSum, row: Row) -> NDArray[np.float64]:
    features = [read(reading, row) for reading in whole.readings.features]
    scores = whole.start.copy()
    for tree in whole.trees:
        node = _leaf(tree, features)
        answer = _line(tree, node, features) if tree.lines is not None else tree.value[node]
        scores[tree.output : tree.output + tree.value.shape[1]] += answer
    return scores / whole.divisor * whole.unit


def _leaf(tree: FlatTree, features: list[float]) -> int:
    node = 0
    while tree.feature[node] >= 0:
        value = features[tree.feature[node]]
        if math.isnan(value):
            left = tree.missing_left[node]
        elif node in tree.sets:
            left = value in tree.sets[node]
        else:
            left = value <= tree.threshold[node]
        node = int(tree.left[node] if left else tree.right[node])
    return node


def _line(tree: FlatTree, leaf: int, features: list[float]) -> float:
    lines = tree.lines
    assert lines is not None
    terms = range(int(lines.first[leaf]), int(lines.first[leaf + 1]))
    if len(terms) == 0 or any(math.isnan(features[lines.feature[term]]) for term in terms):
        return float(tree.value[leaf, 0])
    answer = lines.base[leaf]
    for term in terms:
        inside = min(max(features[lines.feature[term]], lines.least[term]), lines.most[term])
        answer += lines.slope[term] * (inside - lines.centre[term])
    return float(min(max(answer, lines.low[leaf]), lines.high[leaf]))
