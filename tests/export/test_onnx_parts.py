"""The parts of ONNX graphs one by one: how columns are read, how links answer, how leaves are numbered."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import coterie
from coterie.export import to_onnx
from coterie.export.writers.onnx_model import write_features, write_labels, write_numbers, write_probabilities
from coterie.export.writers.onnx_trees import Graph, _without_lookalike
from coterie.trees.column_readings import (
    LookUp,
    PairLookUp,
    Readings,
    Values,
    WholeNumbers,
    WithoutNumber,
    WithoutZero,
)
from coterie.trees.flat_tree import FlatTree
from coterie.trees.links import Ascending, Hinge, Logistic, NumberLink, OneVersusRest, Shares, Softmax
from tests.naive.tree_sum import read

pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")


def run(graph: Graph, X: NDArray[np.float64]) -> list[NDArray[Any]]:
    model = graph.finish(producer="a test", version="1")
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return list(session.run(None, {"X": X}))


CODES = LookUp(Values(0), np.array([1.0, 2.5]), np.array([1.0, 2.0]), 0.0)
READINGS = {
    "a column": Values(1),
    "a look-up": LookUp(Values(0), np.array([2.5, -1.0]), np.array([0.0, 1.0])),
    "a look-up with a default": LookUp(Values(0), np.array([2.5, -1.0]), np.array([0.5, 1.5]), 7.0),
    "a pair": PairLookUp(CODES, CODES, 3, np.array([0.0, 4.0, 8.0]), np.array([0.1, 0.2, 0.3]), -1.0),
    "a number that is missing": WithoutNumber(Values(0), 2.5),
    "zero is missing": WithoutZero(Values(0)),
    "whole numbers": WholeNumbers(Values(0), np.array([-1.0, 2.0]), np.array([1.0, 2.0]), single=False),
    "whole numbers, single": WholeNumbers(
        Values(0), np.array([-2.0, 2.0]), np.array([1.0, 2.0]), single=True
    ),
}


@pytest.mark.parametrize("name", READINGS)
def test_a_column_is_read_as_its_formula_says(name: str) -> None:
    first = [0.0, 1e-36, 1.0, -1.0, -1.5, 2.5, 2.0, 2.99999999999, 17.0, np.nan]
    X = np.column_stack([first, np.arange(10.0)])
    graph = Graph("readings")
    features, _ = write_features(
        graph, Readings(("a", "b"), frozenset(), [READINGS[name]]), set(), np.float64
    )
    graph.output("features", features, np.float64, 1)
    expected = [read(READINGS[name], row) for row in X.tolist()]
    np.testing.assert_array_equal(run(graph, X)[0][:, 0], expected)


SCORES = np.array([[0.0], [-0.0], [1e-12], [-1e-12], [0.7], [-0.7], [40.0], [-40.0]])
SEVERAL = np.array([[0.0, 0.0, 0.0], [1.0, -2.0, 1.0], [30.0, -3.0, 0.5], [0.2, 0.3, 0.5], [0.5, 0.0, 0.5]])


@pytest.mark.parametrize(
    ("link", "scores"),
    [
        (Logistic(), SCORES),
        (Logistic(2.0, second="score > 0"), SCORES),
        (Logistic(0.5, second="score >= 0"), SCORES),
        (Hinge(), SCORES),
        (Softmax(), SEVERAL),
        (OneVersusRest(2.0), SEVERAL),
        (Shares(), SEVERAL),
    ],
    ids=repr,
)
def test_links_of_classes_and_their_ties(link: Any, scores: NDArray[np.float64]) -> None:
    classes = np.array([10, 20, 30])[: max(2, scores.shape[1])]
    graph = Graph("link")
    matrix = graph.input("X", np.float64, scores.shape[1])
    label, kind = write_labels(graph, matrix, link, classes)
    graph.output("label", label, kind, None)
    graph.output("probabilities", write_probabilities(graph, matrix, link), np.float64, len(classes))
    labels, probabilities = run(graph, scores)
    np.testing.assert_array_equal(labels, classes[link.chosen(scores)])
    np.testing.assert_allclose(probabilities, link.probabilities(scores), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", ["identity", "exp", "logistic", "log1p_exp", "signed_square"])
def test_links_of_numbers(name: str) -> None:
    graph = Graph("link")
    numbers = write_numbers(graph, graph.input("X", np.float64, 1), 1, NumberLink(name))
    graph.output("prediction", numbers, np.float64, 1)
    np.testing.assert_allclose(
        run(graph, SCORES)[0][:, 0], NumberLink(name).predictions(SCORES), rtol=1e-12, atol=1e-15
    )


def test_quantiles_are_put_in_order() -> None:
    graph = Graph("link")
    numbers = write_numbers(graph, graph.input("X", np.float64, 3), 3, Ascending())
    graph.output("prediction", numbers, np.float64, 3)
    np.testing.assert_array_equal(run(graph, SEVERAL)[0], np.sort(SEVERAL, axis=1))


def test_no_leaf_below_a_root_has_the_number_of_its_other_child() -> None:
    """Versions of onnxruntime that look at numbers alone would take such a tree for one leaf."""
    X = np.arange(60.0).reshape(-1, 1)
    forest = coterie.RandomForestRegressor(60, max_leaf_nodes=3, random_state=0).fit(X, np.exp(X[:, 0] / 9))
    given = _attributes(to_onnx(forest))
    below = np.column_stack([given["nodes_truenodeids"], given["nodes_falsenodeids"]])[given["tree_roots"]]
    assert len(below) == 60
    assert (below[:, 0] != below[:, 1]).all()


def _attributes(model: Any) -> dict[str, Sequence[int]]:
    (node,) = (node for node in model.graph.node if node.op_type == "TreeEnsemble")
    return {each.name: list(each.ints) for each in node.attribute if len(each.ints)}


@pytest.mark.parametrize(("left", "leaves"), [(True, [1, 3, 4]), (False, [2, 3, 4])])
def test_no_leaf_below_the_root_has_the_number_of_the_other_child(left: bool, leaves: list[int]) -> None:
    """The root has a leaf and a split; wherever the tree begins, their numbers differ."""
    children = {0: (1, 2), 2: (3, 4)} if left else {0: (1, 4), 1: (2, 3)}
    feature, ways = np.full(5, -1), np.zeros((2, 5), dtype=np.int64)
    for node, pair in children.items():
        feature[node], ways[:, node] = 0, pair
    zeros = np.zeros(5)
    tree = FlatTree(feature, zeros, zeros.astype(bool), ways[0], ways[1], zeros[:, None])
    leaf_of_root = 1 if left else 4

    for first_node in range(6):
        for first_leaf in range(6):
            order = _without_lookalike(tree, np.array(leaves), first_node, first_leaf)
            numbers = dict(
                zip(np.array(leaves)[order].tolist(), range(first_leaf, first_leaf + 3), strict=True)
            )
            assert sorted(numbers) == leaves
            assert numbers[leaf_of_root] != first_node + 1


def test_the_leaves_of_a_tree_without_another_split_keep_their_order() -> None:
    zeros = np.zeros(3)
    ways = np.array([1, 0, 0]), np.array([2, 0, 0])
    tree = FlatTree(np.array([0, -1, -1]), zeros, zeros.astype(bool), *ways, zeros[:, None])
    assert _without_lookalike(tree, np.array([1, 2]), 0, 1).tolist() == [0, 1]
