"""The classes that a file may name; there is no way for a file to name another.

Classes of coterie register themselves where they are defined (`coterie._storage`). What is added here are objects of
the engine and of other libraries.
"""

from dataclasses import fields
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.metadata_routing import MetadataRequest

from coterie._storage import StorableClass, expect, registered, registered_classes, registered_name
from coterie._value_types import ANY, COUNT, LABELS, NUMBER, array
from coterie.errors import ModelFileError
from coterie.losses import CustomLoss, registered_losses

_WORDS = 624


def _legacy_state(random_state: Any) -> dict[str, Any]:
    name, key, place, has_gauss, cached = random_state.get_state(legacy=True)
    if name != "MT19937":
        raise TypeError(f"a RandomState of {name} cannot be stored: expected MT19937")
    return {"key": key, "place": int(place), "has_gauss": int(has_gauss), "cached": float(cached)}


def _build_legacy(state: dict[str, Any]) -> Any:
    expect(state["key"].shape == (_WORDS,) and state["key"].dtype == np.uint32, "has a key of another size")
    expect(state["place"] <= _WORDS and state["has_gauss"] <= 1, "has a position that does not exist")
    random_state = np.random.RandomState(0)
    random_state.set_state(
        ("MT19937", state["key"], state["place"], state["has_gauss"], float(state["cached"]))
    )
    return random_state


def _generator_state(generator: Any) -> dict[str, Any]:
    held = generator.bit_generator.state
    if held["bit_generator"] != "PCG64":
        raise TypeError(f"a Generator of {held['bit_generator']} cannot be stored: expected PCG64")
    return {
        "state": held["state"]["state"],
        "inc": held["state"]["inc"],
        "has_uint32": held["has_uint32"],
        "uinteger": held["uinteger"],
    }


def _build_generator(state: dict[str, Any]) -> Any:
    expect(max(state["state"], state["inc"]) < 2**128, "has a state of more than 128 bits")
    expect(state["has_uint32"] <= 1 and state["uinteger"] < 2**32, "holds a number of more than 32 bits")
    bits = np.random.PCG64(0)
    bits.state = {
        "bit_generator": "PCG64",
        "state": {"state": int(state["state"]), "inc": int(state["inc"])},
        "has_uint32": int(state["has_uint32"]),
        "uinteger": int(state["uinteger"]),
    }
    return np.random.Generator(bits)


EXTERNAL_CLASSES = [
    StorableClass(
        "numpy.RandomState",
        np.random.RandomState,
        {"key": array("u", 1), "place": COUNT, "has_gauss": COUNT, "cached": NUMBER},
        state=_legacy_state,
        build=_build_legacy,
    ),
    StorableClass(
        "numpy.Generator",
        np.random.Generator,
        {"state": COUNT, "inc": COUNT, "has_uint32": COUNT, "uinteger": COUNT},
        state=_generator_state,
        build=_build_generator,
    ),
    StorableClass("sklearn.LabelEncoder", LabelEncoder, {"classes_": LABELS}),
    StorableClass("sklearn.FrozenEstimator", FrozenEstimator, {}, is_estimator=True),
    StorableClass("sklearn.Pipeline", Pipeline, {}, is_estimator=True),
]


def loss_classes() -> list[StorableClass]:
    """Every loss that has a name; files of earlier versions may have other names of settings."""
    custom = StorableClass("losses.CustomLoss", CustomLoss, {}, state=_refuse_functions)
    return [custom, *map(_loss_class, registered_losses())]


def _loss_class(cls: type[Any]) -> StorableClass:
    renamed = cls.renamed_settings
    names = [*(each.name for each in fields(cls)), *renamed]

    def build(state: dict[str, Any]) -> Any:
        return cls(**{renamed.get(name, name): value for name, value in state.items()})

    optional = frozenset([*renamed, *renamed.values()])
    return StorableClass(cls.file_name, cls, dict.fromkeys(names, ANY), optional, build=build)


def _refuse_functions(_: Any) -> dict[str, Any]:
    raise TypeError(
        "CustomLoss is made of functions, and a file holds no code. Save the model with one of the losses of "
        "coterie.losses, or pickle it"
    )


# Packages with classes that files may hold. Some are imported with coterie, and some have much behind them.
_PACKAGES = (
    "trees",
    "boosting",
    "adaboost",
    "forests",
    "bagging",
    "combining",
    "committee",
    "export",
    "ensemble",
)


@cache
def _import_packages() -> None:
    for package in _PACKAGES:
        import_module(f"coterie.{package}")


@cache
def _added_here() -> dict[str, StorableClass]:
    """Those that do not register themselves, by name; imported when the first file is opened."""
    from coterie.files.engine_objects import FOREST_CLASSES, STUMP_CLASSES, TREE_CLASSES

    classes = [*TREE_CLASSES, *FOREST_CLASSES, *STUMP_CLASSES, *EXTERNAL_CLASSES, *loss_classes()]
    return {entry.name: entry for entry in classes}


@cache
def _names_added_here() -> dict[type, str]:
    return {entry.cls: name for name, entry in _added_here().items()}


def known_classes() -> list[StorableClass]:
    """All classes that files may name."""
    _import_packages()
    return [*_added_here().values(), *registered_classes()]


def class_named(name: Any) -> StorableClass | None:
    """The class of this name, if there is one."""
    if not isinstance(name, str):
        return None
    found = _added_here().get(name) or registered(name)
    if found is None:
        _import_packages()
        found = registered(name)
    return found


def class_of(stored: Any) -> StorableClass | None:
    """How an object is stored, if its very class is known."""
    cls = type(stored)
    name = _names_added_here().get(cls)
    if name is not None:
        return _added_here()[name]
    name = registered_name(cls)
    return None if name is None else registered(name)


REQUEST_ATTRIBUTE = "_metadata_request"
_METHODS = (
    "fit",
    "partial_fit",
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "score",
    "split",
    "transform",
    "inverse_transform",
)


def requests_of(estimator: Any) -> dict[str, dict[str, Any]]:
    """By method and argument: whether it is requested, or under which other name."""
    request = getattr(estimator, "__dict__", {}).get(REQUEST_ATTRIBUTE)
    if request is None:
        return {}
    requested = {method: dict(getattr(request, method).requests) for method in _METHODS}
    return {method: own for method, own in requested.items() if own}


def set_requests(estimator: Any, requests: Any) -> None:
    """Give an estimator the requests of the one that was stored."""
    if not isinstance(requests, dict) or not all(isinstance(own, dict) for own in requests.values()):
        raise ModelFileError("requests arguments in another form.")
    request = MetadataRequest(owner=estimator)
    for method, own in requests.items():
        if method not in _METHODS:
            raise ModelFileError(f"requests arguments of {method!r:.40}, which is no method.")
        for name, requested in own.items():
            if not (requested is None or isinstance(requested, bool | str)):
                raise ModelFileError(f"requests the argument {name!r:.40} in another form.")
        getattr(request, method)._requests = dict(own)
    vars(estimator)[REQUEST_ATTRIBUTE] = request
