"""Extremely randomised trees: forests whose thresholds are drawn at random, too."""

from typing import Any, Literal

from coterie._documentation import documented
from coterie._storage import storable_estimator
from coterie._typing import (
    Auto,
    CategoricalFeatures,
    ClassCriterion,
    ClassWeight,
    FeaturesPer,
    InteractionConstraints,
    MaxFeatures,
    NumberCriterion,
    SeedLike,
    UnknownCategory,
)
from coterie.forests._classifier_base import BaseForestClassifier
from coterie.forests._fitted import verify_forest
from coterie.forests._parameter_docs import forest_texts
from coterie.forests._regressor_base import BaseForestRegressor


@storable_estimator(verify=verify_forest)
@documented(
    forest_texts(
        max_features='Default "sqrt":\n        the square root of their number, as in forests.',
        bootstrap="Default False: thresholds at random make trees differ\n        enough.",
    )
)
class ExtraTreesClassifier(BaseForestClassifier):
    """Extremely randomised trees for classes.

    Each split draws one threshold for each of a few features, and keeps the best of those. Single trees are worse than
    those of a random forest, but differ more, so that their mean is as good, smoother, and found faster.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import ExtraTreesClassifier
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> y = np.where(X[:, 0] > 49, "high", "low")
    >>> model = ExtraTreesClassifier(random_state=0).fit(X, y)
    >>> model.predict([[10.0], [90.0]])
    array(['low', 'high'], dtype='<U4')

    References
    ----------
    Geurts, Ernst and Wehenkel, Extremely randomized trees (2006).
    """

    _random_splits = True

    def __init__(
        self,
        n_estimators: int | Auto = 100,
        *,
        criterion: ClassCriterion = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool | Literal["balanced", "partition"] = False,
        oob_score: Any = "auto",
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: ClassWeight | Literal["balanced_subsample"] = None,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: Any = None,
        interaction_cst: InteractionConstraints = None,
        features_per: FeaturesPer = "split",
        prune: Literal["oob"] | None = None,
        keep_rows: bool = True,
        categorical_features: CategoricalFeatures = "auto",
        unknown_category: UnknownCategory = "missing",
        checkpoint: Any = None,
    ) -> None:
        self._store(locals())


@storable_estimator(verify=verify_forest)
@documented(
    forest_texts(
        max_features="Default 1.0: all\n        of them, as Geurts and others found best.",
        bootstrap="Default False: thresholds at\n        random make trees differ enough.",
    )
)
class ExtraTreesRegressor(BaseForestRegressor):
    """Extremely randomised trees for numbers.

    Each split draws one threshold for each feature, and keeps the best of those. Single trees are worse than those of a
    random forest, but differ more, so that their mean is as good, smoother, and found faster.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import ExtraTreesRegressor
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> model = ExtraTreesRegressor(random_state=0).fit(X, X[:, 0] > 49)
    >>> model.predict([[10.0], [90.0]])
    array([0., 1.])

    References
    ----------
    Geurts, Ernst and Wehenkel, Extremely randomized trees (2006).
    """

    _random_splits = True

    def __init__(
        self,
        n_estimators: int | Auto = 100,
        *,
        criterion: NumberCriterion = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool | Literal["partition"] = False,
        oob_score: Any = "auto",
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: Any = None,
        interaction_cst: InteractionConstraints = None,
        features_per: FeaturesPer = "split",
        prune: Literal["oob"] | None = None,
        keep_rows: bool = True,
        categorical_features: CategoricalFeatures = "auto",
        unknown_category: UnknownCategory = "missing",
        checkpoint: Any = None,
    ) -> None:
        self._store(locals())
