"""What a boosted tree may not do: break a monotone feature, or mix features that must not meet."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from coterie import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestRegressor
from coterie.errors import InvalidInput, InvalidParameter

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(600, 3))
WAVES = np.sin(6 * X[:, 0]) + X[:, 1] - 0.5 * X[:, 2] + 0.3 * RNG.normal(size=600)


def curves(model: Any, feature: int) -> Any:
    """Answers along one feature, for many places of the others."""
    places = RNG.uniform(-1, 1, size=(50, 3))
    grid = np.linspace(-1.2, 1.2, 60)
    table = np.repeat(places, len(grid), axis=0)
    table[:, feature] = np.tile(grid, len(places))
    said = model.predict_proba(table)[:, 1] if hasattr(model, "predict_proba") else model.predict(table)
    return said.reshape(len(places), len(grid))


@pytest.mark.parametrize("direction", [-1, 1])
@pytest.mark.parametrize("estimator", [GradientBoostingClassifier, GradientBoostingRegressor])
def test_a_monotone_feature_is_monotone(estimator: Any, direction: int) -> None:
    y = WAVES > 0 if estimator is GradientBoostingClassifier else WAVES
    model = estimator(
        n_estimators=40, monotonic_cst=[direction, 0, 0], min_samples_leaf=3, random_state=0
    ).fit(X, y)

    free = estimator(n_estimators=40, min_samples_leaf=3, random_state=0).fit(X, y)

    assert (direction * np.diff(curves(model, 0), axis=1) >= -1e-12).all()
    assert (direction * np.diff(curves(free, 0), axis=1) < 0).any(), "the constraint had something to do"


def test_a_monotone_feature_with_missing_values_and_weights_is_monotone() -> None:
    table = X.copy()
    table[::5, 0] = np.nan
    weight = RNG.uniform(0.1, 3, len(table))
    model = GradientBoostingRegressor(n_estimators=40, monotonic_cst=[1, -1, 0], min_samples_leaf=2)
    model.fit(table, WAVES, sample_weight=weight)

    assert (np.diff(curves(model, 0), axis=1) >= -1e-12).all()
    assert (np.diff(curves(model, 1), axis=1) <= 1e-12).all()


def test_constraints_by_name_are_those_by_place() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    named, placed = (
        GradientBoostingRegressor(n_estimators=5, monotonic_cst=constraint, random_state=0).fit(frame, WAVES)
        for constraint in ({"b": 1}, [0, 1, 0])
    )

    np.testing.assert_array_equal(named.predict(frame), placed.predict(frame))
    with pytest.raises(InvalidParameter, match=r"'d'.*'a', 'b', 'c'"):
        GradientBoostingRegressor(monotonic_cst={"d": 1}).fit(frame, WAVES)


def test_a_category_has_no_direction() -> None:
    table = {"town": ["Oslo", "Rome"] * 10, "x": np.arange(20.0)}
    with pytest.raises(InvalidParameter, match="feature 'town', which is categorical"):
        GradientBoostingRegressor(monotonic_cst=[1, 0]).fit(table, np.arange(20.0))


def features_on_paths(tree: Any) -> list[set[int]]:
    """The features that each leaf's path asks about."""
    paths: list[set[int]] = [set() for _ in range(tree.n_nodes)]
    for node in range(tree.n_nodes):
        if tree.feature[node] >= 0:
            for child in (tree.left[node], tree.left[node] + 1):
                paths[child] = paths[node] | {int(tree.feature[node])}
    return [paths[node] for node in range(tree.n_nodes) if tree.feature[node] < 0]


@pytest.mark.parametrize(
    ("sets", "allowed"),
    [
        ([{0, 1}, {2, 3}], [{0, 1}, {2, 3}]),
        ([{0, 1}], [{0, 1}, {2, 3}]),
        ([{0, 1, 2}, {2, 3}], [{0, 1, 2}, {2, 3}]),
        ("no_interactions", [{0}, {1}, {2}, {3}]),
        ("pairwise", [{a, b} for a in range(4) for b in range(a)]),
    ],
)
def test_features_that_must_not_meet_do_not(sets: Any, allowed: list[set[int]]) -> None:
    rng = np.random.default_rng(1)
    table = rng.normal(size=(400, 4))
    y = table.prod(axis=1) + table.sum(axis=1)
    settings: dict[str, Any] = {"n_estimators": 20, "min_samples_leaf": 2, "random_state": 0}
    kept = GradientBoostingRegressor(interaction_cst=sets, **settings).fit(table, y)
    free = GradientBoostingRegressor(**settings).fit(table, y)

    def strangers(model: Any) -> int:
        paths = [path for i in range(20) for path in features_on_paths(model.forest_.tree(i))]
        return sum(not any(path <= group for group in allowed) for path in paths)

    assert strangers(kept) == 0
    assert strangers(free) > 0


def test_three_classes_cannot_be_monotone() -> None:
    """One score per class can be monotone; their probabilities would not be, so the wish is refused."""
    with pytest.raises(InvalidParameter, match=r"[Mm]onoton.*class"):
        GradientBoostingClassifier(monotonic_cst=[1, 0, 0]).fit(X, np.digitize(WAVES, [-0.5, 0.5]))


@pytest.mark.parametrize("estimator", [GradientBoostingRegressor, RandomForestRegressor])
def test_features_that_may_meet_are_numbers_or_names(estimator: Any) -> None:
    table = pd.DataFrame(X, columns=["area", "rooms", "town"])
    settings: dict[str, Any] = {"n_estimators": 5, "random_state": 0}

    by_name = estimator(interaction_cst=[{"area", "town"}, ["rooms"]], **settings).fit(table, WAVES)
    by_number = estimator(interaction_cst=[{0, 2}, [1]], **settings).fit(table, WAVES)

    np.testing.assert_array_equal(by_name.predict(table), by_number.predict(table))


def test_names_that_may_not_be_there_are_explained() -> None:
    table = pd.DataFrame(X, columns=["area", "rooms", "town"])
    with pytest.raises(InvalidParameter, match="names the column 'aera', which X does not have") as caught:
        GradientBoostingRegressor(interaction_cst=[{"aera", "town"}]).fit(table, WAVES)
    assert (caught.value.parameter, caught.value.received) == ("interaction_cst", "aera")
    with pytest.raises(InvalidInput, match="X has no column names"):
        GradientBoostingRegressor(interaction_cst=[{"area"}]).fit(X, WAVES)
