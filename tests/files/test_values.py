"""Whatever a parameter or an attribute may hold comes back as it was, or is refused by name when it is saved."""

import io
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils import Bunch

import coterie
from coterie.errors import ModelFileError
from coterie.files.container import canonical
from coterie.losses import CustomLoss, Huber, Quantile, Tweedie
from tests.helpers.alike import differences
from tests.helpers.mutations import loaded, stored


def again(value: Any) -> Any:
    """What becomes of a value of a parameter."""
    model = coterie.RandomForestClassifier(class_weight=value)
    data = stored(model)
    twin = loaded(data)
    assert stored(twin) == data
    return twin.class_weight


LABELS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**200), 2**200)
    | st.floats()
    | st.text()
    | st.binary(max_size=20)
    | st.dates()
    | st.datetimes(timezones=st.none() | st.just(UTC))
    | st.times()
    | st.timedeltas()
    | st.decimals(allow_nan=False)
)
KEYS = st.booleans() | st.integers() | st.text() | st.binary(max_size=5) | st.dates()
VALUES = st.recursive(
    LABELS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.frozensets(st.integers() | st.text(), max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(VALUES)
def test_values_of_python_come_back(value: Any) -> None:
    assert differences(value, again(value)) == []


@settings(max_examples=150, derandomize=True, deadline=None)
@given(st.data())
def test_arrays_come_back(data: st.DataObject) -> None:
    dtype = data.draw(
        st.sampled_from(
            [
                "f2",
                "f4",
                "f8",
                "i1",
                "i2",
                "i4",
                "i8",
                "u1",
                "u2",
                "u4",
                "u8",
                "?",
                "U3",
                "S2",
                "M8[s]",
                "m8[ns]",
            ]
        )
    )
    shape = tuple(data.draw(st.lists(st.integers(0, 4), max_size=3)))
    raw = np.random.default_rng(data.draw(st.integers(0, 10**6))).integers(0, 256, 64 * 48).astype(np.uint8)
    n = int(np.prod(shape))
    if dtype[0] == "U":
        array = np.array(
            [chr(65 + byte % 500) * (byte % 4) for byte in raw[:n].tolist()], dtype=dtype
        ).reshape(shape)
    elif dtype == "?":
        array = (raw[:n] > 127).reshape(shape)
    else:
        array = raw.view(dtype)[:n].reshape(shape)
    if array.dtype.kind not in "US" and data.draw(st.booleans()):
        array = np.asfortranarray(array)
    assert differences(array, again(array)) == []


@pytest.mark.parametrize(
    "value",
    [
        np.float64(0.1),
        np.float32("nan"),
        np.float16(-0.0),
        np.int64(-(2**63)),
        np.uint64(2**64 - 1),
        np.bool_(True),
        np.str_("text"),
        np.bytes_(b"ab"),
        Bunch(a=1, b=[2.0]),
        slice(1, None, 2),
        slice("first", "last"),
        {"a"},
        datetime(2024, 2, 29, 12, 30, tzinfo=UTC),
        [date(1, 1, 1), time(23, 59), timedelta(days=-3), Decimal("1.10")],
        np.array([1, "a", None, 2.5, date(2024, 1, 1)], dtype=object),
        np.array([["é" * 500, "b"], ["", "c"]]),
        np.array([f"level {i}" for i in range(1000)], dtype=object),
        np.array(["\ud800", "x\0", ""] * 100, dtype=object),
        np.array([f"name {i}" for i in range(400)]),
        np.array([b"a", b"bc"] * 200),
        np.arange(6.0).reshape(2, 3).T[::-1],
        np.array(3.0),
        np.zeros((0, 3)),
    ],
    ids=lambda value: f"{type(value).__name__} {value!s:.20}",
)
def test_values_of_numpy_and_others_come_back(value: Any) -> None:
    found = again(value)
    if isinstance(value, np.ndarray):
        assert found.dtype == value.dtype
        assert found.tolist() == value.tolist()
    else:
        assert differences(value, found) == []


def test_a_shared_array_is_one_array_again() -> None:
    weight = np.arange(3.0)
    twin = loaded(stored(coterie.RandomForestClassifier(class_weight=[weight, weight], monotonic_cst=weight)))
    assert twin.class_weight[0] is twin.class_weight[1] is twin.monotonic_cst


def test_random_states_go_on_where_they_were() -> None:
    legacy, modern = np.random.RandomState(7), np.random.default_rng(7)
    legacy.normal(size=3), modern.integers(10, size=3)
    for state in (legacy, modern):
        twin = loaded(stored(coterie.RandomForestClassifier(random_state=state))).random_state
        assert np.array_equal(twin.random(5), state.random(5))


def test_losses_come_back_and_check_themselves() -> None:
    for loss in (Huber(0.8), Quantile((0.1, 0.9)), Tweedie(1.5)):
        assert loaded(stored(coterie.GradientBoostingRegressor(loss=loss))).loss == loss


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda y: y, "class_weight is <function"),
        (len, "class_weight is <built-in function len>"),
        ({"a": [1, print]}, r"class_weight\[0\]\[1\] is <built-in function print>"),
        (np.zeros(2, dtype=complex), "class_weight is a ndarray of complex128"),
        (np.array([(1, 2.0)], dtype="i4,f8"), "class_weight is a ndarray"),
        (2**300, "class_weight is 20370359"),
        (1 + 2j, r"class_weight is \(1\+2j\)"),
        (range(3), r"class_weight is range\(0, 3\)"),
        (object(), "class_weight is <object object"),
        (datetime(2024, 1, 1, tzinfo=ZoneInfo("UTC")), "class_weight is datetime"),
    ],
    ids=lambda value: f"{value!s:.20}",
)
def test_what_cannot_be_stored_is_named(value: Any, words: str) -> None:
    with pytest.raises(ModelFileError, match=words):
        stored(coterie.RandomForestClassifier(class_weight=value))


def test_a_loss_of_functions_is_named() -> None:
    loss = CustomLoss(lambda y, score: (y - score) ** 2, lambda y, score: 2 * (score - y))
    with pytest.raises(ModelFileError, match="loss: CustomLoss is made of functions"):
        stored(coterie.GradientBoostingRegressor(loss=loss))


def test_a_value_that_holds_itself_is_named() -> None:
    model = coterie.BaggingClassifier()
    model.estimator = model
    with pytest.raises(ModelFileError, match="estimator holds itself"):
        stored(model)


def test_an_attribute_of_ones_own_is_named() -> None:
    model = coterie.DecisionTreeRegressor()
    model.note = "ours"
    with pytest.raises(
        ModelFileError, match="note is not an attribute that coterie gives a DecisionTreeRegressor"
    ):
        stored(model)


def test_what_is_no_model_of_ours_is_refused() -> None:
    class Mine(coterie.DecisionTreeRegressor):
        pass

    for other in (3, "model", [coterie.DecisionTreeRegressor()], Mine(), None):
        with pytest.raises(ModelFileError, match="is not a model of coterie"):
            coterie.save(other, io.BytesIO())


def test_a_frame_as_a_parameter_is_named() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ModelFileError, match="monotonic_cst is a Series"):
        stored(coterie.RandomForestClassifier(monotonic_cst=pandas.Series([1, 0])))


def test_canonical_json_knows_no_nan() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        canonical([float("nan")])
