# Written by tools/make_stub.py from the compiled module: change bindings/, then run `make stub`.
"""
The compiled part of coterie. Strict: convert and check before calling.
"""

from collections.abc import Sequence
import enum
from typing import Annotated, overload

import numpy
import numpy.typing
from numpy.typing import NDArray


REVISION: int = 4

def instruction_set() -> str:
    """The kernels in use: 'avx512', 'avx2' or 'generic'."""

def available_threads() -> int:
    """Threads this process may use."""

def physical_memory() -> int:
    """
    Bytes that this process may use: the machine's memory, or what its cgroup has; 0 if unknown.
    """

def usable_threads(requested: int) -> int:
    """Threads to use when so many are requested; 0 means all available ones."""

class Communicator:
    """How workers that each have a slice of the rows exchange whole numbers."""

    def __init__(self, target: object) -> None:
        """
        `target` has the methods sum, max and gather, each from an array of uint64 to one: the sums (modulo 2^64) or the largest over all workers, element by element, or the words of all workers in the order of their rows. All workers make the same calls in the same order.
        """

class BinMapper:
    """How each feature's values become bins."""

    @staticmethod
    def fit(values: object, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_bins: int, seed: int, n_threads: int) -> BinMapper:
        """Chooses the cuts; an empty weight means 1 for every row."""

    @staticmethod
    def from_cuts(cuts: Sequence[Sequence[float]], n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> BinMapper:
        """
        Bins by cuts that were chosen elsewhere: ascending numbers for each feature, none for a nominal one, which has so many levels.
        """

    @staticmethod
    def sample(n_rows: int, first_row: int, n_total: int, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int) -> NDArray[numpy.uint32]:
        """
        The rows of a slice that decide the cuts of a table of n_total rows, of which the slice begins at first_row. The samples of all slices together, in their order, give `fit` the cuts of the whole table.
        """

    def bins(self, values: object, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.uint8]:
        """The bins of a table, a row of the array for each feature."""

    def n_bins(self) -> NDArray[numpy.int32]:
        """Bins of each feature, the missing bin included."""

    def cuts(self, feature: int) -> NDArray[numpy.float64]:
        """
        Ascending cuts of a numeric feature; values <= cuts[b - 1] have bin <= b.
        """

class BinnedMatrix:
    """The table as bins, in rows and in columns."""

    def __init__(self, values: object, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], mapper: BinMapper, n_threads: int) -> None: ...

    @property
    def n_rows(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    def column(self, feature: int) -> NDArray[numpy.uint8]:
        """A copy of one feature's bins."""

class BinnedMatrixBuilder:
    """Makes a BinnedMatrix of a table that comes in batches."""

    def __init__(self, mapper: BinMapper, n_rows: int, n_threads: int, memory: object | None = None) -> None:
        """
        `memory` is called with numbers of bytes and returns arrays of uint8 for the bins, such as mapped files; without it they are in memory.
        """

    @property
    def n_appended(self) -> int: ...

    def append(self, values: object, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """The next rows."""

    def append_bins(self, columns: Sequence[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]], n_rows: int) -> None:
        """
        The next rows, which were binned elsewhere with the same cuts: a column of uint8 for each feature.
        """

    def finish(self, communicator: Communicator | None = None, first_row: int = 0) -> BinnedMatrix:
        """
        The matrix of all rows; no batch comes after that. Workers agree on how the matrix is laid out.
        """

class Tree:
    """
    A finished tree: parallel arrays, one entry per node, root at 0, right child = left + 1.
    """

    @staticmethod
    def from_state(state: dict, n_features: int) -> Tree:
        """Builds a tree from its arrays, after checking them."""

    def scaled(self, times: float) -> Tree:
        """The same tree with every value multiplied."""

    @staticmethod
    def joined(trees: Sequence[Tree]) -> Tree:
        """
        Trees with the same splits as one tree with the outputs of all; their gains are added.
        """

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

    def state(self) -> dict:
        """The tree's arrays by name."""

    @property
    def n_nodes(self) -> int: ...

    @property
    def n_outputs(self) -> int: ...

    @property
    def feature(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]:
        """-1 at a leaf."""

    @property
    def threshold(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]: ...

    @property
    def levels(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]:
        """Index of the level set going left, or -1."""

    @property
    def missing_left(self) -> Annotated[NDArray[numpy.uint8], dict(writable=False)]: ...

    @property
    def left(self) -> Annotated[NDArray[numpy.uint32], dict(writable=False)]: ...

    @property
    def gain(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]: ...

    @property
    def cover(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]: ...

    @property
    def n_rows(self) -> Annotated[NDArray[numpy.uint32], dict(writable=False)]: ...

    @property
    def impurity(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]: ...

    @property
    def level_bits(self) -> Annotated[NDArray[numpy.uint64], dict(writable=False)]:
        """Four words per set."""

    @property
    def linear_first_term(self) -> Annotated[NDArray[numpy.uint32], dict(writable=False)]:
        """
        Where the terms of each node begin, and where the last ones end; empty without linear leaves.
        """

    @property
    def linear_base(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]: ...

    @property
    def linear_low(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]: ...

    @property
    def linear_high(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]: ...

    @property
    def linear_feature(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]:
        """One entry per term."""

    @property
    def linear_slope(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]: ...

    @property
    def linear_centre(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]: ...

    @property
    def linear_least(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]: ...

    @property
    def linear_most(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]: ...

    @property
    def value(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]: ...

class Forest:
    """Finished trees over the same features whose predictions are added."""

    def __init__(self, n_features: int, n_outputs: int) -> None: ...

    def add(self, tree: Tree, output: int = 0) -> None: ...

    def __len__(self) -> int: ...

    def truncate(self, n_trees: int) -> None: ...

    def __getstate__(self) -> tuple: ...

    def __setstate__(self, arg: tuple, /) -> None: ...

    @property
    def n_features(self) -> int: ...

    @property
    def n_outputs(self) -> int: ...

    def tree(self, index: int) -> Tree: ...

    def first_output(self, index: int) -> int: ...

    def add_scores(self, values: object, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int, first_tree: int = 0, n_trees: int | None = None) -> None:
        """
        Adds the predictions of n_trees trees, or of all, to scores, flat row-major (n_rows * n_outputs).
        """

    def find_leaves(self, values: object, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], leaves: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
        """
        The leaf each row reaches in each tree, flat row-major (n_rows * n_trees).
        """

class Growth(enum.Enum):
    """Which leaf is split next."""

    leaf = 0

    level = 1

    oblivious = 2

class GrowOptions:
    """How a tree may grow."""

    def __init__(self) -> None: ...

    @property
    def growth(self) -> Growth: ...

    @growth.setter
    def growth(self, arg: Growth, /) -> None: ...

    @property
    def max_leaf_nodes(self) -> int:
        """0: no limit."""

    @max_leaf_nodes.setter
    def max_leaf_nodes(self, arg: int, /) -> None: ...

    @property
    def max_depth(self) -> int:
        """0: no limit."""

    @max_depth.setter
    def max_depth(self, arg: int, /) -> None: ...

    @property
    def min_samples_leaf(self) -> int: ...

    @min_samples_leaf.setter
    def min_samples_leaf(self, arg: int, /) -> None: ...

    @property
    def min_samples_split(self) -> int:
        """A node of fewer rows stays a leaf."""

    @min_samples_split.setter
    def min_samples_split(self, arg: int, /) -> None: ...

    @property
    def min_child_weight(self) -> float: ...

    @min_child_weight.setter
    def min_child_weight(self, arg: float, /) -> None: ...

    @property
    def l1(self) -> float: ...

    @l1.setter
    def l1(self, arg: float, /) -> None: ...

    @property
    def l2(self) -> float: ...

    @l2.setter
    def l2(self, arg: float, /) -> None: ...

    @property
    def max_step(self) -> float:
        """No step is further from zero; 0: no limit."""

    @max_step.setter
    def max_step(self, arg: float, /) -> None: ...

    @property
    def free_step(self) -> float:
        """Of outputs that share splits: longer steps are damped; 0: none is."""

    @free_step.setter
    def free_step(self, arg: float, /) -> None: ...

    @property
    def min_gain(self) -> float: ...

    @min_gain.setter
    def min_gain(self, arg: float, /) -> None: ...

    @property
    def max_features(self) -> float:
        """Share of the features drawn for each node."""

    @max_features.setter
    def max_features(self, arg: float, /) -> None: ...

    @property
    def max_features_per_level(self) -> float: ...

    @max_features_per_level.setter
    def max_features_per_level(self, arg: float, /) -> None: ...

    @property
    def max_features_per_tree(self) -> float: ...

    @max_features_per_tree.setter
    def max_features_per_tree(self, arg: float, /) -> None: ...

    @property
    def level_smoothing(self) -> float: ...

    @level_smoothing.setter
    def level_smoothing(self, arg: float, /) -> None: ...

    @property
    def level_l2(self) -> float: ...

    @level_l2.setter
    def level_l2(self, arg: float, /) -> None: ...

    @property
    def leaf_penalty(self) -> float:
        """What each leaf beyond the first must gain."""

    @leaf_penalty.setter
    def leaf_penalty(self, arg: float, /) -> None: ...

    @property
    def split_noise(self) -> float:
        """Noise of gains, in units of what one split gains by chance."""

    @split_noise.setter
    def split_noise(self, arg: float, /) -> None: ...

    @property
    def path_smoothing(self) -> float:
        """Rows' worth of its parent's value in a node's."""

    @path_smoothing.setter
    def path_smoothing(self, arg: float, /) -> None: ...

    @property
    def linear_leaves(self) -> bool:
        """Leaves have a line through the numeric features of their path."""

    @linear_leaves.setter
    def linear_leaves(self, arg: bool, /) -> None: ...

    @property
    def linear_l2(self) -> float:
        """Makes slopes less steep; unit: the variance of a feature."""

    @linear_l2.setter
    def linear_l2(self, arg: float, /) -> None: ...

    @property
    def learning_rate(self) -> float: ...

    @learning_rate.setter
    def learning_rate(self, arg: float, /) -> None: ...

    @property
    def value_unit(self) -> float:
        """The tree's values are its steps times this."""

    @value_unit.setter
    def value_unit(self, arg: float, /) -> None: ...

    @property
    def histogram_bytes(self) -> int:
        """
        Memory for the histograms of open leaves; 0: COTERIE_HISTOGRAM_MEMORY, or an eighth of the machine's.
        """

    @histogram_bytes.setter
    def histogram_bytes(self, arg: int, /) -> None: ...

    @property
    def monotone(self) -> list[int]:
        """1, -1 or 0 per feature; empty: all free."""

    @monotone.setter
    def monotone(self, arg: Sequence[int], /) -> None: ...

    @property
    def interaction_sets(self) -> list[list[int]]: ...

    @interaction_sets.setter
    def interaction_sets(self, arg: Sequence[Sequence[int]], /) -> None: ...

class SamplingMethod(enum.Enum):
    """How the rows that one tree sees are drawn."""

    none = 0

    uniform = 1

    minimal_variance = 2

    bayesian = 3

class TreeGrower:
    """Grows tree after tree on one binned matrix."""

    def __init__(self, matrix: BinnedMatrix, options: GrowOptions, n_threads: int, communicator: Communicator | None = None, first_row: int = 0) -> None:
        """
        Workers with a communicator grow one tree together, if each makes the same calls on its slice of the rows.
        """

    def grow(self, gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], hessian: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, sampling: SamplingMethod = SamplingMethod.none, share: float = 1.0, values: object | None = None, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, nobody: bool = False) -> Tree:
        """
        One tree. An empty hessian means 1 for every row; empty rows mean all, or none with `nobody`. If rows are sampled, splits come from the sample and the values of leaves from all rows. Linear leaves need the values that the matrix was made from.
        """

    def grow_splits(self, gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], hessian: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, sampling: SamplingMethod = SamplingMethod.none, share: float = 1.0, nobody: bool = False) -> Tree:
        """
        One tree whose splits serve several outputs; `tree_for` gives each its own values. The rows must be kept until then.
        """

    def tree_for(self, splits: Tree, gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], hessian: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: object | None = None, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> Tree:
        """
        The splits grown last with the values, or lines, that one output's derivatives call for.
        """

    def set_quantile_values(self, tree: Tree, residual: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], quantile: float) -> None:
        """
        Sets the leaves of the tree grown last to a quantile of their rows' residuals.
        """

    def set_newton_values(self, tree: Tree, gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], hessian: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Sets the leaves of the tree grown last to Newton's step by these derivatives of the rows that it saw.
        """

    def add_predictions(self, scores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """
        Adds the last tree's predictions to the scores of all rows, also of those that took no part.
        """

class JointGrower:
    """Grows trees whose splits serve several outputs."""

    def __init__(self, matrix: BinnedMatrix, options: GrowOptions, units: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int, communicator: Communicator | None = None, first_row: int = 0) -> None:
        """The values of an output's trees are its steps times its unit."""

    def grow(self, gradients: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], hessian: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, sampling: SamplingMethod = SamplingMethod.none, share: float = 1.0, nobody: bool = False) -> list[Tree]:
        """
        One tree, once for each output: the same splits, other values. Gradients are flat, output after output; an empty hessian means 1 for every row; empty rows mean all, or none with `nobody`.
        """

    def add_predictions(self, output: int, scores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """
        Adds the last tree's predictions for one output to the scores of all rows.
        """

class CriterionOptions:
    """How a criterion tree grows; 0 means no limit."""

    def __init__(self, *, criterion: str, random_splits: bool, max_depth: int, min_rows_split: int, min_rows_leaf: int, min_weight_leaf: float, min_impurity_decrease: float, max_features: int, max_leaves: int, monotone: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, n_threads: int) -> None: ...

def grow_criterion_tree(values: object, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_outputs: int, n_classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: CriterionOptions) -> Tree:
    """
    Grows a decision tree. `target` is flat, n_outputs per row: numbers, or class codes if `n_classes` is not empty. An empty `weight` means ones.
    """

def pruning_path(tree: Tree) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
    """
    Strengths of the splits in the order of pruning, and the cost that remains after each.
    """

def prune_tree(tree: Tree, alpha: float) -> Tree:
    """The tree without the splits of strength at most alpha."""

class PackedForest:
    """The trees of a forest, twelve bytes a node."""

    def __init__(self, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int) -> None: ...

    def __len__(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    @property
    def n_columns(self) -> int: ...

    @property
    def n_levels(self) -> NDArray[numpy.int32]:
        """Of each feature, 0 if it is numeric."""

    @property
    def n_bytes(self) -> int:
        """Nodes, leaf values, ranks and thresholds."""

    @property
    def n_nodes(self) -> NDArray[numpy.uint32]:
        """Of each tree."""

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

    def joined(self, other: PackedForest) -> PackedForest:
        """A forest with the trees of both, which are shared."""

    def first(self, n_trees: int) -> PackedForest:
        """A forest of the first trees, which are shared."""

    def tree(self, index: int) -> Tree:
        """A tree with everything at every node."""

    def add_predictions(self, values: object, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
        """
        Adds the trees' predictions to sums, flat row-major (n_rows * n_columns).
        """

    def find_leaves(self, values: object, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], leaves: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
        """
        The leaf each row reaches in each tree, flat row-major (n_rows * n_trees).
        """

    def list_predictions(self, values: object, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], predictions: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
        """
        What each tree predicts for each row, flat row-major (n_rows * n_trees * n_columns).
        """

class ForestOptions:
    """How a forest grows: its trees, its bags, its threads."""

    def __init__(self, *, tree: CriterionOptions, features_per_tree: int, interaction_sets: Sequence[Sequence[int]], balance_bag: bool, ccp_alpha: float, prune_out_of_bag: bool, bag: str, share: float, most_draws: int, out_of_bag: bool, first_tree: int) -> None: ...

class ForestMemory:
    """The training rows with weight, in the forest's own order of places."""

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

    @property
    def n_places(self) -> int: ...

    @property
    def n_table_rows(self) -> int: ...

    @property
    def n_outputs(self) -> int: ...

    @property
    def n_classes(self) -> NDArray[numpy.uint32]:
        """Of each output; empty if targets are numbers."""

    @property
    def n_levels(self) -> NDArray[numpy.int32]:
        """Of each feature, 0 if it is numeric."""

    @property
    def first_tree(self) -> int: ...

    @property
    def n_bytes(self) -> int: ...

    @property
    def rows(self) -> NDArray[numpy.uint32]:
        """The row of the table at each place."""

    @property
    def targets(self) -> NDArray[numpy.float64]:
        """By place."""

    @property
    def weight(self) -> NDArray[numpy.float64]:
        """By place."""

    def counts(self, tree: int) -> NDArray[numpy.uint16]:
        """How often a tree of this fit drew each place."""

    def leaves(self, forest: PackedForest, tree: int, n_threads: int) -> NDArray[numpy.uint32]:
        """The leaf of each place in a tree of the forest."""

    def permutation_increases(self, forest: PackedForest, first_tree: int, n_trees: int, n_repeats: int, seed: int, n_threads: int) -> NDArray[numpy.float64]:
        """
        Per tree and feature: what permuting the feature adds to the error out of bag.
        """

class ForestTraining:
    """A forest that grows."""

    def __len__(self) -> int: ...

    def grow(self, n_trees: int) -> None: ...

    def grow_given(self, counts: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """A tree for each bag: how often it holds each row, bag after bag."""

    def set_factor(self, by_row: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        What the rows count in a tree that drew them, beside their weight, which says how they are drawn.
        """

    def resume_out_of_bag(self, sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], errors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
        """
        Goes on from the out-of-bag sums (flat, row-major), counts and errors of an earlier fit to these rows; with its oob_totals, to the last bit.
        """

    def grown_since(self, first: int) -> PackedForest:
        """A forest of the trees from this number on; growth goes on."""

    def take(self, known: PackedForest, importances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], oob_importances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Takes trees, and their importances (flat), that an earlier training on the same rows had grown.
        """

    def finish(self) -> PackedForest:
        """The forest; nothing can be grown after this."""

    @property
    def memory(self) -> ForestMemory: ...

    @property
    def oob_sums(self) -> NDArray[numpy.float64]:
        """
        Sums of the predictions of the trees that did not see a row (n_rows, n_columns).
        """

    @property
    def oob_counts(self) -> NDArray[numpy.uint32]:
        """How many trees did not see a row (n_rows, 1)."""

    @property
    def oob_errors(self) -> NDArray[numpy.float64]:
        """
        After each tree: the share of wrong classes, or the mean squared error.
        """

    @property
    def oob_totals(self) -> NDArray[numpy.float64]:
        """The loss and the weight of all rows that some tree did not see."""

    @property
    def importances(self) -> NDArray[numpy.float64]: ...

    @property
    def oob_importances(self) -> NDArray[numpy.float64]: ...

def start_forest(values: object, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_outputs: int, n_classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: ForestOptions) -> ForestTraining:
    """
    Ranks the rows for a forest. `target` is flat, n_outputs per row: numbers, or class codes if `n_classes` is not empty. An empty `weight` means ones.
    """

class IsolationOptions:
    """How isolation trees draw their rows, and how deep they grow."""

    def __init__(self, *, n_trees: int, first_tree: int, max_samples: int, bootstrap: bool, max_features: int, max_depth: int, seed: int, n_threads: int) -> None: ...

def grow_isolation_trees(values: object, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: IsolationOptions) -> Forest:
    """
    A forest whose trees predict the expected length of a path. An empty `weight` means ones.
    """

def isolation_bags(n_rows: int, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: IsolationOptions) -> list:
    """The rows that each tree is grown on, ascending."""

def isolation_features(n_features: int, options: IsolationOptions) -> list:
    """The features that each tree may use, ascending."""

def row_numbers(values: object, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], numbers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
    """
    A random number in [0, 1) for each row, which follows from what the row holds.
    """

def average_path_length(n_rows: int) -> float:
    """The mean length of a path in a tree that isolates so many rows."""

def log_loss_derivatives(score: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], hessian: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
    """
    Binary log loss: p - y and p (1 - p), times the weight if it is not empty.
    """

def squared_error_derivatives(score: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
    """score - y, times the weight if it is not empty."""

def log_sum_exp(scores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, out: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
    """
    Log of the sum over classes of exp(score), per row; scores are class-major.
    """

def softmax_derivatives(score: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], log_sum: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], which: int, weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], hessian: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
    """Multinomial log loss for one class."""

def softmax_direction_derivatives(scores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], direction: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], log_sum: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], hessian: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
    """
    Multinomial log loss along a direction over the classes, and the log of the sum of the exponentials of each row's scores; scores are class-major.
    """

class StumpScore(enum.Enum):
    """What the best stump is best at."""

    error = 0

    gini = 1

    exponential = 2

class Stump:
    """A feature, and the side of each of its bins."""

    def __init__(self, feature: int, right: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Feature -1: every row is on the left."""

    @property
    def feature(self) -> int: ...

    def right(self) -> NDArray[numpy.uint8]:
        """
        For each of 256 bins, the missing bin first, whether it is on the right.
        """

class StumpRounds:
    """AdaBoost on stumps, round by round."""

    def __init__(self, matrix: BinnedMatrix, classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], score: StumpScore, n_threads: int) -> None:
        """An empty weight means 1 for every row."""

    def find(self) -> Stump:
        """The best stump for the weights as they are."""

    def find_for(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Stump:
        """The best stump for other weights."""

    def sums(self, stump: Stump) -> NDArray[numpy.float64]:
        """The weight of each class on the left, then on the right."""

    def count(self, stump: Stump, factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], votes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple:
        """
        Multiplies weights and adds to scores. Returns the sum of the weights, the power of two that it is to be multiplied with, and the first weights of the rows that are wrong.
        """

    def weights(self) -> NDArray[numpy.float64]:
        """The weights as they are, in units of their own."""

class StumpTable:
    """All stumps of a model as one table: what each bin adds to the scores."""

    def __init__(self, cuts: list, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], votes: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_scores: int) -> None:
        """
        Levels of each feature: 0 for a numeric one, -1 for one that no stump splits on. Votes: what every row has, then those of each bin of each feature, the missing bin first.
        """

    def scores(self, values: object, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
        """Fills `out` with the scores of each row."""

    def __getstate__(self) -> tuple: ...

    def __setstate__(self, arg: tuple, /) -> None: ...

class LeafTargets:
    """The training targets that the leaves of a forest hold."""

    def __init__(self, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """An empty weight means 1 for every row."""

    def __len__(self) -> int: ...

    def __getstate__(self) -> tuple: ...

    def __setstate__(self, arg: tuple, /) -> None: ...

    @property
    def n_rows(self) -> int: ...

    def add(self, leaves: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> None:
        """
        Adds trees: the leaf that each row reaches and how often the tree drew it, flat (n_trees * n_rows).
        """

    def quantiles(self, leaves: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], use: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], levels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
        """
        Quantiles of rows by the leaves they reach, flat row-major (n_rows * n_levels); leaves and the trees to use (empty: all) are flat row-major (n_rows * n_trees).
        """

@overload
def add_shap_values(forest: Forest, values: object, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def add_shap_values(forest: PackedForest, values: object, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
    """
    Adds SHAP values and, last, what is expected, flat row-major (n_rows * n_outputs * (n_features + 1)).
    """

@overload
def add_shap_interactions(forest: Forest, values: object, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def add_shap_interactions(forest: PackedForest, values: object, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
    """
    Adds interaction values, flat row-major (n_rows * n_outputs * (n_features + 1) * (n_features + 1)).
    """

@overload
def add_interventional_values(forest: Forest, values: object, background: object, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None: ...

@overload
def add_interventional_values(forest: PackedForest, values: object, background: object, n_levels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
    """The same as add_shap_values against rows of a background."""

def code_numbers(items: numpy.typing.NDArray[numpy.uint8], item_size: int) -> numpy.typing.NDArray[numpy.uint8] | None:
    """
    The bytes of an array in fewer bytes, or None if they do not become clearly fewer.
    """

def decode_numbers(coded: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], item_size: int, items: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Fills `items` with the bytes that were coded."""

def forest_streams(forest: Forest) -> dict | None:
    """
    Arrays by name that become short when they are coded, or None if a leaf holds what only splits need.
    """

def forest_of_streams(arrays: dict, first_output: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int, n_outputs: int, n_threads: int) -> Forest:
    """The forest of such arrays, after checking everything."""

def forest_of_arrays(arrays: dict, n_features: int, n_outputs: int) -> Forest:
    """
    A forest from the arrays of its trees, one after the other, after checking everything.
    """

def packed_arrays(forest: PackedForest, compact: bool) -> dict:
    """
    Arrays by name: compact ones, or the nodes as the engine has them in its memory.
    """

def packed_of_arrays(arrays: dict, n_columns: int, look_later: bool) -> PackedForest:
    """
    The forest of such arrays, which it keeps. It checks every tree now, or each one when it is used first.
    """
