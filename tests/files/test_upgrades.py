"""Names of classes, parameters and attributes can change: a file with the old ones becomes one with the new ones."""

from functools import partial
from typing import Any

import numpy as np
import pytest

import coterie
from coterie.errors import ModelFileError
from coterie.files import model_files, upgrades
from coterie.files.upgrades import Renames, renamed, upgraded
from tests.helpers.mutations import Opened, loaded, stored

X = np.arange(60.0).reshape(-1, 2)
Y = np.sqrt(X[:, 0])
OLD = upgrades.FORMAT
# As if these names had been others until now.
RENAMES = Renames(
    params={"OldBoosting": {"bags": "n_folds", "rate": "learning_rate"}},
    state={"OldBoosting": {"first_": "baseline_"}},
    keys={"Trace": {"settled": {"bags": "n_folds"}}},
    classes={"OldBoosting": "GradientBoostingRegressor"},
)


def _model(n_rounds: int = 3) -> Any:
    model = coterie.GradientBoostingRegressor(
        n_estimators=n_rounds, n_folds=1, learning_rate=0.5, warm_start=True, random_state=0
    )
    return model.fit(X, Y)


def _old_file(model: Any) -> Opened:
    """The file of a model with the names that it would have had before."""
    opened = Opened(stored(model))
    opened.metadata["coterie_format"] = str(OLD)
    node = opened.nodes[-1]
    node["class"] = "OldBoosting"
    for part, names in (("params", RENAMES.params), ("state", RENAMES.state)):
        for old, new in names["OldBoosting"].items():
            node[part][old] = node[part].pop(new)
    for pair in opened.node("Trace")["state"]["settled"]["dict"]:
        pair[0] = "bags" if pair[0] == "n_folds" else pair[0]
    return opened


@pytest.fixture
def _next_format(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrades, "FORMAT", OLD + 1)
    monkeypatch.setattr(model_files, "FORMAT", OLD + 1)
    monkeypatch.setitem(upgrades.UPGRADES, OLD, partial(renamed, renames=RENAMES))


@pytest.mark.usefixtures("_next_format")
def test_a_file_with_old_names_predicts_the_same() -> None:
    model = _model()

    twin = loaded(_old_file(model).data())

    assert type(twin) is coterie.GradientBoostingRegressor
    assert twin.get_params() == model.get_params()
    assert np.array_equal(twin.predict(X), model.predict(X))


@pytest.mark.usefixtures("_next_format")
def test_a_model_with_old_names_continues_where_it_was() -> None:
    twin = loaded(_old_file(_model(3)).data())

    twin.set_params(n_estimators=5).fit(X, Y)

    assert np.array_equal(twin.predict(X), _model(5).predict(X))


@pytest.mark.usefixtures("_next_format")
def test_a_file_with_an_old_name_and_its_new_one_is_refused() -> None:
    opened = _old_file(_model())
    opened.nodes[-1]["params"]["n_folds"] = 1

    with pytest.raises(ModelFileError, match="has a parameter 'bags'"):
        loaded(opened.data())


def test_a_file_of_the_newest_format_has_no_old_names() -> None:
    with pytest.raises(ModelFileError, match="does not know"):
        loaded(_old_file(_model()).data())


def test_two_names_can_change_places() -> None:
    node = {"class": "A", "params": {"low": 1, "high": 2}, "state": {}}

    [swapped] = renamed([node], Renames(params={"A": {"low": "high", "high": "low"}}))

    assert swapped == {"class": "A", "params": {"low": 2, "high": 1}, "state": {}}
    assert node["params"] == {"low": 1, "high": 2}


@pytest.mark.parametrize(
    "nodes",
    [
        None,
        {"class": "OldBoosting"},
        [1, None, "OldBoosting", ["class"]],
        [{"class": 3, "params": {}}, {"class": None}, {"array": "x"}],
        [{"class": "OldTree", "params": [], "state": 7}],
        [
            {"class": "Trace", "state": {"settled": {"dict": 3}}},
            {"class": "Trace", "state": {"settled": [1]}},
        ],
        [{"class": "Trace", "state": {"settled": {"dict": [[], 4, [["bags"], 1], [1, 2]]}}}],
    ],
)
def test_what_is_no_node_is_left_to_the_reader(nodes: Any) -> None:
    assert renamed(nodes, RENAMES) == nodes


def test_nodes_of_the_newest_format_stay_as_they_are() -> None:
    nodes = [{"class": "Trace", "state": {}}]
    assert upgraded(nodes, upgrades.FORMAT) is nodes


def test_a_boosting_of_format_3_has_folds_where_it_had_bags() -> None:
    model = coterie.GradientBoostingRegressor(n_estimators=4, n_folds=2, warm_start=True, random_state=0)
    model.fit(X, Y)
    opened = Opened(stored(model))
    opened.metadata["coterie_format"] = "3"
    node = opened.nodes[-1]
    node["params"]["n_bags"] = node["params"].pop("n_folds")
    for old, new in (
        ("n_bags_", "n_folds_"),
        ("bag_weights_", "fold_weights_"),
        ("oob_prediction_", "oof_prediction_"),
    ):
        node["state"][old] = node["state"].pop(new)
    for pair in opened.node("Trace")["state"]["settled"]["dict"]:
        pair[0] = "n_bags" if pair[0] == "n_folds" else pair[0]

    twin = loaded(opened.data())

    assert twin.n_folds == 2
    assert np.array_equal(twin.fold_weights_, model.fold_weights_)
    assert np.array_equal(twin.oof_prediction_, model.oof_prediction_)
    longer = twin.set_params(n_estimators=6).fit(X, Y)
    assert np.array_equal(longer.predict(X), model.set_params(n_estimators=6).fit(X, Y).predict(X))
