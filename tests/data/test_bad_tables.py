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
    if case == "one-dimensional sparse" and sparse.coo_array(np.ones(3)).ndim == 2:
        pytest.skip("sparse arrays of an older scipy always have two dimensions")

    with refused(parameter="X"):
        read_table(make())
