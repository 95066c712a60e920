"""Rows as the leaves that they reach in random trees: many columns of zeros and a one for each tree."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

import coterie._engine as _engine
from coterie._params import ArrayLike, Boolean, OneOf, Params
from coterie._sklearn import check_feature_names_in
from coterie._storage import Fitted, storable_estimator
from coterie._typing import AnyArray, CategoricalFeatures, FloatArray, RowArray, SeedLike, UnknownCategory
from coterie._value_types import COUNT
from coterie.data.prepare import TrainingData, prepare_table
from coterie.data.target import Target
from coterie.forests._fitted import FOREST_FITTED, verify_forest
from coterie.forests.base import BaseForest
from coterie.forests.plan import FOREST_PARAMS
from coterie.forests.tree_members import Members
from coterie.trees.split_counts import split_counts_of, splits_of_forest

_OWN_PARAMS = (
    "n_estimators",
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_leaf_nodes",
    "min_impurity_decrease",
    "n_jobs",
    "random_state",
    "verbose",
    "warm_start",
)
_BLOCK_LEAVES = 1 << 14
_NOT_FITTED = ("oob_score_", "pruning_path_", "_leaf_targets")  # what other forests may have


@storable_estimator(verify=verify_forest)
class RandomTreesEmbedding(TransformerMixin, BaseForest):
    """Rows as the leaves that they reach in trees that split at random.

    Each tree splits all rows by a random feature at a random threshold, a few levels deep, without a target. A row
    becomes a one in the column of the leaf that it reaches in each tree, and zeros elsewhere. Rows that are near each
    other share leaves, so that linear models of these columns learn what is not linear in the table.

    Parameters
    ----------
    n_estimators : int
        Trees, and ones in each row. Default 100: scikit-learn's number.
    max_depth : int or None
        Splits on the longest way from the root: at most two to this power columns for each tree. Default 5:
        scikit-learn's number: up to 32 columns a tree.
    min_samples_split, min_samples_leaf : int or float
        Rows that a node needs to be split, and that each side must keep; a float is a fraction of all rows. Default:
        trees grow until leaves are pure, as in scikit-learn.
    min_weight_fraction_leaf : float
        Share of the weight of all rows that each side of a split must keep. Default 0.0: no limit by weight, as in
        scikit-learn.
    max_leaf_nodes : int or None
        Leaves of each tree at most. Which nodes are split first is left to chance: by how well they explain a target
        of random numbers. Default None: no limit: the others decide.
    min_impurity_decrease : float
        By how much a split must lower the variance of that target, weighted by the share of rows it concerns. Default
        0.0: every split that helps is made, as in scikit-learn.
    sparse_output : bool
        Whether `transform` returns a sparse matrix in CSR format, or an array. Default True: all but one of the
        columns of each tree are zero.
    n_jobs : int or None
        Threads. None: every core that the process may use, or `COTERIE_NUM_THREADS`. The trees are the same for any
        number. Default None: every core, because the model is the same for any number.
    random_state : int, RandomState, Generator or None
        The seed of what is drawn. Default None: a new seed for each fit, as in scikit-learn; a number makes it
        repeatable.
    verbose : int
        1 prints ten lines while trees grow, 2 a line for each tree. Default 0: silent.
    warm_start : bool
        Continue from the last fit to the same rows with more trees; the result is that of one longer fit. Default
        False: a fit forgets the last one, as in scikit-learn.
    categorical_features : "auto", array of names, indices or booleans, or None
        Columns that are split into sets. "auto": text and categories. Default "auto": text and categories have no
        order that a threshold could use.
    unknown_category : {"missing", "error"}
        What transform does with a category that fit did not see. Default "missing": new categories are common in new
        tables, and a prediction without them is better than none.

    Attributes
    ----------
    forest_ : PackedForest
        The trees, twelve bytes for each node and the values of the leaves.
    estimators_ : sequence of DecisionTreeRegressor
    estimators_samples_ : list of arrays, all rows for each tree
    n_estimators_ : int, the number of trees
    one_hot_encoder_ : OneHotEncoder
        scikit-learn's, of the numbers of leaves that `apply` returns.
    feature_importances_ : array of shape (n_features,)
        Shares in what splits explain of a target of random numbers: about how often a feature is split on.
    n_outputs_, n_features_in_, max_features_ : int
    feature_names_in_ : array of str, if the columns had names
    schema_ : Schema
        Names and kinds of the columns that fit saw.
    encoder_ : Encoder
        The levels of categories, and the code of each.

    Examples
    --------
    >>> from coterie import RandomTreesEmbedding
    >>> X = [[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1]]
    >>> embedding = RandomTreesEmbedding(n_estimators=5, max_depth=1, random_state=0).fit(X)
    >>> embedded = embedding.transform(X)
    >>> embedded.shape, embedded.sum(axis=1).ravel().tolist()
    ((5, 10), [[5.0, 5.0, 5.0, 5.0, 5.0]])

    References
    ----------
    Geurts, Ernst and Wehenkel, Extremely randomized trees (2006); Moosmann, Triggs and Jurie, Fast discriminative
    visual codebooks using randomized clustering forests (2006).
    """

    PARAMS: ClassVar[Params] = {
        **{name: FOREST_PARAMS[name] for name in _OWN_PARAMS},
        "n_estimators": FOREST_PARAMS["n_estimators"][
            :1
        ],  # a number: nothing out of bag says when there are enough
        "sparse_output": [Boolean()],
        "categorical_features": [OneOf("auto"), ArrayLike(), None],
        "unknown_category": [OneOf("missing", "error")],
    }
    FITTED: ClassVar[Fitted] = {
        **{name: FOREST_FITTED[name] for name in FOREST_FITTED if name not in _NOT_FITTED},
        "_n_rows": COUNT,
    }
    _task = "regression"
    _random_splits = True

    # What other forests take as parameters.
    criterion = "squared_error"
    max_features = 1
    bootstrap = False
    oob_score = False
    ccp_alpha = 0.0
    max_samples = None
    monotonic_cst = None
    interaction_cst = None
    features_per = "split"
    prune = None
    keep_rows = False
    checkpoint = None

    _n_rows: int

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_depth: int | None = 5,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        sparse_output: bool = True,
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = 0,
        warm_start: bool = False,
        categorical_features: CategoricalFeatures = "auto",
        unknown_category: UnknownCategory = "missing",
    ) -> None:
        self._store(locals())

    def fit(  # type: ignore[override]  # without checkpoints there is nothing to resume
        self, X: Any, y: Any = None, sample_weight: Any = None
    ) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : data frame, Arrow table, array, sparse matrix or dict of columns
        y : ignored
        sample_weight : array of shape (n_rows,), default=None
            What each row weighs; rows of weight 0 are left out.
        """
        return super().fit(X, None, sample_weight)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Grow the trees, and return the leaves of the same rows as `transform` does."""
        return self.fit(X, y, sample_weight).transform(X)

    def transform(self, X: Any) -> Any:
        """A one for the leaf of each tree that a row reaches: shape (n_rows, leaves of all trees)."""
        check_is_fitted(self, "forest_")
        columns = self._columns_of_leaves(self._leaves_of(X))
        n_rows, n_trees = columns.shape
        if self.sparse_output:
            kind = np.int32 if columns.size < 2**31 else np.int64  # as scipy would choose, without a copy
            ends = np.arange(0, columns.size + 1, n_trees, dtype=kind)
            indices = columns.reshape(-1).astype(kind, copy=False)
            shape = (n_rows, self._n_features_out)
            return sparse.csr_matrix((np.ones(columns.size), indices, ends), shape=shape)
        out = np.zeros((n_rows, self._n_features_out))
        np.put_along_axis(out, columns, 1.0, axis=1)
        return out

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names such as `randomtreesembedding_3_7`: leaf 7 of tree 3, by the numbers that `apply` returns."""
        check_is_fitted(self, "forest_")
        check_feature_names_in(self, input_features=input_features, generate_names=False)
        names = [
            f"randomtreesembedding_{tree}_{leaf}"
            for tree, leaves in enumerate(self._leaf_numbers())
            for leaf in leaves
        ]
        return np.asarray(names, dtype=object)

    @property
    def one_hot_encoder_(self) -> OneHotEncoder:
        """scikit-learn's encoder that makes of `apply` what `transform` returns."""
        check_is_fitted(self, "forest_")
        leaves = self._leaf_numbers()
        encoder = OneHotEncoder(categories=leaves, sparse_output=self.sparse_output)
        return encoder.fit(np.array([[own[0] for own in leaves]]))

    @property
    def estimators_(self) -> Members:
        """The trees as `DecisionTreeRegressor`, each made when it is requested."""
        check_is_fitted(self, "forest_")
        return Members(self)

    @property
    def estimators_samples_(self) -> list[RowArray]:
        """The rows of each tree, which are all."""
        check_is_fitted(self, "forest_")
        return [np.arange(self._n_rows) for _ in range(len(self.forest_))]

    @property
    def feature_importances_(self) -> FloatArray:
        """The share of each feature in what splits explain of a target of random numbers."""
        check_is_fitted(self, "forest_")
        total = self._importance_sum.sum()
        return self._importance_sum / total if total > 0 else self._importance_sum.copy()

    def split_counts(self) -> FloatArray:
        """How often each column is split on, over all trees."""
        check_is_fitted(self, "forest_")
        return split_counts_of(splits_of_forest(self.forest_), self.n_features_in_)

    @property
    def _n_features_out(self) -> int:
        return sum(map(len, self._leaf_numbers()))

    def _leaf_numbers(self) -> list[RowArray]:
        """The leaves of each tree, ascending."""
        return [np.flatnonzero(feature < 0) for feature in splits_of_forest(self.forest_)]

    def _first_nodes(self) -> RowArray:
        """Where the nodes of each tree begin, if they are counted over all trees; and their number."""
        return np.cumsum([0, *self.forest_.n_nodes.tolist()])

    def _columns_of_leaves(self, leaves: NDArray[np.uint32]) -> NDArray[np.int32]:
        """The column of each leaf; some rows after the other, whose indices stay in the processor's cache."""
        first, column_of_node = self._first_nodes()[:-1], self._column_of_node()
        columns = np.empty(leaves.shape, np.int32)
        step = max(1, _BLOCK_LEAVES // leaves.shape[1])
        for begin in range(0, len(leaves), step):
            rows = slice(begin, begin + step)
            np.take(column_of_node, leaves[rows] + first, out=columns[rows], mode="clip")
        return columns

    def _column_of_node(self) -> NDArray[np.int32]:
        """The column of each leaf, by its number over all trees."""
        features = np.concatenate(list(splits_of_forest(self.forest_)))
        return (np.cumsum(features < 0) - 1).astype(np.int32)

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> TrainingData:
        encoded, weight = prepare_table(self, X, sample_weight)
        numbers = np.empty(encoded.n_rows)
        _engine.row_numbers(encoded.values, encoded.n_levels, numbers, self._n_threads())
        target = Target("regression", numbers)
        self.n_outputs_, self._n_rows = 1, encoded.n_rows
        return TrainingData(encoded, self.encoder_, self.schema_, target, weight, weight)

    def _classes_per_output(self) -> NDArray[np.int32] | None:
        return None

    def _decoded(self, values: AnyArray) -> AnyArray:
        return values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        tags.target_tags.required = False
        return tags
