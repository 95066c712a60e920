"""Models of trees as ONNX models."""

from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from coterie._params import unexpected
from coterie.export.tree_models import tree_sum_of
from coterie.export.writers.onnx_columns import write_features
from coterie.export.writers.onnx_graph import Graph, need_onnx
from coterie.export.writers.onnx_links import write_labels, write_numbers, write_probabilities
from coterie.export.writers.onnx_trees import scores_of_trees
from coterie.trees.tree_sum import TreeSum

_DTYPES = {"float64": np.float64, "float32": np.float32}


def to_onnx(model: Any, *, dtype: str = "float64") -> Any:
    """A model of trees as an ONNX model, which other runtimes can predict with.

    Categories, missing values, target statistics, linear leaves, links and labels are inside; what goes in is the table
    as it is. Needs `pip install 'coterie[export]'`.

    Parameters
    ----------
    model : fitted gradient boosting, forest, extra trees, decision tree, bagged trees, AdaBoost of stumps, or an
        imported model
    dtype : {"float64", "float32"}, default="float64"
        The type of numbers that go in and come out. Between them everything is computed in double precision, so
        numbers of single precision go the same way as in coterie.

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
