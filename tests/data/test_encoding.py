"""Columns become features: which are nominal, what their codes are, and what predict does with surprises."""

import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from coterie.data.encoding import Encoded, _verify_coding
from coterie.data.levels import label_levels
from coterie.data.place import Place
from coterie.data.prepare import Encoder, read_table
from coterie.data.table import number_levels
from coterie.errors import ModelFileError

NAN = np.nan


def encoded(X: Any, new: Any = None, **options: Any) -> Encoded:
    """What fit makes of X, or transform of the new table after it."""
    encoder = Encoder(**options)
    first = encoder.fit_transform(read_table(X))
    return first if new is None else encoder.transform(read_table(new))


def feature(result: Encoded, index: int = 0) -> list[Any]:
    return list(result.values[index].tolist())


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_float_matrix_passes_untouched(dtype: str) -> None:
    X = np.arange(6, dtype=dtype).reshape(3, 2)
    result = encoded(X)

    assert result.values is X
    assert (result.n_rows, result.n_features) == (3, 2)
    assert result.n_levels.tolist() == [0, 0]
    assert result.n_levels.dtype == np.int32


@pytest.mark.parametrize("dtype", ["i4", "i8", "u1", "?"])
def test_a_matrix_of_whole_numbers_becomes_views_of_its_columns(dtype: str) -> None:
    X = np.array([[1, 0], [0, 1], [1, 1]], dtype=dtype)
    result = encoded(X)

    assert isinstance(result.values, list)
    assert all(np.shares_memory(values, X) for values in result.values)
    assert [values.tolist() for values in result.values] == [[1, 0, 1], [0, 1, 1]]
    assert {values.dtype.name for values in result.values} <= {"int32", "int64", "uint8"}


def test_text_is_nominal_and_its_codes_follow_the_sorted_levels() -> None:
    result = encoded({"town": ["Rome", None, "Cork", "Oslo"]})

    assert feature(result) == [2, -1, 0, 1]
    assert result.values[0].dtype == np.int32
    assert result.n_levels.tolist() == [3]


def test_ordered_categories_are_numbers_in_their_declared_order() -> None:
    size = pd.Categorical(["big", None, "small"], categories=["small", "medium", "big"], ordered=True)
    result = encoded(pd.DataFrame({"size": size}))

    assert_array_equal(result.values[0], [2, NAN, 0])
    assert result.n_levels.tolist() == [0]


def test_an_ordered_column_named_as_categorical_is_nominal() -> None:
    size = pd.Categorical(["big", "small"], categories=["small", "big"], ordered=True)
    result = encoded(pd.DataFrame({"size": size}), categorical_features=["size"])

    assert result.n_levels.tolist() == [2]


@pytest.mark.parametrize(
    "given_as", [["b"], [1], np.array([1]), [False, True], np.array(["b"], dtype=object)]
)
def test_columns_are_named_by_name_index_or_mask(given_as: Any) -> None:
    X = pd.DataFrame({"a": [0.0, 1.0], "b": [7.0, 3.0]})

    assert encoded(X, categorical_features=given_as).n_levels.tolist() == [0, 2]


@pytest.mark.parametrize("given_as", [[], [0], [False, False]])
def test_text_is_nominal_also_when_other_columns_are_named(given_as: Any) -> None:
    assert encoded({"a": [1, 2], "b": ["x", "y"]}, categorical_features=given_as).n_levels[1] == 2


def test_none_leaves_numbers_and_ordered_categories_alone() -> None:
    size = pd.Categorical(["big", "small"], categories=["small", "big"], ordered=True)
    frame = pd.DataFrame({"size": size, "age": [1, 2]})

    assert encoded(frame, categorical_features=None).n_levels.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("labels", "codes"),
    [
        ([0.0, 2.0, 1.0, NAN], [0, 2, 1, -1]),
        ([5.0, 9.0, 5.0], [0, 1, 0]),
        ([-3.0, 7.0, -3.0], [0, 1, 0]),
        ([0.5, 0.25, NAN, 0.5], [1, 0, -1, 1]),
        ([1e9, 5.0, 1e9], [1, 0, 1]),
        ([np.inf, -np.inf, 0.0], [2, 0, 1]),
        ([-0.0, 0.0, 1.0], [0, 0, 1]),
        ([NAN, NAN], [-1, -1]),
    ],
)
def test_numbers_named_as_categorical_are_just_labels(labels: list[float], codes: list[int]) -> None:
    for dtype in (np.float32, np.float64):
        X = np.array(labels, dtype=dtype)[:, None]
        assert feature(encoded(X, categorical_features=[0])) == codes


def test_whole_numbers_and_flags_can_be_categories() -> None:
    assert feature(encoded(np.array([[-5], [70_000_000], [3]]), categorical_features=[0])) == [0, 2, 1]
    assert feature(encoded(np.array([[True], [False]]), categorical_features=[0])) == [1, 0]


def test_features_keep_the_order_of_the_columns() -> None:
    result = encoded(np.array([[1.5, 4, 2.5], [3.5, 9, 4.5]]), categorical_features=[1])

    assert [values.tolist() for values in result.values] == [[1.5, 3.5], [0, 1], [2.5, 4.5]]
    assert result.n_levels.tolist() == [0, 2, 0]


def test_the_row_order_does_not_change_a_code() -> None:
    X = np.array(["c", "a", None, "b"], dtype=object)
    order = [3, 2, 0, 1]

    assert feature(encoded({"c": X[order]})) == np.array(feature(encoded({"c": X})))[order].tolist()


def test_categories_that_never_occur_get_no_code() -> None:
    town = pd.Categorical(["Rome", "Cork"], categories=["Oslo", "Rome", "Bern", "Cork"])
    result = encoded(pd.DataFrame({"town": town}))

    assert result.n_levels.tolist() == [2]
    assert sorted(feature(result)) == [0, 1]


@pytest.mark.parametrize("X", [{"c": ["a", "b"]}, np.array([["a"], ["b"]]), pl.DataFrame({"c": ["a", "b"]})])
def test_an_unknown_category_is_missing(X: Any) -> None:
    new = np.array([["b"], ["z"], ["a"]]) if isinstance(X, np.ndarray) else {"c": ["b", "z", "a"]}

    assert feature(encoded(X, new)) == [1, -1, 0]


def test_an_unknown_number_is_missing() -> None:
    assert feature(encoded([[0.0], [4.0]], [[4.0], [2.0], [9.0], [-1.0]], categorical_features=[0])) == [
        1,
        -1,
        -1,
        -1,
    ]


def test_a_declared_category_that_does_not_occur_is_no_error() -> None:
    fit = pd.DataFrame({"c": pd.Categorical(["a", "b"])})
    new = pd.DataFrame({"c": pd.Categorical(["b"], categories=["a", "b", "never used"])})

    assert feature(encoded(fit, new, unknown_category="error")) == [1]


def test_text_and_categories_of_the_same_labels_agree() -> None:
    fit = pd.DataFrame({"c": pd.Categorical(["x", "y"], categories=["y", "x"])})

    assert feature(encoded(fit, {"c": ["x", "y"]})) == feature(encoded(fit))


def test_an_ordered_column_may_come_back_as_text() -> None:
    fit = pl.DataFrame({"c": pl.Series(["s", "l"], dtype=pl.Enum(["s", "m", "l"]))})

    assert_array_equal(encoded(fit, {"c": ["l", "m", "xxl", None]}).values[0], [2, 1, NAN, NAN])


def test_categories_of_numbers_may_come_back_as_numbers() -> None:
    fit = pd.DataFrame({"c": pd.Categorical([10, 20, 10])})

    assert feature(encoded(fit, {"c": [20, 10, 30]})) == [1, 0, -1]


def test_an_empty_column_fits_whatever_fit_saw() -> None:
    fit = {"number": [1.5, 2.0], "text": ["a", "b"]}
    result = encoded(fit, {"number": [None], "text": [None]})

    assert_array_equal(result.values[0], [NAN])
    assert result.values[1].tolist() == [-1]


def test_a_column_that_was_empty_in_fit_is_missing_for_ever() -> None:
    result = encoded({"c": [None, None]}, {"c": ["a", None]})

    assert result.n_levels.tolist() == [1]
    assert result.values[0].tolist() == [-1, -1]


def test_missing_values_that_fit_never_saw_are_missing() -> None:
    assert feature(encoded({"c": ["a", "b"]}, {"c": [None, "b"]})) == [-1, 1]


def test_a_column_of_many_levels_is_grouped_and_predict_repeats_it() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 1000, 30_000)
    y = np.sin(labels) + 0.1 * rng.normal(size=len(labels))
    table = read_table({"c": [f"level {label}" for label in labels]})
    encoder = Encoder()
    first = encoder.fit_transform(table, y)

    assert 200 < first.n_levels[0] <= 254
    assert first.values[0].max() == first.n_levels[0] - 1
    assert_array_equal(first.values[0], encoder.transform(table).values[0])


def test_seventy_thousand_levels_work() -> None:
    X = np.arange(70_000.0)[:, None]
    encoder = Encoder([0])
    result = encoder.fit_transform(read_table(X), np.zeros(70_000))

    assert result.n_levels[0] <= 254
    assert encoder.transform(read_table(np.array([[69_999.0], [70_000.0]]))).values[0][1] == -1


def test_fit_then_transform_is_fit_transform() -> None:
    table = read_table(
        pd.DataFrame({"a": [1.0, NAN], "b": ["x", None], "c": pd.Categorical(["u", "v"], ordered=True)})
    )
    together, apart = Encoder().fit_transform(table), Encoder().fit(table).transform(table)

    assert_array_equal(together.n_levels, apart.n_levels)
    for one, other in zip(together.values, apart.values, strict=True):
        assert_array_equal(one, other)


def test_an_encoder_survives_pickle() -> None:
    table = read_table({"c": ["b", "a", None], "n": [1, 2, 3]})
    encoder = Encoder().fit(table)
    encoder.transform(table)
    again = pickle.loads(pickle.dumps(encoder))

    assert_array_equal(again.transform(table).values[0], [1, 0, -1])


def test_fitting_again_forgets_what_was() -> None:
    encoder = Encoder().fit(read_table({"c": ["a", "b"]}))
    encoder.fit(read_table(np.ones((2, 2))))

    assert encoder.takes_matrix
    assert encoder.levels(0) is None


def test_levels_and_their_codes_can_be_asked_for() -> None:
    encoder = Encoder().fit(read_table({"n": [1, 2], "c": ["b", "a"]}))
    levels, codes = encoder.levels(1), encoder.codes(1)

    assert levels is not None
    assert codes is not None
    assert dict(zip(levels.tolist(), codes.tolist(), strict=True)) == {"a": 0, "b": 1}


@settings(deadline=None)
@given(
    hnp.arrays(
        np.float64,
        st.integers(0, 40),
        elements=st.one_of(st.integers(-3, 300_000).map(float), st.floats(), st.just(NAN)),
    )
)
def test_codes_and_levels_give_the_numbers_back(values: Any) -> None:
    codes, levels = number_levels(values)

    assert_array_equal(np.append(levels.astype(float), NAN)[codes], values)
    assert (np.diff(levels) > 0).all()


@given(st.lists(st.one_of(st.none(), st.text(max_size=3), st.integers(), st.booleans())))
def test_codes_and_levels_give_the_labels_back(labels: list[Any]) -> None:
    codes, levels = label_levels(labels, where=Place("X", "here"))

    assert [None if code < 0 else levels[code] for code in codes] == labels
    assert len(set(levels.tolist())) == len(levels)


@pytest.mark.parametrize("n_codes", [1, 255])
def test_a_stored_coding_may_have_as_many_codes_as_fit_into_a_byte(n_codes: int) -> None:
    labels = np.array([f"level {place}" for place in range(n_codes)], dtype=object)
    _verify_coding(SimpleNamespace(levels=labels, code=np.arange(n_codes), kind="nominal", n_codes=n_codes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_codes": 0}, "has 0 codes; expected 1 to 255"),
        ({"n_codes": 256}, "has 256 codes; expected 1 to 255"),
        ({"code": np.array([0, 2])}, "a level whose code does not exist"),
        ({"code": np.array([0, -1])}, "a level whose code does not exist"),
        ({"code": np.array([0])}, "has 1 codes for 2 levels"),
        ({"kind": "ordered", "code": np.array([1, 0])}, "a level whose code does not exist"),
        ({"levels": np.array(["a", "a"], dtype=object)}, "levels that are no different labels"),
        ({"levels": np.array(["a", []], dtype=object)}, "levels that are no different labels"),
    ],
)
def test_a_stored_coding_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    held = {
        "levels": np.array(["a", "b"], dtype=object),
        "code": np.array([0, 1]),
        "kind": "nominal",
        "n_codes": 2,
    }
    with pytest.raises(ModelFileError, match=message):
        _verify_coding(SimpleNamespace(**(held | changes)))
