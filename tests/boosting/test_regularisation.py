"""What keeps trees of boosting modest, and the shapes in which they grow."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_classification

from coterie import GradientBoostingClassifier, GradientBoostingRegressor
from coterie._typing import AnyArray
from coterie.errors import InvalidParameter

SETTINGS: dict[str, Any] = {"n_estimators": 8, "min_samples_leaf": 5, "random_state": 0}
ONE_EACH: list[dict[str, Any]] = [
    {"growth": "level"},
    {"growth": "oblivious", "max_depth": 4},
    {"path_smoothing": 30.0},
    {"split_noise": 3.0},
    {"l1_regularization": 20.0},
    {"max_step": 0.05},
    {"leaf_penalty": 15.0},
    {"max_features_per_tree": 0.5},
    {"max_features_per_level": 0.5},
]


@pytest.fixture(scope="module")
def classes() -> tuple[AnyArray, AnyArray]:
    X, y = make_classification(3000, 12, n_informative=6, flip_y=0.2, random_state=0)
    X[::7, 2] = np.nan
    return X, y


@pytest.mark.parametrize("choice", ONE_EACH, ids=lambda choice: next(iter(choice)) + str(len(choice)))
def test_a_choice_changes_the_model_and_threads_do_not(choice: dict[str, Any], classes: Any) -> None:
    X, y = classes
    plain = GradientBoostingClassifier(**SETTINGS).fit(X, y).decision_function(X)
    models = [
        GradientBoostingClassifier(**SETTINGS, **choice, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, 3, 8)
    ]
    scores = [model.decision_function(X) for model in models]

    assert not np.array_equal(scores[0], plain)
    assert models[0].score(X, y) > 0.6
    for other in scores[1:]:
        np.testing.assert_array_equal(other, scores[0])


@pytest.mark.parametrize("choice", ONE_EACH, ids=lambda choice: next(iter(choice)) + str(len(choice)))
@pytest.mark.parametrize("loss", ["absolute_error", "poisson"])
def test_every_choice_goes_with_other_losses(loss: str, choice: dict[str, Any]) -> None:
    X, y = load_diabetes(return_X_y=True)
    model = GradientBoostingRegressor(loss=loss, **SETTINGS, **choice).fit(X, y)

    assert np.isfinite(model.predict(X)).all()
    assert np.ptp(model.predict(X)) > 0


def depths_of(tree: Any) -> AnyArray:
    depth = np.zeros(tree.n_nodes, int)
    for node in np.flatnonzero(tree.feature >= 0):
        depth[tree.left[node] : tree.left[node] + 2] = depth[node] + 1
    return depth


def trees_of(model: Any) -> list[Any]:
    return [model.forest_.tree(i) for i in range(len(model.forest_))]


def test_an_oblivious_tree_has_one_split_a_level(classes: Any) -> None:
    X, y = classes
    for settings in ({"max_depth": 5}, {"max_leaf_nodes": 63}):
        model = GradientBoostingClassifier(growth="oblivious", **SETTINGS, **settings).fit(X, y)
        for tree in trees_of(model):
            depth = depths_of(tree)
            assert tree.n_nodes == 63
            for level in range(5):
                assert (
                    len({(tree.feature[i], tree.threshold[i]) for i in np.flatnonzero(depth == level)}) == 1
                )


def test_by_level_the_shallow_leaves_are_split_first(classes: Any) -> None:
    X, y = classes
    by_level = GradientBoostingClassifier(growth="level", max_leaf_nodes=16, **SETTINGS).fit(X, y)
    by_leaf = GradientBoostingClassifier(growth="leaf", max_leaf_nodes=16, **SETTINGS).fit(X, y)

    deepest = [max(depths_of(tree).max() for tree in trees_of(model)) for model in (by_level, by_leaf)]
    assert deepest[0] < deepest[1]


def test_no_score_moves_further_than_a_step(classes: Any) -> None:
    X, y = classes
    settings = {**SETTINGS, "n_estimators": 1}
    model = GradientBoostingClassifier(max_step=0.25, learning_rate=0.5, **settings).fit(X, y)
    moved = model.decision_function(X) - model.baseline_[0]

    assert np.abs(moved).max() == pytest.approx(0.125)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_steps_of_numbers_are_in_units_of_the_target(loss: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    settings = {**SETTINGS, "n_estimators": 1, "learning_rate": 1.0}
    model = GradientBoostingRegressor(loss=loss, max_step=10.0, **settings).fit(X, y)
    moved = model.predict(X) - model.baseline_[0]

    assert np.abs(moved).max() == pytest.approx(10.0)


def test_penalties_follow_the_units_of_the_target() -> None:
    """y in cents instead of euros: sums and steps are 100 times as large, gains 10,000 times."""
    X, y = load_diabetes(return_X_y=True)
    one = {"l1_regularization": 50.0, "max_step": 30.0, "leaf_penalty": 9000.0}
    other = {"l1_regularization": 3200.0, "max_step": 1920.0, "leaf_penalty": 9000.0 * 64**2}
    small = GradientBoostingRegressor(**SETTINGS, **one).fit(X, y)
    large = GradientBoostingRegressor(**SETTINGS, **other).fit(X, 64 * y)

    np.testing.assert_allclose(large.predict(X), 64 * small.predict(X), rtol=1e-6)
    assert any(tree.n_nodes > 1 for tree in trees_of(small))


def test_a_dearer_leaf_makes_smaller_trees() -> None:
    X, y = load_diabetes(return_X_y=True)
    nodes = []
    for penalty in (0.0, 3e4, 2e5, 1e9):
        model = GradientBoostingRegressor(leaf_penalty=penalty, **{**SETTINGS, "n_estimators": 1}).fit(X, y)
        nodes.append(model.forest_.tree(0).n_nodes)

    assert nodes[0] > nodes[1] > nodes[2] > nodes[3] == 1


def test_a_weak_split_above_a_strong_one_is_kept() -> None:
    """Neither sign alone says anything; together they say all. A price for leaves looks at the whole branch."""
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], size=(400, 2))
    y = X[:, 0] * X[:, 1] + 0.2 * X[:, 0]
    settings = {**SETTINGS, "n_estimators": 1, "max_leaf_nodes": 4}
    sides = [y[X[:, 0] == sign] - y.mean() for sign in (-1, 1)]
    first_gain = sum(len(side) * side.mean() ** 2 for side in sides)

    kept = GradientBoostingRegressor(leaf_penalty=2 * first_gain, **settings).fit(X, y).forest_.tree(0)
    refused = (
        GradientBoostingRegressor(min_gain_to_split=2 * first_gain, **settings).fit(X, y).forest_.tree(0)
    )

    assert kept.n_nodes == 7
    assert refused.n_nodes == 1


def test_smoothing_pulls_leaves_together() -> None:
    X, y = load_diabetes(return_X_y=True)
    spread = []
    for smoothing in (0.0, 10.0, 1000.0, 1e9):
        model = GradientBoostingRegressor(path_smoothing=smoothing, **{**SETTINGS, "n_estimators": 1}).fit(
            X, y
        )
        tree = model.forest_.tree(0)
        spread.append(np.ptp(tree.value[tree.feature < 0]))

    assert spread[0] > spread[1] > spread[2] > spread[3]


def test_a_tree_uses_the_features_that_it_drew(classes: Any) -> None:
    X, y = classes
    model = GradientBoostingClassifier(max_features_per_tree=0.25, **SETTINGS).fit(X, y)
    used = [set(tree.feature[tree.feature >= 0].tolist()) for tree in trees_of(model)]

    assert max(map(len, used)) <= 3
    assert len(set().union(*used)) > 6


def test_constraints_hold_in_oblivious_trees(classes: Any) -> None:
    X, y = classes
    model = GradientBoostingClassifier(
        growth="oblivious", max_depth=6, monotonic_cst=[1] * 6 + [-1] * 6, max_features=0.3, **SETTINGS
    ).fit(X, y)
    grid = np.nanmedian(X, axis=0) * np.ones((50, 1))
    for feature in range(12):
        line = grid.copy()
        line[:, feature] = np.linspace(-5, 5, 50)
        steps = np.diff(model.decision_function(line))
        assert (steps >= 0).all() if feature < 6 else (steps <= 0).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_leaf_nodes": None}, "growth='oblivious' needs a limit"),
        ({"max_depth": 17}, "max_depth=17 means 17 levels.*at most 16"),
        ({"max_leaf_nodes": 2**20}, "max_leaf_nodes=1048576 means 20 levels.*at most 16"),
    ],
)
def test_oblivious_trees_without_a_sensible_depth_are_refused(settings: dict[str, Any], message: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(InvalidParameter, match=message):
        GradientBoostingRegressor(growth="oblivious", **settings).fit(X, y)
