"""A finished tree, its arrays under the names that scikit-learn gave them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coterie._engine import Forest, Tree, prune_tree
from coterie._storage import expect, storable
from coterie._typing import AnyArray, FloatArray
from coterie._value_types import COUNT, NONE, array, instance
from coterie.data.encoding import Encoded

_LEAF = -1
_UNDEFINED = -2


def _verify_tree(tree: Any) -> None:
    expect((tree.native.feature < tree.n_features).all(), "splits a feature that its table does not have")
    n_outputs = tree.native.n_outputs
    if tree.class_counts is not None:
        expect(
            (tree.class_counts > 0).all() and int(tree.class_counts.astype(np.int64).sum()) == n_outputs,
            f"has {n_outputs} outputs, which are not those of its classes",
        )


def _state(tree: Any) -> dict[str, Any]:
    return {"native": tree.native, "n_features": tree.n_features, "n_classes": tree.class_counts}


@storable(
    "GrownTree",
    {"native": instance(Tree), "n_features": COUNT, "n_classes": array("i", 1) | NONE},
    verify=_verify_tree,
    state=_state,
    build=lambda state: GrownTree(**state),
)
class GrownTree:
    """What `tree_` holds: plain arrays with one entry per node, root at 0, which nobody changes.

    Parameters
    ----------
    native : the engine's tree
    n_features : int
    n_classes : int array of shape (n_outputs,), or None for regression

    Notes
    -----
    The children of a split have neighbouring numbers: the right one is the left one plus 1. At a leaf,
    children are -1, and feature and threshold are -2, as in scikit-learn.
    """

    def __init__(self, native: Tree, n_features: int, n_classes: NDArray[np.int32] | None) -> None:
        self.native = native
        self.n_features = n_features
        self.class_counts = n_classes

    def __reduce__(self) -> tuple[Any, ...]:
        state = self.native.state()
        return _restored, (state, self.n_features, self.class_counts)

    def __eq__(self, other: object) -> bool:
        """Same splits, same predictions, bit for bit."""
        if not isinstance(other, GrownTree):
            return NotImplemented
        mine, theirs = self.native.state(), other.native.state()
        return all(np.array_equal(mine[name], theirs[name], equal_nan=True) for name in mine)

    __hash__ = None  # type: ignore[assignment]

    @property
    def n_outputs(self) -> int:
        """Targets that the tree predicts."""
        return int(self.native.n_outputs) if self.class_counts is None else len(self.class_counts)

    @property
    def n_classes(self) -> NDArray[np.int64]:
        """Classes of each output; 1 for a number."""
        if self.class_counts is None:
            return np.ones(self.n_outputs, dtype=np.int64)
        return self.class_counts.astype(np.int64)

    @property
    def max_n_classes(self) -> int:
        return int(self.n_classes.max())

    @property
    def node_count(self) -> int:
        return int(self.native.n_nodes)

    @property
    def n_leaves(self) -> int:
        return int((self.native.feature < 0).sum())

    @property
    def max_depth(self) -> int:
        return int(self.depth.max())

    @property
    def depth(self) -> NDArray[np.int64]:
        """Steps from the root to each node."""
        depth = np.zeros(self.node_count, dtype=np.int64)
        level = np.zeros(1, dtype=np.int64)
        while len(level):
            parents = level[self.native.feature[level] >= 0]
            left = self.native.left[parents].astype(np.int64)
            level = np.concatenate([left, left + 1])
            depth[level] = depth[parents[0]] + 1 if len(parents) else 0
        return depth

    @property
    def parent(self) -> NDArray[np.int64]:
        """The parent of each node; -1 for the root."""
        parent = np.full(self.node_count, -1, dtype=np.int64)
        splits = np.flatnonzero(self.native.feature >= 0)
        parent[self.native.left[splits]] = splits
        parent[self.native.left[splits] + 1] = splits
        return parent

    @property
    def children_left(self) -> NDArray[np.int64]:
        left = self.native.left.astype(np.int64)
        return np.where(self.native.feature >= 0, left, _LEAF)

    @property
    def children_right(self) -> NDArray[np.int64]:
        left = self.native.left.astype(np.int64)
        return np.where(self.native.feature >= 0, left + 1, _LEAF)

    @property
    def feature(self) -> NDArray[np.int64]:
        feature = self.native.feature.astype(np.int64)
        return np.where(feature >= 0, feature, _UNDEFINED)

    @property
    def threshold(self) -> FloatArray:
        """Rows with value <= threshold go left; NaN where a set of categories decides."""
        threshold = np.where(self.native.feature >= 0, self.native.threshold, float(_UNDEFINED))
        return np.where(self.native.levels >= 0, np.nan, threshold)

    @property
    def missing_go_to_left(self) -> NDArray[np.uint8]:
        return np.asarray(self.native.missing_left)

    @property
    def impurity(self) -> FloatArray:
        return np.asarray(self.native.impurity)

    @property
    def n_node_samples(self) -> NDArray[np.int64]:
        return self.native.n_rows.astype(np.int64)

    @property
    def weighted_n_node_samples(self) -> FloatArray:
        return np.asarray(self.native.cover)

    @property
    def value(self) -> FloatArray:
        """Predictions of shape (n_nodes, n_outputs, most classes): class shares, or a mean or median."""
        parts = self.by_output(self.native.value)
        most = max(part.shape[1] for part in parts)
        return np.stack([np.pad(part, ((0, 0), (0, most - part.shape[1]))) for part in parts], axis=1)

    def by_output(self, values: FloatArray) -> list[FloatArray]:
        """The columns of each output, split apart; one column each for regression."""
        sizes = np.ones(values.shape[1], dtype=np.int64) if self.class_counts is None else self.class_counts
        return np.split(values, np.cumsum(sizes)[:-1], axis=1)

    def levels_going_left(self, node: int) -> NDArray[np.bool_]:
        """For a nominal split: which of the 256 possible codes go left."""
        first = 4 * int(self.native.levels[node])
        words = np.ascontiguousarray(self.native.level_bits[first : first + 4])
        return np.unpackbits(words.view(np.uint8), bitorder="little").astype(bool)

    def scores(self, encoded: Encoded, n_threads: int) -> FloatArray:
        """The predictions of the leaves that the rows reach, shape (n_rows, columns)."""
        forest = self.as_forest()
        scores = np.zeros(encoded.n_rows * forest.n_outputs)
        forest.add_scores(encoded.values, encoded.n_levels, scores, n_threads)
        return scores.reshape(encoded.n_rows, -1)

    def leaves(self, encoded: Encoded, n_threads: int) -> NDArray[np.int64]:
        """The leaf that each row reaches."""
        leaves = np.zeros(encoded.n_rows, dtype=np.uint32)
        self.as_forest().find_leaves(encoded.values, encoded.n_levels, leaves, n_threads)
        return leaves.astype(np.int64)

    def paths(self, leaves: NDArray[np.int64]) -> Any:
        """A CSR matrix with a 1 wherever a row passes through a node."""
        length = self.depth[leaves] + 1
        pointer = np.concatenate([[0], np.cumsum(length)])
        nodes = np.empty(pointer[-1], dtype=np.int64)
        parent, node, rows = self.parent, leaves.copy(), np.arange(len(leaves))
        back = pointer[1:] - 1
        while len(rows):
            nodes[back[rows]] = node
            back[rows] -= 1
            node = parent[node]
            rows, node = rows[node >= 0], node[node >= 0]
        ones = np.ones(len(nodes), dtype=np.int64)
        paths = sparse.csr_matrix((ones, nodes, pointer), shape=(len(leaves), self.node_count))
        paths.sort_indices()
        return paths

    def importances(self) -> FloatArray:
        """The share of each feature in the total decrease of impurity; zeros for a tree without a split."""
        total = self.compute_feature_importances(normalize=False)
        return total / total.sum() if total.sum() > 0 else total

    def compute_feature_importances(self, normalize: bool = True) -> FloatArray:
        """The decrease of impurity by each feature's splits, as shares unless `normalize=False`."""
        if normalize:
            return self.importances()
        splits = self.native.feature >= 0
        total = np.zeros(self.n_features)
        np.add.at(total, self.native.feature[splits], self.native.gain[splits])
        return total

    def pruned(self, alpha: float) -> "GrownTree":
        return GrownTree(prune_tree(self.native, alpha), self.n_features, self.class_counts)

    def as_forest(self) -> Forest:
        """A forest of this tree alone."""
        forest = Forest(self.n_features, self.native.n_outputs)
        forest.add(self.native)
        return forest


def _restored(state: dict[str, AnyArray], n_features: int, n_classes: NDArray[np.int32] | None) -> GrownTree:
    return GrownTree(Tree.from_state(state, n_features), n_features, n_classes)
