"""Every rule refuses every wrong type and bound, and the message names the parameter and the value."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import check_random_state

from coterie import DecisionTreeClassifier
from coterie._params import (
    ArrayLike,
    Boolean,
    Fraction,
    Function,
    Instance,
    Integer,
    MappingLike,
    OneOf,
    Real,
    Rule,
    Seed,
    check_params,
    in_short,
    resolve_n_jobs,
    root_seed,
    spawn_seeds,
)
from coterie.errors import InvalidParameter
from tests.helpers.errors import raised


class Forest:
    PARAMS: dict[str, list[Any]] = {}

    def __init__(self, max_features: Any) -> None:
        self.max_features = max_features


def checked(rules: list[Rule | None], value: Any) -> None:
    class ForestWithRules(Forest):
        PARAMS = {"max_features": rules}

    check_params(ForestWithRules(value))


ACCEPTED: dict[str, tuple[Any, list[Any]]] = {
    "whole": (Integer(1), [1, 7, np.int8(3), np.uint64(9), 10**30]),
    "whole between": (Integer(1, 5), [1, 5, np.int32(4)]),
    "any whole": (Integer(), [-5, 0]),
    "at most": (Integer(high=3), [3, -100]),
    "real": (Real(0, 1), [0, 1, 0.5, np.float32(0.25), np.float64(1)]),
    "real open": (Real(0, 1, closed="neither"), [0.5, 1e-300]),
    "real left": (Real(0, 1, closed="left"), [0, 0.99]),
    "real up": (Real(0), [0, 1e300]),
    "fraction": (Fraction(), [1, 1.0, 0.001, np.float16(0.5)]),
    "names": (OneOf("sqrt", "log2"), ["sqrt", "log2"]),
    "flag": (Boolean(), [True, False, np.True_]),
    "none": (None, [None]),
    "instance": (Instance(Forest), [Forest(1)]),
    "function": (Function(), [len, lambda: 1]),
    "seed": (Seed(), [None, 0, 2**32 - 1, np.random.RandomState(0), np.random.default_rng(0)]),
    "array": (ArrayLike(), [[1], (2,), np.ones(2), []]),
    "mapping": (MappingLike(), [{}, {"a": 1}]),
}

WRONG: dict[str, list[Any]] = {
    "whole": [0, -1, 1.0, True, np.True_, "1", None, [1], np.nan, np.float64(3)],
    "whole between": [0, 6, 2.5, False],
    "any whole": [0.0, "a", True, None],
    "at most": [4, 3.0],
    "real": [-1e-9, 1.001, np.nan, np.inf, -np.inf, True, "0.5", None, 1j, Decimal("0.5"), [0.5]],
    "real open": [0, 1, np.nan],
    "real left": [1, -0.1],
    "real up": [-1, np.inf, np.nan],
    "fraction": [0, 0.0, 1.5, -0.5, 2, True, np.nan, "half"],
    "names": ["cube", "SQRT", b"sqrt", 1, None, ["sqrt"]],
    "flag": [0, 1, "True", None, 1.0],
    "none": [0, False, "", "None"],
    "instance": [1, Forest, None],
    "function": [1, Forest, "len", None],
    "seed": [-1, 2**32, 1.5, "0", True, np.random],
    "array": ["text", b"bytes", {}, 5, None, np.float64(1)],
    "mapping": [[], "a", None, 3],
}


@pytest.mark.parametrize(("rule", "value"), [(r, v) for r, values in ACCEPTED.values() for v in values])
def test_a_rule_accepts_what_it_describes(rule: Rule | None, value: Any) -> None:
    checked([rule], value)
    assert value is None if rule is None else rule.accepts(value)


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in WRONG.items() for v in values])
def test_a_rule_refuses_the_rest_and_names_parameter_and_value(name: str, value: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        checked([ACCEPTED[name][0]], value)

    message = str(caught.value)
    assert message.startswith(f"ForestWithRules(max_features={in_short(value)}): expected ")
    assert message.endswith(".")


anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**6), 10**6),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
    st.complex_numbers(),
    st.sampled_from([np.float32(0.5), np.int64(-3), np.True_, np.array([1.0]), len, int, object()]),
)


def is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_finite_real(value: Any) -> bool:
    return (is_whole(value) or isinstance(value, float | np.floating)) and bool(np.isfinite(value))


MEANING: list[tuple[Any, Callable[[Any], bool]]] = [
    (Integer(1), lambda v: is_whole(v) and v >= 1),
    (Integer(-2, 3), lambda v: is_whole(v) and -2 <= v <= 3),
    (Real(0, 1, closed="left"), lambda v: is_finite_real(v) and 0 <= v < 1),
    (Real(), is_finite_real),
    (Fraction(), lambda v: is_finite_real(v) and 0 < v <= 1),
    (OneOf("a", "b"), lambda v: isinstance(v, str) and v in ("a", "b")),
    (Boolean(), lambda v: isinstance(v, bool | np.bool_)),
    (None, lambda v: v is None),
    (MappingLike(), lambda v: isinstance(v, dict)),
    (ArrayLike(), lambda v: isinstance(v, list | np.ndarray)),
]


@pytest.mark.parametrize(("rule", "means"), MEANING, ids=lambda case: type(case).__name__)
@given(value=anything)
def test_a_rule_means_what_it_says_for_any_value(rule: Any, means: Callable[[Any], bool], value: Any) -> None:
    if means(value):
        checked([rule], value)
    else:
        with pytest.raises(InvalidParameter) as caught:
            checked([rule], value)
        assert caught.value.parameter == "max_features"
        assert caught.value.received is value
        assert f"(max_features={in_short(value)}): expected {caught.value.allowed}." in str(caught.value)


def test_the_message_lists_every_choice_in_words() -> None:
    with pytest.raises(InvalidParameter) as caught:
        checked([Integer(1), Fraction(), OneOf("sqrt", "log2"), None], 1.5)

    assert str(caught.value) == (
        "ForestWithRules(max_features=1.5): expected a whole number >= 1 or a fraction in (0, 1] "
        "or 'sqrt' or 'log2' or None."
    )


def test_the_nearest_of_many_names_is_proposed() -> None:
    names = OneOf("leaf", "level", "oblivious", "mixed")
    with pytest.raises(InvalidParameter, match="Did you mean 'oblivious'"):
        checked([names], "oblivous")
    with pytest.raises(InvalidParameter) as caught:
        checked([names], "x")
    assert caught.value.hint is None


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Integer(1, 5), "a whole number from 1 to 5"),
        (Integer(high=5), "a whole number <= 5"),
        (Real(0, closed="neither"), "a finite number > 0"),
        (Real(high=2), "a finite number <= 2"),
        (Real(0, 1, closed="left"), "a number in [0, 1)"),
        (Real(), "a finite number"),
        (Boolean(), "True or False"),
        (Instance(Forest), "an instance of Forest"),
    ],
)
def test_a_rule_is_described_in_words(rule: Rule, words: str) -> None:
    assert rule.describe() == words


def test_a_long_value_is_cut_in_the_message() -> None:
    with pytest.raises(InvalidParameter) as caught:
        checked([Integer(1)], list(range(10_000)))

    assert "max_features=[0, 1, 2" in str(caught.value)
    assert len(str(caught.value)) < 250


def test_n_jobs_counts_cores_from_the_end() -> None:
    cores = joblib.cpu_count()

    assert resolve_n_jobs(None) == 0
    assert resolve_n_jobs(3) == 3
    assert resolve_n_jobs(-1) == cores
    assert resolve_n_jobs(-1000) == 1


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True])
def test_n_jobs_of_another_kind_is_refused(n_jobs: Any) -> None:
    with raised(InvalidParameter, parameter="n_jobs", received=n_jobs, allowed="None, a whole number >= 1"):
        resolve_n_jobs(n_jobs)


@given(seed=st.integers(0, 2**32 - 1), short=st.integers(0, 20), more=st.integers(0, 20))
def test_the_first_seeds_do_not_depend_on_how_many_there_are(seed: int, short: int, more: int) -> None:
    np.testing.assert_array_equal(spawn_seeds(seed, short), spawn_seeds(seed, short + more)[:short])


def test_neighbouring_seeds_share_no_number() -> None:
    numbers = np.concatenate([spawn_seeds(seed, 100) for seed in range(20)])

    assert numbers.dtype == np.uint64
    assert len(np.unique(numbers)) == len(numbers)


def test_seeds_never_change_between_versions() -> None:
    assert root_seed(0) == 15793235383387715774
    assert spawn_seeds(42, 2).tolist() == [15687233374382716146, 17791783717595387954]


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_a_generator_gives_new_seeds_each_time_and_the_same_from_the_same_start(make: Any) -> None:
    first, second = make(5), make(5)

    assert root_seed(first) == root_seed(second)
    assert root_seed(first) != root_seed(make(5))


@pytest.mark.parametrize(
    ("make", "draw"), [(np.random.RandomState, "randint"), (np.random.default_rng, "integers")]
)
def test_a_generator_may_give_any_number_of_64_bits(make: Any, draw: str) -> None:
    assert root_seed(make(5)) == getattr(make(5), draw)(0, 2**64, dtype=np.uint64)


def test_numpys_global_seed_rules_when_there_is_no_other() -> None:
    stream = check_random_state(None)
    state = stream.get_state()
    first, second = root_seed(None), root_seed(None)
    stream.set_state(state)

    assert root_seed(None) == first
    assert second != first


@pytest.mark.parametrize("random_state", [-1, 1.5, "seed", True])
def test_a_seed_of_another_kind_is_refused(random_state: Any) -> None:
    with raised(
        InvalidParameter, parameter="random_state", received=random_state, allowed="a whole number >= 0"
    ):
        root_seed(random_state)


class WithABadDefault(DecisionTreeClassifier):
    def __init__(self, *, max_depth: int = -1) -> None:
        super().__init__(max_depth=max_depth)


def test_the_default_of_a_subclass_is_checked() -> None:
    with raised(InvalidParameter, parameter="max_depth", received=-1):
        WithABadDefault().fit([[0.0], [1.0]], [0, 1])
