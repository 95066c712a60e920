"""The data layer keeps scikit-learn's contract: the smallest estimators behind our door pass its checks."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import Tags
from sklearn.utils.estimator_checks import check_estimator

from coterie.data.encoding import Encoded
from coterie.data.prepare import prepare_prediction, prepare_training


def as_matrix(encoded: Encoded) -> NDArray[np.float64]:
    """Every feature as float64, missing as NaN: what another library can read."""
    if isinstance(encoded.values, np.ndarray):
        return encoded.values.astype(np.float64)
    return np.stack([np.asarray(values, dtype=np.float64) for values in encoded.values], axis=1)


class _Plain(BaseEstimator):
    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


class PlainClassifier(ClassifierMixin, _Plain):
    def __init__(self, class_weight: Any = None) -> None:
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "PlainClassifier":
        train = prepare_training(self, X, y, sample_weight, task="classification")
        self.classes_ = train.target.classes
        tree = DecisionTreeClassifier(random_state=0, min_weight_fraction_leaf=0.01)
        self.tree_ = tree.fit(as_matrix(train.encoded), train.target.values, train.weight)
        return self

    def predict(self, X: Any) -> Any:
        matrix = as_matrix(prepare_prediction(self, X))
        assert isinstance(self.classes_, np.ndarray)
        return self.classes_[self.tree_.predict(matrix)]


class PlainRegressor(RegressorMixin, _Plain):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "PlainRegressor":
        train = prepare_training(self, X, y, sample_weight, task="regression")
        tree = DecisionTreeRegressor(random_state=0)
        self.tree_ = tree.fit(as_matrix(train.encoded), train.target.values, train.weight)
        return self

    def predict(self, X: Any) -> Any:
        matrix = as_matrix(prepare_prediction(self, X))
        return self.tree_.predict(matrix)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", [PlainClassifier(), PlainRegressor()], ids=["classifier", "regressor"])
def test_an_estimator_behind_our_door_passes_every_check_of_scikit_learn(estimator: Any) -> None:
    results = check_estimator(estimator, on_skip=None, on_fail=None)

    failed = [f"{r['check_name']}: {r['exception']}" for r in results if r["status"] == "failed"]
    assert failed == []
    assert sum(r["status"] == "passed" for r in results) > 50
