"""The whole way in, for fit and for predict."""

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from coterie.data.encoding import Encoded
from coterie.data.prepare import TrainingData, prepare_prediction, prepare_training
from coterie.errors import InvalidInput
from tests.helpers.errors import raised


class Model(BaseEstimator):
    def __init__(
        self, categorical_features: Any = "auto", unknown_category: str = "missing", class_weight: Any = None
    ) -> None:
        self.categorical_features = categorical_features
        self.unknown_category = unknown_category
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any) -> "Model":
        prepare_training(self, X, y, task="regression")
        return self


def trained(
    X: Any, y: Any = None, weight: Any = None, task: Any = "regression", **params: Any
) -> tuple[Model, TrainingData]:
    model = Model(**params)
    y = np.arange(len(X), dtype=float) if y is None else y
    return model, prepare_training(model, X, y, weight, task=task)


def matrix_of(encoded: Encoded) -> Any:
    if isinstance(encoded.values, np.ndarray):
        return encoded.values
    return np.stack([values.astype(float) for values in encoded.values], axis=1)


def test_training_data_hold_features_target_and_weight() -> None:
    X = pd.DataFrame({"age": [1.0, 2.0, 3.0], "town": ["b", "a", None]})
    model, train = trained(
        X, ["no", "yes", "no"], [1, 2, 1], "classification", class_weight={"no": 3, "yes": 1}
    )

    assert_array_equal(train.encoded.values[0], [1, 2, 3])
    assert_array_equal(train.encoded.values[1], [1, 0, -1])
    assert train.target.values.tolist() == [0, 1, 0]
    assert_array_equal(train.weight, [3, 2, 3])
    assert train.schema.kinds == ("numeric", "nominal")
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["age", "town"]


def test_predict_repeats_what_fit_did() -> None:
    X = pd.DataFrame({"age": [1.0, np.nan, 3.0], "town": ["b", "a", None]})
    model, train = trained(X)

    assert_array_equal(matrix_of(prepare_prediction(model, X)), matrix_of(train.encoded))
    assert_array_equal(matrix_of(prepare_prediction(model, pl.from_pandas(X))), matrix_of(train.encoded))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_float_matrix_goes_straight_through_both_ways(dtype: Any) -> None:
    X = np.arange(6, dtype=dtype).reshape(3, 2)
    model, train = trained(X)
    row = X[1:2]

    assert train.encoded.values is X
    assert prepare_prediction(model, row).values is row
    assert prepare_prediction(model, row).n_levels is train.encoded.n_levels


@pytest.mark.parametrize("dtype", ["f2", ">f4", ">f8", "i8", "?", "O"])
def test_other_matrices_take_the_long_way_to_the_same_numbers(dtype: str) -> None:
    model, _ = trained(np.zeros((3, 2)))
    X = np.array([[1, 0], [0, 1]])

    assert_array_equal(matrix_of(prepare_prediction(model, X.astype(dtype))), X)


def test_the_short_way_is_not_for_memory_that_is_not_aligned() -> None:
    records = np.zeros(2, dtype=[("flag", "u1"), ("pair", "f8", (2,))])
    records["pair"] = [[1, 2], [3, 4]]
    model, _ = trained(np.zeros((3, 2)))
    values = prepare_prediction(model, records["pair"]).values

    assert isinstance(values, np.ndarray)
    assert values.flags.aligned
    assert values.tolist() == [[1, 2], [3, 4]]


def test_the_short_way_warns_about_names_like_the_long_way() -> None:
    model, _ = trained(pd.DataFrame({"a": [1.0, 2.0]}))

    with pytest.warns(
        UserWarning, match="X does not have valid feature names, but Model was fitted with feature names"
    ):
        prepare_prediction(model, np.ones((1, 1)))


def test_an_unfitted_model_says_so() -> None:
    with pytest.raises(NotFittedError, match="This Model instance is not fitted yet"):
        prepare_prediction(Model(), np.ones((1, 1)))


def test_column_order_any_matches_frames_by_name() -> None:
    X = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    model, train = trained(X)

    assert_array_equal(
        matrix_of(prepare_prediction(model, X[["b", "a"]], column_order="any")), matrix_of(train.encoded)
    )


def test_predict_works_after_pickle() -> None:
    X = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    model, train = trained(X)
    again = pickle.loads(pickle.dumps(model))

    assert_array_equal(matrix_of(prepare_prediction(again, X)), matrix_of(train.encoded))


def test_fitting_again_forgets_the_old_table() -> None:
    model, _ = trained(pd.DataFrame({"a": ["x", "y"]}))
    prepare_training(model, np.ones((2, 3)), [0.0, 1.0], task="regression")

    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")
    assert prepare_prediction(model, np.ones((1, 3))).n_features == 3


def test_a_failed_fit_leaves_the_model_as_it_was() -> None:
    model, train = trained(np.ones((2, 2)))
    with raised(InvalidInput, parameter="y", received=[2, 1]):
        prepare_training(model, np.ones((2, 5)), [1.0], task="regression")

    assert model.n_features_in_ == 2
    assert model.encoder_ is train.encoder


column = st.sampled_from(
    [
        [1.5, None, 3.0, -2.0],
        [1, 2, 3, 4],
        [True, False, True, True],
        ["a", "b", None, "a"],
        [None, None, None, None],
        ["a", 1, None, 2.5],
        [float("inf"), 0.0, 1.0, None],
    ]
)


@settings(deadline=None, max_examples=60)
@given(columns=st.lists(column, min_size=1, max_size=5), library=st.sampled_from(["dict", "pandas", "rows"]))
def test_rows_predicted_one_by_one_are_the_rows_predicted_together(columns: list[Any], library: str) -> None:
    def table(rows: slice) -> Any:
        if library == "rows":
            return [list(row) for row in zip(*columns, strict=True)][rows]
        named = {f"c{j}": values[rows] for j, values in enumerate(columns)}
        return named if library == "dict" else pd.DataFrame(named)

    model = Model()
    prepare_training(model, table(slice(None)), [0.0, 1, 2, 3], task="regression")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        together = matrix_of(prepare_prediction(model, table(slice(None))))
        alone = [matrix_of(prepare_prediction(model, table(slice(i, i + 1)))) for i in range(4)]
    assert_array_equal(np.concatenate(alone), together)
