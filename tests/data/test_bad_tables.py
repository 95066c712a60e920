"""Bad tables never pass in silence: each case, the error it gives, and the fields that it carries."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from coterie.data.prepare import read_table
from coterie.errors import InvalidInput, InvalidType
from tests.helpers.errors import raised

Case = tuple[Callable[[], Any], Callable[..., Any]]

TABLES: dict[str, Case] = {
    "none": (
        lambda: None,
        partial(
            raised,
            InvalidType,
            received=None,
            allowed="a 2-D array, a data frame",
            about="Expected a table as X: a 2-D array, a data frame, a dict of columns or a sparse matrix",
        ),
    ),
    "text": (
        lambda: "hello",
        partial(
            raised,
            InvalidType,
            received="hello",
            allowed="a 2-D array, a data frame",
            about="got str ('hello')",
        ),
    ),
    "bytes": (
        lambda: b"hello",
        partial(raised, InvalidType, received=b"hello", allowed="a 2-D array, a data frame"),
    ),
    "scalar": (
        lambda: 3.5,
        partial(
            raised,
            InvalidInput,
            received=(),
            allowed="two dimensions",
            hint="Reshape your data",
            about="Expected 2D array, got scalar array instead",
        ),
    ),
    "zero-dimensional": (
        lambda: np.array(1.0),
        partial(raised, InvalidInput, received=(), allowed="two dimensions", hint="Reshape your data"),
    ),
    "a function": (
        lambda: len,
        partial(raised, InvalidType, received=len, allowed="a 2-D array, a data frame"),
    ),
    "a set": (
        lambda: {1, 2},
        partial(raised, InvalidType, received={1, 2}, allowed="a 2-D array, a data frame"),
    ),
    "a generator": (
        lambda: (i for i in range(3)),
        partial(raised, InvalidType, allowed="a 2-D array, a data frame", about="got generator"),
    ),
    "one dimension": (
        lambda: np.ones(3),
        partial(
            raised,
            InvalidInput,
            received=(3,),
            allowed="two dimensions",
            hint="Reshape your data",
            about="Expected 2D array, got 1D array instead",
        ),
    ),
    "a flat list": (
        lambda: [1, 2, 3],
        partial(raised, InvalidInput, received=(3,), allowed="two dimensions", hint="Reshape your data"),
    ),
    "an empty list": (
        list,
        partial(raised, InvalidInput, received=(0,), allowed="two dimensions", hint="Reshape your data"),
    ),
    "a pandas series": (
        lambda: pd.Series([1, 2]),
        partial(raised, InvalidInput, received=(2,), allowed="two dimensions", hint="Reshape your data"),
    ),
    "a polars series": (
        lambda: pl.Series([1, 2]),
        partial(raised, InvalidInput, received=(2,), allowed="two dimensions", hint="Reshape your data"),
    ),
    "an arrow array": (
        lambda: pa.array([1, 2]),
        partial(raised, InvalidInput, received=(2,), allowed="two dimensions", hint="Reshape your data"),
    ),
    "three dimensions": (
        lambda: np.ones((2, 2, 2)),
        partial(
            raised,
            InvalidInput,
            received=(2, 2, 2),
            allowed="two dimensions",
            hint="Flatten each row to one list of values, for",
            about="Found array with dim 3, while dim <= 2 is required",
        ),
    ),
    "zero rows": (
        lambda: np.ones((0, 3)),
        partial(
            raised,
            InvalidInput,
            received=(0, 3),
            allowed="at least one row and one column",
            about="Found array with 0 sample(s) (shape=(0, 3)) while a minimum of 1 is required.",
        ),
    ),
    "zero columns": (
        lambda: np.ones((5, 0)),
        partial(
            raised,
            InvalidInput,
            received=(5, 0),
            allowed="at least one row and one column",
            about="Found array with 0 feature(s) (shape=(5, 0)) while a minimum of 1 is required.",
        ),
    ),
    "zero rows, pandas": (
        lambda: pd.DataFrame({"a": []}),
        partial(raised, InvalidInput, received=(0, 1), allowed="at least one row and one column"),
    ),
    "zero columns, pandas": (
        lambda: pd.DataFrame(index=range(4)),
        partial(raised, InvalidInput, received=(4, 0), allowed="at least one row and one column"),
    ),
    "zero rows, polars": (
        lambda: pl.DataFrame({"a": []}),
        partial(raised, InvalidInput, received=(0, 1), allowed="at least one row and one column"),
    ),
    "zero rows, arrow": (
        lambda: pa.table({"a": pa.array([], pa.float64())}),
        partial(raised, InvalidInput, received=(0, 1), allowed="at least one row and one column"),
    ),
    "zero rows, sparse": (
        lambda: sparse.csr_array((0, 3)),
        partial(raised, InvalidInput, received=(0, 3), allowed="at least one row and one column"),
    ),
    "zero rows, dict": (
        lambda: {"a": [], "b": []},
        partial(raised, InvalidInput, received=(0, 2), allowed="at least one row and one column"),
    ),
    "empty dict": (
        dict,
        partial(raised, InvalidInput, received=(1, 0), allowed="at least one row and one column"),
    ),
    "complex": (
        lambda: np.ones((2, 2), dtype=complex),
        partial(
            raised,
            InvalidInput,
            received=np.dtype("complex128"),
            allowed="real numbers",
            hint="Pass the real and the imaginary part as two",
            about="Complex data not supported: X holds complex128 numbers",
        ),
    ),
    "complex objects": (
        lambda: np.array([[1j], [2]], dtype=object),
        partial(
            raised,
            InvalidInput,
            received=1j,
            column="x0",
            allowed="a string or a number (or a date, or missing)",
            about="Complex data not supported",
        ),
    ),
    "complex sparse": (
        lambda: sparse.csr_array(np.eye(2) * 1j),
        partial(
            raised,
            InvalidInput,
            received=np.dtype("complex128"),
            allowed="real numbers",
            hint="Pass the real and the imaginary part as two",
        ),
    ),
    "ragged": (
        lambda: [[1, 2], [3]],
        partial(
            raised,
            InvalidInput,
            received=1,
            row=1,
            allowed="2 values in every row",
            hint="Every row needs the same number of values; use",
            about="X is ragged: row 0 has 2 values and row 1 has 1.",
        ),
    ),
    "ragged later": (
        lambda: [[1, 2], [3, 4], [5, 6, 7]],
        partial(
            raised,
            InvalidInput,
            received=3,
            row=2,
            allowed="2 values in every row",
            hint="Every row needs the same number of values; use",
        ),
    ),
    "a list of dicts": (
        lambda: [{"a": 1}, {"a": 2}],
        partial(
            raised,
            InvalidType,
            received="dict",
            allowed="rows of equal length, or one dict of columns",
            hint="Turn it into a data frame first, for example",
            about="X is a list of dicts",
        ),
    ),
    "nested objects": (
        lambda: np.array([[1.0], [{"foo": "bar"}]], dtype=object),
        partial(
            raised,
            InvalidType,
            received={"foo": "bar"},
            column="x0",
            row=1,
            allowed="a string or a number (or a date, or missing)",
            hint="Turn nested values into columns of their own.",
            about="column 'x0', row 1 holds {'foo': 'bar'} of type dict: the argument must be a string or a number",
        ),
    ),
    "a list in a cell": (
        lambda: {"a": [1, [2, 3]]},
        partial(
            raised,
            InvalidType,
            received=[2, 3],
            column="a",
            row=1,
            allowed="a string or a number (or a date, or missing)",
            hint="Turn nested values into columns of their own.",
        ),
    ),
    "a tuple in a cell": (
        lambda: {"a": [1, (2, 3)]},
        partial(
            raised,
            InvalidType,
            received=(2, 3),
            column="a",
            allowed="a string or a number (or a date, or missing)",
            hint="Turn nested values into columns of their own.",
        ),
    ),
    "an object in a cell": (
        lambda: {"a": [1, object()]},
        partial(
            raised,
            InvalidType,
            column="a",
            about="of type object",
            allowed="a string or a number (or a date, or missing)",
            hint="Turn nested values into columns of their own.",
        ),
    ),
    "lists in polars": (
        lambda: pl.DataFrame({"a": [[1], [2]]}),
        partial(
            raised,
            InvalidType,
            received="List(Int64)",
            column="a",
            allowed="a string or a number in each row",
            hint="Turn nested values into columns of their own.",
            about="Column 'a' holds values of type List(Int64): the argument must be a string or a number",
        ),
    ),
    "structs in polars": (
        lambda: pl.DataFrame({"a": [{"b": 1}]}),
        partial(
            raised,
            InvalidType,
            received="Struct({'b': Int64})",
            column="a",
            allowed="a string or a number in each row",
            hint="Turn nested values into columns of their own.",
        ),
    ),
    "lists in arrow": (
        lambda: pa.table({"a": [[1], [2]]}),
        partial(
            raised,
            InvalidType,
            received="List(Int64)",
            column="a",
            allowed="a string or a number in each row",
            hint="Turn nested values into columns of their own.",
        ),
    ),
    "dicts in pandas": (
        lambda: pd.DataFrame({"a": [{"b": 1}, {}]}),
        partial(
            raised,
            InvalidType,
            received={"b": 1},
            column="a",
            row=0,
            allowed="a string or a number (or a date, or missing)",
            hint="Turn nested values into columns of their own.",
        ),
    ),
    "binary in polars": (
        lambda: pl.DataFrame({"a": [b"x"]}),
        partial(
            raised,
            InvalidType,
            received="Binary",
            column="a",
            allowed="a string or a number in each row",
            hint="Turn nested values into columns of their own.",
        ),
    ),
    "duplicate names, pandas": (
        lambda: pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
        partial(
            raised,
            InvalidInput,
            received=["a"],
            column="a",
            allowed="a name of its own for every column",
            hint="Rename or drop the copies.",
            about="X has duplicate column names: 'a'.",
        ),
    ),
    "duplicate names, arrow": (
        lambda: pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["b", "b"]),
        partial(
            raised,
            InvalidInput,
            received=["b"],
            column="b",
            allowed="a name of its own for every column",
            hint="Rename or drop the copies.",
        ),
    ),
    "mixed names": (
        lambda: pd.DataFrame([[1, 2]], columns=["a", 1]),
        partial(
            raised,
            InvalidType,
            received=["int", "str"],
            allowed="column names that are all text",
            hint="If you want feature names to be stored and",
            about="only supported if all input features have string names, but your input has ['int', 'str']",
        ),
    ),
    "names of a dict": (
        lambda: {1: [1, 2]},
        partial(
            raised,
            InvalidType,
            received=1,
            allowed="column names that are text",
            about="the key 1 of type int; column names must be text",
        ),
    ),
    "lengths of a dict": (
        lambda: {"a": [1, 2], "b": [1]},
        partial(
            raised,
            InvalidInput,
            received={"a": 2, "b": 1},
            allowed="columns of the same length",
            about="differ in length: 'a': 2, 'b': 1.",
        ),
    ),
    "scalars in a dict": (
        lambda: {"a": 1},
        partial(raised, InvalidInput, received=(), column="a", allowed="one dimension"),
    ),
    "text in a dict": (
        lambda: {"a": "abc"},
        partial(raised, InvalidType, received="abc", column="a", allowed="a list or an array of values"),
    ),
    "none in a dict": (
        lambda: {"a": None},
        partial(raised, InvalidType, received=None, column="a", allowed="a list or an array of values"),
    ),
    "matrix in a dict": (
        lambda: {"a": np.ones((2, 2))},
        partial(raised, InvalidInput, received=(2, 2), column="a", allowed="one dimension"),
    ),
    "structured array": (
        lambda: np.zeros(3, dtype=[("a", "f8"), ("b", "i4")]),
        partial(
            raised,
            InvalidType,
            received=np.dtype([("a", "<f8"), ("b", "<i4")]),
            allowed="a 2-D array, a data frame",
            hint="Pass its fields as columns: {name: X[name] for",
            about="X is a structured array",
        ),
    ),
    "whole number beyond floats": (
        lambda: {"a": [10**400, 1]},
        partial(
            raised,
            InvalidInput,
            received=10**400,
            column="a",
            allowed="numbers that a float can hold",
            about="Column 'a' holds a whole number too large for a float",
        ),
    ),
    "matrix beyond floats": (
        lambda: np.array([[10**400]], dtype=object),
        partial(raised, InvalidInput, received=10**400, allowed="numbers that a float can hold"),
    ),
    "one-dimensional sparse": (
        lambda: sparse.coo_array(np.ones(3)),
        partial(
            raised,
            InvalidInput,
            received=(3,),
            allowed="two dimensions",
            about="Expected 2D array, got a sparse array with 1 dimension(s)",
        ),
    ),
}


@pytest.mark.parametrize("case", TABLES)
def test_a_bad_table_is_explained(case: str) -> None:
    make, refused = TABLES[case]

    with refused(parameter="X"):
        read_table(make())


class Model:
    """The parameters that the data layer reads from an estimator."""

    def __init__(self, **params: Any) -> None:
        self.categorical_features: Any = "auto"
        self.unknown_category = "missing"
        vars(self).update(params)


def fitted(X: Any, **params: Any) -> Model:
    model = Model(**params)
    prepare_training(model, X, np.arange(2.0), task="regression")
    return model


FRAME = pd.DataFrame({"age": [30.0, 40.0], "town": ["Rome", "Oslo"], "income": [1, 2]})
PREDICTIONS: dict[str, tuple[Callable[[], Any], Any, Callable[..., Any]]] = {
    "narrower": (
        lambda: fitted(np.ones((2, 3))),
        np.ones((2, 1)),
        partial(
            raised,
            SchemaMismatch,
            received=1,
            allowed="3 columns",
            hint="Pass the columns that fit saw, in the same",
            about="X has 1 features, but Model is expecting 3 features as input.",
        ),
    ),
    "wider": (
        lambda: fitted(np.ones((2, 3))),
        np.ones((2, 4)),
        partial(
            raised,
            SchemaMismatch,
            received=4,
            allowed="3 columns",
            hint="Pass the columns that fit saw, in the same",
        ),
    ),
    "zero rows": (
        lambda: fitted(np.ones((2, 3))),
        np.ones((0, 3)),
        partial(raised, InvalidInput, received=(0, 3), allowed="at least one row and one column"),
    ),
    "one row as a vector": (
        lambda: fitted(np.ones((2, 3))),
        np.ones(3),
        partial(raised, InvalidInput, received=(3,), allowed="two dimensions", hint="Reshape your data"),
    ),
    "complex": (
        lambda: fitted(np.ones((2, 3))),
        np.ones((2, 3)) * 1j,
        partial(
            raised,
            InvalidInput,
            received=np.dtype("complex128"),
            allowed="real numbers",
            hint="Pass the real and the imaginary part as two",
        ),
    ),
    "none": (
        lambda: fitted(np.ones((2, 3))),
        None,
        partial(raised, InvalidType, received=None, allowed="a 2-D array, a data frame"),
    ),
    "text for numbers": (
        lambda: fitted(np.ones((2, 1))),
        np.array([["a"], ["b"]]),
        partial(
            raised,
            SchemaMismatch,
            received=["a", "b"],
            column="x0",
            allowed="numbers",
            hint="Convert it to numbers, with None where a value",
        ),
    ),
    "renamed": (
        lambda: fitted(FRAME),
        FRAME.rename(columns={"income": "incomes"}),
        partial(
            raised,
            SchemaMismatch,
            received=("age", "town", "incomes"),
            column="incomes",
            allowed="the columns ['age', 'town', 'income']",
            hint="Did you mean 'income' instead of 'incomes'?",
            about="unseen at fit time:\n- incomes\nFeature names seen at fit time, yet now missing:\n- income\n",
        ),
    ),
    "a column less": (
        lambda: fitted(FRAME),
        FRAME[["age", "town"]],
        partial(
            raised,
            SchemaMismatch,
            received=("age", "town"),
            column="income",
            allowed="the columns ['age', 'town', 'income']",
            hint="If a column was renamed, rename it back. If it",
            about="yet now missing:\n- income\nX has 2 columns; this Model was fitted on 3.",
        ),
    ),
    "a column more": (
        lambda: fitted(FRAME),
        FRAME.assign(extra=1),
        partial(
            raised,
            SchemaMismatch,
            received=("age", "town", "income", "extra"),
            column="extra",
            allowed="the columns ['age', 'town', 'income']",
            hint="Drop the columns that fit did not see.",
        ),
    ),
    "another order": (
        lambda: fitted(FRAME),
        FRAME[["town", "age", "income"]],
        partial(
            raised,
            SchemaMismatch,
            received=("town", "age", "income"),
            column="town",
            allowed="the columns ['age', 'town', 'income'], in this order",
            hint="To put them in order:",
            about="must be in the same order as they were in fit.\nColumn 0 is 'town' and was 'age' in fit.",
        ),
    ),
    "numbers became text": (
        lambda: fitted(FRAME),
        FRAME.assign(age=["thirty", "forty"]),
        partial(
            raised,
            SchemaMismatch,
            received=["forty", "thirty"],
            column="age",
            allowed="numbers",
            hint="Convert it to numbers, with None where a value",
            about="Column 'age' was numeric in fit and holds text now ('forty', 'thirty').",
        ),
    ),
    "text became numbers": (
        lambda: fitted(FRAME),
        FRAME.assign(town=[1, 2]),
        partial(
            raised,
            SchemaMismatch,
            received=np.dtype("int64"),
            column="town",
            allowed="text",
            hint="Pass it as text again, or fit the model on the",
            about="Column 'town' held text in fit and is numeric now.",
        ),
    ),
    "codes became text": (
        lambda: fitted(FRAME, categorical_features=["income"]),
        FRAME.assign(income=["a", "b"]),
        partial(
            raised,
            SchemaMismatch,
            received=["a", "b"],
            column="income",
            allowed="numbers",
            hint="Convert it to numbers, with None where a value",
        ),
    ),
    "unseen category": (
        lambda: fitted(FRAME, unknown_category="error"),
        FRAME.assign(town=["Cork", "Oslo"]),
        partial(
            raised,
            InvalidInput,
            received=["Cork"],
            column="town",
            allowed="the categories that fit saw",
            hint="Use unknown_category='missing' to treat them as",
        ),
    ),
    "unseen code": (
        lambda: fitted(np.array([[0.0], [1.0]]), categorical_features=[0], unknown_category="error"),
        np.array([[2.0]]),
        partial(
            raised,
            InvalidInput,
            received=[2],
            column="x0",
            allowed="the categories that fit saw",
            hint="Use unknown_category='missing' to treat them as",
            about="Column 'x0' holds categories that fit did not see: 2.",
        ),
    ),
    "many unseen": (
        lambda: fitted(FRAME, unknown_category="error"),
        pd.concat([FRAME] * 4).assign(town=list("abcdefgh")),
        partial(
            raised,
            InvalidInput,
            received=["a", "b", "c", "d", "e", "f", "g", "h"],
            column="town",
            allowed="the categories that fit saw",
            hint="Use unknown_category='missing' to treat them as",
            about="'a', 'b', 'c', 'd', 'e' and 3 more",
        ),
    ),
}


@pytest.mark.parametrize("case", PREDICTIONS)
def test_a_bad_table_at_predict_is_explained(case: str) -> None:
    fit, X, refused = PREDICTIONS[case]
    model = fit()

    with refused(parameter="X"):
        prepare_prediction(model, X)


CATEGORICAL: dict[str, tuple[Any, Callable[..., Any]]] = {
    "another word": (
        "automatic",
        partial(
            raised,
            InvalidParameter,
            parameter="categorical_features",
            received="automatic",
            allowed="'auto' or None or a list of column names",
            about="categorical_features='automatic': expected 'auto' or None",
        ),
    ),
    "a name that is not there": (
        ["twon"],
        partial(
            raised,
            InvalidParameter,
            parameter="categorical_features",
            received="twon",
            allowed="the columns ['age', 'town', 'income']",
            hint="Did you mean 'town'?",
            about="categorical_features has an item value 'twon' which is not a valid feature name",
        ),
    ),
    "a far name": (
        ["zzz"],
        partial(
            raised,
            InvalidParameter,
            parameter="categorical_features",
            received="zzz",
            allowed="the columns ['age', 'town', 'income']",
            hint="X has ['age', 'town', 'income'].",
        ),
    ),
    "an index beyond": (
        [3],
        partial(
            raised,
            InvalidParameter,
            parameter="categorical_features",
            received=3,
            allowed="columns 0 to 2",
            about="names column 3, and X has the columns 0 to 2.",
        ),
    ),
    "a negative index": (
        [-1],
        partial(
            raised, InvalidParameter, parameter="categorical_features", received=-1, allowed="columns 0 to 2"
        ),
    ),
    "a short mask": (
        [True, False],
        partial(
            raised,
            InvalidParameter,
            parameter="categorical_features",
            received=[True, False],
            allowed="one value for each column",
            about="mask of 2 values and X has 3 columns",
        ),
    ),
    "fractions": (
        [0.5],
        partial(
            raised,
            InvalidParameter,
            parameter="categorical_features",
            received=[0.5],
            allowed="'auto' or None or a list of column names",
        ),
    ),
    "mixed": (
        ["age", 1],
        partial(
            raised,
            InvalidParameter,
            parameter="categorical_features",
            received="1",
            allowed="the columns ['age', 'town', 'income']",
            hint="X has ['age', 'town', 'income'].",
        ),
    ),
    "a number": (
        3,
        partial(
            raised,
            InvalidParameter,
            parameter="categorical_features",
            received=3,
            allowed="'auto' or None or a list of column names",
        ),
    ),
    "two dimensions": (
        [[0, 1]],
        partial(
            raised,
            InvalidParameter,
            parameter="categorical_features",
            received=[[0, 1]],
            allowed="'auto' or None or a list of column names",
        ),
    ),
    "ragged": (
        [[0], [1, 2]],
        partial(
            raised,
            InvalidParameter,
            parameter="categorical_features",
            received=[[0], [1, 2]],
            allowed="'auto' or None or a list of column names",
        ),
    ),
    "none with text": (
        None,
        partial(
            raised,
            InvalidInput,
            parameter="X",
            received=["Oslo", "Rome"],
            column="town",
            allowed="numbers",
            hint="Use categorical_features='auto', or turn the",
            about="Column 'town' holds categories ('Oslo', 'Rome')",
        ),
    ),
}


@pytest.mark.parametrize("case", CATEGORICAL)
def test_categorical_features_that_make_no_sense_are_explained(case: str) -> None:
    given, refused = CATEGORICAL[case]

    with refused():
        Encoder(given).fit(read_table(FRAME))


def test_names_need_a_table_with_names() -> None:
    with raised(
        InvalidParameter, parameter="categorical_features", received=["age"], about="X has no column names"
    ):
        Encoder(["age"]).fit(read_table(np.ones((2, 2))))


def test_an_unknown_way_with_unknown_categories_is_refused() -> None:
    with raised(
        InvalidParameter, parameter="unknown_category", received="ignore", allowed="'missing' or 'error'"
    ):
        fitted(FRAME, unknown_category="ignore")


def test_an_encoder_refuses_another_width() -> None:
    encoder = Encoder().fit(read_table(np.ones((2, 2))))

    with raised(SchemaMismatch, parameter="X", received=3, allowed="2 columns"):
        encoder.transform(read_table(np.ones((2, 3))))
