"""Classes of other libraries that files hold as attributes: numpy's random states, and helpers of scikit-learn.

Random states were given as parameters, and continue where they were.
"""

from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelEncoder

from coterie._storage import StorableClass, expect
from coterie._value_types import COUNT, LABELS, NUMBER, array

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
