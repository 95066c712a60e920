"""Classes that files may hold: the registry is closed, and what a class declares is what it has."""

import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from coterie import DecisionTreeRegressor
from coterie._storage import registered, registered_name, storable, storable_estimator, stored_as
from coterie._value_types import COUNT, FLOATS, NONE, RECOMPUTED, TEXT, instance, list_of, pair_of
from coterie.data.encoding import LevelCoding
from coterie.data.table import Schema
from coterie.errors import ModelFileError


def _class_of_coterie(name: str, **attributes: Any) -> type:
    return type(name, (), {"__module__": "coterie.data.example", **attributes})


def test_a_class_of_others_cannot_be_registered() -> None:
    with pytest.raises(TypeError, match="not a class of coterie"):
        storable("Example", {})(type("Example", (), {"__module__": "elsewhere"}))
    with pytest.raises(TypeError, match="not a class of coterie"):
        storable("Example", {})(type("Example", (), {"__module__": "coterielike.data"}))
    assert registered("Example") is None


def test_a_name_belongs_to_one_class() -> None:
    with pytest.raises(TypeError, match="the name of Schema"):
        storable("Schema", {})(_class_of_coterie("Other"))
    assert registered("Schema") is not None
    assert registered_name(Schema) == "Schema"


def test_a_dataclass_declares_all_of_its_fields() -> None:
    @dataclass
    class Pair:
        left: int
        right: int

    Pair.__module__ = "coterie.data.example"
    with pytest.raises(TypeError, match="other attributes are declared than its fields"):
        storable("Pair", {"left": COUNT})(Pair)


def test_nobody_inherits_the_name_of_a_class() -> None:
    class Mine(DecisionTreeRegressor):  # type: ignore[misc]
        pass

    assert registered_name(DecisionTreeRegressor) == "DecisionTreeRegressor"
    assert registered_name(Mine) is None
    with pytest.raises(TypeError, match="not a class of coterie"):
        storable_estimator()(Mine)


def test_what_is_recomputed_is_neither_stored_nor_read() -> None:
    known = registered("Encoder")
    assert known is not None
    state = known.state_of(known.cls())

    assert "_lookups" in vars(known.cls())
    assert set(state) == set(known.attributes)
    with pytest.raises(ModelFileError, match="not one of a Encoder"):
        known.check({**state, "_lookups": []})
    assert not RECOMPUTED.accepts(None)


def test_what_is_computed_when_it_is_needed_is_neither_stored_nor_pickled() -> None:
    coding = LevelCoding.ordered("size", np.array(["S", "M"], dtype=object))
    known = registered("Coding")
    assert known is not None
    assert coding.positions == {"S": 0, "M": 1}

    assert "positions" in vars(coding)
    assert set(known.state_of(coding)) == set(known.attributes)
    assert "positions" not in vars(pickle.loads(pickle.dumps(coding)))


def test_an_object_is_made_without_its_constructor() -> None:
    known = registered("Fold")
    assert known is not None
    rows = np.arange(3)

    made = known.create({"train": rows, "test": rows})

    assert type(made) is known.cls
    assert made.train is rows
    with pytest.raises(ModelFileError, match="has no 'test'"):
        known.check({"train": rows})


def test_exact_classes_are_asked_for() -> None:
    class Mine(Schema):
        pass

    schema, mine = Schema(None, ()), Mine(None, ())
    for allowed in (instance(Schema), stored_as("Schema")):
        assert allowed.accepts(schema)
        assert not allowed.accepts(mine)
        assert not allowed.accepts(Schema)
    assert stored_as("Schema", "Encoder").description == "Schema or Encoder"


def test_types_of_values_say_what_they_accept() -> None:
    either = list_of(pair_of(TEXT, COUNT | NONE))
    assert either.description == "a list of: a pair of text and a whole number >= 0 or None"
    assert either.accepts([("a", 1), ("b", None)])
    assert not either.accepts([("a", -1)])
    assert not either.accepts([("a", True)])
    assert not either.accepts((("a", 1),))
    assert FLOATS.accepts(np.zeros((2, 2)))
    assert not FLOATS.accepts(np.zeros(2, dtype=int))


def test_a_long_value_is_shown_cut() -> None:
    class_of_levels = registered("data.LevelCoding") or registered(registered_name(LevelCoding) or "")
    assert class_of_levels is not None
    name = next(iter(class_of_levels.attributes))
    with pytest.raises(ModelFileError) as caught:
        class_of_levels.check({name: range(10**30, 10**30 + 10**31)})
    assert f"{range(10**30, 10**30 + 10**31)!r:.60}...; expected" in str(caught.value)
