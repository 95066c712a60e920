"""Every parameter with every wrong type and bound: the rules of `PARAMS` are read, and what they exclude is tried."""

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import coterie
from coterie._params import Fraction, Integer, Real, in_short
from coterie.errors import CoterieError, InvalidInput, InvalidParameter
from tests.helpers.errors import check_fields, raised
from tests.helpers.estimators import ESTIMATORS, answers, make, random_table

STRANGE = [
    None,
    True,
    "nonsense",
    "",
    b"auto",
    object(),
    1j,
    float("nan"),
    float("inf"),
    -float("inf"),
    -1,
    -0.5,
    0,
    0.0,
    1.5,
    2**70,
    (),
    [],
    {},
    {1, 2},
    np.array([1.0, 2.0]),
    np.float32("nan"),
    np.int64(-7),
    int,
    len,
]


def beside(rule: Any) -> Iterator[float]:
    """Numbers just outside the bounds of a rule."""
    if isinstance(rule, Fraction):
        rule = Real(0, 1, closed="right")
    if isinstance(rule, Integer):
        yield from [rule.low - 1] if rule.low is not None else []
        yield from [rule.high + 1] if rule.high is not None else []
    if isinstance(rule, Real):
        yield from [rule.low, np.nextafter(rule.low, -1)] if rule.low is not None else []
        yield from [rule.high, np.nextafter(rule.high, np.inf)] if rule.high is not None else []


def wrong_values(rules: Any) -> list[Any]:
    """What no rule accepts."""
    return wrong_values_among(STRANGE + [value for rule in rules for value in beside(rule)], rules)


def wrong_values_among(tried: list[Any], rules: Any) -> list[Any]:
    return [v for v in tried if not any(v is None if rule is None else rule.accepts(v) for rule in rules)]


CASES = [(estimator, param) for estimator in ESTIMATORS for param in estimator.PARAMS]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_parameter_has_a_rule(estimator: type[Any]) -> None:
    assert set(estimator.PARAMS) == set(make(estimator).get_params(deep=False))


@pytest.mark.parametrize(("estimator", "param"), CASES)
def test_a_wrong_value_is_refused_by_name(estimator: type[Any], param: str) -> None:
    X, y = random_table(estimator, 20)
    wrong = wrong_values(estimator.PARAMS[param])

    assert len(wrong) > 5
    for value in wrong:
        with pytest.raises(InvalidParameter) as caught:
            make(estimator).set_params(**{param: value}).fit(X, y)
        error = caught.value
        assert error.parameter == param
        assert error.received is value
        assert error.allowed
        hint = f" {error.hint}" if error.hint else ""
        assert (
            str(error) == f"{estimator.__name__}({param}={in_short(value)}): expected {error.allowed}.{hint}"
        )


@pytest.mark.parametrize("n_jobs", [0])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_zero_threads_are_refused_by_name(estimator: type[Any], n_jobs: int) -> None:
    with raised(InvalidParameter, parameter="n_jobs", received=0, allowed="a whole number >= 1"):
        make(estimator, n_jobs=n_jobs).fit(*random_table(estimator, 20))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_numbers_of_numpy_are_numbers(estimator: type[Any]) -> None:
    X, y = random_table(estimator, 20)
    model = make(estimator, n_estimators=np.int64(2), max_depth=np.int32(2), learning_rate=np.float32(0.5))

    assert len(answers(model.fit(X, y), X)) == 20


def test_the_constructor_stores_and_does_not_check() -> None:
    for estimator in ESTIMATORS:
        for param in estimator.PARAMS:
            value = object()
            given = {**make(estimator).get_params(deep=False), param: value}
            assert estimator(**given).get_params()[param] is value


@pytest.mark.parametrize(
    ("param", "value", "allowed"),
    [
        ("monotonic_cst", [1], "4 numbers"),
        ("monotonic_cst", [0, 0, 0, 2], "-1, 0 or 1"),
        ("monotonic_cst", {"a": 1}, "an array with a constraint for each column"),
        ("monotonic_cst", [[0, 0, 0, 1]], "4 numbers"),
        ("monotonic_cst", ["up", 0, 0, 0], "-1, 0 or 1"),
        ("monotonic_cst", [float("nan"), 0, 0, 0], "-1, 0 or 1"),
        ("interaction_cst", [{9}], "feature numbers from 0 to 3"),
        ("interaction_cst", [{-1}], "feature numbers from 0 to 3"),
        ("interaction_cst", [set()], "a list of non-empty sets"),
        ("interaction_cst", [], "a list of non-empty sets"),
        ("interaction_cst", [1, 2], "a list of non-empty sets"),
        ("interaction_cst", [{True}], "feature numbers from 0 to 3"),
        ("interaction_cst", ["ab"], "feature numbers"),
        ("categorical_features", [7], "columns 0 to 3"),
        ("categorical_features", ["a"], "column indices or a boolean mask"),
        ("categorical_features", [True], "one value for each column"),
        ("categorical_features", [1.5], "a list of column names, of column indices"),
        ("class_weight", {"purple": 1.0}, "['blue', 'green']"),
        ("class_weight", {"blue": -1.0}, "a finite number >= 0"),
        ("class_weight", {"blue": "much"}, "a finite number >= 0"),
        ("class_weight", {"blue": float("nan")}, "a finite number >= 0"),
    ],
)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_what_only_the_table_can_show_wrong_is_refused(
    estimator: type[Any], param: str, value: Any, allowed: str
) -> None:
    if param not in estimator.PARAMS:
        return
    X, y = random_table(estimator)
    if y.dtype.kind == "U":
        y = np.where(y == "green", "green", "blue")
    with pytest.raises((InvalidParameter, InvalidInput)) as caught:
        make(estimator, **{param: value}).fit(X, y)
    check_fields(caught.value, parameter=param, allowed=allowed)
    assert caught.value.received is not None


MUCH_WORK = ("n_estimators", "max_epochs")  # a large number is as much work as it says
HUGE = [2**31, 2**32, 2**33, 2**64, 2**70, -(2**70), 1e20, 1e38, 1e39, 1e300, 1e-300]


@pytest.mark.filterwarnings("ignore:max_samples")  # more rows than there are
@pytest.mark.filterwarnings("ignore:.*no member predicts 1,000 rows within")
@pytest.mark.parametrize(("estimator", "param"), [case for case in CASES if case[1] not in MUCH_WORK])
def test_a_huge_or_tiny_number_works_or_is_refused_in_our_words(estimator: type[Any], param: str) -> None:
    X, y = random_table(estimator)
    allowed = [v for v in HUGE if v not in wrong_values_among(HUGE, estimator.PARAMS[param])]
    for value in allowed:
        try:
            said = answers(make(estimator, **{param: value}).fit(X, y), X)
        except (ValueError, TypeError, OverflowError, ZeroDivisionError, MemoryError) as error:
            trouble: Exception | None = error
        else:
            trouble = None
            assert np.isfinite(said).all(), (param, value)
        assert trouble is None or isinstance(trouble, CoterieError), (param, value, trouble)


@pytest.mark.parametrize(
    "estimator", [each for each in ESTIMATORS if hasattr(each, "PARAMS")], ids=lambda each: each.__name__
)
def test_every_default_is_what_the_rules_allow(estimator: type[Any]) -> None:
    """`fit` does not look at them again."""
    given = inspect.signature(estimator).parameters
    defaults = {name: param.default for name, param in given.items() if param.default is not param.empty}

    refused = {
        name: default
        for name, default in defaults.items()
        if name in estimator.PARAMS
        and not any(
            default is None if rule is None else rule.accepts(default) for rule in estimator.PARAMS[name]
        )
    }

    assert defaults
    assert not refused


def test_a_subclass_with_a_wrong_default_is_told_so() -> None:
    class Steep(coterie.GradientBoostingRegressor):
        def __init__(self, learning_rate: float = -1.0) -> None:
            super().__init__(learning_rate=learning_rate)

    with raised(InvalidParameter, parameter="learning_rate", received=-1.0):
        Steep().fit([[0.0], [1.0]], [0.0, 1.0])
