"""Random forests: trees that each see other rows and other features, and whose predictions are averaged."""

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
        max_features='Default "sqrt":\n        the square root of their number, as Breiman found useful.',
        bootstrap="Default True: trees differ, and rows are left out.",
    )
)
class RandomForestClassifier(BaseForestClassifier):
    """A random forest for classes.

    Each tree grows on rows drawn with replacement, and each of its splits chooses from a few features drawn at random.
    The mean of many such trees is steadier than any of them. About 37 % of the rows are out of the bag of a tree, and
    everything that is called out of bag here is what trees predict for rows they did not see.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import RandomForestClassifier
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> y = np.where(X[:, 0] > 49, "high", "low")
    >>> model = RandomForestClassifier(random_state=0).fit(X, y)
    >>> model.predict([[10.0], [90.0]])
    array(['low', 'high'], dtype='<U4')
    >>> model.oob_score_ > 0.95
    True

    References
    ----------
    Breiman, Random forests (2001).
    """

    _random_splits = False

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
        bootstrap: bool | Literal["balanced", "partition"] = True,
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
        max_features="Default: a third,\n        as Breiman found useful; scikit-learn takes all, which is bagging.",
        bootstrap="Default True: trees differ,\n        and rows are left out.",
    )
)
class RandomForestRegressor(BaseForestRegressor):
    """A random forest for numbers.

    Each tree grows on rows drawn with replacement, and each of its splits chooses from a few features drawn at random.
    The mean of many such trees is steadier than any of them. About 37 % of the rows are out of the bag of a tree, and
    everything that is called out of bag here is what trees predict for rows they did not see.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import RandomForestRegressor
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> model = RandomForestRegressor(random_state=0).fit(X, X[:, 0] > 49)
    >>> model.predict([[10.0], [90.0]]).round(2)
    array([0., 1.])
    >>> model.predict_quantiles([[10.0], [90.0]], [0.1, 0.9])
    array([[0., 0.],
           [1., 1.]])

    References
    ----------
    Breiman, Random forests (2001).
    """

    _random_splits = False

    def __init__(
        self,
        n_estimators: int | Auto = 100,
        *,
        criterion: NumberCriterion = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = 1 / 3,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool | Literal["partition"] = True,
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
