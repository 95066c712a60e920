"""Staged predictions: what the model says after each round, the last of which is what it says."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from coterie import GradientBoostingClassifier, GradientBoostingRegressor

RNG = np.random.default_rng(0)
N = 300
X = RNG.normal(size=(N, 3))
X[RNG.random(X.shape) < 0.1] = np.nan
NUMBERS = np.nansum(X[:, :2], axis=1) + RNG.normal(size=N)
LABELS = np.where(NUMBERS > 0.3, "yes", "no")
MANY = np.array(["a", "b", "c"])[np.digitize(NUMBERS, [-0.5, 1.0])]
SETTINGS: list[dict[str, Any]] = [
    {},
    {"n_folds": 3, "max_features": 0.5},
    {"n_folds": 4, "growth": "mixed", "n_estimators": 100, "learning_rate": 0.2, "early_stopping": True},
]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("y", [LABELS, MANY])
def test_the_last_stage_of_classes_is_the_model(y: Any, settings: dict[str, Any]) -> None:
    model = GradientBoostingClassifier(**{"n_estimators": 8, "random_state": 0, **settings}).fit(X, y)

    for method in ("predict", "predict_proba", "decision_function"):
        stages = list(getattr(model, f"staged_{method}")(X))
        assert len(stages) == model.n_estimators_ > 1
        assert_array_equal(stages[-1], getattr(model, method)(X))
        assert len({stage.tobytes() for stage in stages}) > 1


@pytest.mark.parametrize("settings", [{}, {"loss": "poisson"}, {"loss": "quantile", "quantile": [0.2, 0.8]}])
def test_a_stage_of_numbers_is_the_shorter_fit(settings: dict[str, Any]) -> None:
    y = np.round(np.exp(NUMBERS / 2))
    model = GradientBoostingRegressor(n_estimators=8, random_state=0, **settings).fit(X, y)

    for number, stage in enumerate(model.staged_predict(X), start=1):
        shorter = GradientBoostingRegressor(n_estimators=number, random_state=0, **settings).fit(X, y)
        assert_array_equal(stage, shorter.predict(X))


def test_groups_that_stopped_are_in_every_later_stage() -> None:
    model = GradientBoostingRegressor(random_state=0, learning_rate=0.2).fit(X, NUMBERS)

    assert model.rounds_.min() < model.rounds_.max() == model.n_estimators_
    assert len(model.forest_) == model.rounds_.sum()
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_estimators_
    assert_array_equal(stages[-1], model.predict(X))


def test_stages_take_offsets_and_inits_and_come_one_at_a_time() -> None:
    offset = RNG.normal(size=N)
    complete = np.nan_to_num(X)
    model = GradientBoostingRegressor(n_estimators=5, init=LinearRegression(), random_state=0)
    model.fit(complete, NUMBERS, offset=offset)
    stages = model.staged_predict(complete, offset=offset)

    assert isinstance(stages, Iterator)
    first = next(stages)
    kept = first.copy()
    last = list(stages)[-1]
    assert_array_equal(first, kept)
    assert_array_equal(last, model.predict(complete, offset=offset))


def test_one_class_has_no_stages_and_an_unfitted_model_says_so() -> None:
    model = GradientBoostingClassifier(n_estimators=3).fit(X, np.full(N, "only"))

    assert list(model.staged_predict(X)) == []
    with pytest.raises(NotFittedError, match="GradientBoostingRegressor"):
        GradientBoostingRegressor().staged_predict(X)
    with pytest.raises(NotFittedError, match="GradientBoostingClassifier"):
        GradientBoostingClassifier().staged_predict_proba(X)
