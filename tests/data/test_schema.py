"""What fit saw, and the tables that come later."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from coterie.data.prepare import read_table
from coterie.data.table import Schema
from coterie.errors import SchemaMismatch

FRAME = pd.DataFrame({"age": [1.0, 2.0], "town": ["a", "b"], "size": [3, 4]})
SCHEMA = Schema.of(read_table(FRAME))


class Model:
    pass


def test_a_schema_knows_names_kinds_and_width() -> None:
    assert SCHEMA.names == ("age", "town", "size")
    assert SCHEMA.kinds == ("numeric", "nominal", "numeric")
    assert SCHEMA.n_features == 3


def test_columns_treated_as_nominal_are_nominal() -> None:
    assert Schema.of(read_table(np.ones((2, 2))), [False, True]).kinds == ("numeric", "nominal")


def test_the_same_columns_pass_as_they_are() -> None:
    table = read_table(FRAME)

    assert SCHEMA.check(table, "Model") is table


def test_another_library_with_the_same_names_passes() -> None:
    assert SCHEMA.check(read_table(pl.from_pandas(FRAME)), "Model").names == SCHEMA.names


def test_a_dict_is_matched_by_name() -> None:
    table = SCHEMA.check(read_table({"size": [9], "town": ["x"], "age": [7]}), "Model")

    assert table.names == ("age", "town", "size")
    assert [table.column(index).values.tolist() for index in (0, 2)] == [[7], [9]]


def test_reordered_frames_are_matched_by_name_when_asked() -> None:
    table = SCHEMA.check(read_table(FRAME[["size", "age", "town"]]), "Model", column_order="any")

    assert table.names == ("age", "town", "size")
    assert_array_equal(table.column(0).values, [1, 2])
    assert_array_equal(table.column(2).values, [3, 4])


def test_reordered_frames_are_refused_by_default_and_the_message_says_how_to_fix_it() -> None:
    with pytest.raises(SchemaMismatch) as caught:
        SCHEMA.check(read_table(FRAME[["size", "age", "town"]]), "Model")

    message = str(caught.value)
    assert message.startswith(
        "The feature names should match those that were passed during fit.\n"
        "Feature names must be in the same order as they were in fit.\n"
    )
    assert "X[list(model.feature_names_in_)]" in message


def test_at_most_five_names_are_listed() -> None:
    wide = Schema.of(read_table(pd.DataFrame(np.ones((1, 9)), columns=[f"c{i}" for i in range(9)])))

    with pytest.raises(SchemaMismatch, match=r"- c1\n- c2\n- c3\n- c4\n- c5\n- \.\.\.\n"):
        wide.check(read_table(pd.DataFrame({"c0": [1.0]})), "Model")


def test_a_table_without_names_is_welcome_with_scikit_learns_warning() -> None:
    table = read_table(np.ones((1, 3)))

    with pytest.warns(
        UserWarning, match="^X does not have valid feature names, but Model was fitted with feature"
    ):
        assert SCHEMA.check(table, "Model") is table


def test_names_where_fit_had_none_are_welcome_with_scikit_learns_warning() -> None:
    nameless = Schema.of(read_table(np.ones((1, 3))))

    with pytest.warns(UserWarning, match="^X has feature names, but Model was fitted without feature names$"):
        nameless.check(read_table(FRAME), "Model")


def test_no_names_on_either_side_is_silent() -> None:
    nameless = Schema.of(read_table(np.ones((1, 3))))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nameless.check(read_table(np.zeros((2, 3))), "Model").n_rows == 2


def test_an_estimator_gets_scikit_learns_attributes_and_loses_stale_names() -> None:
    model: Any = Model()
    SCHEMA.set_feature_names(model)

    assert model.n_features_in_ == 3
    assert model.feature_names_in_.dtype == object
    assert model.feature_names_in_.tolist() == ["age", "town", "size"]

    Schema.of(read_table(np.ones((1, 2)))).set_feature_names(model)
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
