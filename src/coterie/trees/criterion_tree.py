"""What both decision trees share: parameters, growth by a criterion, and looking at the result."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MultiOutputMixin, clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from coterie._engine import grow_criterion_tree, pruning_path
from coterie._params import (
    ArrayLike,
    Integer,
    MappingLike,
    OneOf,
    Params,
    Real,
    Seed,
    Share,
    resolve_n_jobs,
    root_seed,
)
from coterie._storage import Fitted, expect
from coterie._typing import (
    AnyArray,
    FloatArray,
    Task,
)
from coterie._value_types import COUNT, array, instance
from coterie.data.prepare import TrainingData, prepare_prediction, prepare_training
from coterie.errors import InvalidInput
from coterie.explain.tree_models import ExplainedOutputs, ShapInputs
from coterie.explain.tree_models import explain as explain_trees
from coterie.fitting.estimator import Estimator
from coterie.fitting.fitted_state import TABLE_FITTED, class_counts, require, verify_columns
from coterie.trees.column_readings import readings_of
from coterie.trees.drawing import TreeDrawing, draw_tree
from coterie.trees.flat_tree import flat_tree
from coterie.trees.grown_tree import GrownTree
from coterie.trees.growth_rules import (
    classes_per_output,
    criterion_of,
    criterion_options,
    features_with_missing,
    in_units,
    max_features_of,
    refuse_impossible_counts,
    unit_of,
)
from coterie.trees.split_counts import split_counts_of
from coterie.trees.text import write_tree
from coterie.trees.tree_sum import TreeSum, as_matrix, link_of_leaves
from coterie.trees.words import words_of

TREE_FITTED: Fitted = {
    **TABLE_FITTED,
    "tree_": instance(GrownTree),
    "n_outputs_": COUNT,
    "max_features_": COUNT,
    "_saw_missing": array("b", 1),
}


def verify_tree(model: Any) -> None:
    """Refuse a decision tree from a file whose parts contradict each other."""
    verify_columns(model)
    if "tree_" not in vars(model):
        return
    require(model, "n_features_in_", "schema_", "encoder_", "n_outputs_")
    tree = model.tree_
    expect(tree.n_features == model.n_features_in_, "has a tree of another table")
    is_classifier = "classes_" in vars(model)
    n_outputs = sum(class_counts(model)) if is_classifier else int(model.n_outputs_)
    expect(tree.native.n_outputs == n_outputs, "has a tree with another number of outputs")
    if is_classifier:
        same = tree.class_counts is not None and tree.class_counts.tolist() == class_counts(model)
        expect(same, "has a tree of other classes than its own")
    else:
        expect(tree.class_counts is None, "has a tree of classes, and predicts numbers")


class BaseDecisionTree(MultiOutputMixin, Estimator):
    """A tree that splits where a criterion falls most; the base of `DecisionTreeClassifier` and `-Regressor`."""

    PARAMS: ClassVar[Params] = {
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
    _takes_any_table = True
    FITTED: ClassVar[Fitted] = TREE_FITTED
    _task: Task

    tree_: GrownTree

    def _train(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Check, prepare and grow."""
        with self._fitting(X, y):
            train = prepare_training(self, X, y, sample_weight, task=self._task, multi_output=True)
            if self.criterion == "poisson":
                refuse_impossible_counts(train.target.values)
            self._set_target(train)
            self.tree_ = self._grow(train)
            self._saw_missing = features_with_missing(train.encoded)

    def _set_target(self, train: TrainingData) -> None:
        """Set what the target determines: nothing, if it is numbers."""

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
            native = in_units(native, n_features, unit, squared=criterion_of(self) == "squared_error")
        grown = GrownTree(native, n_features, n_classes if len(n_classes) else None)
        return grown if self.ccp_alpha == 0 else grown.pruned(float(self.ccp_alpha))

    def _scores(self, X: Any) -> FloatArray:
        check_is_fitted(self, "tree_")
        return self.tree_.scores(prepare_prediction(self, X), self._n_threads())

    _explained_outputs: ExplainedOutputs
    explain = explain_trees

    def _shap_inputs(self, X: Any, background: Any) -> ShapInputs:
        check_is_fitted(self, "tree_")
        encoded = prepare_prediction(self, X)
        others = None if background is None else prepare_prediction(self, background)
        forest = self.tree_.as_forest()
        start = np.zeros(forest.n_outputs)
        return ShapInputs(
            forest, encoded, 1.0, start, self.n_features_in_, self._n_threads(), background=others
        )

    def apply(self, X: Any) -> NDArray[np.int64]:
        """The number of the leaf that each row ends in."""
        check_is_fitted(self, "tree_")
        return self.tree_.leaves(prepare_prediction(self, X), self._n_threads())

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

    def split_counts(self) -> FloatArray:
        """How often each column is split on."""
        check_is_fitted(self, "tree_")
        return split_counts_of([self.tree_.native.feature], self.n_features_in_)

    def tree_sum(self) -> TreeSum:
        """The tree as parts that other formats are written from: readings of columns, plain arrays, and a link."""
        check_is_fitted(self, "tree_")
        native = self.tree_.native
        return TreeSum(
            type(self).__name__,
            readings_of(self.schema_, self.encoder_),
            [flat_tree(native)],
            np.zeros(native.n_outputs),
            *link_of_leaves(self),
        )

    def tree_features(self, X: Any) -> FloatArray:
        """The matrix that the tree sees of a table: categories are codes, NaN is where a value is missing."""
        check_is_fitted(self, "tree_")
        return as_matrix(prepare_prediction(self, X))

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
