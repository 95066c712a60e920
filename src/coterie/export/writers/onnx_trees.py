"""Trees in an ONNX graph.

`TreeEnsemble` gives each leaf one number for one output. That is all that most trees need. Leaves with several values,
and leaves that are lines, are numbered instead: such trees give the number of the leaf, an output each, and tables hold
the values of the leaves.

In a set, codes are counted from 1: some versions of onnxruntime take 0 for no category.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from coterie._optional import need
from coterie._typing import AnyArray, FloatArray
from coterie.trees.flat_tree import FlatTree, Lines

OPSET = 18
ML_OPSET = 5
_IR_VERSION = 9


def need_onnx() -> ModuleType:
    """The package onnx, or how to get it."""
    return need("onnx", purpose="Writing an ONNX model", extra="export")


class Graph:
    """Adds nodes; each call takes the names that go in and gives the name that comes out."""

    def __init__(self, name: str) -> None:
        self._onnx = need_onnx()
        self._name = name
        self._nodes: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._constants: dict[tuple[str, tuple[int, ...], Any], str] = {}
        self._initializers: list[Any] = []
        self._taken: set[str] = set()

    def input(self, name: str, kind: Any, n_columns: int) -> str:
        """A tensor with a row for each row of the table."""
        self._taken.add(name)
        self._inputs.append(
            self._onnx.helper.make_tensor_value_info(name, _type(self._onnx, kind), ["n", n_columns])
        )
        return name

    def output(self, name: str, source: str, kind: Any, n_columns: int | None) -> None:
        """What the model predicts; `n_columns` is None for an array with one number a row."""
        name = self._free(name)
        self._taken.add(name)
        shape = ["n"] if n_columns is None else ["n", n_columns]
        self._nodes.append(self._onnx.helper.make_node("Identity", [source], [name]))
        self._outputs.append(self._onnx.helper.make_tensor_value_info(name, _type(self._onnx, kind), shape))

    def constant(self, values: Any, dtype: Any = np.float64) -> str:
        """Numbers or text that never change; equal ones are kept once."""
        array = np.asarray(values, dtype=dtype)
        key = (
            array.dtype.str,
            array.shape,
            tuple(array.ravel().tolist()) if array.dtype == object else array.tobytes(),
        )
        if key not in self._constants:
            name = self._free(f"/constant_{len(self._constants)}")
            self._constants[key] = name
            self._initializers.append(_tensor(self._onnx, array, name))
        return self._constants[key]

    def add(self, operator: str, *sources: str, ml: bool = False, **attributes: Any) -> str:
        """A node with one output; arrays among the attributes become tensors."""
        name = self._free(f"/{operator}_{len(self._nodes)}")
        given = {
            key: _tensor(self._onnx, value, key) if isinstance(value, np.ndarray) else value
            for key, value in attributes.items()
        }
        domain = "ai.onnx.ml" if ml else ""
        self._nodes.append(
            self._onnx.helper.make_node(operator, list(sources), [name], name=name, domain=domain, **given)
        )
        return name

    def add_several(self, operator: str, sources: list[str], targets: list[str], **attributes: Any) -> None:
        """A node with several outputs, whose names are given."""
        self._nodes.append(
            self._onnx.helper.make_node(operator, sources, targets, name=targets[0], **attributes)
        )

    def cast(self, source: str, kind: Any) -> str:
        return self.add("Cast", source, to=_type(self._onnx, kind))

    def _free(self, name: str) -> str:
        """The name, or a longer one if a column of the table has it."""
        while name in self._taken:
            name += "_"
        return name

    def finish(self, *, producer: str, version: str) -> Any:
        """The model, checked."""
        helper = self._onnx.helper
        graph = helper.make_graph(self._nodes, self._name, self._inputs, self._outputs, self._initializers)
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
            ir_version=_IR_VERSION,
            producer_name=producer,
            producer_version=version,
        )
        self._onnx.checker.check_model(model)
        return model


def _type(onnx: ModuleType, kind: Any) -> int:
    if kind is str:
        return int(onnx.TensorProto.STRING)
    return int(onnx.helper.np_dtype_to_tensor_dtype(np.dtype(kind)))


def _tensor(onnx: ModuleType, array: AnyArray, name: str) -> Any:
    if array.dtype == object:
        data = [str(each).encode() for each in array.ravel()]
        return onnx.helper.make_tensor(name, onnx.TensorProto.STRING, list(array.shape), data)
    return onnx.numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)


_AT_MOST, _MEMBER = 0, 6
_AT_ONCE = 64  # trees with tables; a runtime holds numbers for each row and each of them


@dataclass
class _Nodes:
    """The attributes of a `TreeEnsemble` while trees arrive."""

    nodes: dict[str, list[AnyArray]] = field(default_factory=dict)
    weights: list[FloatArray] = field(default_factory=list)
    targets: list[AnyArray] = field(default_factory=list)
    members: list[FloatArray] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)
    n_nodes: int = 0
    n_leaves: int = 0

    def take(self, tree: FlatTree, leaves: AnyArray, weights: FloatArray, target: int) -> None:
        """Add a tree; `leaves` are its leaves in the order of `weights`."""
        splits = np.flatnonzero(tree.feature >= 0)
        place = np.zeros(len(tree.feature), dtype=np.int64)
        place[splits] = self.n_nodes + np.arange(len(splits))
        order = _without_lookalike(tree, leaves, self.n_nodes, self.n_leaves)
        place[leaves[order]] = self.n_leaves + np.arange(len(leaves))
        modes = np.full(len(splits), _AT_MOST, dtype=np.uint8)
        thresholds = tree.threshold[splits].copy()
        for row, node in enumerate(splits.tolist()):
            codes = tree.sets.get(node)
            if codes is not None and len(codes):
                modes[row], thresholds[row] = _MEMBER, 0.0
                self.members += [codes + 1.0, np.array([np.nan])]
            elif codes is not None:
                thresholds[row] = -np.inf  # no code goes left
        left, right = tree.left[splits], tree.right[splits]
        for name, values in {
            "nodes_featureids": tree.feature[splits],
            "nodes_splits": thresholds,
            "nodes_modes": modes,
            "nodes_missing_value_tracks_true": tree.missing_left[splits].astype(np.int64),
            "nodes_truenodeids": place[left],
            "nodes_falsenodeids": place[right],
            "nodes_trueleafs": (tree.feature[left] < 0).astype(np.int64),
            "nodes_falseleafs": (tree.feature[right] < 0).astype(np.int64),
        }.items():
            self.nodes.setdefault(name, []).append(values)
        self.weights.append(weights[order])
        self.targets.append(np.full(len(leaves), target))
        self.roots.append(self.n_nodes)
        self.n_nodes += len(splits)
        self.n_leaves += len(leaves)

    def write(self, graph: Graph, features: str, n_targets: int) -> str:
        attributes = {name: np.concatenate(parts) for name, parts in self.nodes.items()}
        tensors = {name: attributes.pop(name) for name in ("nodes_splits", "nodes_modes")}
        if self.members:
            tensors["membership_values"] = np.concatenate(self.members)
        return graph.add(
            "TreeEnsemble",
            features,
            ml=True,
            tree_roots=self.roots,
            leaf_weights=np.concatenate(self.weights),
            leaf_targetids=np.concatenate(self.targets).tolist(),
            n_targets=n_targets,
            aggregate_function=1,
            **tensors,
            **{name: values.tolist() for name, values in attributes.items()},
        )


def scores_of_trees(
    graph: Graph, features: str, n_features: int, trees: Sequence[FlatTree], n_outputs: int
) -> str:
    """What the trees add up to, shape (n_rows, n_outputs); trees without a split are not among them."""
    several = [tree for tree in trees if tree.value.shape[1] > 1]
    lines = [tree for tree in trees if tree.lines is not None]
    plain = [tree for tree in trees if tree.lines is None and tree.value.shape[1] == 1]
    parts = []
    if plain:
        nodes = _Nodes()
        for tree in plain:
            leaves = np.flatnonzero(tree.feature < 0)
            nodes.take(tree, leaves, tree.value[leaves, 0], tree.output)
        parts.append(nodes.write(graph, features, n_outputs))
    for some in _blocks(several):
        reached, values = _reached(graph, features, some)
        gathered = graph.add("Gather", graph.constant(values), reached, axis=0)
        parts.append(graph.add("ReduceSum", gathered, graph.constant([1], np.int64), keepdims=0))
    wider = _with_zeros(graph, features) if lines else ""
    for some in _blocks(lines):
        predicted = _predictions_of_lines(graph, features, wider, n_features, some)
        owners = np.zeros((len(some), n_outputs))
        owners[np.arange(len(some)), [tree.output for tree in some]] = 1.0
        parts.append(graph.add("MatMul", predicted, graph.constant(owners)))
    total = parts[0]
    for part in parts[1:]:
        total = graph.add("Add", total, part)
    return total


def _blocks(trees: list[FlatTree]) -> list[list[FlatTree]]:
    return [trees[first : first + _AT_ONCE] for first in range(0, len(trees), _AT_ONCE)]


def _reached(graph: Graph, features: str, trees: Sequence[FlatTree]) -> tuple[str, FloatArray]:
    """The leaf that each row reaches in each tree, counted over all trees, and the values of all leaves."""
    nodes, values, first = _Nodes(), [], 0
    for number, tree in enumerate(trees):
        leaves = np.flatnonzero(tree.feature < 0)
        nodes.take(tree, leaves, first + np.arange(len(leaves), dtype=np.float64), number)
        values.append(tree.value[leaves])
        first += len(leaves)
    return graph.cast(nodes.write(graph, features, len(trees)), np.int64), np.concatenate(values)


def _with_zeros(graph: Graph, features: str) -> str:
    """The features and a column of zeros, which lines with fewer terms than others use instead."""
    first = graph.add("Gather", features, graph.constant([0], np.int64), axis=1)
    zeros = graph.add("Where", graph.add("IsNaN", first), graph.constant(0.0), graph.constant(0.0))
    return graph.add("Concat", features, zeros, axis=1)


def _predictions_of_lines(
    graph: Graph, features: str, wider: str, n_features: int, trees: Sequence[FlatTree]
) -> str:
    """The predictions of trees whose leaves are lines, shape (n_rows, n_trees)."""
    reached, values = _reached(graph, features, trees)
    table = _LineTable.of(trees, pad=n_features)

    def of_leaf(column: AnyArray, dtype: type = np.float64) -> str:
        return graph.add("Gather", graph.constant(column, dtype), reached, axis=0)

    line, missing = of_leaf(table.base), ""
    for term in range(table.feature.shape[1]):
        value = graph.add("GatherElements", wider, of_leaf(table.feature[:, term], np.int64), axis=1)
        is_missing = graph.add("IsNaN", value)
        missing = graph.add("Or", missing, is_missing) if missing else is_missing
        inside = graph.add(
            "Min", graph.add("Max", value, of_leaf(table.least[:, term])), of_leaf(table.most[:, term])
        )
        step = graph.add("Sub", inside, of_leaf(table.centre[:, term]))
        line = graph.add("Add", line, graph.add("Mul", step, of_leaf(table.slope[:, term])))
    held = graph.add("Min", graph.add("Max", line, of_leaf(table.low)), of_leaf(table.high))
    return graph.add("Where", missing, of_leaf(values[:, 0]), held)


@dataclass(frozen=True)
class _LineTable:
    """The lines of all leaves, one row each; terms that a line does not have are zero."""

    base: FloatArray
    low: FloatArray
    high: FloatArray
    feature: AnyArray
    slope: FloatArray
    centre: FloatArray
    least: FloatArray
    most: FloatArray

    @classmethod
    def of(cls, trees: Sequence[FlatTree], pad: int) -> "_LineTable":
        rows = [
            _line(tree.lines, int(leaf), float(tree.value[leaf, 0]))
            for tree in trees
            if tree.lines is not None
            for leaf in np.flatnonzero(tree.feature < 0)
        ]
        most = max(len(terms[0]) for _, terms in rows)
        base, low, high = np.array([ends for ends, _ in rows]).T
        filled = np.zeros((5, len(rows), most))
        filled[0] = pad
        for row, (_, terms) in enumerate(rows):
            filled[:, row, : len(terms[0])] = terms
        return cls(base, low, high, filled[0].astype(np.int64), *filled[1:])


def _line(lines: Lines, leaf: int, value: float) -> tuple[tuple[float, float, float], list[AnyArray]]:
    """Where the line begins and between what it is held, and its terms; the value itself if it has none."""
    terms = slice(int(lines.first[leaf]), int(lines.first[leaf + 1]))
    columns = (lines.feature, lines.slope, lines.centre, lines.least, lines.most)
    ends = (float(lines.base[leaf]), float(lines.low[leaf]), float(lines.high[leaf]))
    if terms.start == terms.stop:
        ends = (value, -np.inf, np.inf)
    return ends, [column[terms] for column in columns]


def _without_lookalike(tree: FlatTree, leaves: AnyArray, first_node: int, first_leaf: int) -> AnyArray:
    """An order of the leaves in which no leaf below the root has the number of the root's other child.

    Versions of onnxruntime that compare these numbers alone would take the whole tree for one leaf.
    """
    order = np.arange(len(leaves))
    children = np.array([tree.left[0], tree.right[0]])
    is_leaf = tree.feature[children] < 0
    if is_leaf.all() or not is_leaf.any():
        return order
    leaf, split = children[is_leaf][0], children[~is_leaf][0]
    split_place = first_node + int(np.searchsorted(np.flatnonzero(tree.feature >= 0), split))
    own = int(np.searchsorted(leaves, leaf))
    if first_leaf + own == split_place:
        other = own + 1 if own + 1 < len(leaves) else own - 1
        order[[own, other]] = order[[other, own]]
    return order
