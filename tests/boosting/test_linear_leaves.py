"""Linear leaves: they follow slopes, keep every promise of constant ones, and never leave what they have seen."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from coterie import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.boosting.forest_rounds import rounds_in
from coterie.errors import InvalidInput, InvalidParameter
from coterie.losses import CustomLoss
from tests.helpers.estimators import answers, fingerprint

RNG = np.random.default_rng(0)


def slopes(n_rows: int, seed: int = 0) -> tuple[Any, Any]:
    """Two categories with slopes of their own, missing values, and a step."""
    rng = np.random.default_rng(seed)
    x, z = rng.uniform(-1, 1, n_rows), rng.uniform(-1, 1, n_rows)
    kind = rng.choice(["up", "down"], n_rows)
    y = np.where(kind == "up", 3 * x, -3 * x) + np.where(z > 0, 2 + z, -z)
    table = {"x": np.where(rng.random(n_rows) < 0.1, np.nan, x), "kind": kind, "z": z.astype(np.float32)}
    return table, y + 0.1 * rng.normal(size=n_rows)


TABLE, Y = slopes(600)
NEW, NEW_Y = slopes(600, seed=1)
CLASSES = np.array(["a", "b", "c"])[np.digitize(Y, [-1.0, 2.0])]


def kinked(n_rows: int, seed: int) -> tuple[Any, Any]:
    """Numbers only, and a target of straight pieces."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, size=(n_rows, 3))
    y = np.where(x[:, 0] > 0, 3 * x[:, 1], -x[:, 1]) + np.abs(x[:, 2])
    return x, y + 0.1 * rng.normal(size=n_rows)


CHOICES: list[dict[str, Any]] = [
    {},
    {"growth": "oblivious", "max_depth": 4},
    {"growth": "level", "leaf_penalty": 0.1},
    {"subsample": 0.6, "sampling_method": "uniform"},
    {"subsample": 0.6},
    {"sampling_method": "bayesian"},
    {"n_folds": 3, "growth": "mixed", "max_features": 0.5},
    {"monotonic_cst": [1, 0, -1]},
    {"interaction_cst": "no_interactions", "max_step": 0.5},
    {"loss": "huber"},
    {"target_statistics": "columns", "min_samples_leaf": 2},
]


def boosted(**choice: Any) -> Any:
    return GradientBoostingRegressor(
        **{"n_estimators": 30, "linear_leaves": True, "random_state": 0, "min_samples_leaf": 10, **choice}
    )


def test_slopes_are_learned_better_than_by_steps() -> None:
    train, new = kinked(1000, 0), kinked(1000, 1)
    steps, lines = (
        boosted(linear_leaves=linear, max_leaf_nodes=6).fit(*train).score(*new) for linear in (False, True)
    )

    assert 1 - lines < 0.5 * (1 - steps)


def test_the_line_of_a_straight_target_is_that_line() -> None:
    x = np.linspace(0, 1, 200)[:, None]
    model = boosted(n_estimators=1, learning_rate=1.0, max_leaf_nodes=4, linear_l2=0.0).fit(
        x, 5 - 3 * x[:, 0]
    )
    tree = model.forest_.tree(0)

    assert_allclose(tree.linear_slope, -3, rtol=1e-4)
    assert_array_equal(tree.linear_feature, 0)
    assert_allclose(model.predict(x), 5 - 3 * x[:, 0], atol=1e-5)


def test_nothing_is_said_beyond_what_was_seen() -> None:
    x = RNG.uniform(0, 1, size=(300, 2))
    model = boosted().fit(x, 10 * x[:, 0] + x[:, 1])
    edges = np.vstack([x.min(axis=0), x.max(axis=0)])
    far = np.array([[-1e300, -np.inf], [np.inf, 1e300]])

    assert_array_equal(model.predict(far), model.predict(edges))


@pytest.mark.parametrize("choice", CHOICES)
def test_training_scores_are_predictions(choice: dict[str, Any]) -> None:
    """With the last round known from scores alone, the next round is grown from what predict says."""
    model = boosted(warm_start=True, **{"n_estimators": 9} | choice).fit(TABLE, Y)
    revived = pickle.loads(pickle.dumps(model))
    longer = revived.set_params(n_estimators=21).fit(TABLE, Y)
    full = boosted(**{"n_estimators": 21} | choice).fit(TABLE, Y)

    assert any(len(full.forest_.tree(i).linear_slope) for i in range(len(full.forest_)))
    assert fingerprint(longer) == fingerprint(full)
    assert_array_equal(longer.predict(NEW), full.predict(NEW))


@pytest.mark.parametrize("choice", CHOICES)
def test_threads_do_not_change_a_bit(choice: dict[str, Any]) -> None:
    models = [fingerprint(boosted(n_jobs=jobs, **choice).fit(TABLE, Y)) for jobs in (1, 2, 3, 8)]

    assert len(set(models)) == 1


@pytest.mark.parametrize("choice", [{}, {"n_folds": 3}, {"early_stopping": True}])
def test_the_last_stage_is_the_prediction(choice: dict[str, Any]) -> None:
    model = boosted(**choice).fit(TABLE, Y)
    *_, last = model.staged_predict(NEW)

    assert_allclose(last, model.predict(NEW), rtol=1e-12)


def test_rounds_left_out_keep_their_lines() -> None:
    train, new = kinked(1000, 0), kinked(1000, 1)
    settings = {"n_estimators": 60, "dropout_rate": 0.1, "dropout_skip": 0.0, "max_leaf_nodes": 6}
    steps, lines = (
        boosted(linear_leaves=linear, **settings).fit(*train).score(*new) for linear in (False, True)
    )

    assert 1 - lines < 0.8 * (1 - steps)


def test_rows_left_out_judge_what_is_predicted() -> None:
    model = boosted(n_estimators=200, early_stopping=True, learning_rate=0.3).fit(TABLE, Y)
    judged = boosted(n_estimators=200, learning_rate=0.3).fit(TABLE, Y, eval_set=(NEW, NEW_Y))
    loss = np.mean((judged.predict(NEW) - NEW_Y) ** 2) / 2

    assert model.n_estimators_ < 200
    assert_allclose(judged.validation_losses_.min(), loss, rtol=1e-6)


@pytest.mark.parametrize("y", [CLASSES, CLASSES == "b"])
def test_classes_have_lines_too(y: Any) -> None:
    model = GradientBoostingClassifier(n_estimators=20, linear_leaves=True, random_state=0).fit(TABLE, y)
    said = model.predict_proba(NEW)

    assert any(len(model.forest_.tree(i).linear_slope) for i in range(len(model.forest_)))
    assert np.isfinite(said).all()
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(NEW), said)


def test_a_row_that_misses_a_value_gets_the_constant_of_its_leaf() -> None:
    table = np.column_stack([np.linspace(0, 1, 200), np.tile([0.0, 1.0], 100)])
    y = np.where(table[:, 1] > 0, 4.0, table[:, 0])
    model = boosted(n_estimators=1, learning_rate=1.0, max_leaf_nodes=3).fit(table, y)
    tree = model.forest_.tree(0)
    missing = np.column_stack([np.full(2, np.nan), [0.0, 1.0]])
    said = model.predict(missing) - model.baseline_

    assert len(tree.linear_slope) > 0
    assert np.isin(said, tree.value[tree.feature < 0, 0]).all()


def test_weights_of_zero_take_no_part() -> None:
    weight = np.ones(len(Y))
    weight[::3] = 0
    changed = np.where(weight == 0, 1e6, Y)
    one, other = (boosted().fit(TABLE, y, sample_weight=weight) for y in (Y, changed))

    assert_array_equal(one.predict(NEW), other.predict(NEW))


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"l1_regularization": 1.0}, "l1_regularization=1.0"),
        ({"path_smoothing": 2.0}, "path_smoothing=2.0"),
        ({"loss": "absolute_error"}, "loss='absolute_error'"),
        ({"loss": "quantile", "quantile": 0.3}, "loss='quantile'"),
    ],
)
def test_what_lines_cannot_do_is_refused(choice: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=f"linear_leaves=True .*{message}"):
        boosted(**choice).fit(TABLE, Y)


def test_several_targets_have_lines_of_their_own() -> None:
    model = boosted().fit(TABLE, np.column_stack([Y, -Y]))

    assert all(len(model.forest_.tree(place).linear_slope) for place in range(2))


def test_a_damaged_tree_is_refused() -> None:
    model = boosted(n_estimators=1).fit(TABLE, Y)
    tree = model.forest_.tree(0)
    for name, damage in (
        ("linear_feature", lambda array: array + 3),
        ("linear_slope", lambda array: array * np.nan),
        ("linear_first_term", lambda array: array[::-1].copy()),
        ("linear_base", lambda array: array[:-1]),
    ):
        state = tree.state()
        state[name] = damage(state[name])
        with pytest.raises(InvalidInput):
            type(tree).from_state(state, 3)


def curve(model: Any, feature: int, grid: Any, rows: Any) -> Any:
    """Answers along one feature, a line for each of the rows."""
    table = {name: np.repeat(column, len(grid)) for name, column in rows.items()}
    table[list(rows)[feature]] = np.tile(grid, len(rows["a"]))
    return model.predict(table).reshape(-1, len(grid))


def random_rows(rng: np.random.Generator, n_rows: int) -> dict[str, Any]:
    scale = rng.choice([0.01, 1.0, 1000.0], 3)
    table: dict[str, Any] = {
        name: np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(size=n_rows).round(1) * each)
        for name, each in zip("abc", scale, strict=True)
    }
    return table | {"d": pd.Categorical(rng.choice(list("xyz"), n_rows)).astype(object)}


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 10**6),
    growth=st.sampled_from(["leaf", "level", "oblivious"]),
    subsample=st.sampled_from([1.0, 0.5]),
    linear_l2=st.sampled_from([0.0, 0.1]),
    max_step=st.sampled_from([None, 0.3]),
)
def test_a_monotone_feature_stays_monotone(
    seed: int, growth: str, subsample: float, linear_l2: float, max_step: float | None
) -> None:
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, 300)
    known = {name: np.nan_to_num(rows[name]) / np.nanstd(rows[name]) for name in "abc"}
    y = np.sin(3 * known["a"]) + known["b"] * known["c"] + (rows["d"] == "x") + 0.3 * rng.normal(size=300)
    directions = rng.choice([-1, 1], 2)
    model = boosted(
        n_estimators=8,
        learning_rate=0.5,
        growth=growth,
        max_leaf_nodes=16,
        min_samples_leaf=int(rng.choice([1, 8])),
        subsample=subsample,
        linear_l2=linear_l2,
        max_step=max_step,
        monotonic_cst=[*directions.tolist(), 0, 0],
    ).fit(rows, y, sample_weight=rng.choice([0.0, 1.0, 2.5], 300))

    for feature, direction in enumerate(directions):
        values = rows["ab"[feature]]
        low, high = np.nanmin(values), np.nanmax(values)
        grid = np.concatenate(
            [[-np.inf], np.linspace(low * 1.1, high * 1.1, 80), np.unique(values), [np.inf]]
        )
        grid = np.sort(grid[~np.isnan(grid)])
        said = curve(model, feature, grid, {name: column[:40] for name, column in rows.items()})
        assert (direction * np.diff(said, axis=1) >= 0).all()


@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**6), linear_l2=st.sampled_from([0.0, 0.1]))
def test_any_values_give_finite_answers(seed: int, linear_l2: float) -> None:
    rng = np.random.default_rng(seed)
    strange = np.array([0.0, 1e308, -1e308, np.inf, -np.inf, np.nan, 5e-324, 1e-160, 1.0, 2.0])
    table = rng.choice(strange, size=(80, 3))
    table[:, 2] = rng.choice([1e-320, 1e-150, 1.0, 1e150, 1e307]) * rng.normal(size=80)
    y = rng.choice([1e-300, 1.0, 1e300]) * rng.normal(size=80)
    model = boosted(min_samples_leaf=2, linear_l2=linear_l2, n_estimators=5)

    assert np.isfinite(model.fit(table, y).predict(rng.choice(strange, size=(50, 3)))).all()


def test_a_recipe_with_lines_is_a_recipe() -> None:
    model = GradientBoostingRegressor(random_state=0).fit(TABLE, Y)

    assert model.n_folds_ == 24
    assert model.score(NEW, NEW_Y) > 0.85
    assert answers(model, NEW).shape == (600,)
    assert all(has_lines(model).values())


def half_square(y: Any, score: Any) -> Any:
    return (y - score) ** 2 / 2


def difference(y: Any, score: Any) -> Any:
    return score - y


def has_lines(model: Any) -> dict[int, bool]:
    """By booster: whether its first trees have lines, in the order of the forest, group by group."""
    first = rounds_in(model.forest_)[: model.n_folds_]
    return {place: any(len(tree.linear_slope) for tree in trees) for place, trees in enumerate(first)}


def test_boosters_of_classes_have_lines_in_one_half_and_constants_in_the_other() -> None:
    X = np.column_stack([TABLE["x"], TABLE["z"]])
    model = GradientBoostingClassifier(random_state=0, max_leaf_nodes=8).fit(X, CLASSES)
    lines = list(has_lines(model).values())

    assert model.n_folds_ == 24
    assert all(lines[:12])
    assert not any(lines[12:])


@pytest.mark.parametrize(
    "choice",
    [
        {"n_estimators": 5},
        {"l1_regularization": 1.0},
        {"path_smoothing": 2.0},
        {"loss": "absolute_error"},
        {"loss": "quantile", "quantile": 0.3},
        {"loss": "huber"},
        {"loss": CustomLoss(half_square, difference)},
        {"linear_leaves": False},
    ],
)
def test_auto_does_without_lines_where_they_are_not_meant(choice: dict[str, Any]) -> None:
    model = GradientBoostingRegressor(random_state=0, **choice).fit(TABLE, Y)

    assert not any(has_lines(model).values())


def test_auto_does_without_lines_where_gains_of_several_targets_are_added_up() -> None:
    model = GradientBoostingRegressor(random_state=0, growth="leaf", multi_strategy="shared_trees")
    model.fit(TABLE, np.column_stack([Y, -Y]))

    assert not any(has_lines(model).values())
    assert model.predict(NEW).shape == (600, 2)
