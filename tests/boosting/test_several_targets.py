"""Several targets at once: shared trees, an answer for each."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_regression
from sklearn.linear_model import LinearRegression

from coterie import GradientBoostingClassifier, GradientBoostingRegressor
from coterie._typing import AnyArray
from coterie.errors import InvalidInput, InvalidParameter
from coterie.losses import Huber, Squared
from coterie.losses.squared_error import SquaredOfSeveral
from tests.helpers.estimators import fingerprint

SETTINGS: dict[str, Any] = {"n_estimators": 30, "random_state": 0}


@pytest.fixture(scope="module")
def table() -> tuple[AnyArray, AnyArray]:
    X, Y = make_regression(600, 8, n_targets=3, noise=5.0, random_state=0)
    X[::5, 0] = np.nan
    return X, Y


def splits_of(tree: Any) -> list[tuple[int, float]]:
    return list(zip(tree.feature.tolist(), tree.threshold.tolist(), strict=True))


def test_targets_share_the_splits_and_not_the_answers(table: Any) -> None:
    X, Y = table
    model = GradientBoostingRegressor(**SETTINGS).fit(X, Y)

    assert model.predict(X).shape == (600, 3)
    assert len(model.forest_) == 90
    for first in range(0, 90, 3):
        trees = [model.forest_.tree(first + k) for k in range(3)]
        assert [model.forest_.first_output(first + k) for k in range(3)] == [0, 1, 2]
        assert splits_of(trees[0]) == splits_of(trees[1]) == splits_of(trees[2])
        assert not np.array_equal(trees[0].value, trees[1].value)


def test_each_target_is_learned_almost_as_well_as_alone(table: Any) -> None:
    X, Y = table
    together = GradientBoostingRegressor(**SETTINGS).fit(X[:400], Y[:400]).score(X[400:], Y[400:])
    alone = [GradientBoostingRegressor(**SETTINGS).fit(X[:400], y[:400]).score(X[400:], y[400:]) for y in Y.T]

    assert together > np.mean(alone) - 0.1
    assert together > 0.5


def test_the_same_target_twice_is_the_model_of_one() -> None:
    X, y = make_regression(400, 5, random_state=1)
    twice = GradientBoostingRegressor(**SETTINGS).fit(X, np.column_stack([y, y])).predict(X)
    once = GradientBoostingRegressor(**SETTINGS).fit(X, y).predict(X)

    np.testing.assert_array_equal(twice[:, 0], twice[:, 1])
    assert np.corrcoef(twice[:, 0], once)[0, 1] > 0.999


def test_no_target_dominates_because_its_numbers_are_large(table: Any) -> None:
    X, Y = table
    small = GradientBoostingRegressor(**SETTINGS).fit(X, Y)
    large = GradientBoostingRegressor(**SETTINGS).fit(X, Y * [1.0, 2.0**20, 2.0**-30])

    np.testing.assert_array_equal(large.predict(X), small.predict(X) * [1.0, 2.0**20, 2.0**-30])


def test_a_constant_target_stays_constant(table: Any) -> None:
    X, Y = table
    model = GradientBoostingRegressor(**SETTINGS).fit(X, np.column_stack([Y[:, 0], np.full(600, 7.0)]))

    np.testing.assert_array_equal(model.predict(X)[:, 1], 7.0)
    assert np.ptp(model.predict(X)[:, 0]) > 0


@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"subsample": 0.5, "sampling_method": "uniform"},
        {"subsample": 0.5, "sampling_method": "gradient_based"},
        {"sampling_method": "bayesian"},
        {"n_folds": 3},
        {"early_stopping": True},
        {"growth": "level", "leaf_penalty": 0.5},
        {"max_features": 0.5, "split_noise": 1.0},
        {"path_smoothing": 20.0, "max_step": 0.4, "l1_regularization": 1.0},
        {"interaction_cst": [[0, 1], [2, 3, 4], [5, 6, 7]]},
        {"init": LinearRegression()},
    ],
    ids=lambda choice: "-".join(choice) or "plain",
)
def test_threads_do_not_change_a_model_of_several_targets(choice: dict[str, Any], table: Any) -> None:
    X, Y = table
    X = np.nan_to_num(X) if "init" in choice else X
    models = [
        GradientBoostingRegressor(**SETTINGS, **choice, n_jobs=n_jobs).fit(X, Y) for n_jobs in (1, 2, 3, 8)
    ]

    assert models[0].score(X, Y) > 0.6
    assert len({fingerprint(model) for model in models}) == 1


def test_a_weight_of_two_is_a_row_twice() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 20, size=(300, 4)).astype(float)
    Y = rng.integers(0, 50, size=(300, 2)) + X[:, :2]
    weight = rng.integers(0, 3, 300)
    settings = {**SETTINGS, "min_samples_leaf": 1, "max_leaf_nodes": 4, "n_estimators": 5}
    weighed = GradientBoostingRegressor(**settings).fit(X, Y, sample_weight=weight)
    repeated = GradientBoostingRegressor(**settings).fit(
        np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0)
    )

    np.testing.assert_allclose(weighed.predict(X), repeated.predict(X), rtol=1e-3)


def test_categories_and_missing_values_serve_all_targets() -> None:
    rng = np.random.default_rng(0)
    town = rng.choice(["Cork", "Oslo", "Rome", "Lima", "Bern"], 800)
    size = np.where(rng.random(800) < 0.2, np.nan, rng.normal(size=800))
    first = (town == "Oslo") * 2.0 + np.isnan(size)
    second = (town == "Lima") * 3.0 - (town == "Oslo")
    table = {"town": town, "size": size}
    both = np.column_stack([first, second])
    model = GradientBoostingRegressor(n_estimators=60, random_state=0).fit(table, both)

    assert model.score(table, both) > 0.99


def test_the_recipe_learns_several_targets(table: Any) -> None:
    X, Y = table
    model = GradientBoostingRegressor(random_state=0, n_folds=2).fit(X[:400], Y[:400])

    assert model.score(X[400:], Y[400:]) > 0.7
    assert model.oof_prediction_.shape == (400, 3)
    assert np.isfinite(model.oof_prediction_).all()


def test_offsets_are_one_for_each_target(table: Any) -> None:
    X, Y = table
    model = GradientBoostingRegressor(**SETTINGS).fit(X, Y, offset=Y)

    np.testing.assert_allclose(model.predict(X, offset=Y), Y, atol=1e-9)
    with pytest.raises(InvalidInput, match="offset has the shape"):
        model.predict(X, offset=Y[:, :2])


def test_a_model_of_several_targets_survives_a_pickle(table: Any) -> None:
    X, Y = table
    model = GradientBoostingRegressor(**SETTINGS, loss=Squared()).fit(X, Y)

    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_warm_start_continues_several_targets_to_the_bit(table: Any) -> None:
    X, Y = table
    model = GradientBoostingRegressor(n_estimators=12, warm_start=True, random_state=0).fit(X, Y)
    model.set_params(n_estimators=30).fit(X, Y)

    assert fingerprint(model) == fingerprint(GradientBoostingRegressor(**SETTINGS).fit(X, Y))


def test_a_float32_survives_the_units_of_a_target(table: Any) -> None:
    """Values of trees are float32 answers times a unit; a warm start divides them again and must lose nothing."""
    units = SquaredOfSeveral(3).bind(table[1], None, 1).joint_units
    answers = np.random.default_rng(0).normal(size=(10_000, 1)).astype(np.float32).astype(np.float64)

    np.testing.assert_array_equal(answers * units / units, np.repeat(answers, 3, axis=1))
    assert (np.frexp(units)[0] * 2**24 % 1 == 0).all()


def test_an_eval_set_of_several_targets_says_when_to_stop(table: Any) -> None:
    X, Y = table
    model = GradientBoostingRegressor(n_estimators=400, random_state=0, n_iter_no_change=5)
    model.fit(X[:400], Y[:400], eval_set=(X[400:], Y[400:]))
    stages = [((stage - Y[400:]) / Y[:400].std(axis=0)) ** 2 for stage in model.staged_predict(X[400:])]

    assert 10 < model.n_estimators_ < 400
    np.testing.assert_allclose(
        model.validation_losses_[: model.n_estimators_], [stage.mean() / 2 for stage in stages], rtol=1e-6
    )
    with pytest.raises(InvalidInput, match=r"eval_set: y has the shape \(200, 2\); expected 3 columns"):
        model.fit(X[:400], Y[:400], eval_set=(X[400:], Y[400:, :2]))


def test_a_score_of_several_targets_may_decide(table: Any) -> None:
    X, Y = table
    model = GradientBoostingRegressor(**SETTINGS, scoring="r2", early_stopping=True).fit(X, Y)

    assert model.validation_scores_[-1] > 0.5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "poisson"}, "loss='poisson' takes one target, and y has 3 columns"),
        ({"loss": Huber()}, "loss='huber' takes one target, and y has 3 columns"),
        ({"loss": "quantile", "quantile": [0.1, 0.9]}, "loss='quantile' takes one target"),
        ({"monotonic_cst": [1] + [0] * 7}, "monotonic_cst is not supported with several targets: y has 3"),
        ({"growth": "oblivious"}, "growth='oblivious' grows symmetric trees"),
        ({"growth": "mixed", "n_folds": 2}, "growth='mixed' grows symmetric trees"),
    ],
)
def test_what_shared_trees_cannot_do_is_refused(settings: dict[str, Any], message: str, table: Any) -> None:
    X, Y = table
    with pytest.raises(InvalidParameter, match=message):
        GradientBoostingRegressor(**{**SETTINGS, **settings}).fit(X, Y)


def test_a_classifier_takes_one_target(table: Any) -> None:
    X, Y = table
    with pytest.raises(InvalidInput, match="y should be a 1d array"):
        GradientBoostingClassifier(**SETTINGS).fit(X, Y > 0)
