"""Any small table, any estimator: finite answers, or one of our errors that explains itself."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import is_classifier

from coterie.errors import CoterieError
from tests.helpers.estimators import ESTIMATORS, WITH_FOLDS, WITHOUT_TARGET, answers, has, make
from tests.helpers.random_tables import problems

# Those with folds fit many times as many models, and small tables cannot be divided: they have a test of their own.
WITHOUT_FOLDS = [estimator for estimator in ESTIMATORS if estimator not in WITH_FOLDS]
SETTINGS: dict[str, Any] = {
    "max_depth": [None, 1, 4],
    "max_leaf_nodes": [None, 2, 9],
    "min_samples_leaf": [1, 5],
    "max_features": [1.0, 0.5],
    "learning_rate": [0.1, 1.0, 50.0],
    "l2_regularization": [0.0, 3.0],
    "early_stopping": [False, True],
    "max_bins": [2, 255],
    "linear_leaves": [False, True],
    "splitter": ["best", "random"],
    "n_jobs": [1, 2],
}


@st.composite
def chosen_settings(draw: st.DrawFn) -> dict[str, Any]:
    return {name: draw(st.sampled_from(values)) for name, values in SETTINGS.items()}


@pytest.mark.parametrize("estimator", WITHOUT_FOLDS)
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(problem=problems(), chosen=chosen_settings())
def test_any_table_gives_finite_answers_or_our_errors(
    estimator: type[Any], problem: tuple[dict[str, Any], Any, Any], chosen: dict[str, Any]
) -> None:
    table, y, weight = problem
    model = make(estimator, **chosen)
    try:
        said = answers(model.fit(table, y, sample_weight=weight), table)
    except CoterieError as error:
        explained = str(error)
    else:
        explained = ""
    if explained:
        assert len(explained.split()) >= 5
        return
    assert len(said) == len(y)
    assert np.isfinite(said.astype(float)).all()
    if is_classifier(model):
        np.testing.assert_allclose(said.sum(axis=1), 1, rtol=1e-9)
        assert set(model.predict(table)) <= set(y)
    elif estimator in WITHOUT_TARGET:
        assert said.min() >= -1
        assert said.max() <= 1
    elif not has(estimator, "learning_rate"):
        assert min(y) <= said.min()
        assert said.max() <= max(y)


@pytest.mark.parametrize("estimator", WITHOUT_FOLDS)
@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**6), n_rows=st.integers(2, 50))
def test_new_rows_of_any_value_get_finite_answers(estimator: type[Any], seed: int, n_rows: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)).round(1)
    model = make(estimator).fit(X, np.arange(n_rows) % 2)
    strange = rng.choice([0.0, -0.0, 1e308, -1e308, np.inf, -np.inf, np.nan, 5e-324, 1.0], size=(20, 3))

    assert np.isfinite(answers(model, strange)).all()
