"""Configurations and their variations: a name is all that is needed to make a member again."""

from collections.abc import Mapping

import numpy as np
import pytest

from coterie import CommitteeClassifier
from coterie._typing import Task
from coterie.committee.candidates.configurations import (
    CONFIGURATIONS,
    SPACES,
    configuration_of,
    names_for,
    variation,
)
from coterie.committee.candidates.entry import Shape
from coterie.committee.candidates.portfolio_order import ORDERS
from coterie.committee.portfolio import entry_named, portfolio_of
from coterie.errors import InvalidParameter

SHAPE = Shape(1000, 250, 8, 3)


def changes(one: Mapping[str, object], other: Mapping[str, object]) -> int:
    return sum(one.get(key) != other.get(key) for key in {*one, *other})


def test_a_variation_changes_one_to_three_settings_within_the_space_of_its_family() -> None:
    for name, base in CONFIGURATIONS.items():
        if base.family not in SPACES:
            continue
        for number in range(1, 6):
            found = configuration_of(variation(name, number))
            assert found is not None
            assert found.family == base.family
            # Symmetric trees lose their lines, which they cannot have.
            assert (
                1 <= changes(found.settings, base.settings) <= 3 or base.settings.get("growth") == "oblivious"
            )
            for key, value in found.settings.items():
                assert value == base.settings.get(key) or value in SPACES[base.family][key]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_variation_is_a_learner(task: Task) -> None:
    for name in names_for(task):
        if CONFIGURATIONS[name].family not in SPACES:
            continue
        entry = entry_named(f"{name}~1~2", task, SHAPE)
        assert entry.name == f"{name}~1~2"
        assert entry.seconds is not None
        assert entry.seconds(SHAPE) > 0
        assert entry.family == CONFIGURATIONS[name].family


@pytest.mark.parametrize(
    "name", ["forest~", "forest~0", "forest~x", "forest~-1", "forests~1", "~1", "forest~01", "discriminant~1"]
)
def test_what_is_no_name_is_refused(name: str) -> None:
    assert configuration_of(name) is None
    with pytest.raises(InvalidParameter, match="'~' and a number"):
        entry_named(name, "classification", SHAPE)


def test_settings_of_one_task_are_not_for_the_other() -> None:
    with pytest.raises(InvalidParameter, match="for regression"):
        entry_named("sharp_network~1", "regression", SHAPE)


def test_a_variation_can_be_asked_for_by_name() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    model = CommitteeClassifier(None, portfolio=["forest~1", "linear"], cv=2, random_state=0)

    assert model.fit(X, X[:, 0] > 0).members_ == ["forest~1", "linear"]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_orders_hold_names_of_configurations_and_auto_follows_them(task: Task) -> None:
    for size, n_rows in (("few", 1_000), ("many", 10_000)):
        order = ORDERS[size]
        assert len(set(order)) == len(order)
        assert set(order) <= set(CONFIGURATIONS)
        names = [entry.name for entry in portfolio_of("auto", task, Shape(n_rows, n_rows // 4, 8, 3))]
        learned = [name for name in order if name in names]
        assert names[: len(learned)] == learned
        assert names[0] == "quick_boosting"
