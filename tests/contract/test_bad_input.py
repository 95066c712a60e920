"""Bad and unusual input, case by case: it works with finite answers, or one of our errors explains it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from coterie.errors import CoterieError, InvalidInput
from tests.helpers.errors import check_fields, raised
from tests.helpers.estimators import (
    ESTIMATORS,
    NETWORKS,
    WITH_FOLDS,
    WITHOUT_TARGET,
    answers,
    has,
    make,
    says_classes,
)

N = 30
RNG = np.random.default_rng(11)
TABLE = RNG.normal(size=(N, 3))
NUMBERS = TABLE[:, 0] + TABLE[:, 1]
LABELS = np.where(NUMBERS > 0, "high", "low")
NAMED = pd.DataFrame(TABLE, columns=["age", "height", "mass"])
TOWNS = {"town": ["Oslo", "Rome", "Cork"] * 10, "x": NUMBERS}


class Case(NamedTuple):
    """What to fit, how, and what to ask afterwards; `y` is None for the usual target."""

    X: Any = TABLE
    y: Any = None
    weight: Any = None
    new: Any = None  # what to predict; None: X
    settings: dict[str, Any] = {}


def replaced(values: Any, row: int, value: Any) -> Any:
    out = np.array(values, dtype=object if isinstance(value, str | complex) or value is None else None)
    out[row] = value
    return out


def target(estimator: type[Any]) -> Any:
    return LABELS if says_classes(estimator) else NUMBERS


def column(value: Any, place: int = 1) -> Any:
    X = TABLE.copy()
    X[:, place] = value
    return X


BIG = np.iinfo(np.int64)
# Cases that work, each with finite answers.
FINE: dict[str, Callable[[], Case]] = {
    "one row": lambda: Case(TABLE[:1], [1]),
    "two rows": lambda: Case(TABLE[:2], [1, 2]),
    "one column": lambda: Case(TABLE[:, :1]),
    "one class or value": lambda: Case(y=np.ones(N)),
    "constant columns": lambda: Case(np.ones((N, 3))),
    "stride zero": lambda: Case(np.broadcast_to(1.0, (N, 3))),
    "one column all missing": lambda: Case(column(np.nan)),
    "all missing": lambda: Case(np.full((N, 3), np.nan)),
    "infinite values": lambda: Case(replaced(TABLE, 3, np.inf)),
    "minus infinity": lambda: Case(replaced(TABLE, 3, -np.inf)),
    "infinities on both sides": lambda: Case(column(np.where(np.arange(N) % 2, np.inf, -np.inf))),
    "values of 1e300": lambda: Case(TABLE * 1e300),
    "values of 1e-300": lambda: Case(TABLE * 1e-300),
    "denormal values": lambda: Case(TABLE * 5e-324),
    "integers at the ends": lambda: Case(
        np.array([[BIG.min, BIG.max], [BIG.max, BIG.min]] * 15), np.arange(N) % 2
    ),
    "unsigned integers": lambda: Case(np.arange(3 * N, dtype=np.uint64).reshape(N, 3) * 2**56),
    "text in an object array": lambda: Case(np.array([["a", 1.0], ["b", 2.0]] * 15, dtype=object)),
    "numbers in an object array": lambda: Case(TABLE.astype(object)),
    "None in an object array": lambda: Case(replaced(TABLE.astype(object), 2, None)),
    "float16": lambda: Case(TABLE.astype(np.float16)),
    "longdouble": lambda: Case(TABLE.astype(np.longdouble)),
    "booleans": lambda: Case(TABLE > 0),
    "big-endian": lambda: Case(TABLE.astype(">f4")),
    "every second row": lambda: Case(np.repeat(TABLE, 2, axis=0)[::2]),
    "rows backwards": lambda: Case(TABLE[::-1]),
    "a list of lists": lambda: Case(TABLE.tolist()),
    "nullable numbers": lambda: Case(pd.DataFrame({"a": pd.array([1, None, 3] * 10, dtype="Int64")})),
    "nullable booleans": lambda: Case(pd.DataFrame({"a": pd.array([True, None] * 15, dtype="boolean")})),
    "dates": lambda: Case(pd.DataFrame({"day": pd.date_range("2020-01-01", periods=N)})),
    "durations": lambda: Case(pl.DataFrame({"d": [pd.Timedelta(days=i).to_pytimedelta() for i in range(N)]})),
    "an unseen category": lambda: Case(TOWNS, new={"town": ["Lima"], "x": [0.0]}),
    "a missing category": lambda: Case(TOWNS, new={"town": [None], "x": [np.nan]}),
    "1,000 categories": lambda: Case({"c": [f"c{i}" for i in range(1000)]}, np.arange(1000) % 2),
    "numbers as categories": lambda: Case(TABLE.round(), settings={"categorical_features": [0, 2]}),
    "missing only in predict": lambda: Case(new=np.full((4, 3), np.nan)),
    "infinite only in predict": lambda: Case(new=np.full((4, 3), np.inf)),
    "columns of a dict in another order": lambda: Case(TOWNS, new={"x": [0.0], "town": ["Oslo"]}),
    "labels or numbers -3, 4, 11": lambda: Case(y=np.array([-3, 4, 11])[np.arange(N) % 3]),
    "boolean target": lambda: Case(y=NUMBERS > 0),
    "target as a list": lambda: Case(y=(NUMBERS > 0).astype(int).tolist()),
    "target as a series": lambda: Case(y=pd.Series((NUMBERS > 0).astype(int), index=range(100, 100 + N))),
    "target as int8": lambda: Case(y=(NUMBERS > 0).astype(np.int8)),
    "sparse": lambda: Case(sparse.csr_array(np.where(TABLE > 0, TABLE, 0))),
    "weight as one number": lambda: Case(weight=2.0),
    "weights as integers": lambda: Case(weight=np.arange(N)),
    "one weight not zero": lambda: Case(weight=np.arange(N) == 5),
    "tiny weights": lambda: Case(weight=np.full(N, 1e-30)),
    "large weights": lambda: Case(weight=np.full(N, 1e20)),
    "weights of very different size": lambda: Case(weight=10.0 ** (np.arange(N) - 15)),
    "duplicate rows": lambda: Case(np.repeat(TABLE[:3], 10, axis=0)),
}

# Cases that are refused: what makes them, and the fields of the error.
REFUSED: dict[str, tuple[Callable[[], Case], dict[str, Any]]] = {
    "target NaN": (
        lambda: Case(y=replaced(NUMBERS, 7, np.nan)),
        {"parameter": "y", "row": 7, "about": "y contains NaN"},
    ),
    "target infinite": (
        lambda: Case(y=replaced(NUMBERS, 7, np.inf)),
        {"parameter": "y", "received": np.inf, "row": 7, "about": "y contains infinity"},
    ),
    "target None": (lambda: Case(y=replaced(LABELS.astype(object), 7, None)), {"parameter": "y"}),
    "target with a number missing": (
        lambda: Case(y=replaced((NUMBERS > 0).astype(object), 7, None)),
        {"parameter": "y", "row": 7},
    ),
    "target complex": (
        lambda: Case(y=NUMBERS * 1j),
        {"parameter": "y", "received": np.dtype("complex128"), "about": "Complex data not supported"},
    ),
    "target too short": (
        lambda: Case(y=np.ones(N - 1)),
        {"parameter": "y", "received": [30, 29], "about": "inconsistent numbers of samples"},
    ),
    "target too long": (
        lambda: Case(y=np.ones(N + 1)),
        {"parameter": "y", "received": [30, 31], "about": "inconsistent numbers of samples"},
    ),
    "target with three dimensions": (
        lambda: Case(y=np.ones((N, 2, 2))),
        {"parameter": "y", "received": (30, 2, 2), "about": "1d array"},
    ),
    "target a number": (lambda: Case(y=5), {"parameter": "y", "received": (), "about": "1d array"}),
    "target a word": (lambda: Case(y="high"), {"parameter": "y", "received": "high", "about": "1d array"}),
    "target a dict": (
        lambda: Case(y={"a": 1}),
        {"parameter": "y", "received": {"a": 1}, "about": "1d array"},
    ),
    "target sparse": (
        lambda: Case(y=sparse.csr_array(np.ones((N, 1)))),
        {"parameter": "y", "received": "csr_array", "hint": "y.toarray()"},
    ),
    "target of mixed types": (lambda: Case(y=np.array(["a", 1] * 15, dtype=object)), {"parameter": "y"}),
    "no rows": (
        lambda: Case(np.empty((0, 3)), []),
        {"parameter": "X", "received": (0, 3), "about": "0 sample(s)"},
    ),
    "no columns": (
        lambda: Case(np.empty((N, 0))),
        {"parameter": "X", "received": (30, 0), "about": "0 feature(s)"},
    ),
    "one dimension": (
        lambda: Case(NUMBERS),
        {"parameter": "X", "received": (30,), "about": "Expected 2D array"},
    ),
    "three dimensions": (
        lambda: Case(np.ones((N, 2, 2))),
        {"parameter": "X", "allowed": "two dimensions", "about": "dim 3, while dim <= 2 is required"},
    ),
    "no dimension": (lambda: Case(3.0), {"parameter": "X", "received": (), "about": "Expected 2D array"}),
    "None": (lambda: Case(None), {"parameter": "X", "received": None, "about": "got None"}),
    "a word": (lambda: Case("table"), {"parameter": "X", "received": "table", "about": "got str"}),
    "a function": (lambda: Case(len), {"parameter": "X", "received": len}),
    "complex": (
        lambda: Case(TABLE * 1j),
        {"parameter": "X", "received": np.dtype("complex128"), "about": "Complex data not supported"},
    ),
    "ragged": (
        lambda: Case([[1, 2], [3]], [0, 1]),
        {"parameter": "X", "received": 1, "row": 1, "about": "ragged"},
    ),
    "a dict in a cell": (
        lambda: Case(np.array([[{}], [1]], dtype=object), [0, 1]),
        {"parameter": "X", "received": {}, "column": "x0", "row": 0},
    ),
    "duplicate names": (
        lambda: Case(pd.DataFrame(TABLE, columns=["a", "b", "a"])),
        {"parameter": "X", "received": ["a"], "column": "a", "about": "duplicate"},
    ),
    "names of two types": (
        lambda: Case(pd.DataFrame(TABLE, columns=["a", 1, "c"])),
        {"parameter": "X", "received": ["int", "str"], "about": "string names"},
    ),
    "columns of unequal length": (
        lambda: Case({"a": [1, 2], "b": [1]}, [0, 1]),
        {"parameter": "X", "received": {"a": 2, "b": 1}},
    ),
    "text not allowed": (
        lambda: Case(TOWNS, settings={"categorical_features": None}),
        {"parameter": "X", "column": "town", "hint": "categorical_features='auto'"},
    ),
    "weights negative": (
        lambda: Case(weight=replaced(np.ones(N), 4, -1.0)),
        {"parameter": "sample_weight", "received": -1.0, "row": 4},
    ),
    "weights NaN": (
        lambda: Case(weight=replaced(np.ones(N), 4, np.nan)),
        {"parameter": "sample_weight", "received": np.nan, "row": 4},
    ),
    "weights infinite": (
        lambda: Case(weight=replaced(np.ones(N), 4, np.inf)),
        {"parameter": "sample_weight", "received": np.inf, "row": 4},
    ),
    "weights all zero": (
        lambda: Case(weight=np.zeros(N)),
        {"parameter": "sample_weight", "received": 0.0, "about": "non-zero"},
    ),
    "weights too short": (
        lambda: Case(weight=np.ones(N - 1)),
        {"parameter": "sample_weight", "received": [30, 29], "about": "inconsistent"},
    ),
    "weights in two dimensions": (
        lambda: Case(weight=np.ones((N, 2))),
        {"parameter": "sample_weight", "received": (30, 2), "about": "1D array or scalar"},
    ),
    "weights as text": (
        lambda: Case(weight=["heavy"] * N),
        {"parameter": "sample_weight", "received": ["heavy"] * N},
    ),
    "weights complex": (
        lambda: Case(weight=np.ones(N) * 1j),
        {"parameter": "sample_weight", "received": np.ones(N) * 1j},
    ),
    "predict: narrower": (
        lambda: Case(new=TABLE[:, :2]),
        {"parameter": "X", "received": 2, "allowed": "3 columns", "about": "X has 2 features"},
    ),
    "predict: wider": (
        lambda: Case(new=np.ones((2, 4))),
        {"parameter": "X", "received": 4, "allowed": "3 columns", "about": "X has 4 features"},
    ),
    "predict: no rows": (
        lambda: Case(new=np.empty((0, 3))),
        {"parameter": "X", "received": (0, 3), "about": "0 sample(s)"},
    ),
    "predict: one dimension": (
        lambda: Case(new=np.ones(3)),
        {"parameter": "X", "received": (3,), "about": "Expected 2D array"},
    ),
    "predict: None": (lambda: Case(new=[None]), {"parameter": "X", "received": (1,)}),
    "predict: complex": (
        lambda: Case(new=TABLE * 1j),
        {"parameter": "X", "received": np.dtype("complex128"), "about": "Complex data not supported"},
    ),
    "predict: text for numbers": (
        lambda: Case(new=np.array([["a", 1, 2]], dtype=object)),
        {"parameter": "X", "received": ["a"], "column": "x0", "allowed": "numbers"},
    ),
    "predict: a column renamed": (
        lambda: Case(NAMED, new=NAMED.rename(columns={"height": "heigth"})),
        {
            "parameter": "X",
            "received": ("age", "heigth", "mass"),
            "column": "heigth",
            "hint": "Did you mean 'height'",
        },
    ),
    "predict: a column dropped": (
        lambda: Case(NAMED, new=NAMED[["age", "mass"]]),
        {
            "parameter": "X",
            "received": ("age", "mass"),
            "column": "height",
            "about": "now missing:\n- height",
        },
    ),
    "predict: a column added": (
        lambda: Case(NAMED, new=NAMED.assign(more=1.0)),
        {"parameter": "X", "column": "more", "about": "unseen at fit time:\n- more", "hint": "Drop"},
    ),
    "predict: columns reordered": (
        lambda: Case(NAMED, new=NAMED[["mass", "age", "height"]]),
        {"parameter": "X", "column": "mass", "about": "same order"},
    ),
    "predict: numbers for text": (
        lambda: Case(TOWNS, new={"town": [1.0], "x": [0.0]}),
        {"parameter": "X", "received": np.dtype("float64"), "column": "town", "allowed": "text"},
    ),
    "predict: a key missing": (
        lambda: Case(TOWNS, new={"town": ["Oslo"]}),
        {"parameter": "X", "received": ("town",), "column": "x", "about": "now missing:\n- x"},
    ),
    "predict: unknown category refused": (
        lambda: Case(TOWNS, new={"town": ["Lima"], "x": [0.0]}, settings={"unknown_category": "error"}),
        {"parameter": "X", "received": ["Lima"], "column": "town"},
    ),
    "n_estimators = -5": (
        lambda: Case(settings={"n_estimators": -5, "max_depth": -5}),
        {"received": -5, "allowed": "a whole number"},
    ),
}


def run(estimator: type[Any], case: Case) -> Any:
    y = target(estimator) if case.y is None else case.y
    model = make(estimator, **case.settings).fit(case.X, y, sample_weight=case.weight)
    return answers(model, case.X if case.new is None else case.new)


def applies(estimator: type[Any], case: Case) -> bool:
    """Whether the estimator has any of the parameters that the case is about."""
    return not case.settings or any(has(estimator, name) for name in case.settings)


TOO_FEW = {"one row", "two rows", "one weight not zero"}  # to be divided into folds


@pytest.mark.parametrize(
    ("estimator", "case"),
    [(each, case) for each in ESTIMATORS for case in FINE if each not in WITH_FOLDS or case not in TOO_FEW],
)
def test_an_unusual_table_works(estimator: type[Any], case: str) -> None:
    said = run(estimator, FINE[case]())

    assert len(said) > 0
    assert np.isfinite(said.astype(float)).all()


@pytest.mark.parametrize(
    ("estimator", "case"),
    [
        (each, case)
        for each in ESTIMATORS
        for case in REFUSED
        if applies(each, REFUSED[case][0]()) and not (each in WITHOUT_TARGET and case.startswith("target"))
    ],
)
def test_a_bad_table_is_refused_with_a_reason(estimator: type[Any], case: str) -> None:
    build, fields = REFUSED[case]

    with pytest.raises((ValueError, TypeError)) as caught:
        run(estimator, build())

    assert isinstance(caught.value, CoterieError), f"a foreign exception: {caught.value!r}"
    check_fields(caught.value, **fields)
    assert caught.value.allowed
    assert len(str(caught.value).split()) >= 5, "a full sentence"


def test_there_are_enough_cases() -> None:
    assert len(FINE) + len(REFUSED) >= 76


@pytest.mark.parametrize("value", [1e300, -1e300, 1e-300, 5e-324, 1.7e308])
@pytest.mark.parametrize(
    "estimator", [item for item in ESTIMATORS if not says_classes(item) and item not in WITHOUT_TARGET]
)
def test_targets_may_be_huge_or_tiny(estimator: type[Any], value: float) -> None:
    y = np.where(NUMBERS > 0, value, 0.0)

    model = make(estimator, n_estimators=60, max_depth=6, bootstrap=False, max_epochs=40).fit(TABLE, y)

    assert np.isfinite(model.predict(TABLE)).all()
    if estimator not in WITH_FOLDS:  # thirty rows teach a tree, and not what to make of its errors
        most = 0.6 if estimator in NETWORKS else 0.3  # a network is smooth, and the target is a step
        assert np.abs(model.predict(TABLE) / value - y / value).max() < most or abs(value) == 5e-324


@pytest.mark.parametrize("estimator", [item for item in ESTIMATORS if says_classes(item)])
@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes"],
        [False, True],
        [-7, 3],
        [0.0, 1.0],
        np.array(["a", "b"], dtype=object),
        np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]"),
        ["", "ü 🌲"],
        ["z", "a"],
        [2**62, -(2**62)],
    ],
)
def test_labels_of_any_type_come_back(estimator: type[Any], labels: Any) -> None:
    y = np.asarray(labels)[(NUMBERS > 0).astype(int)]

    model = make(estimator, n_estimators=20).fit(TABLE, y)

    assert model.predict(TABLE).dtype == y.dtype
    assert set(model.predict(TABLE).tolist()) == set(y.tolist())
    assert model.classes_.tolist() == sorted(set(y.tolist()))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_model_without_fit_says_so(estimator: type[Any]) -> None:
    model = make(estimator)
    for method in ("predict", "predict_proba", "decision_function", "score_samples", "transform"):
        if hasattr(model, method):
            with pytest.raises(NotFittedError, match=estimator.__name__):
                getattr(model, method)(TABLE)


@pytest.mark.parametrize("estimator", [item for item in ESTIMATORS if says_classes(item)])
def test_a_continuous_target_is_no_class(estimator: type[Any]) -> None:
    with raised(
        InvalidInput, parameter="y", received=NUMBERS[0], row=0, about="Unknown label type: continuous"
    ):
        make(estimator).fit(TABLE, NUMBERS)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_names_given_once_are_wanted_again(estimator: type[Any]) -> None:
    model = make(estimator).fit(NAMED, target(estimator))

    assert model.feature_names_in_.tolist() == ["age", "height", "mass"]
    with pytest.warns(UserWarning, match="valid feature names"):
        answers(model, TABLE)
