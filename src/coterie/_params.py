"""Constructor parameters: a table of rules per class, checked once, at `fit`.

An estimator lists its rules in `PARAMS`, a dict from the parameter's name to a list of rules; one of
them must accept the value. A rule answers two questions: does it accept a value, and how is it said
in words. `None` in the list means that None is allowed.

    PARAMS = {"max_features": [Integer(1), Fraction(), OneOf("sqrt", "log2"), None]}

Two parameters that every family has are resolved here too: `n_jobs` to a number of threads, and `random_state` to a
seed. Randomness enters by that one seed, which is split by numpy's `SeedSequence`. Its words are made one after the
other, so the first seeds of a long list are those of a short one: a warm start of 100 trees continues as 200 trees
would have.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from numbers import Integral
from numbers import Real as RealNumber
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import joblib
import numpy as np
from sklearn.utils import check_random_state

from coterie._typing import SeedArray, SeedLike
from coterie.errors import InvalidParameter


class Rule(Protocol):
    """What a parameter may be."""

    def accepts(self, value: object) -> bool: ...

    def describe(self) -> str: ...


@runtime_checkable
class EstimatorRule(Protocol):
    """A rule that depends on whose parameter it is, and gives advice."""

    def for_estimator(self, estimator: Any) -> "EstimatorRule": ...

    def accepts(self, value: object) -> bool: ...

    def describe(self) -> str: ...

    def hint(self, value: object) -> str | None: ...


_MANY_NAMES = 4  # fewer are seen at once
_INTEGER = (int, np.integer, Integral)  # types first that are known without a search
_REAL = (float, int, np.floating, np.integer, RealNumber)

Params: TypeAlias = Mapping[str, Sequence[Rule | None]]


@dataclass(frozen=True)
class Integer:
    """A whole number within bounds, both included. True and False are not numbers here."""

    low: int | None = None
    high: int | None = None

    def accepts(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, _INTEGER):
            return False
        number = int(value)
        return (self.low is None or number >= self.low) and (self.high is None or number <= self.high)

    def describe(self) -> str:
        if self.low is not None and self.high is not None:
            return f"a whole number from {self.low} to {self.high}"
        if self.low is not None:
            return f"a whole number >= {self.low}"
        return "a whole number" if self.high is None else f"a whole number <= {self.high}"


@dataclass(frozen=True)
class Real:
    """A finite number between two bounds; `closed` says which of the bounds belong to it."""

    low: float | None = None
    high: float | None = None
    closed: Literal["both", "left", "right", "neither"] = "both"

    def accepts(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, _REAL):
            return False
        number = float(value)
        if not math.isfinite(number):
            return False
        if self.low is not None and (number < self.low or (number == self.low and not self._has_low())):
            return False
        return self.high is None or number < self.high or (number == self.high and self._has_high())

    def describe(self) -> str:
        if self.low is not None and self.high is not None:
            left, right = "[" if self._has_low() else "(", "]" if self._has_high() else ")"
            return f"a number in {left}{self.low:g}, {self.high:g}{right}"
        if self.low is not None:
            return f"a finite number {'>=' if self._has_low() else '>'} {self.low:g}"
        if self.high is not None:
            return f"a finite number {'<=' if self._has_high() else '<'} {self.high:g}"
        return "a finite number"

    def _has_low(self) -> bool:
        return self.closed in ("both", "left")

    def _has_high(self) -> bool:
        return self.closed in ("both", "right")


@dataclass(frozen=True)
class Fraction:
    """A share of something: more than 0, at most 1."""

    def accepts(self, value: object) -> bool:
        return Real(0, 1, closed="right").accepts(value)

    def describe(self) -> str:
        return "a fraction in (0, 1]"


@dataclass(frozen=True)
class Share:
    """A float that stands for a share of the whole, where a whole number would be a count."""

    with_one: bool

    def accepts(self, value: object) -> bool:
        if not isinstance(value, RealNumber) or isinstance(value, Integral):
            return False
        return 0.0 < float(value) < 1.0 or (self.with_one and float(value) == 1.0)

    def describe(self) -> str:
        return f"a float in (0, 1{']' if self.with_one else ')'}"


class OneOf:
    """One of a few names."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def accepts(self, value: object) -> bool:
        return isinstance(value, str) and value in self.names

    def describe(self) -> str:
        return " or ".join(repr(name) for name in self.names)


@dataclass(frozen=True)
class Boolean:
    """True or False, Python's or numpy's."""

    def accepts(self, value: object) -> bool:
        return isinstance(value, bool | np.bool_)

    def describe(self) -> str:
        return "True or False"


class Instance:
    """An object of one of some types."""

    def __init__(self, *types: type) -> None:
        self.types = types

    def accepts(self, value: object) -> bool:
        return isinstance(value, self.types)

    def describe(self) -> str:
        return " or ".join(f"an instance of {kind.__name__}" for kind in self.types)


@dataclass(frozen=True)
class Function:
    """Anything that can be called, except a class."""

    def accepts(self, value: object) -> bool:
        return isinstance(value, Callable) and not isinstance(value, type)  # type: ignore[arg-type]

    def describe(self) -> str:
        return "a function"


@dataclass(frozen=True)
class EstimatorLike:
    """A model with `fit` and `predict`; an object, not its class."""

    def accepts(self, value: object) -> bool:
        return not isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "predict")

    def describe(self) -> str:
        return "an estimator with fit and predict"


@dataclass(frozen=True)
class Seed:
    """What scikit-learn calls a random state."""

    def accepts(self, value: object) -> bool:
        if value is None or isinstance(value, np.random.RandomState | np.random.Generator):
            return True
        return Integer(0, 2**32 - 1).accepts(value)

    def describe(self) -> str:
        return f"None or a whole number from 0 to {2**32 - 1} or a numpy RandomState or Generator"


@dataclass(frozen=True)
class ArrayLike:
    """A list, a tuple, an array or a series; not text, not a mapping."""

    def accepts(self, value: object) -> bool:
        if isinstance(value, str | bytes | Mapping | np.generic | type):
            return False
        return isinstance(value, Sequence) or hasattr(value, "__array__")

    def describe(self) -> str:
        return "a list or an array"


@dataclass(frozen=True)
class AnyLabel:
    """A label of any type; whether it is one of the target's is checked with the target."""

    def accepts(self, value: object) -> bool:
        return np.ndim(value) == 0 and not isinstance(value, dict | set | type)  # type: ignore[arg-type]

    def describe(self) -> str:
        return "a label of the target"


class MappingLike:
    """A dict, or anything else that maps keys to values."""

    def accepts(self, value: object) -> bool:
        return isinstance(value, Mapping)

    def describe(self) -> str:
        return "a dict"


def check_params(estimator: Any) -> None:
    """Compare each constructor parameter with the class's `PARAMS` table."""
    cls: type = type(estimator)
    params: Params = estimator.PARAMS
    defaults = _defaults(cls)
    for param, rules in params.items():
        value = getattr(estimator, param)
        if param in defaults and value is defaults[param]:
            continue
        own = [rule.for_estimator(estimator) if isinstance(rule, EstimatorRule) else rule for rule in rules]
        if not any(_accepts(rule, value) for rule in own):
            allowed = " or ".join("None" if rule is None else rule.describe() for rule in own)
            hints = (
                rule.hint(value) if isinstance(rule, EstimatorRule) else _nearest_of(rule, value)
                for rule in own
            )
            hint = next(filter(None, hints), None)
            raise unexpected(param, value, allowed, owner=type(estimator).__name__, hint=hint)


def _nearest_of(rule: Rule | None, value: object) -> str | None:
    """The name that was probably meant, of a rule that lists its `names`; None if there are few or none is near.

    Examples
    --------
    >>> _nearest_of(OneOf("leaf", "level", "oblivious", "mixed"), "oblivous")
    "Did you mean 'oblivious'?"
    """
    names = getattr(rule, "names", ())
    if not isinstance(value, str) or len(names) < _MANY_NAMES:
        return None
    near = get_close_matches(value.lower(), names, n=1)
    return f"Did you mean {near[0]!r}?" if near else None


def unexpected(
    parameter: str, received: object, allowed: str, *, owner: str = "", hint: str | None = None
) -> InvalidParameter:
    """The error of a parameter, or an argument of a function, that is not what it may be.

    Examples
    --------
    >>> str(unexpected("max_depth", 0, "a whole number >= 1", owner="DecisionTreeClassifier"))
    'DecisionTreeClassifier(max_depth=0): expected a whole number >= 1.'
    """
    given = f"{parameter}={in_short(received)}"
    return InvalidParameter(
        f"{owner}({given}): expected {allowed}." if owner else f"{given}: expected {allowed}.",
        parameter=parameter,
        received=received,
        allowed=allowed,
        hint=hint,
    )


def check_first(parameter: str, number: Any, n_known: int) -> int:
    """How many rounds or trees to use; refuses what the model does not have."""
    if not Integer(1, n_known).accepts(number):
        allowed = f"None for all, or a whole number from 1 to {n_known}, which is how many the model has"
        raise unexpected(parameter, number, allowed)
    return int(number)


@cache
def _defaults(cls: type) -> dict[str, object]:
    """The defaults of our own constructors, which are right; those of somebody's subclass may not be."""
    for base in cls.__mro__:
        if "__init__" in vars(base) and base.__module__.startswith("coterie."):
            # Not by `inspect.signature`: that takes a tenth of a millisecond.
            return vars(base)["__init__"].__kwdefaults__ or {}
    return {}


def _accepts(rule: Rule | None, value: object) -> bool:
    return value is None if rule is None else rule.accepts(value)


def is_auto(value: object) -> bool:
    """Whether a parameter is left to us."""
    return isinstance(value, str) and value == "auto"


def in_short(value: object) -> str:
    """`repr`, cut in the middle when it is long: an error message shows a value, not a table."""
    text = repr(value)
    if len(text) <= 120:
        return text
    return " ".join(f"{text[:80]} ... {text[-30:]}".split())


_MOST_THREADS = 4096  # the engine never uses more threads than there are cores


def resolve_n_jobs(n_jobs: int | None) -> int:
    """How many threads to ask the engine for; 0 leaves the choice to the engine.

    None is the engine's own default: every core that this process may use, or `COTERIE_NUM_THREADS`.
    Negative numbers count from the number of cores: -1 is all of them, -2 all but one.

    Examples
    --------
    >>> resolve_n_jobs(None), resolve_n_jobs(3)
    (0, 3)
    """
    if n_jobs is None:
        return 0
    if not Integer().accepts(n_jobs) or n_jobs == 0:
        allowed = "None, a whole number >= 1, or a negative one to count from the number of cores (-1 is all of them)"
        raise unexpected("n_jobs", n_jobs, allowed)
    if n_jobs > 0:
        return min(int(n_jobs), _MOST_THREADS)
    return max(1, int(joblib.cpu_count()) + 1 + int(n_jobs))


def root_seed(random_state: SeedLike) -> int:
    """The one whole number below 2**64 that stands for `random_state`.

    A whole number always gives the same seed. A `RandomState` or a `Generator` gives the next number
    of its own stream, and so moves on. None takes the next number of numpy's global stream: random,
    unless the program called `np.random.seed`, as in scikit-learn.

    Examples
    --------
    >>> root_seed(7) == root_seed(7), root_seed(7) == root_seed(8)
    (True, False)
    """
    if isinstance(random_state, int | Integral) and not isinstance(random_state, bool) and random_state >= 0:
        return int(np.random.SeedSequence(int(random_state)).generate_state(1, np.uint64)[0])
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**64, dtype=np.uint64))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**64, dtype=np.uint64))
    if random_state is None:
        return root_seed(check_random_state(None))
    allowed = "None, a whole number >= 0, a numpy RandomState or a numpy Generator"
    raise unexpected("random_state", random_state, allowed)


def spawn_seeds(random_state: SeedLike, n: int) -> SeedArray:
    """Split one seed into `n`, one for each tree, round or member.

    The first k seeds do not depend on `n`.

    Examples
    --------
    >>> bool((spawn_seeds(0, 5)[:3] == spawn_seeds(0, 3)).all())
    True
    """
    sequence = np.random.SeedSequence(root_seed(random_state))
    return np.asarray(sequence.generate_state(n, np.uint64), dtype=np.uint64)
