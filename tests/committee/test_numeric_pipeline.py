"""Any table as a matrix: the same numbers as scikit-learn's own preparation, and nothing that is not finite."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from coterie.committee.numeric_pipeline import (
    DesignMatrix,
    NumericPipelineClassifier,
    NumericPipelineRegressor,
)
from coterie.data.prepare import read_table
from coterie.errors import SchemaMismatch


def matrix_of(X: Any, new: Any = None) -> Any:
    return DesignMatrix().fit(read_table(X)).transform(read_table(X if new is None else new))


def test_numbers_are_scaled_as_scikit_learn_scales_them() -> None:
    X = np.random.default_rng(0).normal(5, 3, size=(100, 3))

    np.testing.assert_allclose(matrix_of(X), StandardScaler().fit_transform(X), rtol=1e-10, atol=1e-12)


def test_levels_become_columns_as_scikit_learn_makes_them() -> None:
    towns = np.random.default_rng(0).choice(["Cork", "Oslo", "Rome"], 50)

    expected = OneHotEncoder(sparse_output=False).fit_transform(towns[:, None])

    np.testing.assert_array_equal(matrix_of({"town": towns}), expected)


def test_of_many_levels_the_most_frequent_are_shown() -> None:
    names = [f"c{i}" for i in range(40) for _ in range(40 - i)]

    said = matrix_of({"c": names})

    assert said.shape == (len(names), 20)
    np.testing.assert_array_equal(
        said.sum(axis=0), np.arange(40, 20, -1)[np.argsort([f"c{i}" for i in range(20)])]
    )


def test_unknown_and_missing_levels_are_zeros() -> None:
    said = matrix_of({"c": ["a", "b", None]}, {"c": ["z", None, "b"]})

    np.testing.assert_array_equal(said, [[0, 0], [0, 0], [0, 1]])


def test_infinities_are_far_away_and_gaps_are_marked() -> None:
    said = matrix_of(np.array([[1.0], [3.0], [np.nan], [np.inf], [-np.inf]]))

    np.testing.assert_allclose(said, [[-1, 0], [1, 0], [0, 1], [8, 0], [-8, 0]])


@settings(max_examples=50, derandomize=True, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(), st.sampled_from(["a", "b", None]), st.integers(-(2**60), 2**60)),
        min_size=1,
        max_size=20,
    )
)
def test_a_matrix_is_always_finite(rows: Any) -> None:
    numbers, levels, counts = zip(*rows, strict=True)
    said = matrix_of({"x": np.array(numbers), "c": list(levels), "n": np.array(counts)})

    assert np.isfinite(said).all()
    assert np.abs(said).max() <= 8


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict])
def test_a_learner_of_scikit_learn_takes_any_table(frame: Any) -> None:
    rng = np.random.default_rng(0)
    size, town = rng.normal(size=80), rng.choice(["Cork", "Oslo"], 80)
    y = size + (town == "Oslo")
    table = frame({"size": size, "town": town})

    said = NumericPipelineRegressor(Ridge(1e-6)).fit(table, y).predict(table)
    labels = NumericPipelineClassifier(LogisticRegression(C=100)).fit(table, np.where(y > 0.5, "high", "low"))

    np.testing.assert_allclose(said, y, atol=1e-5)
    assert labels.score(table, np.where(y > 0.5, "high", "low")) > 0.95
    assert labels.classes_.tolist() == ["high", "low"]


def test_a_row_without_weight_is_not_there() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    weight = np.where(np.arange(30) < 20, 1.0, 0.0)

    weighted = NumericPipelineRegressor(Ridge()).fit(X, y, sample_weight=weight)
    fewer = NumericPipelineRegressor(Ridge()).fit(X[:20], y[:20])

    np.testing.assert_allclose(weighted.predict(X), fewer.predict(X))


def test_a_weight_of_two_is_the_row_twice() -> None:
    rng = np.random.default_rng(0)
    size, y, weight = rng.normal(size=40), rng.normal(size=40), rng.integers(1, 4, 40)
    size[::7] = np.nan
    table = {"size": size, "c": [f"c{int(i)}" for i in rng.integers(0, 25, 40)]}
    rows = np.repeat(np.arange(40), weight)

    weighted = NumericPipelineRegressor(Ridge()).fit(table, y, sample_weight=weight)
    repeated = NumericPipelineRegressor(Ridge()).fit(
        {"size": size[rows], "c": np.array(table["c"])[rows]}, y[rows]
    )

    np.testing.assert_allclose(weighted.predict(table), repeated.predict(table), rtol=1e-8)


def test_other_columns_are_refused() -> None:
    model = NumericPipelineRegressor(Ridge()).fit(pd.DataFrame({"a": [1.0, 2.0]}), [0.0, 1.0])

    with pytest.raises(SchemaMismatch, match="unseen"):
        model.predict(pd.DataFrame({"b": [1.0]}))
