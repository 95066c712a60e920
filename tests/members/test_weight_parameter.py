"""What a learner calls sample weights: one function for AdaBoost, AnyBoost and ensembles of named members."""

from typing import Any

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from coterie.errors import InvalidType
from coterie.members.weight_parameter import weight_parameter, weight_params
from tests.helpers.errors import raised

CASES = [
    (LogisticRegression(), "sample_weight", "sample_weight"),
    (KNeighborsClassifier(), None, None),
    (GridSearchCV(LogisticRegression(), {}), None, "sample_weight"),
    (FrozenEstimator(LogisticRegression()), None, "sample_weight"),
    (make_pipeline(StandardScaler(), LogisticRegression()), *["logisticregression__sample_weight"] * 2),
    (make_pipeline(StandardScaler(), KNeighborsClassifier()), None, None),
    (make_pipeline(StandardScaler(), "passthrough"), None, None),
    (make_pipeline(StandardScaler(), None), None, None),
]


@pytest.mark.parametrize(("estimator", "own", "passed_on"), CASES)
def test_a_learner_takes_weights_itself_or_passes_them_on(
    estimator: Any, own: str | None, passed_on: str | None
) -> None:
    assert weight_parameter(estimator) == own
    assert weight_parameter(estimator, pass_on=True) == passed_on


def test_weights_for_a_pipeline_that_takes_none_are_refused_by_its_last_step() -> None:
    neighbours = KNeighborsClassifier()

    with raised(
        InvalidType, parameter="sample_weight", received=neighbours, about="KNeighborsClassifier does not"
    ):
        weight_params(make_pipeline(StandardScaler(), neighbours), np.ones(3))
