"""What both decision trees share: parameters, growth by a criterion, and looking at the result."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from coterie._engine import grow_criterion_tree, pruning_path, usable_threads
from coterie._params import (
    ArrayLike,
    Integer,
    MappingLike,
    OneOf,
    Params,
    Real,
    Seed,
    check_params,
    resolve_n_jobs,
)
from coterie._reported import Reported
from coterie._seeds import root_seed
from coterie._typing import (
    AnyArray,
    CategoricalFeatures,
    ClassCriterion,
    FloatArray,
    MaxFeatures,
    NumberCriterion,
    SeedLike,
    Task,
    TreeSplitter,
    UnknownCategory,
)
from coterie.data.any_table import TakesAnyTable
from coterie.data.prepare import TrainingData, prepare_prediction, prepare_training
from coterie.errors import InvalidInput
from coterie.explain.explained import Explained
from coterie.explain.shap import TreeGame
from coterie.trees.drawing import TreeDrawing, draw_tree
from coterie.trees.grown_tree import GrownTree
from coterie.trees.growth_rules import (
    classes_per_output,
    criterion_options,
    features_with_missing,
    in_units,
    refuse_impossible_counts,
    unit_of,
)
from coterie.trees.limits import Share, max_features_of
from coterie.trees.text import write_tree
from coterie.trees.words import words_of

__all__ = ["CriterionTree"]


class CriterionTree(Reported, Explained, TakesAnyTable, MultiOutputMixin, BaseEstimator):
    """A tree that splits where a criterion falls most; the base of `DecisionTreeClassifier` and `-Regressor`."""

    PARAMS: Params = {
        "splitter": [OneOf("best", "random")],
        "max_depth": [Integer(1), None],
        "min_samples_split": [Integer(2), Share(with_one=True)],
        "min_samples_leaf": [Integer(1), Share(with_one=False)],
        "min_weight_fraction_leaf": [Real(0, 0.5)],
        "max_features": [Integer(1), Share(with_one=True), OneOf("sqrt", "log2"), None],
        "max_leaf_nodes": [Integer(2), None],
        "random_state": [Seed()],
        "min_impurity_decrease": [Real(0, None)],
        "ccp_alpha": [Real(0, None)],
        "monotonic_cst": [ArrayLike(), MappingLike(), None],
        "categorical_features": [OneOf("auto"), ArrayLike(), None],
        "unknown_category": [OneOf("missing", "error")],
        "n_jobs": [Integer(), None],
    }
    _task: Task

    criterion: ClassCriterion | NumberCriterion
    splitter: TreeSplitter
    max_depth: int | None
    min_samples_split: float
    min_samples_leaf: float
    min_weight_fraction_leaf: float
    max_features: MaxFeatures
    random_state: SeedLike
    max_leaf_nodes: int | None
    min_impurity_decrease: float
    ccp_alpha: float
    monotonic_cst: Any
    categorical_features: CategoricalFeatures
    unknown_category: UnknownCategory
    n_jobs: int | None
    tree_: GrownTree

    def _train(self, X: Any, y: Any, sample_weight: Any) -> TrainingData:
        """Check, prepare and grow. An earlier tree goes first: a fit that is interrupted leaves none."""
        check_params(self)
        self.__dict__.pop("tree_", None)
        train = prepare_training(self, X, y, sample_weight, task=self._task, multi_output=True)
        if self.criterion == "poisson":
            refuse_impossible_counts(train.target.values)
        grown = self._grow(train)
        self._saw_missing = features_with_missing(train.encoded)
        self.tree_ = grown
        return train

    def _grow(self, train: TrainingData) -> GrownTree:
        n_rows, n_features = train.encoded.n_rows, train.encoded.n_features
        n_classes = classes_per_output(train)
        self.n_outputs_ = train.target.n_outputs
        self.max_features_ = max_features_of(self.max_features, n_features)
        weight = np.zeros(0) if train.weight is None else train.weight
        y = np.ascontiguousarray(train.target.values, dtype=np.float64).ravel()
        unit = 1.0 if len(n_classes) else unit_of(y)
        options = criterion_options(
            self,
            train,
            unit=unit,
            random_splits=self.splitter == "random",
            total_weight=n_rows if train.weight is None else weight.sum(),
            max_features=self.max_features_,
            seed=root_seed(self.random_state),
            n_threads=resolve_n_jobs(self.n_jobs),
        )
        native = grow_criterion_tree(
            train.encoded.values,
            train.encoded.n_levels,
            y if unit == 1.0 else y / unit,
            train.target.n_outputs,
            n_classes,
            weight,
            options,
        )
        if unit != 1.0:
            native = in_units(native, n_features, unit, squared=self.criterion == "squared_error")
        grown = GrownTree(native, n_features, n_classes if len(n_classes) else None)
        return grown if self.ccp_alpha == 0 else grown.pruned(float(self.ccp_alpha))

    def _scores(self, X: Any) -> FloatArray:
        check_is_fitted(self, "tree_")
        return self.tree_.scores(prepare_prediction(self, X), self._threads())

    def _game_of(self, X: Any, background: Any) -> TreeGame:
        check_is_fitted(self, "tree_")
        encoded = prepare_prediction(self, X)
        others = None if background is None else prepare_prediction(self, background)
        forest = self.tree_.as_forest()
        start = np.zeros(forest.n_outputs)
        return TreeGame(forest, encoded, 1.0, start, self.n_features_in_, self._threads(), background=others)

    def _threads(self) -> int:
        return usable_threads(resolve_n_jobs(self.n_jobs))

    def apply(self, X: Any) -> NDArray[np.int64]:
        """The number of the leaf that each row ends in."""
        check_is_fitted(self, "tree_")
        return self.tree_.leaves(prepare_prediction(self, X), self._threads())

    def decision_path(self, X: Any) -> Any:
        """The nodes that each row passes: a CSR matrix of shape (n_rows, n_nodes) with ones on the way."""
        return self.tree_.paths(self.apply(X))

    def get_depth(self) -> int:
        """The steps from the root to the deepest leaf."""
        check_is_fitted(self, "tree_")
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        check_is_fitted(self, "tree_")
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> FloatArray:
        """The share of each feature in the total decrease of impurity on the training rows.

        Features with many distinct values get more than they deserve; permutation importances on
        held-out rows do not have this fault.
        """
        check_is_fitted(self, "tree_")
        return self.tree_.importances()

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """The trees that pruning goes through, from the whole tree to the root alone.

        Returns
        -------
        Bunch with `ccp_alphas`, at which each next split is pruned, and `impurities`, the total impurity of
        the leaves after that.
        """
        whole = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight=sample_weight)
        alphas, impurities = pruning_path(whole.tree_.native)
        return Bunch(ccp_alphas=alphas, impurities=impurities)

    def to_text(
        self,
        feature_names: AnyArray | list[str] | None = None,
        *,
        max_depth: int | None = None,
        decimals: int = 3,
    ) -> str:
        """The tree as indented text; the first line under a condition is where it holds.

        Parameters
        ----------
        feature_names : names to use instead of those of the columns
        max_depth : splits below this depth are counted, not shown
        decimals : digits after the point
        """
        check_is_fitted(self, "tree_")
        return write_tree(self.tree_, words_of(self, feature_names, decimals=decimals), max_depth=max_depth)

    def to_svg(
        self,
        feature_names: AnyArray | list[str] | None = None,
        *,
        max_depth: int | None = None,
        decimals: int = 3,
        row: Any = None,
    ) -> TreeDrawing:
        """The tree as a picture, which notebooks show and `save` writes to a file.

        Boxes are coloured by the prediction: a hue for each class, stronger where the node is purer, or from
        light to dark with the value. A dashed line is the way of missing values.

        Parameters
        ----------
        feature_names : names to use instead of those of the columns
        max_depth : splits below this depth are not shown
        decimals : digits after the point
        row : a table of one row, whose way through the tree is drawn with thick lines
        """
        check_is_fitted(self, "tree_")
        words = words_of(self, feature_names, decimals=decimals)
        path = () if row is None else self._path_of(row)
        return draw_tree(self.tree_, words, max_depth=max_depth, path=path)

    def _path_of(self, row: Any) -> set[int]:
        ways = self.decision_path(row)
        if ways.shape[0] != 1:
            allowed = "a table of one row"
            raise InvalidInput(
                f"row: expected {allowed}, received one of {ways.shape[0]}.",
                parameter="row",
                received=ways.shape[0],
                allowed=allowed,
            )
        return set(ways.indices.tolist())
