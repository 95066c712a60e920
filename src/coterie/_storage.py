"""Classes whose objects can be stored: what they hold is declared where they are defined, once.

A class of internal state lists its attributes, and what each may be:

    @storable("BagPlan", {"kind": one_of("all", "bootstrap"), "n_draws": COUNT, "weight": NUMBER})
    @dataclass(frozen=True)
    class BagPlan: ...

An estimator lists what a fit leaves behind in `FITTED`, beside `PARAMS`. Model files, the reset at the beginning of a
fit and the tests of the documentation all read these tables.

The registry is closed: only classes of coterie enter it, each under a name that no other class has. The name stands in
files, and stays when the class moves or is called something else.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, Never, TypeAlias, TypeVar

from coterie._value_types import ANY, COUNT, RECOMPUTED, TEXT, ValueType, array, dict_of
from coterie.errors import ModelFileError

Fitted: TypeAlias = Mapping[str, ValueType]
_Class = TypeVar("_Class", bound=type)

# What a fit sets on any estimator for scikit-learn.
SET_BY_SKLEARN: Fitted = {"n_features_in_": COUNT, "feature_names_in_": array("O", 1)}
_OUTPUT_CONFIG: Fitted = {"_sklearn_output_config": dict_of(TEXT, TEXT)}
# Those who watch a fit, and where it keeps checkpoints, have no part in what it learned.
_ABOUT_ONE_FIT = frozenset({"checkpoint", "_skl_callbacks", "_parent_callback_ctx"})


def _is_consistent(_: Any) -> None:
    """Attributes of the right types are all that is needed."""


@dataclass(frozen=True)
class StorableClass:
    """How objects of one class are stored, and what has to hold for those that are read.

    Attributes
    ----------
    name : what files call it; never changes
    cls : the class
    attributes : those that an object may have, and what each may be
    optional : those that need not be there; None means all of them
    omitted : those that are not stored
    is_estimator : whether parameters are stored beside the state
    verify : raises ModelFileError if attributes contradict each other
    state : the attributes of an object; by default those it has
    mappable_state : the same for files that are to be mapped, where arrays are what the engine has in its memory
    build : an object from its attributes; by default they are set, and nothing of the class is run
    """

    name: str
    cls: type
    attributes: Mapping[str, ValueType]
    optional: frozenset[str] | None = frozenset()
    omitted: frozenset[str] = frozenset()
    is_estimator: bool = False
    verify: Callable[[Any], None] = _is_consistent
    state: Callable[[Any], dict[str, Any]] | None = None
    mappable_state: Callable[[Any], dict[str, Any]] | None = None
    build: Callable[[dict[str, Any]], Any] | None = None

    @cached_property
    def param_names(self) -> frozenset[str]:
        """Parameters of an estimator; found when a file is opened, since it takes a while."""
        cls: Any = self.cls
        return frozenset(cls._get_param_names() if self.is_estimator else ())

    def state_of(self, stored: Any, compact: bool = True) -> dict[str, Any]:
        """The attributes to store, and the parameters of an estimator."""
        read = self.state if compact or self.mappable_state is None else self.mappable_state
        state = dict(vars(stored)) if read is None else read(stored)
        return {name: value for name, value in state.items() if name not in self.omitted}

    def create(self, state: dict[str, Any]) -> Any:
        """An object with these attributes, which were found to be declared and of the right types."""
        if self.build is not None:
            return self.build(state)
        created: Any = object.__new__(self.cls)
        vars(created).update(state)
        return created

    def check(self, state: Mapping[str, Any]) -> None:
        """Refuse attributes that are unknown, missing, or not what they may be."""
        for name, value in state.items():
            if name not in self.attributes:
                refuse(f"has an attribute {name!r}, which is not one of a {self.name}")
            allowed = self.attributes[name]
            if not allowed.accepts(value):
                refuse(f"has {name} = {_shown(value)}; expected {allowed.description}")
        if self.optional is not None:
            missing = set(self.attributes) - self.optional - set(state)
            if missing:
                refuse(f"has no {min(missing)!r}")


_CLASSES: dict[str, StorableClass] = {}
_NAMES: dict[type, str] = {}


def _register(entry: StorableClass) -> None:
    cls = entry.cls
    if not cls.__module__.startswith("coterie."):
        raise TypeError(f"{cls.__module__}.{cls.__qualname__} is not a class of coterie, so files hold none.")
    known = _CLASSES.get(entry.name)
    if known is not None:
        if (known.cls.__module__, known.cls.__qualname__) != (cls.__module__, cls.__qualname__):
            raise TypeError(f"{entry.name!r} is the name of {known.cls.__qualname__} in files already.")
        del _NAMES[known.cls]  # its module is loaded again
    _CLASSES[entry.name] = entry
    _NAMES[cls] = entry.name


def registered(name: str) -> StorableClass | None:
    """The class of this name in files, if it was imported."""
    return _CLASSES.get(name)


def registered_name(cls: type) -> str | None:
    """What files call a class; no class inherits its name."""
    return _NAMES.get(cls)


def registered_classes() -> list[StorableClass]:
    """All that were imported."""
    return list(_CLASSES.values())


def storable(
    name: str,
    attributes: Mapping[str, ValueType] | None = None,
    *,
    optional: Collection[str] = (),
    verify: Callable[[Any], None] = _is_consistent,
    state: Callable[[Any], dict[str, Any]] | None = None,
    build: Callable[[dict[str, Any]], Any] | None = None,
) -> Callable[[_Class], _Class]:
    """A decorator that lets files hold objects of a class; a dataclass has its fields, of any value, by default."""

    def register(cls: _Class) -> _Class:
        declared = {each.name: ANY for each in fields(cls)} if attributes is None else dict(attributes)
        stored = {key: allowed for key, allowed in declared.items() if allowed is not RECOMPUTED}
        if is_dataclass(cls) and set(stored) != {each.name for each in fields(cls)}:
            raise TypeError(f"{cls.__qualname__}: other attributes are declared than its fields.")
        entry = StorableClass(
            name,
            cls,
            stored,
            optional=frozenset(optional),
            omitted=frozenset(declared) - set(stored),
            verify=verify,
            state=state,
            build=build,
        )
        _register(entry)
        return cls

    return register


def storable_estimator(
    name: str | None = None, *, verify: Callable[[Any], None] = _is_consistent
) -> Callable[[_Class], _Class]:
    """A decorator for estimators, which hold their parameters, `FITTED`, and what scikit-learn sets."""

    def register(cls: _Class) -> _Class:
        declared: Any = cls
        fitted: Fitted = declared.FITTED
        recomputed = {key for key, allowed in fitted.items() if allowed is RECOMPUTED}
        stored = {key: allowed for key, allowed in fitted.items() if key not in recomputed}
        entry = StorableClass(
            cls.__name__ if name is None else name,
            cls,
            {**SET_BY_SKLEARN, **_OUTPUT_CONFIG, **stored},
            optional=None,
            omitted=_ABOUT_ONE_FIT | recomputed,
            is_estimator=True,
            verify=verify,
        )
        _register(entry)
        return cls

    return register


def stored_as(*names: str) -> ValueType:
    """Objects of classes that files know by these names, which need not be defined yet."""
    return ValueType(" or ".join(names), lambda value: registered_name(type(value)) in names)


def _shown(value: Any) -> str:
    text = f"{type(value).__name__}" if hasattr(value, "__dict__") else f"{value!r:.60}"
    return text if len(text) < 60 else text + "..."


def refuse(message: str) -> Never:
    """Refuse the object that is being made; the reader of the file adds where it stands."""
    raise ModelFileError(f"{message}.")


def expect(condition: Any, message: str) -> None:
    """Refuse the object unless the condition holds."""
    if not condition:
        refuse(message)
