"""What both decision trees share: parameters, growth by a criterion, and looking at the result."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from coterie._engine import CriterionOptions, Tree, grow_criterion_tree, pruning_path, usable_threads
from coterie._params import ArrayLike, MappingLike, OneOf, Params, Real, Whole, check_params, resolve_n_jobs
from coterie._params import SeedLike as SeedRule
from coterie._seeds import root_seed
from coterie._typing import (
    AnyArray,
    BoolArray,
    CategoricalFeatures,
    FloatArray,
    SeedLike,
    Task,
    UnknownCategory,
)
from coterie.data.encoding import Encoded
from coterie.data.prepare import TrainingData, prepare_prediction, prepare_training
from coterie.errors import InvalidInput, InvalidParameter
from coterie.losses.base import power_of_two_above
from coterie.trees.drawing import TreeDrawing, draw_tree
from coterie.trees.grown_tree import GrownTree
from coterie.trees.limits import Share, max_features_of, monotone_of, rows_of
from coterie.trees.text import write_tree
from coterie.trees.words import words_of

__all__ = ["CriterionTree"]

_MOST_DEPTH = 2**31


class CriterionTree(MultiOutputMixin, BaseEstimator):
    """A tree that splits where a criterion falls most; the base of `DecisionTreeClassifier` and `-Regressor`."""

    PARAMS: Params = {
        "splitter": [OneOf("best", "random")],
        "max_depth": [Whole(1), None],
        "min_samples_split": [Whole(2), Share(with_one=True)],
        "min_samples_leaf": [Whole(1), Share(with_one=False)],
        "min_weight_fraction_leaf": [Real(0, 0.5)],
        "max_features": [Whole(1), Share(with_one=True), OneOf("sqrt", "log2"), None],
        "max_leaf_nodes": [Whole(2), None],
        "random_state": [SeedRule()],
        "min_impurity_decrease": [Real(0, None)],
        "ccp_alpha": [Real(0, None)],
        "monotonic_cst": [ArrayLike(), MappingLike(), None],
        "categorical_features": [OneOf("auto"), ArrayLike(), None],
        "unknown_category": [OneOf("missing", "error")],
        "n_jobs": [Whole(), None],
    }
    _task: Task

    criterion: str
    splitter: str
    max_depth: int | None
    min_samples_split: float
    min_samples_leaf: float
    min_weight_fraction_leaf: float
    max_features: str | float | None
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
            _refuse_impossible_counts(train.target.values)
        grown = self._grow(train)
        self._saw_missing = _features_with_missing(train.encoded)
        self.tree_ = grown
        return train

    def _grow(self, train: TrainingData) -> GrownTree:
        n_rows, n_features = train.encoded.n_rows, train.encoded.n_features
        n_classes = _classes_per_output(train)
        self.n_outputs_ = train.target.n_outputs
        self.max_features_ = max_features_of(self.max_features, n_features)
        weight = np.zeros(0) if train.weight is None else train.weight
        total_weight = n_rows if train.weight is None else weight.sum()
        y = np.ascontiguousarray(train.target.values, dtype=np.float64).ravel()
        unit = 1.0 if len(n_classes) else _unit_of(y)
        squared = self.criterion == "squared_error"
        options = CriterionOptions(
            criterion=self.criterion,
            random_splits=self.splitter == "random",
            max_depth=0 if self.max_depth is None else min(int(self.max_depth), _MOST_DEPTH),
            min_rows_split=rows_of(self.min_samples_split, n_rows, at_least=2),
            min_rows_leaf=rows_of(self.min_samples_leaf, n_rows, at_least=1),
            min_weight_leaf=self.min_weight_fraction_leaf * total_weight,
            min_impurity_decrease=min(
                float(self.min_impurity_decrease) / unit / (unit if squared else 1), 1e300
            ),
            max_features=min(self.max_features_, n_features),
            max_leaves=0 if self.max_leaf_nodes is None else min(int(self.max_leaf_nodes), _MOST_DEPTH),
            monotone=self._monotone(train, n_classes),
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
            native = _in_units(native, n_features, unit, squared=squared)
        grown = GrownTree(native, n_features, n_classes if len(n_classes) else None)
        return grown if self.ccp_alpha == 0 else grown.pruned(float(self.ccp_alpha))

    def _monotone(self, train: TrainingData, n_classes: NDArray[np.int32]) -> NDArray[np.int8]:
        if self.monotonic_cst is None:
            return np.zeros(0, dtype=np.int8)
        if train.target.n_outputs > 1:
            raise InvalidParameter(
                "Monotonicity constraints are not supported with multiple outputs: y has "
                f"{train.target.n_outputs} columns. Fit one tree for each."
            )
        if len(n_classes) and n_classes[0] > 2:
            raise InvalidParameter(
                f"Monotonicity constraints are not supported with multiclass classification: y has {n_classes[0]} "
                "classes."
            )
        monotone = monotone_of(self.monotonic_cst, train.schema, train.encoded.n_levels > 0)
        # The user speaks of the second class; the engine bounds the share of the first.
        return -monotone if len(n_classes) else monotone

    def _scores(self, X: Any) -> FloatArray:
        check_is_fitted(self, "tree_")
        return self.tree_.scores(prepare_prediction(self, X), self._threads())

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
        """The tree as indented text; the first line under a question is where its answer is yes.

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
    ) -> TreeDrawing:
        """The tree as a picture, which notebooks show and `save` writes to a file.

        Boxes are coloured by the answer: a hue for each class, stronger where the node is purer, or from
        light to dark with the value. A dashed line is the way of missing values.

        Parameters
        ----------
        feature_names : names to use instead of those of the columns
        max_depth : splits below this depth are not shown
        decimals : digits after the point
        """
        check_is_fitted(self, "tree_")
        return draw_tree(self.tree_, words_of(self, feature_names, decimals=decimals), max_depth=max_depth)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _refuse_impossible_counts(values: FloatArray) -> None:
    """Poisson deviance is about counts and rates: none negative, and some positive for each output."""
    if (values < 0).any():
        row = int(np.argwhere(values < 0)[0][0])
        raise InvalidInput(
            "Some value(s) of y are negative which is not allowed for Poisson regression: "
            f"row {row} is {values[row]}. Use criterion='squared_error' for such targets."
        )
    totals = np.atleast_1d(values.sum(axis=0))
    if (totals <= 0).any():
        raise InvalidInput(
            "Sum of y is not positive which is necessary for Poisson regression: all values of output "
            f"{int(np.argmin(totals))} are zero."
        )


def _classes_per_output(train: TrainingData) -> NDArray[np.int32]:
    """Empty for regression."""
    classes = train.target.classes
    if classes is None:
        return np.zeros(0, dtype=np.int32)
    outputs = classes if isinstance(classes, list) else [classes]
    return np.array([len(own) for own in outputs], dtype=np.int32)


def _unit_of(y: FloatArray) -> float:
    """1, or for targets whose squares leave the range of floats, a power of two that brings them back."""
    largest = float(np.abs(y).max(initial=0.0))
    return 1.0 if largest == 0 or 1e-100 < largest < 1e100 else power_of_two_above(largest)


def _in_units(native: Tree, n_features: int, unit: float, *, squared: bool) -> Tree:
    """The tree of `y / unit` as the tree of `y`; impurities too large for a float become infinite."""
    state = native.state()
    with np.errstate(over="ignore"):
        state["value"] = state["value"] * unit
        for name in ("impurity", "gain"):
            state[name] = state[name] * unit * (unit if squared else 1.0)
    return Tree.from_state(state, n_features)


def _features_with_missing(encoded: Encoded) -> BoolArray:
    """Which features had missing values in training; drawings show the way of missing values for these."""
    columns = encoded.values if isinstance(encoded.values, list) else encoded.values.T
    found = np.zeros(encoded.n_features, dtype=bool)
    for feature, column in enumerate(columns):
        missing = column < 0 if encoded.n_levels[feature] else np.isnan(column)
        found[feature] = missing.any()
    return found
