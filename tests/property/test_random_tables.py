"""Any small table, any estimator: finite answers, or one of our errors that explains itself."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import is_classifier

from coterie.errors import CoterieError
from tests.contract.estimators import ESTIMATORS, WITH_FOLDS, answers, has, make

# Those with folds fit many times as many models, and small tables cannot be divided: they have a test of their own.
WITHOUT_FOLDS = [estimator for estimator in ESTIMATORS if estimator not in WITH_FOLDS]
TYPES = ["f8", "f4", "f2", ">f8", "i8", "i4", "i2", "u1", "?", "O", "U3", "category"]
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
def columns(draw: st.DrawFn, n_rows: int) -> Any:
    """One column of some type, with missing and infinite values where the type has them."""
    kind = draw(st.sampled_from(TYPES))
    if kind in ("O", "U3", "category"):
        labels = draw(st.lists(st.sampled_from(["a", "b", "", "é", "zzz"]), min_size=n_rows, max_size=n_rows))
        if kind == "category":
            return pd.Categorical(labels)
        array = np.array(labels, dtype=object if kind == "O" else kind)
        if kind == "O" and draw(st.booleans()):
            array[draw(st.integers(0, n_rows - 1))] = None
        return array
    number: Any = st.booleans() if kind == "?" else st.integers(0, 120)
    if "f" in kind:
        number = st.floats(width=64 if kind == ">f8" else 16)
    values = draw(st.lists(number, min_size=n_rows, max_size=n_rows))
    return np.array(values, dtype=kind).repeat(2)[::2]


@st.composite
def problems(draw: st.DrawFn) -> tuple[dict[str, Any], Any, Any]:
    """A table as a dict of columns, a target as numbers, and weights or none."""
    n_rows = draw(st.integers(1, 50))
    n_columns = draw(st.integers(1, 4))
    table = {f"c{i}": draw(columns(n_rows)) for i in range(n_columns)}
    y = draw(st.lists(st.integers(-3, 3) | st.just(10**6), min_size=n_rows, max_size=n_rows))
    weight = draw(st.none() | st.lists(st.sampled_from([0, 1, 1, 2.5]), min_size=n_rows, max_size=n_rows))
    return table, y, weight


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
