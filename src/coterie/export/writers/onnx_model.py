"""Models of trees as ONNX models: inputs, features that trees see, and from raw predictions to predictions."""

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from coterie._params import unexpected
from coterie._typing import AnyArray, FloatArray
from coterie.export.readers.table_reader import ALMOST_ZERO
from coterie.export.tree_models import tree_sum_of
from coterie.export.writers.onnx_trees import Graph, need_onnx, scores_of_trees
from coterie.trees.column_readings import (
    LookUp,
    PairLookUp,
    Reading,
    Readings,
    Values,
    WholeNumbers,
    WithoutNumber,
    WithoutZero,
)
from coterie.trees.links import (
    Ascending,
    Hinge,
    Logistic,
    NumberLink,
    OneClass,
    OneVersusRest,
    Shares,
    Softmax,
)
from coterie.trees.tree_sum import TreeSum


def write_features(graph: Graph, readings: Readings, nominal: set[int], dtype: Any) -> tuple[str, str]:
    """The matrix of features in double precision, and the name of an input to count rows by.

    One input X takes all columns if none of them holds text; otherwise each has an input of its own, named after it.
    The codes of features in `nominal` are counted from 1.
    """
    if not readings.text:
        matrix = graph.input("X", dtype, len(readings.names))
        doubles = _double(graph, matrix, dtype)
        if readings.are_plain and len(readings.features) == len(readings.names):
            return doubles, matrix
        columns = {
            column: graph.add("Gather", doubles, graph.constant([column], np.int64), axis=1)
            for column in range(len(readings.names))
        }
        return ColumnWriter(graph, columns).matrix(readings.features, nominal), matrix
    columns = {
        column: graph.input(name, str if column in readings.text else dtype, 1)
        for column, name in enumerate(readings.names)
    }
    counted = columns[0]
    for column in sorted(columns.keys() - readings.text):
        columns[column] = _double(graph, columns[column], dtype)
    return ColumnWriter(graph, columns).matrix(readings.features, nominal), counted


class ColumnWriter:
    """Writes readings, each only once."""

    def __init__(self, graph: Graph, columns: dict[int, str]) -> None:
        self._graph = graph
        self._columns = columns
        self._written: dict[int, str] = {}

    def matrix(self, features: Any, nominal: set[int]) -> str:
        parts = []
        for place, reading in enumerate(features):
            part = self.write(reading)
            parts.append(
                self._graph.add("Add", part, self._graph.constant(1.0)) if place in nominal else part
            )
        return self._graph.add("Concat", *parts, axis=1)

    def write(self, reading: Reading) -> str:
        if isinstance(reading, Values):
            return self._columns[reading.column]
        if id(reading) not in self._written:
            self._written[id(reading)] = _WAYS[type(reading)](self, reading)
        return self._written[id(reading)]

    def look_up(self, reading: LookUp) -> str:
        return self._labelled(self.write(reading.source), reading.keys, reading.numbers, reading.default)

    def pair_look_up(self, reading: PairLookUp) -> str:
        graph = self._graph
        above = graph.add("Mul", self.look_up(reading.first), graph.constant(float(reading.width)))
        key = graph.add("Add", above, self.look_up(reading.second))
        return self._labelled(key, reading.keys, reading.numbers, reading.default)

    def without_number(self, reading: WithoutNumber) -> str:
        graph, source = self._graph, self.write(reading.source)
        single = graph.cast(source, np.float32)
        is_missing = graph.add("Equal", single, graph.constant(reading.number, np.float32))
        return graph.add("Where", is_missing, graph.constant(np.nan), source)

    def without_zero(self, reading: WithoutZero) -> str:
        graph, source = self._graph, self.write(reading.source)
        is_zero = graph.add("LessOrEqual", graph.add("Abs", source), graph.constant(ALMOST_ZERO))
        return graph.add("Where", is_zero, graph.constant(np.nan), source)

    def whole_numbers(self, reading: WholeNumbers) -> str:
        graph, source = self._graph, self.write(reading.source)
        if reading.single:
            whole = graph.cast(graph.add("Floor", graph.cast(source, np.float32)), np.float64)
        else:
            negative = graph.add("Less", source, graph.constant(0.0))
            whole = graph.add("Where", negative, graph.add("Ceil", source), graph.add("Floor", source))
        codes = self._labelled(whole, reading.keys, reading.codes, 0.0)
        return graph.add("Where", graph.add("IsNaN", source), graph.constant(np.nan), codes)

    def _labelled(
        self, source: str, keys: list[str] | FloatArray, numbers: FloatArray, default: float
    ) -> str:
        listed = np.array(keys, dtype=object) if isinstance(keys, list) else keys
        return self._graph.add(
            "LabelEncoder",
            source,
            ml=True,
            keys_tensor=listed,
            values_tensor=numbers,
            default_tensor=np.array([default]),
        )


_WAYS: dict[type, Callable[[ColumnWriter, Any], str]] = {
    LookUp: ColumnWriter.look_up,
    PairLookUp: ColumnWriter.pair_look_up,
    WithoutNumber: ColumnWriter.without_number,
    WithoutZero: ColumnWriter.without_zero,
    WholeNumbers: ColumnWriter.whole_numbers,
}


def _double(graph: Graph, source: str, dtype: Any) -> str:
    return source if np.dtype(dtype) == np.float64 else graph.cast(source, np.float64)


def write_numbers(graph: Graph, scores: str, n_outputs: int, link: NumberLink | Ascending) -> str:
    """What `predict` of a regressor returns; one column for each output."""
    if isinstance(link, Ascending):
        size = graph.constant([n_outputs], np.int64)
        values = f"{scores}/ascending"
        graph.add_several("TopK", [scores, size], [values, f"{values}/places"], axis=1, largest=0, sorted=1)
        return values
    return scores if link.name == "identity" else _NUMBERS[link.name](graph, scores)


def write_probabilities(graph: Graph, scores: str, link: Any) -> str:
    """A column for each class."""
    if isinstance(link, Shares):
        return scores
    if isinstance(link, Softmax):
        return graph.add("Softmax", scores, axis=1)
    if isinstance(link, OneClass):
        return graph.add("Where", graph.add("IsNaN", scores), graph.constant(1.0), graph.constant(1.0))
    return _PROBABILITIES[type(link)](graph, scores, link)


def write_labels(graph: Graph, scores: str, link: Any, classes: AnyArray) -> tuple[str, Any]:
    """The label of each row, and its type."""
    if isinstance(link, Logistic | Hinge):
        chosen = graph.add(
            "Squeeze", graph.cast(_second(graph, scores, link), np.int64), graph.constant([1], np.int64)
        )
    else:
        chosen = graph.add("ArgMax", scores, axis=1, keepdims=0)
    kind = _label_kind(classes)
    listed = classes.astype(object if kind is str else kind)
    return graph.add("Gather", graph.constant(listed, object if kind is str else kind), chosen, axis=0), kind


def _label_kind(classes: AnyArray) -> Any:
    if classes.dtype.kind in "iu":
        return np.int64
    if classes.dtype.kind in "bf":
        return np.bool_ if classes.dtype.kind == "b" else np.float64
    return str


def _second(graph: Graph, scores: str, link: Logistic | Hinge) -> str:
    """Whether the second class is chosen; libraries differ about ties."""
    if isinstance(link, Logistic) and link.second == "score >= 0":
        return graph.add("GreaterOrEqual", scores, graph.constant(0.0))
    if isinstance(link, Logistic) and link.second == "probability > 1/2":
        return graph.add("Greater", _sigmoid(graph, _scaled(graph, scores, link.scale)), graph.constant(0.5))
    return graph.add("Greater", scores, graph.constant(0.0))


def _scaled(graph: Graph, scores: str, scale: float) -> str:
    return scores if scale == 1 else graph.add("Mul", scores, graph.constant(float(scale)))


def _sigmoid(graph: Graph, scores: str) -> str:
    return graph.add("Sigmoid", scores)


def _logistic(graph: Graph, scores: str, link: Logistic) -> str:
    scores = _scaled(graph, scores, link.scale)
    return graph.add("Concat", _sigmoid(graph, graph.add("Neg", scores)), _sigmoid(graph, scores), axis=1)


def _hinge(graph: Graph, scores: str, link: Hinge) -> str:
    second = graph.cast(_second(graph, scores, link), np.float64)
    return graph.add("Concat", graph.add("Sub", graph.constant(1.0), second), second, axis=1)


def _log1p_exp(graph: Graph, scores: str) -> str:
    small = graph.add("Exp", graph.add("Neg", graph.add("Abs", scores)))
    rest = graph.add("Log", graph.add("Add", small, graph.constant(1.0)))
    return graph.add("Add", graph.add("Max", scores, graph.constant(0.0)), rest)


def _signed_square(graph: Graph, scores: str) -> str:
    return graph.add("Mul", scores, graph.add("Abs", scores))


_NUMBERS: dict[str, Callable[[Graph, str], str]] = {
    "exp": lambda graph, scores: graph.add("Exp", scores),
    "logistic": _sigmoid,
    "log1p_exp": _log1p_exp,
    "signed_square": _signed_square,
}

_PROBABILITIES: dict[type, Callable[[Graph, str, Any], str]] = {
    Logistic: _logistic,
    Hinge: _hinge,
    OneVersusRest: lambda graph, scores, link: _sigmoid(graph, _scaled(graph, scores, link.scale)),
}


_DTYPES = {"float64": np.float64, "float32": np.float32}


def to_onnx(model: Any, *, dtype: str = "float64") -> Any:
    """A model of trees as an ONNX model, which other runtimes can predict with.

    Categories, missing values, target statistics, linear leaves, links and labels are inside; what goes in is the table
    as it is. Needs `pip install 'coterie[export]'`.

    Parameters
    ----------
    model : fitted gradient boosting, forest, extra trees, decision tree, bagged trees, AdaBoost of stumps, or an
        imported model
    dtype : {"float64", "float32"}
        The type of numbers that go in and come out. Between them everything is computed in double precision, so
        numbers of single precision go the same way as in coterie. Default "float64": exactly the predictions of
        coterie.

    Returns
    -------
    onnx.ModelProto
        The inputs are one tensor `X` of shape (n, columns), or, if some columns hold text, a tensor of shape (n, 1) for
        each column, under its name. The outputs are `prediction` for numbers, `label` and `probabilities` for classes;
        for several targets of classes `label_0`, `probabilities_0`, `label_1`, ...

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import RandomForestRegressor
    >>> from coterie.export import to_onnx
    >>> X = np.arange(40.0).reshape(20, 2)
    >>> forest = RandomForestRegressor(10, random_state=0).fit(X, X[:, 0])
    >>> graph = to_onnx(forest).graph
    >>> [each.name for each in graph.input], [each.name for each in graph.output]
    (['X'], ['prediction'])
    """
    if dtype not in _DTYPES:
        raise unexpected("dtype", dtype, "'float64' or 'float32'")
    need_onnx()
    whole = tree_sum_of(model)
    graph = Graph(whole.name)
    scores = _write_scores(graph, whole, _DTYPES[dtype])
    if whole.classes:
        _write_classes(graph, whole, scores, _DTYPES[dtype])
    else:
        numbers = write_numbers(graph, scores, whole.n_outputs, whole.link)
        graph.output("prediction", graph.cast(numbers, _DTYPES[dtype]), _DTYPES[dtype], whole.n_outputs)
    return graph.finish(producer="coterie", version=_own_version())


def _write_scores(graph: Graph, whole: TreeSum, dtype: Any) -> str:
    nominal = {int(tree.feature[node]) for tree in whole.trees for node in tree.sets}
    features, counted = write_features(graph, whole.readings, nominal, dtype)
    start = whole.start.copy()
    trees = []
    for tree in whole.trees:
        if tree.is_leaf:
            width = tree.value.shape[1]
            start[tree.output : tree.output + width] += tree.value[0]
        else:
            trees.append(tree)
    if trees:
        scores = scores_of_trees(graph, features, len(whole.readings.features), trees, whole.n_outputs)
        if start.any():
            scores = graph.add("Add", scores, graph.constant(start))
    else:
        rows = graph.add("Shape", counted, start=0, end=1)
        shape = graph.add("Concat", rows, graph.constant([whole.n_outputs], np.int64), axis=0)
        scores = graph.add("Expand", graph.constant(start[None, :]), shape)
    if whole.divisor != 1:
        scores = graph.add("Div", scores, graph.constant(whole.divisor))
    return scores if whole.unit == 1 else graph.add("Mul", scores, graph.constant(whole.unit))


def _write_classes(graph: Graph, whole: TreeSum, scores: str, dtype: Any) -> None:
    first = 0
    for place, classes in enumerate(whole.classes):
        ending = "" if len(whole.classes) == 1 else f"_{place}"
        own = scores
        if len(whole.classes) > 1:
            columns = np.arange(first, first + len(classes))
            own = graph.add("Gather", scores, graph.constant(columns, np.int64), axis=1)
            first += len(classes)
        label, kind = write_labels(graph, own, whole.link, classes)
        probabilities = write_probabilities(graph, own, whole.link)
        graph.output(f"label{ending}", label, kind, None)
        graph.output(f"probabilities{ending}", graph.cast(probabilities, dtype), dtype, len(classes))


def _own_version() -> str:
    try:
        return version("coterie")
    except PackageNotFoundError:
        return ""
