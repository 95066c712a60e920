"""Targets and weights of every type, read to the values we expect."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.class_weight import compute_sample_weight

from coterie.data.target import Target, read_target
from coterie.data.weight import combined_weight, read_weight


def classes(y: Any, n_rows: int = 4, **options: Any) -> Target:
    return read_target(y, task="classification", estimator_name="Tree", n_rows=n_rows, **options)


def numbers(y: Any, n_rows: int = 3, **options: Any) -> Target:
    return read_target(y, task="regression", estimator_name="Tree", n_rows=n_rows, **options)


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (["b", "a", "c", "a"], ["a", "b", "c"]),
        (np.array(["b", "a", "c", "a"], dtype=object), ["a", "b", "c"]),
        (pd.Series(["b", "a", "c", "a"], index=[9, 8, 7, 6]), ["a", "b", "c"]),
        (pd.Series(pd.Categorical(["b", "a", "c", "a"], categories=["c", "b", "a"])), ["a", "b", "c"]),
        (pl.Series(["b", "a", "c", "a"]), ["a", "b", "c"]),
        (pl.Series(["b", "a", "c", "a"], dtype=pl.Categorical), ["a", "b", "c"]),
        (pa.chunked_array([["b", "a"], ["c", "a"]]), ["a", "b", "c"]),
        ([4, -3, 11, -3], [-3, 4, 11]),
        (np.array([4, -3, 11, -3], dtype=">i2"), [-3, 4, 11]),
        ([4.0, -3.0, 11.0, -3.0], [-3, 4, 11]),
        (np.array([4, -3, 11, -3], dtype=object), [-3, 4, 11]),
        (pd.Series([4, -3, 11, -3], dtype="Int64"), [-3, 4, 11]),
        ([10**12, 7, 10**15, 7], [7, 10**12, 10**15]),
        (np.array(["2021", "2020", "2022", "2020"], dtype="M8[Y]"), [2020, 2021, 2022]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_labels_of_every_type_become_codes_of_sorted_classes(y: Any, expected: list[Any]) -> None:
    target = classes(y)

    assert isinstance(target.classes, np.ndarray)
    assert target.values.dtype == np.int32
    assert target.values.tolist() == [1, 0, 2, 0]
    if target.classes.dtype.kind == "M":
        assert (target.classes.astype(int) + 1970).tolist() == expected
    else:
        assert target.classes.tolist() == expected


@pytest.mark.parametrize("dtype", ["i4", "i8", "u1", "f4", "f8", "?", "U1"])
def test_classes_keep_the_type_of_the_labels(dtype: str) -> None:
    target = classes(np.array([1, 0, 0, 1]).astype(dtype))

    assert isinstance(target.classes, np.ndarray)
    assert target.classes.dtype == np.dtype(dtype)
    assert target.values.tolist() == [1, 0, 0, 1]


def test_one_class_is_enough() -> None:
    target = classes(["only"] * 4)

    assert isinstance(target.classes, np.ndarray)
    assert target.classes.tolist() == ["only"]
    assert target.values.tolist() == [0, 0, 0, 0]


def test_several_outputs_have_classes_of_their_own() -> None:
    target = classes([["a", "x"], ["b", "y"], ["a", "z"], ["a", "x"]], multi_output=True)

    assert isinstance(target.classes, list)
    assert [own.tolist() for own in target.classes] == [["a", "b"], ["x", "y", "z"]]
    assert target.values.tolist() == [[0, 0], [1, 1], [0, 2], [0, 0]]
    assert target.n_outputs == 2


@pytest.mark.parametrize(
    "y",
    [
        [1, 2, 3],
        (1.0, 2.0, 3.0),
        np.array([1, 2, 3], dtype=">f4"),
        np.array([1, 2, 3], dtype=np.float16),
        np.array([1, 2.0, np.int8(3)], dtype=object),
        pd.Series([1, 2, 3], dtype="Int8"),
        pl.Series([1, 2, 3]),
        pa.array([1, 2, 3]),
        np.array([[0, 1], [0, 2], [0, 3]])[:, 1],
    ],
)
def test_numbers_of_every_type_become_float64(y: Any) -> None:
    target = numbers(y)

    assert target.values.dtype == np.float64
    assert target.values.tolist() == [1, 2, 3]
    assert target.classes is None


def test_very_large_numbers_are_numbers() -> None:
    assert numbers([1e300, -1e300, 0]).values.tolist() == [1e300, -1e300, 0]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, np.array], ids=["pandas", "polars", "numpy"])
def test_several_numeric_outputs_are_a_matrix(make: Any) -> None:
    target = numbers(
        make([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]], **({"orient": "row"} if make is pl.DataFrame else {})),
        multi_output=True,
    )

    assert target.values.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert target.n_outputs == 2


@pytest.mark.parametrize("y", [np.ones((3, 1)), pd.DataFrame({"y": [1, 1, 1]}), [[1], [1], [1]]])
def test_a_column_vector_is_flattened_with_scikit_learns_warning(y: Any) -> None:
    with pytest.warns(
        DataConversionWarning, match="A column-vector y was passed when a 1d array was expected"
    ):
        assert numbers(y).values.shape == (3,)


def test_a_column_vector_is_one_output_where_several_are_allowed() -> None:
    target = numbers(np.ones((3, 1)), multi_output=True)

    assert target.values.shape == (3,)
    assert target.n_outputs == 1


def test_the_target_is_not_changed() -> None:
    y = np.array([3.0, 1.0, 2.0])
    numbers(y).values[:] = 0

    assert y.tolist() == [3, 1, 2]


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 1: 5}, {1: 0.5}])
def test_class_weights_agree_with_scikit_learn(class_weight: Any) -> None:
    y = [0, 1, 1, 1]

    assert_array_equal(
        classes(y, class_weight=class_weight).row_weight, compute_sample_weight(class_weight, y)
    )


def test_balanced_counts_a_row_as_often_as_its_weight_says() -> None:
    weighted = classes([0, 1, 1, 1], class_weight="balanced", weight=np.array([3.0, 1, 1, 1])).row_weight
    repeated = classes([0, 0, 0, 1, 1, 1], 6, class_weight="balanced").row_weight

    assert weighted is not None
    assert repeated is not None
    assert weighted[0] == repeated[0]
    assert weighted[3] == repeated[5]


def test_balanced_leaves_a_class_without_weight_out() -> None:
    row_weight = classes([0, 1, 1, 2], class_weight="balanced", weight=np.array([0.0, 1, 1, 2])).row_weight

    assert_array_equal(row_weight, [0, 1, 1, 1])


def test_class_weights_may_name_a_class_that_a_fold_lacks() -> None:
    assert_array_equal(classes([0, 1, 1, 1], class_weight={0: 2, 1: 3, 2: 9}).row_weight, [2, 3, 3, 3])


def test_class_weights_of_several_outputs_multiply() -> None:
    y = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    target = classes(y, class_weight=[{0: 2, 1: 1}, {0: 1, 1: 10}], multi_output=True)

    assert_array_equal(target.row_weight, [2, 1, 20, 10])
    assert_array_equal(classes(y, class_weight="balanced", multi_output=True).row_weight, [1, 1, 1, 1])


@pytest.mark.parametrize(
    "weight",
    [
        [1, 0, 2],
        (1, 0, 2),
        np.array([1, 0, 2], dtype="f4"),
        pd.Series([1, 0, 2]),
        pl.Series([1, 0, 2]),
        pa.array([1, 0, 2]),
    ],
)
def test_weights_of_every_type_become_float64(weight: Any) -> None:
    read = read_weight(weight, 3)

    assert read is not None
    assert read.dtype == np.float64
    assert read.tolist() == [1, 0, 2]


def test_no_weight_stays_none_and_a_number_counts_for_every_row() -> None:
    assert read_weight(None, 3) is None
    assert_array_equal(read_weight(2, 3), [2, 2, 2])


def test_the_weights_are_not_changed() -> None:
    weight = np.array([1.0, 2.0])
    product = combined_weight(read_weight(weight, 2), np.array([3.0, 4.0]))

    assert_array_equal(product, [3, 8])
    assert weight.tolist() == [1, 2]


def test_sample_and_class_weights_combine() -> None:
    assert combined_weight(None, None) is None
    assert_array_equal(combined_weight(np.array([1.0, 2.0]), None), [1, 2])
    assert_array_equal(combined_weight(None, np.array([1.0, 2.0])), [1, 2])
