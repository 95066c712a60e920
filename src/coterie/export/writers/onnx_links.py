"""From raw predictions to predictions in an ONNX graph: probabilities, labels and numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np

from coterie._typing import AnyArray
from coterie.export.writers.onnx_graph import Graph
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
