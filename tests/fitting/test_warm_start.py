"""Warm start: a fit that goes on where the last one ended is one longer fit, to the bit."""

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LinearRegression

from coterie import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.errors import CoterieError, InvalidInput, InvalidParameter
from tests.helpers.estimators import answers, fingerprint

RNG = np.random.default_rng(0)
N = 500
X = RNG.normal(size=(N, 4))
NUMBERS = 2 * X[:, 0] + np.abs(X[:, 1]) + RNG.normal(size=N)
MANY = np.array(["a", "b", "c"])[np.digitize(NUMBERS, [-1.0, 2.0])]
WEIGHT = RNG.integers(0, 3, N).astype(float)
TABLE = {
    "size": np.where(RNG.random(N) < 0.1, np.nan, X[:, 0]),
    "town": np.array([f"town {i}" for i in range(300)] + [None], dtype=object)[RNG.integers(0, 301, N)],
    "flag": RNG.random(N) < 0.3,
    "narrow": X[:, 1].astype(np.float32),
}
NEW = RNG.normal(size=(200, 4))
NEW_NUMBERS = 2 * NEW[:, 0] + np.abs(NEW[:, 1]) + RNG.normal(size=200)

REGRESSORS: list[dict[str, Any]] = [
    {},
    {"max_features": 0.5, "subsample": 0.6, "split_noise": 0.5},
    {"loss": "absolute_error", "growth": "oblivious", "max_depth": 4},
    {"loss": "quantile", "quantile": [0.1, 0.9]},
    {"loss": "huber", "path_smoothing": 5.0},
    {"n_folds": 4, "growth": "mixed", "max_features": 0.5},
    {"n_folds": 3, "subsample": 0.7, "sampling_method": "uniform"},
    {"target_statistics": "columns", "leaf_penalty": 1.0},
    {"sampling_method": "bayesian", "min_samples_leaf": 1},
]


def longer(model: Any, n_estimators: int, *data: Any, **given: Any) -> Any:
    return model.set_params(n_estimators=n_estimators, warm_start=True).fit(*data, **given)


@pytest.mark.parametrize("table", [X, X.astype(np.float32), TABLE])
@pytest.mark.parametrize("settings", REGRESSORS)
def test_two_fits_are_one_longer_fit(settings: dict[str, Any], table: Any) -> None:
    model = GradientBoostingRegressor(n_estimators=18, warm_start=True, random_state=0, **settings)
    model.fit(table, NUMBERS, WEIGHT)
    model = pickle.loads(pickle.dumps(model))
    longer(model, 20, table, NUMBERS, WEIGHT)
    longer(model, 36, table, NUMBERS, WEIGHT)
    full = GradientBoostingRegressor(n_estimators=36, random_state=0, **settings).fit(table, NUMBERS, WEIGHT)

    assert model.n_estimators_ == 36
    assert fingerprint(model) == fingerprint(full)
    assert_array_equal(answers(model, table), answers(full, table))


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_classes_go_on_as_well(n_jobs: int) -> None:
    settings = {"n_folds": 2, "class_weight": "balanced", "random_state": 0, "n_jobs": n_jobs}
    model = GradientBoostingClassifier(n_estimators=7, warm_start=True, **settings).fit(TABLE, MANY)
    longer(model, 19, TABLE, MANY)
    full = GradientBoostingClassifier(n_estimators=19, **settings).fit(TABLE, MANY)

    assert fingerprint(model) == fingerprint(full)
    assert_array_equal(model.oof_proba_, full.oof_proba_)


def test_counts_with_an_offset_and_an_init_go_on() -> None:
    counts, offset = RNG.poisson(np.exp(X[:, 0] / 2)), RNG.normal(size=N)
    for loss, y, settings in (
        ("poisson", counts, {}),
        ("squared_error", NUMBERS, {"init": LinearRegression()}),
    ):
        model = GradientBoostingRegressor(loss=loss, n_estimators=5, random_state=0, **settings)
        longer(model.fit(X, y, offset=offset), 12, X, y, offset=offset)
        full = GradientBoostingRegressor(loss=loss, n_estimators=12, random_state=0, **settings)
        assert fingerprint(model) == fingerprint(full.fit(X, y, offset=offset))


@pytest.mark.parametrize("first", [5, 30, 60])
@pytest.mark.parametrize(
    "settings", [{}, {"n_folds": 4, "growth": "mixed", "max_features": 0.5}, {"scoring": "r2"}]
)
def test_early_stopping_stops_where_one_longer_fit_would(settings: dict[str, Any], first: int) -> None:
    settings = {**settings, "early_stopping": True, "learning_rate": 0.3, "random_state": 0}
    model = GradientBoostingRegressor(n_estimators=first, warm_start=True, **settings).fit(X, NUMBERS)
    longer(model, 120, X, NUMBERS)
    full = GradientBoostingRegressor(n_estimators=120, **settings).fit(X, NUMBERS)

    assert full.n_estimators_ < 60
    assert fingerprint(model) == fingerprint(full)
    assert_array_equal(model.rounds_, full.rounds_)
    assert_array_equal(model.validation_losses_, full.validation_losses_)


def test_an_eval_set_stops_where_one_longer_fit_would() -> None:
    settings: dict[str, Any] = {"learning_rate": 0.3, "random_state": 0}
    model = GradientBoostingRegressor(n_estimators=6, **settings).fit(X, NUMBERS, eval_set=(NEW, NEW_NUMBERS))
    longer(model, 120, X, NUMBERS, eval_set=(NEW, NEW_NUMBERS))
    full = GradientBoostingRegressor(n_estimators=120, **settings).fit(
        X, NUMBERS, eval_set=(NEW, NEW_NUMBERS)
    )

    assert 6 < full.n_estimators_ < 110
    assert fingerprint(model) == fingerprint(full)
    assert_array_equal(model.validation_losses_, full.validation_losses_)


def test_the_first_seed_stays_whatever_random_state_is() -> None:
    model = GradientBoostingRegressor(n_estimators=5, max_features=0.5, random_state=None).fit(X, NUMBERS)
    shorter = [model.forest_.tree(i).value.tolist() for i in range(5)]
    longer(model, 9, X, NUMBERS)

    assert [model.forest_.tree(i).value.tolist() for i in range(5)] == shorter
    assert model.n_estimators_ == 9


def test_what_only_later_trees_need_may_change() -> None:
    model = GradientBoostingRegressor(n_estimators=5, random_state=0).fit(X, NUMBERS)
    first = model.forest_.tree(4).state()
    model.set_params(learning_rate=0.01, max_depth=2)
    longer(model, 8, X, NUMBERS)

    assert all(np.array_equal(first[name], value) for name, value in model.forest_.tree(4).state().items())
    assert model.forest_.tree(5).n_nodes <= 7
    assert len(model.forest_) == 8


def test_as_many_rounds_as_before_change_nothing() -> None:
    model = GradientBoostingRegressor(n_estimators=5, random_state=0).fit(X, NUMBERS)
    before = fingerprint(model)

    assert fingerprint(longer(model, 5, X, NUMBERS)) == before


def test_without_warm_start_a_fit_begins_anew() -> None:
    model = GradientBoostingRegressor(n_estimators=5, random_state=0).fit(X, NUMBERS)
    model.set_params(n_estimators=3).fit(X[:100, :2], NUMBERS[:100])

    assert len(model.forest_) == 3
    assert model.n_features_in_ == 2


REFUSED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"n_estimators": 4}, {}, "n_estimators=4 is less than the 5 rounds"),
    ({"n_estimators": "auto"}, {}, "n_estimators='auto' a fit ends when"),
    ({"refit": True}, {}, "refit=True"),
    ({"loss": "exponential"}, {}, "loss='exponential' cannot continue a fit with loss='log_loss'"),
    ({"n_folds": 3}, {}, "n_folds=3 cannot continue"),
    ({"early_stopping": True}, {}, "early_stopping=True cannot continue"),
    ({"holdout": "last_rows"}, {}, "holdout='last_rows' cannot continue"),
    ({}, {"X": X[:, :3]}, "3 columns.*instead of 4 columns"),
    ({}, {"X": {name: X[:, i] for i, name in enumerate("abcd")}}, r"columns of the last fit.*\['a'"),
    ({}, {"y": np.where(X[:, 0] > 0, "b", "c")}, r"\['a', 'b'\]; y has \['b', 'c'\]"),
    ({}, {"X": X + 1}, "differs in X"),
    ({}, {"X": X[:-1], "y": np.where(X[:-1, 0] > 0, "b", "a")}, "differs in X"),
    ({}, {"y": np.where(X[:, 1] > 0, "b", "a")}, "differs in y"),
    ({}, {"sample_weight": np.arange(N)}, "differs in sample_weight"),
    ({"class_weight": "balanced"}, {}, "differs in sample_weight or class_weight"),
    ({}, {"offset": np.ones(N)}, "differs in offset"),
    ({}, {"eval_set": (X, np.where(X[:, 0] > 0, "b", "a"))}, "differs in eval_set"),
]


@pytest.mark.parametrize(("settings", "given", "message"), REFUSED)
def test_what_cannot_be_continued_is_refused_and_leaves_the_model_as_it_was(
    settings: dict[str, Any], given: dict[str, Any], message: str
) -> None:
    data: dict[str, Any] = {"X": X, "y": np.where(X[:, 0] > 0, "b", "a")}
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(**data)
    before = model.decision_function(X)
    model.set_params(**{"n_estimators": 9, "warm_start": True, **settings})

    with pytest.raises((InvalidInput, InvalidParameter), match=message):
        model.fit(**{**data, **given})
    assert_array_equal(model.decision_function(X), before)
    assert list(model.classes_) == ["a", "b"]


def test_several_bags_must_know_from_the_first_fit() -> None:
    model = GradientBoostingRegressor(n_estimators=5, n_folds=3, random_state=0).fit(X, NUMBERS)

    assert not hasattr(model, "_as_grown")
    with pytest.raises(InvalidParameter, match=r"3 boosters were fitted.*before the first fit"):
        longer(model, 9, X, NUMBERS)


def test_a_first_fit_with_warm_start_is_refused_where_there_is_nothing_to_continue() -> None:
    with pytest.raises(CoterieError, match="warm_start=True needs a number"):
        GradientBoostingRegressor(warm_start=True).fit(X, NUMBERS)


def test_an_interrupted_continuation_leaves_the_model_as_it_was() -> None:
    def interrupted(*_: Any) -> float:
        raise KeyboardInterrupt

    settings = {"early_stopping": True, "random_state": 0}
    model = GradientBoostingRegressor(n_estimators=5, **settings).fit(X, NUMBERS)
    before = model.predict(X)
    with pytest.raises(KeyboardInterrupt):
        longer(model.set_params(scoring=interrupted), 9, X, NUMBERS)

    assert_array_equal(model.predict(X), before)
    assert len(longer(model.set_params(scoring=None), 9, X, NUMBERS).validation_losses_) == 9
