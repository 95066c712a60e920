"""Bad targets and weights never pass in silence: each case, the error it gives, and the fields that it carries."""

from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from coterie.data.target import read_target
from coterie.data.weight import combined_weight, read_weight
from coterie.errors import InvalidInput, InvalidParameter, InvalidType
from tests.helpers.errors import raised

Case = tuple[Callable[[], Any], Callable[..., Any]]


def numbers(y: Any, **options: Any) -> Any:
    return read_target(y, task="regression", estimator_name="Tree", n_rows=3, **options)


def classes(y: Any, **options: Any) -> Any:
    return read_target(y, task="classification", estimator_name="Tree", n_rows=3, **options)


NAN, INF = np.nan, np.inf
TARGETS: dict[str, Case] = {
    "none": (
        lambda: numbers(None),
        partial(
            raised,
            InvalidInput,
            parameter="y",
            received=None,
            allowed="one value for each row",
            about="This Tree estimator requires y to be passed, but the target y is None",
        ),
    ),
    "none for classes": (
        lambda: classes(None),
        partial(raised, InvalidInput, parameter="y", received=None, allowed="one value for each row"),
    ),
    "nan": (
        lambda: numbers([1, NAN, 2]),
        partial(
            raised,
            InvalidInput,
            parameter="y",
            received=NAN,
            row=1,
            allowed="finite numbers",
            about="Input y contains NaN. The first one is in row 1",
        ),
    ),
    "inf": (
        lambda: numbers([1, 2, INF]),
        partial(
            raised,
            InvalidInput,
            parameter="y",
            received=INF,
            row=2,
            allowed="finite numbers",
            about="y contains infinity or a value too large for dtype('float64'). The first one is in row 2: inf.",
        ),
    ),
    "minus inf": (
        lambda: numbers([-INF, 2, 3]),
        partial(raised, InvalidInput, parameter="y", received=-INF, row=0, allowed="finite numbers"),
    ),
    "long double beyond float64": (
        lambda: numbers(np.array([1, 2, np.longdouble("1e4000")])),
        partial(raised, InvalidInput, parameter="y", received=INF, row=2, allowed="finite numbers"),
    ),
    "object none": (
        lambda: numbers(np.array([1, None, 2], dtype=object)),
        partial(raised, InvalidInput, parameter="y", received=NAN, row=1, allowed="finite numbers"),
    ),
    "pandas NA": (
        lambda: numbers(pd.Series([1, None, 2], dtype="Int64")),
        partial(raised, InvalidInput, parameter="y", received=NAN, row=1, allowed="finite numbers"),
    ),
    "polars null": (
        lambda: numbers(pl.Series([1, None, 2])),
        partial(raised, InvalidInput, parameter="y", received=NAN, row=1, allowed="finite numbers"),
    ),
    "arrow null": (
        lambda: numbers(pa.array([1, None, 2])),
        partial(raised, InvalidInput, parameter="y", received=NAN, row=1, allowed="finite numbers"),
    ),
    "masked": (
        lambda: numbers(np.ma.masked_array([1, 2, 3], [False, False, True])),
        partial(
            raised,
            InvalidInput,
            parameter="y",
            received=np.ma.masked,
            row=2,
            allowed="one value for each row",
            hint="Drop these rows first.",
            about="Input y contains NaN: the value of row 2 is masked.",
        ),
    ),
    "too short": (
        lambda: numbers([1, 2]),
        partial(
            raised,
            InvalidInput,
            parameter="y",
            received=[3, 2],
            allowed="one for each of the 3 rows",
            hint="X, y and sample_weight need one entry for each",
            about="Found input variables with inconsistent numbers of samples: [3, 2].",
        ),
    ),
    "too long": (
        lambda: classes([1, 2, 1, 2]),
        partial(
            raised,
            InvalidInput,
            parameter="y",
            received=[3, 4],
            allowed="one for each of the 3 rows",
            hint="X, y and sample_weight need one entry for each",
        ),
    ),
    "empty": (
        lambda: classes([]),
        partial(
            raised,
            InvalidInput,
            parameter="y",
            received=[3, 0],
            allowed="one for each of the 3 rows",
            hint="X, y and sample_weight need one entry for each",
        ),
    ),
    "scalar": (
        lambda: numbers(3),
        partial(
            raised,
            InvalidInput,
            parameter="y",
            received=(),
            allowed="a list or an array of one value for each row",
            about="y should be a 1d array, got an array of shape () instead.",
        ),
    ),
    "text": (
        lambda: classes("abc"),
        partial(
            raised,
            InvalidType,
            parameter="y",
            received="abc",
            allowed="a list or an array of one value for each row",
            about="y should be a 1d array, got str ('abc') instead.",
        ),
    ),
    "a dict": (
        lambda: classes({0: 1}),
        partial(
            raised,
            InvalidType,
            parameter="y",
            received={0: 1},
            allowed="a list or an array of one value for each row",
        ),
    ),
    "two columns": (
        lambda: numbers(np.ones((3, 2))),
        partial(
            raised,
            InvalidInput,
            parameter="y",
            received=(3, 2),
            allowed="a list or an array of one value for each row",
            hint="One value per row is expected; fit one model",
        ),
    ),
    "three dimensions": (
        lambda: numbers(np.ones((3, 2, 2)), multi_output=True),
        partial(
            raised,
            InvalidInput,
            parameter="y",
            received=(3, 2, 2),
            allowed="a list or an array of one value for each row",
        ),
    ),
    "ragged": (
        lambda: classes([[1], [1, 2], [3]]),
        partial(
            raised,
            InvalidInput,
            parameter="y",
            received=[[1], [1, 2], [3]],
            allowed="a list or an array of one value for each row",
            about="y should be a 1d array, got a nested list instead",
        ),
    ),
    "text for numbers": (
        lambda: numbers(["a", "b", "c"]),
        partial(
            raised,
            InvalidInput,
            parameter="y",
            received="a",
            row=0,
            allowed="numbers",
            hint="Convert y to numbers, or use the classifier for",
            about="y holds text ('a' in row 0), and regression needs numbers.",
        ),
    ),
    "text among numbers": (
        lambda: numbers([1, "b", 2]),
        partial(
            raised,
            InvalidType,
            parameter="y",
            received="b",
            row=1,
            allowed="numbers",
            hint="Convert y to numbers, or use the classifier for",
            about="y holds 'b' of type str in row 1; the argument must be a number.",
        ),
    ),
    "dates for numbers": (
        lambda: numbers(np.array(["2020-01-01"] * 3, dtype="M8[D]")),
        partial(
            raised,
            InvalidInput,
            parameter="y",
            received=date(2020, 1, 1),
            row=0,
            allowed="numbers",
            hint="Convert y to numbers, or use the classifier for",
            about="y holds dates or durations",
        ),
    ),
    "complex": (
        lambda: numbers(np.ones(3) * 1j),
        partial(
            raised,
            InvalidInput,
            parameter="y",
            received=np.dtype("complex128"),
            allowed="real numbers",
            hint="Pass the real and the imaginary part as two",
            about="Complex data not supported: y holds complex128 numbers",
        ),
    ),
    "complex classes": (
        lambda: classes(np.ones(3) * 1j),
        partial(
            raised,
            InvalidInput,
            parameter="y",
            received=np.dtype("complex128"),
            allowed="real numbers",
            hint="Pass the real and the imaginary part as two",
        ),
    ),
    "complex objects": (
        lambda: numbers(np.array([1, 1j, 2], dtype=object)),
        partial(
            raised,
            InvalidInput,
            parameter="y",
            received=1j,
            row=1,
            allowed="numbers",
            about="Complex data not supported: y holds 1j in row 1.",
        ),
    ),
    "sparse": (
        lambda: classes(sparse.csr_array(np.eye(3))),
        partial(
            raised,
            InvalidType,
            parameter="y",
            received="csr_array",
            allowed="a list or an array of one value for each row",
            hint="Use y.toarray().",
            about="Sparse data was passed for y, but dense data is required.",
        ),
    ),
    "continuous classes": (
        lambda: classes([0.5, 1.5, 2.0]),
        partial(
            raised,
            InvalidInput,
            parameter="y",
            received=0.5,
            row=0,
            allowed="text or whole numbers",
            about="Unknown label type: continuous. Maybe you are trying to fit a classifier",
        ),
    ),
    "nan classes": (
        lambda: classes([0, NAN, 1]),
        partial(raised, InvalidInput, parameter="y", received=NAN, row=1, allowed="finite numbers"),
    ),
    "inf classes": (
        lambda: classes([0, INF, 1]),
        partial(raised, InvalidInput, parameter="y", received=INF, row=1, allowed="finite numbers"),
    ),
    "none classes": (
        lambda: classes(["a", None, "b"]),
        partial(
            raised,
            InvalidInput,
            parameter="y",
            received=None,
            row=1,
            allowed="a label for each row",
            about="Input y contains NaN. The label of row 1 is missing",
        ),
    ),
    "nan among text": (
        lambda: classes(["a", NAN, "b"]),
        partial(raised, InvalidInput, parameter="y", received=None, row=1, allowed="a label for each row"),
    ),
    "NaT classes": (
        lambda: classes(np.array(["2020", "NaT", "2021"], dtype="M8[Y]")),
        partial(raised, InvalidInput, parameter="y", received=None, row=1, allowed="a label for each row"),
    ),
    "mixed classes": (
        lambda: classes(["a", 1, "b"]),
        partial(
            raised,
            InvalidInput,
            parameter="y",
            received=[1, "b"],
            allowed="text or whole numbers",
            hint="Convert y with y.astype(str), for example.",
            about="Unknown label type: unknown. y mixes labels of different types",
        ),
    ),
    "bytes classes": (
        lambda: classes(np.array([b"a", b"b", b"a"])),
        partial(
            raised,
            InvalidType,
            parameter="y",
            received=np.dtype("|S1"),
            allowed="text or whole numbers",
            hint="Convert them to text or whole numbers.",
            about="labels as bytes or records are not supported",
        ),
    ),
    "nested classes": (
        lambda: classes(np.array([{}, {}, 1], dtype=object)),
        partial(
            raised,
            InvalidType,
            parameter="y",
            received={},
            row=0,
            allowed="a string or a number (or a date, or missing)",
            hint="Turn nested values into columns of their own.",
            about="y, row 0 holds {} of type dict",
        ),
    ),
    "unknown class weight": (
        lambda: classes(["no", "yes", "no"], class_weight={"yess": 2}),
        partial(
            raised,
            InvalidParameter,
            parameter="class_weight",
            received=["yess"],
            allowed="['no', 'yes']",
            about="class_weight names ['yess'], which y does not contain; the classes of y are ['no', 'yes'].",
        ),
    ),
    "negative class weight": (
        lambda: classes([0, 1, 0], class_weight={0: -1}),
        partial(
            raised,
            InvalidParameter,
            parameter="class_weight",
            received=-1,
            allowed="a finite number >= 0",
            about="the weight of class 0 is -1; expected",
        ),
    ),
    "nan class weight": (
        lambda: classes([0, 1, 0], class_weight={0: NAN}),
        partial(
            raised, InvalidParameter, parameter="class_weight", received=NAN, allowed="a finite number >= 0"
        ),
    ),
    "misspelt class weight": (
        lambda: classes([0, 1, 0], class_weight="balance"),
        partial(
            raised,
            InvalidParameter,
            parameter="class_weight",
            received="balance",
            allowed="None or 'balanced' or a dict",
        ),
    ),
    "class weight list": (
        lambda: classes([0, 1, 0], class_weight=[{0: 1}]),
        partial(
            raised,
            InvalidParameter,
            parameter="class_weight",
            received=[{0: 1}],
            allowed="None or 'balanced' or a dict",
        ),
    ),
    "class weight for outputs": (
        lambda: classes(np.eye(3, dtype=int), class_weight={0: 1}, multi_output=True),
        partial(
            raised,
            InvalidParameter,
            parameter="class_weight",
            received={0: 1},
            allowed="a list of 3 dicts, or 'balanced'",
            about="class_weight is one dict and y has 3 outputs",
        ),
    ),
}


@pytest.mark.parametrize("case", TARGETS)
def test_a_bad_target_is_explained(case: str) -> None:
    read, refused = TARGETS[case]

    with refused():
        read()


WEIGHTS: dict[str, Case] = {
    "negative": (
        lambda: [1, -0.5, 1],
        partial(
            raised,
            InvalidInput,
            parameter="sample_weight",
            received=-0.5,
            row=1,
            allowed="finite numbers >= 0",
            hint="Weights are finite numbers >= 0.",
            about="Negative values in data passed to `sample_weight`: row 1 has the weight -0.5.",
        ),
    ),
    "nan": (
        lambda: [1, 1, NAN],
        partial(
            raised,
            InvalidInput,
            parameter="sample_weight",
            received=NAN,
            row=2,
            allowed="finite numbers >= 0",
            hint="Weights are finite numbers >= 0.",
            about="Input sample_weight contains NaN: row 2",
        ),
    ),
    "inf": (
        lambda: [INF, 1, 1],
        partial(
            raised,
            InvalidInput,
            parameter="sample_weight",
            received=INF,
            row=0,
            allowed="finite numbers >= 0",
            hint="Weights are finite numbers >= 0.",
            about="Input sample_weight contains infinity: row 0",
        ),
    ),
    "all zero": (
        lambda: [0, 0, 0],
        partial(
            raised,
            InvalidInput,
            parameter="sample_weight",
            received=0.0,
            allowed="at least one number above zero",
            about="Sample weights must contain at least one non-zero number: all of them are zero",
        ),
    ),
    "zero for all": (
        lambda: 0,
        partial(
            raised,
            InvalidInput,
            parameter="sample_weight",
            received=0.0,
            allowed="at least one number above zero",
        ),
    ),
    "too short": (
        lambda: [1, 1],
        partial(
            raised,
            InvalidInput,
            parameter="sample_weight",
            received=[3, 2],
            allowed="one for each of the 3 rows",
            hint="X, y and sample_weight need one entry for each",
        ),
    ),
    "two columns": (
        lambda: np.ones((3, 2)),
        partial(
            raised,
            InvalidInput,
            parameter="sample_weight",
            received=(3, 2),
            allowed="either a scalar value or a 1D array of length 3",
            about="Sample weights must be 1D array or scalar, got 2D array of shape (3, 2).",
        ),
    ),
    "text": (
        lambda: ["a", "b", "c"],
        partial(
            raised,
            InvalidType,
            parameter="sample_weight",
            received=["a", "b", "c"],
            allowed="one number for each row",
            about="cannot be read as numbers",
        ),
    ),
    "one text": (
        lambda: "heavy",
        partial(
            raised,
            InvalidType,
            parameter="sample_weight",
            received="heavy",
            allowed="one number for each row",
        ),
    ),
    "complex": (
        lambda: np.ones(3) * 1j,
        partial(
            raised,
            InvalidType,
            parameter="sample_weight",
            received=np.ones(3) * 1j,
            allowed="one number for each row",
        ),
    ),
    "nested": (
        lambda: [[1], [1, 2], 3],
        partial(
            raised,
            InvalidType,
            parameter="sample_weight",
            received=[[1], [1, 2], 3],
            allowed="one number for each row",
        ),
    ),
    "missing in pandas": (
        lambda: pd.Series([1, None, 1], dtype="Int64"),
        partial(
            raised,
            InvalidInput,
            parameter="sample_weight",
            received=NAN,
            row=1,
            allowed="finite numbers >= 0",
            hint="Weights are finite numbers >= 0.",
        ),
    ),
}


@pytest.mark.parametrize("case", WEIGHTS)
def test_a_bad_weight_is_explained(case: str) -> None:
    make, refused = WEIGHTS[case]

    with refused():
        read_weight(make(), 3)


def test_weights_of_rows_and_classes_may_not_cancel_everything() -> None:
    with raised(InvalidInput, parameter="sample_weight", received=0.0, about="Every row has zero weight"):
        combined_weight(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
