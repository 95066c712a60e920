"""A few rows, encoded value by value, against the long way through a table."""

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie import GradientBoostingClassifier, RandomForestClassifier
from coterie.data.encoding import Encoded
from coterie.data.few_rows import MOST_ROWS, encode_few
from coterie.data.prepare import Encoder, read_table
from coterie.data.table import Schema
from coterie.errors import CoterieError

TEXT = ["a", "b", "c", None]
NUMBERS = [0.0, -1.5, 3.0, float("nan"), float("inf"), None, 7, True, 2**53 + 1, 10**30]
ODD = [b"a", dt.date(2020, 1, 1), "unseen", 4, np.float32(0.1), pd.NA, pd.NaT]


def frame_of_fit() -> Any:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "number": rng.normal(size=60),
            "town": rng.choice(["a", "b", "c"], 60),
            "code": rng.integers(0, 5, 60),
            "size": pd.Categorical(rng.choice(["a", "b", "c"], 60), categories=["c", "a", "b"], ordered=True),
            "many": [f"level {i}" for i in range(30)] * 2,
            "whole": rng.integers(0, 9, 60),
        }
    )


def fitted(names: bool = True) -> tuple[Encoder, Schema]:
    frame = frame_of_fit()
    if not names:
        frame = frame.set_axis(range(frame.shape[1]), axis=1)
    table = read_table(frame)
    encoder = Encoder([frame.columns[2]]).fit(table)
    return encoder, Schema.of(table)


def long_way(encoder: Encoder, schema: Schema, X: Any) -> Any:
    try:
        return encoder.transform(schema.check(read_table(X), "Model"))
    except CoterieError as error:
        return error


def as_matrix(encoded: Encoded) -> Any:
    values = encoded.values
    return (
        np.column_stack(values).astype(float) if isinstance(values, list) else np.asarray(values, dtype=float)
    )


def rows() -> Any:
    row = st.tuples(
        st.sampled_from(NUMBERS * 4 + ODD),
        st.sampled_from(TEXT * 8 + ODD),
        st.sampled_from([0, 1, 2, 3, 4, 2.0, float("nan"), None] * 4 + ODD),
        st.sampled_from(TEXT * 8 + ODD),
        st.sampled_from(["level 3", "level 29", None]),
        st.sampled_from(NUMBERS),
    )
    return st.lists(row, min_size=1, max_size=4)


@settings(max_examples=300, deadline=None)
@given(rows(), st.sampled_from(["pandas", "typed pandas", "array", "dict"]))
def test_what_is_encoded_at_all_is_encoded_as_by_the_long_way(values: Any, shape: str) -> None:
    encoder, schema = fitted(names=shape != "array")
    columns = {name: [row[j] for row in values] for j, name in enumerate(frame_of_fit().columns)}
    X: Any = columns
    if shape == "array":
        X = np.array(values, dtype=object)
    elif shape != "dict":
        X = pd.DataFrame(columns, dtype=object if shape == "pandas" else None)
    few = encode_few(encoder, schema, X)
    if few is None:
        return
    long = long_way(encoder, schema, X)
    assert isinstance(long, Encoded), long
    np.testing.assert_array_equal(as_matrix(few), as_matrix(long))
    np.testing.assert_array_equal(few.n_levels, long.n_levels)
    assert few.fine_codes.keys() == long.fine_codes.keys()


@pytest.mark.parametrize("library", ["pandas", "polars", "dict"])
def test_rows_as_fit_saw_them_take_the_short_way(library: str) -> None:
    encoder, schema = fitted()
    frame = frame_of_fit().iloc[:3]
    X = frame if library == "pandas" else frame.to_dict("list")
    if library == "polars":
        X = pl.DataFrame(X)
    few = encode_few(encoder, schema, X)
    assert few is not None
    np.testing.assert_array_equal(as_matrix(few), as_matrix(encoder.transform(read_table(frame))))


def test_levels_in_groups_keep_their_own_codes_beside() -> None:
    rng = np.random.default_rng(1)
    labels = [f"level {i}" for i in range(600)]
    table = read_table({"x": labels * 2})
    encoder = Encoder().fit(table, rng.normal(size=1200))
    schema = Schema.of(table)
    few = encode_few(encoder, schema, {"x": ["level 599", None, "level 5"]})
    long = encoder.transform(read_table({"x": ["level 599", None, "level 5"]}))
    assert few is not None
    np.testing.assert_array_equal(as_matrix(few), as_matrix(long))
    np.testing.assert_array_equal(few.fine_codes[0], long.fine_codes[0])


def test_other_columns_many_rows_and_unknown_categories_take_the_long_way() -> None:
    encoder, schema = fitted()
    frame = frame_of_fit()
    assert encode_few(encoder, schema, frame.iloc[:MOST_ROWS]) is not None
    assert encode_few(encoder, schema, frame.iloc[: MOST_ROWS + 1]) is None
    assert encode_few(encoder, schema, frame.iloc[:0]) is None
    assert encode_few(encoder, schema, frame[frame.columns[::-1]].iloc[:1]) is None
    assert encode_few(encoder, schema, frame.iloc[:1, :5]) is None
    assert encode_few(encoder, schema, frame.iloc[:1].to_numpy()) is None  # fit saw names
    assert encode_few(encoder, schema, frame.iloc[:1].assign(town="Oslo")) is None
    assert encode_few(encoder, schema, frame.iloc[:1].assign(whole=[2**53 + 1])) is None
    assert encode_few(encoder, schema, frame.iloc[:1].assign(number=["text"])) is None
    assert encode_few(encoder, schema, "text") is None


def test_arrays_of_texts_and_of_numbers_in_a_dict_take_the_short_way() -> None:
    encoder, schema = fitted()
    frame = frame_of_fit().iloc[:3]
    X: dict[str, Any] = frame.to_dict("list")
    arrays = X | {"number": np.array(X["number"]), "many": np.array(X["many"]), "town": np.array(X["town"])}

    few = encode_few(encoder, schema, arrays)

    assert few is not None
    np.testing.assert_array_equal(as_matrix(few), as_matrix(encoder.transform(read_table(frame))))


def test_numbers_wider_than_a_float_empty_and_uneven_columns_in_a_dict_take_the_long_way() -> None:
    encoder, schema = fitted()
    X: dict[str, Any] = frame_of_fit().iloc[:3].to_dict("list")

    assert encode_few(encoder, schema, X) is not None
    assert encode_few(encoder, schema, X | {"number": np.array(X["number"], dtype=np.longdouble)}) is None
    assert encode_few(encoder, schema, X | {"number": np.array([X["number"]])}) is None
    assert encode_few(encoder, schema, X | {"number": X["number"][:2]}) is None
    assert encode_few(encoder, schema, X | {"number": tuple(X["number"])}) is None
    assert encode_few(encoder, schema, {name: [] for name in X}) is None
    assert encode_few(encoder, schema, X | {"another": [1, 2, 3]}) is None


@pytest.mark.parametrize("make", [GradientBoostingClassifier, RandomForestClassifier])
def test_a_model_answers_one_row_as_it_answers_many(make: Any) -> None:
    frame = frame_of_fit()
    frame.loc[::7, "town"] = None
    y = np.arange(60) % 3
    model = make(n_estimators=10, random_state=0, categorical_features=["code"]).fit(frame, y)
    together = model.predict_proba(frame)
    one_by_one = np.concatenate([model.predict_proba(frame.iloc[[row]]) for row in range(60)])
    np.testing.assert_array_equal(one_by_one, together)
