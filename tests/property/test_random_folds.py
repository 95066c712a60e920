"""Any small table under stacking and blending: finite answers, or one of our errors that explains itself."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from coterie.errors import CoterieError
from tests.helpers.estimators import WITH_FOLDS, answers, make, says_classes
from tests.helpers.random_tables import problems


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("estimator", WITH_FOLDS)
@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(problem=problems())
def test_any_table_gives_finite_answers_or_our_errors(
    estimator: type[Any], problem: tuple[dict[str, Any], Any, Any]
) -> None:
    table, y, weight = problem
    folds = {} if "Blending" in estimator.__name__ else {"cv": 2}
    model = make(estimator, n_estimators=2, **folds)
    try:
        said = answers(model.fit(table, y, sample_weight=weight), table)
    except CoterieError as error:
        said, explained = np.zeros((len(y), 1)), str(error)
        assert len(explained.split()) >= 5
        return
    assert len(said) == len(y)
    assert np.isfinite(said.astype(float)).all()
    if says_classes(estimator):
        assert set(model.predict(table)) <= set(y)
