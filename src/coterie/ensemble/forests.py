"""Forests with the parameters of scikit-learn's."""

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn import ensemble as theirs

from coterie._typing import FloatArray
from coterie.ensemble._mirror import MemberSequence, Mirror, as_array, mirrors
from coterie.errors import InvalidInput, InvalidParameter
from coterie.fitting.estimator import FitSignature
from coterie.fitting.warm_start import PreviousFit
from coterie.forests import extra_trees, random_forest
from coterie.forests.base import ForestState
from coterie.forests.plan import BagPlan


class ForestMirror(Mirror, MemberSequence):
    """What scikit-learn's forests do otherwise than ours: a warm start may see other rows."""

    interaction_cst = None
    features_per = "split"
    prune = None
    keep_rows = True
    categorical_features = "auto"
    unknown_category = "missing"
    checkpoint = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees; a row of weight 2 is drawn as two rows are."""
        own: Any = self
        if sparse.issparse(y):
            raise InvalidInput(
                "sparse multilabel-indicator for y is not supported.", parameter="y", allowed="an array"
            )
        n_known = len(own.forest_) if own.warm_start and hasattr(self, "forest_") else 0
        if n_known == own.n_estimators and (not own.oob_score or hasattr(self, "oob_score_")):
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                UserWarning,
                stacklevel=2,
            )
            return self
        parent: Any = super()
        parent.fit(X, as_array(y), sample_weight)
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        own: Any = self
        if not own.bootstrap and own.max_samples is not None:
            raise InvalidParameter(
                "`max_sample` cannot be set if `bootstrap=False`. Either switch to `bootstrap=True` or set "
                "`max_sample=None`.",
                parameter="max_samples",
                received=own.max_samples,
                allowed="None if bootstrap=False",
            )

    def _check_continued(
        self, previous: PreviousFit[ForestState], signature: FitSignature, bag: BagPlan
    ) -> ForestState:
        """The state of the last fit; of one to other rows the trees are kept, and not what it knew of rows."""
        state = previous.state
        if previous.signature.digests == signature.digests and state.bag == bag:
            return state
        return replace(state, bag=bag, memories=None, out_of_bag=None)

    @property
    def estimator_(self) -> Any:
        """The kind of tree that members are."""
        return type(self.estimators_[0])()


class ForestClassifierMirror(ForestMirror):
    """What is known out of bag of several outputs is one array."""

    @property
    def oob_decision_function_(self) -> FloatArray:
        """Probabilities out of bag, shape (n_rows, n_classes) or (n_rows, n_classes, n_outputs)."""
        parent: Any = super()
        known = parent.oob_decision_function_
        if not isinstance(known, list):
            return np.asarray(known)
        n_classes = max(own.shape[1] for own in known)
        padded = [np.pad(own, ((0, 0), (0, n_classes - own.shape[1]))) for own in known]
        return np.stack(padded, axis=2)


def without_friedman(criterion: Any) -> Any:
    """`criterion="friedman_mse"` is deprecated in scikit-learn, and one with the squared error."""
    if not isinstance(criterion, str) or criterion != "friedman_mse":
        return criterion
    warnings.warn(
        'Value `"friedman_mse"` for `criterion` is deprecated and will be removed in 1.11. It maps to '
        '`"squared_error"`, which orders splits alike.',
        FutureWarning,
        stacklevel=3,
    )
    return "squared_error"


@mirrors(theirs.RandomForestClassifier)
class RandomForestClassifier(ForestClassifierMirror, random_forest.RandomForestClassifier):
    """A random forest for classes, as `sklearn.ensemble.RandomForestClassifier` is called.

    Parameters, defaults and attributes are scikit-learn's; `coterie.RandomForestClassifier` is the same forest with
    more of them. Text, categories and missing values are taken as they are.
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: Any = None,
    ) -> None:
        self._store(locals())


@mirrors(theirs.RandomForestRegressor)
class RandomForestRegressor(ForestMirror, random_forest.RandomForestRegressor):
    """A random forest for numbers, as `sklearn.ensemble.RandomForestRegressor` is called.

    Parameters, defaults and attributes are scikit-learn's: splits choose from all features, where
    `coterie.RandomForestRegressor` takes a third of them. Text, categories and missing values are taken as they are.
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: Any = None,
    ) -> None:
        criterion = without_friedman(criterion)
        self._store(locals())


@mirrors(theirs.ExtraTreesClassifier)
class ExtraTreesClassifier(ForestClassifierMirror, extra_trees.ExtraTreesClassifier):
    """Extremely randomised trees for classes, as `sklearn.ensemble.ExtraTreesClassifier` is called.

    Parameters, defaults and attributes are scikit-learn's. Text, categories and missing values are taken as they are.
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: Any = None,
    ) -> None:
        self._store(locals())


@mirrors(theirs.ExtraTreesRegressor)
class ExtraTreesRegressor(ForestMirror, extra_trees.ExtraTreesRegressor):
    """Extremely randomised trees for numbers, as `sklearn.ensemble.ExtraTreesRegressor` is called.

    Parameters, defaults and attributes are scikit-learn's. Text, categories and missing values are taken as they are.
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: Any = None,
    ) -> None:
        criterion = without_friedman(criterion)
        self._store(locals())
