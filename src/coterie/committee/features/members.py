"""Learners that generate their own features: from the rows they are fitted to, whichever these are."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from coterie._storage import Fitted, storable_estimator
from coterie._typing import AnyArray, FloatArray, SeedLike, Task
from coterie._value_types import MODEL, instance
from coterie.committee.features.generated_features import GeneratedFeatures
from coterie.data.prepare import read_table
from coterie.explain.tree_models import gains_of
from coterie.fitting.estimator import forget, set_any_table
from coterie.members.weight_parameter import weight_params


class _WithGeneratedFeatures(BaseEstimator):
    """A learner on a table and the columns that were generated from it."""

    FITTED: ClassVar[Fitted] = {"features_": instance(GeneratedFeatures), "model_": MODEL}
    _task: ClassVar[Task]

    def __init__(self, estimator: Any, max_features: int = 12, random_state: SeedLike = None) -> None:
        self.estimator = estimator
        self.max_features = max_features
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        forget(self)
        features = GeneratedFeatures(
            self.max_features,
            task=self._task,
            n_jobs=getattr(self.estimator, "n_jobs", None),
            random_state=self.random_state,
        )
        made = features.fit_transform(X, y, sample_weight, groups=groups)
        params = weight_params(self.estimator, sample_weight)
        if groups is not None and has_fit_parameter(self.estimator, "groups"):
            params["groups"] = groups
        self.model_ = clone(self.estimator).fit(made, y, **params)
        self.features_ = features
        return self

    def predict(self, X: Any) -> AnyArray:
        return np.asarray(self.model_.predict(self._made(X)))

    @property
    def feature_importances_(self) -> FloatArray:
        """What the model gained by each column of the table; a generated column counts for those it was made from."""
        check_is_fitted(self, "model_")
        gains = gains_of(self.model_)
        if gains is None:
            raise AttributeError(f"{type(self.model_).__name__} has no feature_importances_.")
        places = {name: place for place, name in enumerate(self.features_.get_feature_names_out())}
        total = np.zeros(int(self.features_.n_features_in_))
        for gain, made_from in zip(gains, self.features_.sources(), strict=True):
            for name in made_from:
                total[places[name]] += gain / len(made_from)
        return total

    def _made(self, X: Any) -> Any:
        check_is_fitted(self, "model_")
        read_table(X)
        return self.features_.transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        set_any_table(tags)
        return tags


@storable_estimator("committee.FeaturesClassifier")
class GeneratedFeaturesClassifier(ClassifierMixin, _WithGeneratedFeatures):
    """A classifier on a table and the columns that were generated from it."""

    _task: ClassVar[Task] = "classification"

    @property
    def classes_(self) -> AnyArray:
        return np.asarray(self.model_.classes_)

    def predict_proba(self, X: Any) -> FloatArray:
        return np.asarray(self.model_.predict_proba(self._made(X)))


@storable_estimator("committee.FeaturesRegressor")
class GeneratedFeaturesRegressor(RegressorMixin, _WithGeneratedFeatures):
    """A regressor on a table and the columns that were generated from it."""

    _task: ClassVar[Task] = "regression"
