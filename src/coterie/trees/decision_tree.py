"""Decision trees for classes and for numbers, with categories and missing values as they are."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from coterie._documentation import documented
from coterie._params import ArrayLike, MappingLike, OneOf, Params
from coterie._storage import Fitted, storable_estimator
from coterie._typing import (
    AnyArray,
    CategoricalFeatures,
    ClassCriterion,
    ClassWeight,
    FloatArray,
    MaxFeatures,
    NumberCriterion,
    SeedLike,
    TreeSplitter,
    UnknownCategory,
)
from coterie.data.prepare import TrainingData
from coterie.data.streaming.prediction import by_batches
from coterie.explain.tree_models import class_outputs
from coterie.fitting.fitted_state import CLASSES_FITTED
from coterie.trees._parameter_docs import tree_texts
from coterie.trees.criterion_tree import TREE_FITTED, BaseDecisionTree, verify_tree


@storable_estimator(verify=verify_tree)
@documented(tree_texts)
class DecisionTreeClassifier(ClassifierMixin, BaseDecisionTree):
    """A tree of splits that ends in the classes of the training rows.

    Each split divides the rows in two so that the classes on the two sides are purer. Every distinct value is
    tried as a threshold, categories are split into sets, and missing values go to whichever side serves
    better. Trees equal scikit-learn's where theirs are deterministic; of features that split equally well the
    first one is taken, so the tree does not depend on `random_state` unless something is drawn.

    Examples
    --------
    >>> from coterie.trees import DecisionTreeClassifier
    >>> fruit = {"weight": [150, 170, 140, 130, 7], "skin": ["smooth", "smooth", "rough", "rough", "smooth"]}
    >>> tree = DecisionTreeClassifier().fit(fruit, ["apple", "apple", "orange", "orange", "cherry"])
    >>> print(tree.to_text())
    weight <= 145
      weight <= 68.5
        leaf cherry 100% (1 row)
        leaf orange 100% (2 rows)
      leaf apple 100% (2 rows)

    References
    ----------
    Breiman, Friedman, Olshen and Stone (1984), Classification and Regression Trees.
    """

    PARAMS: ClassVar[Params] = {
        **BaseDecisionTree.PARAMS,
        "criterion": [OneOf("gini", "entropy", "log_loss")],
        "class_weight": [OneOf("balanced"), MappingLike(), ArrayLike(), None],
    }
    FITTED: ClassVar[Fitted] = {**TREE_FITTED, **CLASSES_FITTED}
    _task = "classification"

    def __init__(
        self,
        *,
        criterion: ClassCriterion = "gini",
        splitter: TreeSplitter = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = None,
        random_state: SeedLike = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: ClassWeight = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: CategoricalFeatures = "auto",
        unknown_category: UnknownCategory = "missing",
        n_jobs: int | None = None,
    ) -> None:
        self._store(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : data frame, Arrow table, array, sparse matrix or dict of columns
        y : labels of any type, of shape (n_rows,) or (n_rows, n_outputs)
        sample_weight : array of shape (n_rows,), default=None
            How often each row counts; rows of weight 0 are left out.
        """
        self._train(X, y, sample_weight)
        return self

    def _set_target(self, train: TrainingData) -> None:
        assert train.target.classes is not None
        self.classes_ = train.target.classes
        classes = self._all_classes()
        one = train.target.n_outputs == 1
        self.n_classes_ = len(classes[0]) if one else np.array([len(own) for own in classes])

    @by_batches
    def predict(self, X: Any) -> AnyArray:
        """The most frequent class of the leaf that each row reaches; the first one on a tie."""
        scores = self._scores(X)
        shares = self.tree_.by_output(scores)
        labels: list[AnyArray] = [
            own[part.argmax(axis=1)] for own, part in zip(self._all_classes(), shares, strict=True)
        ]
        if len(labels) == 1:
            return labels[0]
        same_kind = len({own.dtype.kind for own in labels}) == 1
        return np.stack(labels if same_kind else [own.astype(object) for own in labels], axis=1)

    @by_batches
    def predict_proba(self, X: Any) -> FloatArray | list[FloatArray]:
        """The class shares of the leaf that each row reaches; a list of them for several outputs."""
        scores = self._scores(X)
        parts = self.tree_.by_output(scores)
        return parts[0] if len(parts) == 1 else parts

    @by_batches
    def predict_log_proba(self, X: Any) -> FloatArray | list[FloatArray]:
        """The logarithm of `predict_proba`; minus infinity where a class is absent."""
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(part) for part in shares] if isinstance(shares, list) else np.log(shares)

    def _explained_outputs(self) -> tuple[tuple[Any, ...], str]:
        return class_outputs(self.classes_), "probability"

    def _all_classes(self) -> list[AnyArray]:
        return self.classes_ if isinstance(self.classes_, list) else [self.classes_]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


@storable_estimator(verify=verify_tree)
@documented(tree_texts)
class DecisionTreeRegressor(RegressorMixin, BaseDecisionTree):
    """A tree of splits that ends in a number: the mean or the median of the training rows there.

    Each split divides the rows in two so that the numbers on the two sides are closer together. Every distinct
    value is tried as a threshold, categories are split into sets, and missing values go to whichever side
    serves better. Trees equal scikit-learn's where theirs are deterministic; of features that split equally
    well the first one is taken, so the tree does not depend on `random_state` unless something is drawn.

    Examples
    --------
    >>> from coterie.trees import DecisionTreeRegressor
    >>> rides = {"hour": [7, 8, 12, 17, 8, 17], "weather": ["dry", "dry", "dry", "dry", "rain", "snow"]}
    >>> tree = DecisionTreeRegressor(max_depth=2).fit(rides, [90, 80, 40, 90, 20, 10])
    >>> print(tree.to_text(decimals=1))
    weather is not dry
      hour <= 12.5
        leaf 20 (1 row)
        leaf 10 (1 row)
      hour <= 10
        leaf 85 (2 rows)
        leaf 65 (2 rows)

    References
    ----------
    Breiman, Friedman, Olshen and Stone (1984), Classification and Regression Trees.
    """

    PARAMS: ClassVar[Params] = {
        **BaseDecisionTree.PARAMS,
        "criterion": [OneOf("squared_error", "friedman_mse", "absolute_error", "poisson")],
    }
    _task = "regression"

    def __init__(
        self,
        *,
        criterion: NumberCriterion = "squared_error",
        splitter: TreeSplitter = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = None,
        random_state: SeedLike = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: CategoricalFeatures = "auto",
        unknown_category: UnknownCategory = "missing",
        n_jobs: int | None = None,
    ) -> None:
        self._store(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : data frame, Arrow table, array, sparse matrix or dict of columns
        y : numbers of shape (n_rows,) or (n_rows, n_outputs)
        sample_weight : array of shape (n_rows,), default=None
            How often each row counts; rows of weight 0 are left out.
        """
        self._train(X, y, sample_weight)
        return self

    def _explained_outputs(self) -> tuple[tuple[Any, ...], str]:
        several = tuple(f"output {place}" for place in range(self.n_outputs_))
        return (None,) if self.n_outputs_ == 1 else several, "prediction"

    @by_batches
    def predict(self, X: Any) -> FloatArray:
        """The prediction of the leaf that each row reaches."""
        scores = self._scores(X)
        return scores[:, 0] if self.n_outputs_ == 1 else scores
