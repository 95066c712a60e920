"""Every parameter with wrong types and bounds, and targets that a criterion cannot take."""

import numpy as np
import pandas as pd
import pytest

from coterie.errors import InvalidInput, InvalidParameter
from coterie.trees import DecisionTreeClassifier, DecisionTreeRegressor
from tests.helpers.errors import raised

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 1, 0, 1, 0, 1])

WRONG = {
    "criterion": ["mse", None, 1, "squared_error"],
    "splitter": ["worst", None, True],
    "max_depth": [0, -1, 2.5, "3", True],
    "min_samples_split": [1, 0, 0.0, 1.5, "2", None, True, np.nan],
    "min_samples_leaf": [0, 0.0, 1.0, 1.5, "1", None, np.nan],
    "min_weight_fraction_leaf": [-0.1, 0.6, "0", None, np.nan],
    "max_features": [0, 0.0, 1.5, "auto", True, np.nan],
    "max_leaf_nodes": [1, 0, 2.5, "many"],
    "random_state": [-1, 1.5, "seed"],
    "min_impurity_decrease": [-1e-9, "0", None, np.inf],
    "class_weight": ["heavy", 3],
    "ccp_alpha": [-0.1, "0", None, np.nan],
    "monotonic_cst": ["up", 1],
    "categorical_features": ["all", 1],
    "unknown_category": ["ignore", None, True],
    "n_jobs": [1.5, "2", 0],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRONG.items() for value in values]
)
def test_a_wrong_value_is_named(name, value):
    with raised(InvalidParameter, parameter=name, received=value) as caught:
        DecisionTreeClassifier(**{name: value}).fit(X, Y)
    assert caught.value.allowed


def test_all_parameters_are_in_the_table():
    for make in (DecisionTreeClassifier, DecisionTreeRegressor):
        assert set(make.PARAMS) == set(make().get_params())
    assert set(WRONG) == set(DecisionTreeClassifier().get_params())


@pytest.mark.parametrize("value", [2**40, np.int64(7)])
def test_large_and_numpy_numbers_are_fine(value):
    model = DecisionTreeClassifier(max_depth=value, min_samples_split=np.float32(0.5), max_leaf_nodes=value)
    assert model.fit(X, Y).get_n_leaves() >= 2
    assert (
        DecisionTreeClassifier(min_samples_leaf=value, min_samples_split=value).fit(X, Y).get_n_leaves() == 1
    )


@pytest.mark.parametrize(
    ("constraints", "kind", "received", "allowed"),
    [
        ([1], InvalidParameter, (1,), "2 numbers, or a dict by column name"),
        ([[1, 0]], InvalidParameter, (1, 2), "2 numbers, or a dict by column name"),
        ([2, 0], InvalidParameter, 2, "None or an array-like of -1, 0 or 1"),
        ([0.5, 0], InvalidParameter, 0.5, "None or an array-like of -1, 0 or 1"),
        ({"a": 1}, InvalidInput, {"a": 1}, "an array with a constraint for each column"),
    ],
)
def test_constraints_that_make_no_sense(constraints, kind, received, allowed):
    with raised(kind, parameter="monotonic_cst", received=received, allowed=allowed):
        DecisionTreeClassifier(monotonic_cst=constraints).fit(X, Y)


def test_constraints_on_what_has_no_order():
    frame = pd.DataFrame({"a": X[:, 0], "town": list("xyzxyz")})
    with raised(
        InvalidParameter, parameter="monotonic_cst", received=1, column="town", about="which is categorical"
    ):
        DecisionTreeRegressor(monotonic_cst={"town": 1}).fit(frame, Y)
    with raised(InvalidParameter, parameter="monotonic_cst", received="twon", allowed="['a', 'town']"):
        DecisionTreeRegressor(monotonic_cst={"twon": 1}).fit(frame, Y)
    with raised(InvalidParameter, parameter="monotonic_cst", received=[1, 0], about="multiple outputs"):
        DecisionTreeRegressor(monotonic_cst=[1, 0]).fit(X, np.column_stack([Y, Y]))
    with raised(
        InvalidParameter, parameter="monotonic_cst", received=[1, 0], about="multiclass classification"
    ):
        DecisionTreeClassifier(monotonic_cst=[1, 0]).fit(X, [0, 1, 2, 0, 1, 2])


@pytest.mark.parametrize(
    ("y", "received", "row", "message"),
    [
        ([0, 1, 2, -1, 0, 1], -1.0, 3, "row 3 is -1"),
        ([0] * 6, 0.0, None, "all values of output 0 are zero"),
        (np.column_stack([Y, np.zeros(6)]), 0.0, None, "all values of output 1 are zero"),
    ],
)
def test_counts_must_be_counts(y, received, row, message):
    with raised(InvalidInput, parameter="y", received=received, row=row, about=message):
        DecisionTreeRegressor(criterion="poisson").fit(X, y)


def test_names_for_a_drawing_must_fit_the_features():
    model = DecisionTreeClassifier().fit(X, Y)
    with raised(InvalidInput, parameter="feature_names", received=["a", "b", "c"], allowed="2 names"):
        model.to_text(["a", "b", "c"])
