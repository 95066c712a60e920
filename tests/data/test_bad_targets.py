"""Bad targets and weights never pass in silence: each case, the error it gives, and what the message says."""

import re
from collections.abc import Callable
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

Case = tuple[Callable[[], Any], type[Exception], str]


def numbers(y: Any, **options: Any) -> Any:
    return read_target(y, task="regression", estimator_name="Tree", n_rows=3, **options)


def classes(y: Any, **options: Any) -> Any:
    return read_target(y, task="classification", estimator_name="Tree", n_rows=3, **options)


NAN, INF = np.nan, np.inf
TARGETS: dict[str, Case] = {
    "none": (
        lambda: numbers(None),
        InvalidInput,
        "This Tree estimator requires y to be passed, but the target y is None",
    ),
    "none for classes": (lambda: classes(None), InvalidInput, "requires y to be passed"),
    "nan": (lambda: numbers([1, NAN, 2]), InvalidInput, r"Input y contains NaN\. The first one is in row 1"),
    "inf": (
        lambda: numbers([1, 2, INF]),
        InvalidInput,
        r"y contains infinity or a value too large for dtype.*row 2",
    ),
    "minus inf": (lambda: numbers([-INF, 2, 3]), InvalidInput, "contains infinity.*row 0"),
    "long double beyond float64": (
        lambda: numbers(np.array([1, 2, np.longdouble("1e4000")])),
        InvalidInput,
        "contains infinity.*row 2",
    ),
    "object none": (
        lambda: numbers(np.array([1, None, 2], dtype=object)),
        InvalidInput,
        "contains NaN.*row 1",
    ),
    "pandas NA": (
        lambda: numbers(pd.Series([1, None, 2], dtype="Int64")),
        InvalidInput,
        "contains NaN.*row 1",
    ),
    "polars null": (lambda: numbers(pl.Series([1, None, 2])), InvalidInput, "contains NaN.*row 1"),
    "arrow null": (lambda: numbers(pa.array([1, None, 2])), InvalidInput, "contains NaN.*row 1"),
    "masked": (
        lambda: numbers(np.ma.masked_array([1, 2, 3], [False, False, True])),
        InvalidInput,
        "row 2 is masked",
    ),
    "too short": (lambda: numbers([1, 2]), InvalidInput, r"inconsistent numbers of samples: \[3, 2\]"),
    "too long": (lambda: classes([1, 2, 1, 2]), InvalidInput, r"inconsistent numbers of samples: \[3, 4\]"),
    "empty": (lambda: classes([]), InvalidInput, r"inconsistent numbers of samples: \[3, 0\]"),
    "scalar": (lambda: numbers(3), InvalidInput, r"y should be a 1d array, got an array of shape \(\)"),
    "text": (lambda: classes("abc"), InvalidType, "y should be a 1d array, got str"),
    "a dict": (lambda: classes({0: 1}), InvalidType, "y should be a 1d array, got dict"),
    "two columns": (
        lambda: numbers(np.ones((3, 2))),
        InvalidInput,
        r"got an array of shape \(3, 2\) instead",
    ),
    "three dimensions": (
        lambda: numbers(np.ones((3, 2, 2)), multi_output=True),
        InvalidInput,
        r"got an array of shape \(3, 2, 2\)",
    ),
    "ragged": (
        lambda: classes([[1], [1, 2], [3]]),
        InvalidInput,
        "y should be a 1d array, got a nested list",
    ),
    "text for numbers": (
        lambda: numbers(["a", "b", "c"]),
        InvalidInput,
        "y holds text.*'a'.*regression needs numbers",
    ),
    "text among numbers": (lambda: numbers([1, "b", 2]), InvalidType, "y holds 'b' of type str in row 1"),
    "dates for numbers": (
        lambda: numbers(np.array(["2020-01-01"] * 3, dtype="M8[D]")),
        InvalidInput,
        "y holds dates or durations",
    ),
    "complex": (lambda: numbers(np.ones(3) * 1j), InvalidInput, "Complex data not supported"),
    "complex classes": (lambda: classes(np.ones(3) * 1j), InvalidInput, "Complex data not supported"),
    "complex objects": (
        lambda: numbers(np.array([1, 1j, 2], dtype=object)),
        InvalidInput,
        "Complex data not supp.*row 1",
    ),
    "sparse": (lambda: classes(sparse.csr_array(np.eye(3))), InvalidType, "Sparse data was passed for y"),
    "continuous classes": (
        lambda: classes([0.5, 1.5, 2.0]),
        InvalidInput,
        "Unknown label type: continuous.*Row 0 of y is 0.5",
    ),
    "nan classes": (lambda: classes([0, NAN, 1]), InvalidInput, r"Input y contains NaN\..*row 1"),
    "inf classes": (lambda: classes([0, INF, 1]), InvalidInput, "contains infinity.*row 1"),
    "none classes": (lambda: classes(["a", None, "b"]), InvalidInput, r"Input y contains NaN\..*row 1"),
    "nan among text": (lambda: classes(["a", NAN, "b"]), InvalidInput, r"Input y contains NaN\..*row 1"),
    "NaT classes": (
        lambda: classes(np.array(["2020", "NaT", "2021"], dtype="M8[Y]")),
        InvalidInput,
        "contains NaN.*row 1",
    ),
    "mixed classes": (
        lambda: classes(["a", 1, "b"]),
        InvalidInput,
        "Unknown label type: unknown.*different types",
    ),
    "bytes classes": (lambda: classes(np.array([b"a", b"b", b"a"])), InvalidType, "labels as bytes"),
    "nested classes": (
        lambda: classes(np.array([{}, {}, 1], dtype=object)),
        InvalidType,
        "y, row 0 holds .* dict",
    ),
    "unknown class weight": (
        lambda: classes(["no", "yes", "no"], class_weight={"yess": 2}),
        InvalidParameter,
        r"class_weight names \['yess'\], which y does not contain; the classes of y are \['no', 'yes'\]",
    ),
    "negative class weight": (
        lambda: classes([0, 1, 0], class_weight={0: -1}),
        InvalidParameter,
        "weight of class 0 is -1",
    ),
    "nan class weight": (
        lambda: classes([0, 1, 0], class_weight={0: NAN}),
        InvalidParameter,
        "class 0 is nan",
    ),
    "misspelt class weight": (
        lambda: classes([0, 1, 0], class_weight="balance"),
        InvalidParameter,
        "class_weight='balance'",
    ),
    "class weight list": (
        lambda: classes([0, 1, 0], class_weight=[{0: 1}]),
        InvalidParameter,
        r"class_weight=\[\{",
    ),
    "class weight for outputs": (
        lambda: classes(np.eye(3, dtype=int), class_weight={0: 1}, multi_output=True),
        InvalidParameter,
        "one dict and y has 3 outputs",
    ),
}


@pytest.mark.parametrize("case", TARGETS)
def test_a_bad_target_is_explained(case: str) -> None:
    read, error, pattern = TARGETS[case]

    with pytest.raises(error, match=re.compile(pattern, re.DOTALL)):
        read()


WEIGHTS: dict[str, Case] = {
    "negative": (lambda: [1, -0.5, 1], InvalidInput, "contains negative values: row 1 has the weight -0.5"),
    "nan": (lambda: [1, 1, NAN], InvalidInput, "contains NaN: row 2"),
    "inf": (lambda: [INF, 1, 1], InvalidInput, "contains infinity: row 0"),
    "all zero": (lambda: [0, 0, 0], InvalidInput, "weights must contain at least one non-zero number"),
    "zero for all": (lambda: 0, InvalidInput, "all of them are zero"),
    "too short": (lambda: [1, 1], InvalidInput, r"inconsistent numbers of samples: \[3, 2\]"),
    "two columns": (lambda: np.ones((3, 2)), InvalidInput, "must be 1D array or scalar, got 2D array"),
    "text": (lambda: ["a", "b", "c"], InvalidType, "sample_weight=.*cannot be read as numbers"),
    "one text": (lambda: "heavy", InvalidType, "sample_weight='heavy'"),
    "complex": (lambda: np.ones(3) * 1j, InvalidType, "cannot be read as numbers"),
    "nested": (lambda: [[1], [1, 2], 3], InvalidType, "cannot be read as numbers"),
    "missing in pandas": (
        lambda: pd.Series([1, None, 1], dtype="Int64"),
        InvalidInput,
        "contains NaN: row 1",
    ),
}


@pytest.mark.parametrize("case", WEIGHTS)
def test_a_bad_weight_is_explained(case: str) -> None:
    make, error, pattern = WEIGHTS[case]

    with pytest.raises(error, match=re.compile(pattern, re.DOTALL)):
        read_weight(make(), 3)


def test_weights_of_rows_and_classes_may_not_cancel_everything() -> None:
    with pytest.raises(InvalidInput, match="Every row has zero weight"):
        combined_weight(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
