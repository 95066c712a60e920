"""Bad tables at predict: each case, the error it gives, and the fields that it carries."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

from coterie.data.prepare import prepare_prediction, prepare_training
from coterie.errors import InvalidInput, InvalidParameter, InvalidType, SchemaMismatch
from tests.helpers.errors import raised


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


def test_an_unknown_way_with_unknown_categories_is_refused() -> None:
    with raised(
        InvalidParameter, parameter="unknown_category", received="ignore", allowed="'missing' or 'error'"
    ):
        fitted(FRAME, unknown_category="ignore")
