"""Choices of categorical columns that make no sense: the error of each, and the fields that it carries."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

from coterie.data.prepare import Encoder, read_table
from coterie.errors import InvalidInput, InvalidParameter, SchemaMismatch
from tests.helpers.errors import raised

FRAME = pd.DataFrame({"age": [30.0, 40.0], "town": ["Rome", "Oslo"], "income": [1, 2]})
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


def test_an_encoder_refuses_another_width() -> None:
    encoder = Encoder().fit(read_table(np.ones((2, 2))))

    with raised(SchemaMismatch, parameter="X", received=3, allowed="2 columns"):
        encoder.transform(read_table(np.ones((2, 3))))
