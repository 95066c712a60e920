"""Classes of other libraries that files hold as attributes: numpy's random states, and parts of scikit-learn.

Random states were given as parameters, and continue where they were.
"""

from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelEncoder

from coterie._storage import StorableClass, expect
from coterie._value_types import COUNT, LABELS, NUMBER, array

__all__ = ["EXTERNAL_CLASSES"]

_WORDS = 624


def _legacy_parts(state: Any) -> dict[str, Any]:
    name, key, place, has_gauss, cached = state.get_state(legacy=True)
    if name != "MT19937":
        raise TypeError(f"a RandomState of {name} cannot be stored: expected MT19937")
    return {"key": key, "place": int(place), "has_gauss": int(has_gauss), "cached": float(cached)}


def _made_legacy(parts: dict[str, Any]) -> Any:
    expect(parts["key"].shape == (_WORDS,) and parts["key"].dtype == np.uint32, "has a key of another size")
    expect(parts["place"] <= _WORDS and parts["has_gauss"] <= 1, "stands at a place that does not exist")
    state = np.random.RandomState(0)
    state.set_state(("MT19937", parts["key"], parts["place"], parts["has_gauss"], float(parts["cached"])))
    return state


def _generator_parts(generator: Any) -> dict[str, Any]:
    held = generator.bit_generator.state
    if held["bit_generator"] != "PCG64":
        raise TypeError(f"a Generator of {held['bit_generator']} cannot be stored: expected PCG64")
    return {
        "state": held["state"]["state"],
        "inc": held["state"]["inc"],
        "has_uint32": held["has_uint32"],
        "uinteger": held["uinteger"],
    }


def _made_generator(parts: dict[str, Any]) -> Any:
    expect(max(parts["state"], parts["inc"]) < 2**128, "has a state of more than 128 bits")
    expect(parts["has_uint32"] <= 1 and parts["uinteger"] < 2**32, "holds a number of more than 32 bits")
    bits = np.random.PCG64(0)
    bits.state = {
        "bit_generator": "PCG64",
        "state": {"state": int(parts["state"]), "inc": int(parts["inc"])},
        "has_uint32": int(parts["has_uint32"]),
        "uinteger": int(parts["uinteger"]),
    }
    return np.random.Generator(bits)


EXTERNAL_CLASSES = [
    StorableClass(
        "numpy.RandomState",
        np.random.RandomState,
        {"key": array("u", 1), "place": COUNT, "has_gauss": COUNT, "cached": NUMBER},
        state=_legacy_parts,
        build=_made_legacy,
    ),
    StorableClass(
        "numpy.Generator",
        np.random.Generator,
        {"state": COUNT, "inc": COUNT, "has_uint32": COUNT, "uinteger": COUNT},
        state=_generator_parts,
        build=_made_generator,
    ),
    StorableClass("sklearn.LabelEncoder", LabelEncoder, {"classes_": LABELS}),
    StorableClass("sklearn.FrozenEstimator", FrozenEstimator, {}, param_names=frozenset({"estimator"})),
    StorableClass(
        "sklearn.Pipeline",
        Pipeline,
        {},
        param_names=frozenset({"steps", "transform_input", "memory", "verbose"}),
    ),
]
