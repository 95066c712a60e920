"""Bad tables never pass in silence: each case, the error it gives, and what the message says."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from coterie.data.encoding import Encoder
from coterie.data.prepare import prepare_prediction, prepare_training
from coterie.data.table import read_table
from coterie.errors import InvalidInput, InvalidParameter, InvalidType, SchemaMismatch

Case = tuple[Callable[[], Any], type[Exception], str]

TABLES: dict[str, Case] = {
    "none": (lambda: None, InvalidType, "Expected a table as X.*got None"),
    "text": (lambda: "hello", InvalidType, "Expected a table as X.*got str"),
    "bytes": (lambda: b"hello", InvalidType, "got bytes"),
    "scalar": (lambda: 3.5, InvalidInput, "Expected 2D array, got scalar array"),
    "zero-dimensional": (lambda: np.array(1.0), InvalidInput, "Expected 2D array, got scalar array"),
    "a function": (lambda: len, InvalidType, "Expected a table"),
    "a set": (lambda: {1, 2}, InvalidType, "Expected a table"),
    "a generator": (lambda: (i for i in range(3)), InvalidType, "got generator"),
    "one dimension": (
        lambda: np.ones(3),
        InvalidInput,
        r"Expected 2D array, got 1D array.*\n?Reshape your data",
    ),
    "a flat list": (lambda: [1, 2, 3], InvalidInput, r"got 1D array instead"),
    "an empty list": (list, InvalidInput, r"got 1D array instead"),
    "a pandas series": (lambda: pd.Series([1, 2]), InvalidInput, r"got 1D array instead.*\n.*to_frame"),
    "a polars series": (lambda: pl.Series([1, 2]), InvalidInput, r"got 1D array instead"),
    "an arrow array": (lambda: pa.array([1, 2]), InvalidInput, r"got 1D array instead"),
    "three dimensions": (lambda: np.ones((2, 2, 2)), InvalidInput, r"dim 3.*\(2, 2, 2\).*reshape"),
    "zero rows": (
        lambda: np.ones((0, 3)),
        InvalidInput,
        r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1",
    ),
    "zero columns": (
        lambda: np.ones((5, 0)),
        InvalidInput,
        r"0 feature\(s\) \(shape=\(5, 0\)\) while a minimum",
    ),
    "zero rows, pandas": (lambda: pd.DataFrame({"a": []}), InvalidInput, r"0 sample\(s\) \(shape=\(0, 1\)\)"),
    "zero columns, pandas": (
        lambda: pd.DataFrame(index=range(4)),
        InvalidInput,
        r"0 feature\(s\) \(shape=\(4, 0\)\)",
    ),
    "zero rows, polars": (lambda: pl.DataFrame({"a": []}), InvalidInput, r"0 sample\(s\)"),
    "zero rows, arrow": (lambda: pa.table({"a": pa.array([], pa.float64())}), InvalidInput, r"0 sample\(s\)"),
    "zero rows, sparse": (lambda: sparse.csr_array((0, 3)), InvalidInput, r"0 sample\(s\)"),
    "zero rows, dict": (lambda: {"a": [], "b": []}, InvalidInput, r"0 sample\(s\) \(shape=\(0, 2\)\)"),
    "empty dict": (dict, InvalidInput, r"0 feature\(s\)"),
    "complex": (lambda: np.ones((2, 2), dtype=complex), InvalidInput, "Complex data not supported"),
    "complex objects": (
        lambda: np.array([[1j], [2]], dtype=object),
        InvalidInput,
        "Complex data not supported",
    ),
    "complex sparse": (lambda: sparse.csr_array(np.eye(2) * 1j), InvalidInput, "Complex data not supported"),
    "ragged": (lambda: [[1, 2], [3]], InvalidInput, "ragged: row 0 has 2 values and row 1 has 1"),
    "ragged later": (lambda: [[1, 2], [3, 4], [5, 6, 7]], InvalidInput, "row 2 has 3"),
    "a list of dicts": (lambda: [{"a": 1}, {"a": 2}], InvalidType, "list of dicts.*DataFrame"),
    "nested objects": (
        lambda: np.array([[1.0], [{"foo": "bar"}]], dtype=object),
        InvalidType,
        r"'x0', row 1 holds \{'foo': 'bar'\} of type dict: the argument must be a string or a number",
    ),
    "a list in a cell": (lambda: {"a": [1, [2, 3]]}, InvalidType, "'a', row 1 holds .* list"),
    "a tuple in a cell": (lambda: {"a": [1, (2, 3)]}, InvalidType, "'a' holds .* tuple"),
    "an object in a cell": (lambda: {"a": [1, object()]}, InvalidType, "'a' holds .* object"),
    "lists in polars": (
        lambda: pl.DataFrame({"a": [[1], [2]]}),
        InvalidType,
        "Column 'a' holds values of type List",
    ),
    "structs in polars": (
        lambda: pl.DataFrame({"a": [{"b": 1}]}),
        InvalidType,
        "Column 'a' holds values of type Struct",
    ),
    "lists in arrow": (
        lambda: pa.table({"a": [[1], [2]]}),
        InvalidType,
        "Column 'a' holds values of type List",
    ),
    "dicts in pandas": (lambda: pd.DataFrame({"a": [{"b": 1}, {}]}), InvalidType, "column 'a', row 0 holds"),
    "binary in polars": (
        lambda: pl.DataFrame({"a": [b"x"]}),
        InvalidType,
        "Column 'a' holds values of type Binary",
    ),
    "duplicate names, pandas": (
        lambda: pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
        InvalidInput,
        "duplicate column names: 'a'",
    ),
    "duplicate names, arrow": (
        lambda: pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["b", "b"]),
        InvalidInput,
        "duplicate column names: 'b'",
    ),
    "mixed names": (
        lambda: pd.DataFrame([[1, 2]], columns=["a", 1]),
        InvalidType,
        r"only supported if all input features have string names.*\['int', 'str'\]",
    ),
    "names of a dict": (lambda: {1: [1, 2]}, InvalidType, "key 1 of type int; column names must be text"),
    "lengths of a dict": (lambda: {"a": [1, 2], "b": [1]}, InvalidInput, "differ in length: 'a': 2, 'b': 1"),
    "scalars in a dict": (lambda: {"a": 1}, InvalidInput, "Column 'a' of X has 0 dimensions"),
    "text in a dict": (lambda: {"a": "abc"}, InvalidType, "Column 'a' of X is 'abc'; expected a list"),
    "none in a dict": (lambda: {"a": None}, InvalidType, "Column 'a' of X is None"),
    "matrix in a dict": (lambda: {"a": np.ones((2, 2))}, InvalidInput, r"Column 'a' of X has 2 dimensions"),
    "structured array": (
        lambda: np.zeros(3, dtype=[("a", "f8"), ("b", "i4")]),
        InvalidType,
        "structured array.*X.dtype.names",
    ),
    "whole number beyond floats": (
        lambda: {"a": [10**400, 1]},
        InvalidInput,
        "'a' holds a whole number too large",
    ),
    "matrix beyond floats": (
        lambda: np.array([[10**400]], dtype=object),
        InvalidInput,
        "X holds a whole number too large",
    ),
    "one-dimensional sparse": (
        lambda: sparse.coo_array(np.ones(3)),
        InvalidInput,
        "Expected 2D array.*1 dimension",
    ),
}


@pytest.mark.parametrize("case", TABLES)
def test_a_bad_table_is_explained(case: str) -> None:
    make, error, pattern = TABLES[case]

    with pytest.raises(error, match=re.compile(pattern, re.DOTALL)):
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
PREDICTIONS: dict[str, tuple[Callable[[], Any], Any, type[Exception], str]] = {
    "narrower": (
        lambda: fitted(np.ones((2, 3))),
        np.ones((2, 1)),
        SchemaMismatch,
        "X has 1 features, but Model is expecting 3 features as input",
    ),
    "wider": (
        lambda: fitted(np.ones((2, 3))),
        np.ones((2, 4)),
        SchemaMismatch,
        "X has 4 features.*expecting 3",
    ),
    "zero rows": (lambda: fitted(np.ones((2, 3))), np.ones((0, 3)), InvalidInput, r"0 sample\(s\)"),
    "one row as a vector": (lambda: fitted(np.ones((2, 3))), np.ones(3), InvalidInput, "Reshape your data"),
    "complex": (
        lambda: fitted(np.ones((2, 3))),
        np.ones((2, 3)) * 1j,
        InvalidInput,
        "Complex data not supported",
    ),
    "none": (lambda: fitted(np.ones((2, 3))), None, InvalidType, "got None"),
    "text for numbers": (
        lambda: fitted(np.ones((2, 1))),
        np.array([["a"], ["b"]]),
        SchemaMismatch,
        "Column 'x0' was numeric in fit and holds text now",
    ),
    "renamed": (
        lambda: fitted(FRAME),
        FRAME.rename(columns={"income": "incomes"}),
        SchemaMismatch,
        "unseen at fit time:\n- incomes\n.*missing:\n- income\n.*Did you mean 'income' instead of 'incomes'",
    ),
    "a column less": (
        lambda: fitted(FRAME),
        FRAME[["age", "town"]],
        SchemaMismatch,
        "yet now missing:\n- income\nX has 2 columns; this Model was fitted on 3.*add it with missing values",
    ),
    "a column more": (
        lambda: fitted(FRAME),
        FRAME.assign(extra=1),
        SchemaMismatch,
        "unseen at fit time:\n- extra\n.*Drop the columns",
    ),
    "another order": (
        lambda: fitted(FRAME),
        FRAME[["town", "age", "income"]],
        SchemaMismatch,
        "same order as they were in fit.\nColumn 0 is 'town' and was 'age' in fit.*feature_names_in_",
    ),
    "numbers became text": (
        lambda: fitted(FRAME),
        FRAME.assign(age=["thirty", "forty"]),
        SchemaMismatch,
        r"Column 'age' was numeric in fit and holds text now \('forty', 'thirty'\)",
    ),
    "text became numbers": (
        lambda: fitted(FRAME),
        FRAME.assign(town=[1, 2]),
        SchemaMismatch,
        "Column 'town' held text in fit and is numeric now",
    ),
    "codes became text": (
        lambda: fitted(FRAME, categorical_features=["income"]),
        FRAME.assign(income=["a", "b"]),
        SchemaMismatch,
        "Column 'income' was numeric in fit and holds text now",
    ),
    "unseen category": (
        lambda: fitted(FRAME, unknown_category="error"),
        FRAME.assign(town=["Cork", "Oslo"]),
        InvalidInput,
        "Column 'town' holds categories that fit did not see: 'Cork'. Use unknown_category='missing'",
    ),
    "unseen code": (
        lambda: fitted(np.array([[0.0], [1.0]]), categorical_features=[0], unknown_category="error"),
        np.array([[2.0]]),
        InvalidInput,
        "Column 'x0' holds categories that fit did not see: 2",
    ),
    "many unseen": (
        lambda: fitted(FRAME, unknown_category="error"),
        pd.concat([FRAME] * 4).assign(town=list("abcdefgh")),
        InvalidInput,
        "'a', 'b', 'c', 'd', 'e' and 3 more",
    ),
}


@pytest.mark.parametrize("case", PREDICTIONS)
def test_a_bad_table_at_predict_is_explained(case: str) -> None:
    fit, X, error, pattern = PREDICTIONS[case]
    model = fit()

    with pytest.raises(error, match=re.compile(pattern, re.DOTALL)):
        prepare_prediction(model, X)


CATEGORICAL: dict[str, tuple[Any, type[Exception], str]] = {
    "another word": (
        "automatic",
        InvalidParameter,
        "categorical_features='automatic': expected 'auto' or None",
    ),
    "a name that is not there": (
        ["twon"],
        InvalidParameter,
        "'twon', which is not a column of X. Did you mean 'town'",
    ),
    "a far name": (["zzz"], InvalidParameter, r"'zzz', which is not a column of X. X has \['age'"),
    "an index beyond": ([3], InvalidParameter, "names column 3, and X has the columns 0 to 2"),
    "a negative index": ([-1], InvalidParameter, "names column -1"),
    "a short mask": ([True, False], InvalidParameter, "mask of 2 values and X has 3 columns"),
    "fractions": ([0.5], InvalidParameter, r"categorical_features=\[0.5\]"),
    "mixed": (["age", 1], InvalidParameter, "categorical_features"),
    "a number": (3, InvalidParameter, "categorical_features=3"),
    "two dimensions": ([[0, 1]], InvalidParameter, "categorical_features"),
    "ragged": ([[0], [1, 2]], InvalidParameter, "categorical_features"),
    "none with text": (None, InvalidInput, r"Column 'town' holds categories \('Oslo', 'Rome'\).*'auto'"),
}


@pytest.mark.parametrize("case", CATEGORICAL)
def test_categorical_features_that_make_no_sense_are_explained(case: str) -> None:
    given, error, pattern = CATEGORICAL[case]

    with pytest.raises(error, match=re.compile(pattern, re.DOTALL)):
        Encoder(given).fit(read_table(FRAME))


def test_names_need_a_table_with_names() -> None:
    with pytest.raises(InvalidParameter, match="X has no column names"):
        Encoder(["age"]).fit(read_table(np.ones((2, 2))))


def test_an_unknown_way_with_unknown_categories_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="unknown_category='ignore': expected 'missing' or 'error'"):
        fitted(FRAME, unknown_category="ignore")


def test_an_encoder_refuses_another_width() -> None:
    encoder = Encoder().fit(read_table(np.ones((2, 2))))

    with pytest.raises(SchemaMismatch, match="3 columns; the encoder was fitted on 2"):
        encoder.transform(read_table(np.ones((2, 3))))
