"""How many rounds AnyBoost does: why it ends, what is held out, and how a fit goes on."""

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression, Ridge

from coterie import (
    AnyBoostClassifier,
    AnyBoostRegressor,
    RandomForestRegressor,
)
from coterie.errors import InvalidInput, InvalidParameter
from coterie.losses import CustomLoss
from tests.helpers.anyboost_cases import NUMBERS, TWO, Answers, N, X

# Why it ends


def test_a_learner_that_says_nothing_ends_it() -> None:
    model = AnyBoostRegressor(Answers(0.0)).fit(X, NUMBERS)

    assert model.n_estimators_ == 0
    assert "inner product" in model.stopped_because_
    assert model.inner_products_.tolist() == [0.0]
    assert_allclose(model.predict(X), NUMBERS.mean())


def test_a_learner_that_points_the_wrong_way_ends_it() -> None:
    model = AnyBoostRegressor(Answers(-1.0), step=0.1).fit(X, NUMBERS)

    assert model.n_estimators_ == 0
    assert "no longer negative" in model.stopped_because_
    assert model.inner_products_[0] > 0


def test_a_learner_with_nothing_more_to_say_ends_it() -> None:
    model = AnyBoostRegressor(LinearRegression(), learning_rate=1.0).fit(X, NUMBERS)

    assert model.n_estimators_ == 1
    assert "inner product" in model.stopped_because_
    assert len(model.inner_products_) == 2


def test_rounding_is_no_descent() -> None:
    """A parabola of height 10 does not change a loss of 1e18."""
    flat = CustomLoss(
        value=lambda y, score: 1e18 + (score - y) ** 2,
        gradient=lambda y, score: 2 * (score - y),
    )
    model = AnyBoostRegressor(loss=flat).fit(X, NUMBERS)

    assert model.n_estimators_ == 0
    assert "step found is zero" in model.stopped_because_


def test_a_loss_without_a_bottom_gets_no_infinite_step() -> None:
    falling = CustomLoss(value=lambda y, score: -score * y**2, gradient=lambda y, _: -(y**2), baseline=0.0)
    model = AnyBoostRegressor(loss=falling, n_estimators=2, learning_rate=1.0).fit(X, NUMBERS)

    assert np.isfinite(model.predict(X)).all()


def test_all_rounds_may_be_done() -> None:
    assert AnyBoostRegressor(n_estimators=3).fit(X, NUMBERS).stopped_because_ == "all rounds are done"


def test_a_single_class_is_nothing_to_learn() -> None:
    model = AnyBoostClassifier().fit(X, np.repeat("yes", N))

    assert model.stopped_because_ == "there is one class, and nothing to learn"
    assert set(model.predict(X)) == {"yes"}
    assert_array_equal(model.predict_proba(X), 1)
    assert list(model.staged_predict(X)) == []
    assert model.estimators_.shape == (0, 1)


def test_a_step_that_is_too_far_is_refused_by_name() -> None:
    with pytest.raises(InvalidParameter, match=r"training loss is inf after round \d+.*smaller step"):
        AnyBoostRegressor(step=1e200).fit(X, NUMBERS)


# Early stopping


def test_rows_left_out_decide_how_many_rounds_are_kept() -> None:
    model = AnyBoostRegressor(
        learning_rate=1.0, early_stopping=True, validation_fraction=0.3, n_iter_no_change=4, random_state=0
    ).fit(X, NUMBERS)

    assert model.n_estimators_ == model.validation_losses_.argmin() + 1
    assert len(model.validation_losses_) == model.n_estimators_ + 4 == len(model.steps_)
    assert model.stopped_because_ == "the validation loss has not fallen for 4 rounds"
    assert model.estimators_.shape == (model.n_estimators_, 1)


def test_an_eval_set_is_measured_and_says_when_to_stop() -> None:
    new, answers = X[50:], NUMBERS[50:]
    model = AnyBoostRegressor(learning_rate=1.0).fit(X[:50], NUMBERS[:50], eval_set=(new, answers))

    losses = [((said - answers) ** 2).mean() / 2 for said in model.staged_predict(new)]
    assert_allclose(model.validation_losses_[: len(losses)], losses, rtol=1e-10)
    assert np.argmin(losses) == len(losses) - 1
    assert "not fallen" in model.stopped_because_


def test_an_eval_set_may_only_be_watched() -> None:
    model = AnyBoostClassifier(n_estimators=12, early_stopping=False).fit(
        X[:50], TWO[:50], eval_set=(X[50:], TWO[50:], np.arange(30) % 2)
    )

    assert model.n_estimators_ == len(model.validation_losses_) == 12
    odd = slice(51, None, 2)
    loss = -np.log(model.predict_proba(X[odd])[np.arange(15), (TWO[odd] == "yes").astype(int)]).mean()
    assert model.validation_losses_[-1] == pytest.approx(loss, rel=1e-10)


@pytest.mark.parametrize(
    ("eval_set", "message"),
    [
        ((X,), "expected a tuple"),
        ((X[:, :2], NUMBERS), "eval_set: X has 2 features"),
        ((X, NUMBERS, None, NUMBERS), "eval_set.*offset"),
        ((X, NUMBERS, np.zeros(N)), "eval_set.*zero"),
    ],
)
def test_a_wrong_eval_set_is_refused(eval_set: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        AnyBoostRegressor(n_estimators=2).fit(X, NUMBERS, eval_set=eval_set)


# Warm start


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"subsample": 0.5},
        {"loss": "absolute_error", "step": 0.1},
        {"early_stopping": True, "n_iter_no_change": 50},
        {"estimator": RandomForestRegressor(3)},
    ],
)
def test_two_fits_are_one_longer_fit(settings: dict[str, Any]) -> None:
    weight = np.random.default_rng(1).integers(0, 3, N).astype(float)
    short = AnyBoostRegressor(n_estimators=4, warm_start=True, random_state=0, **settings)
    short = pickle.loads(pickle.dumps(short.fit(X, NUMBERS, weight)))
    longer = short.set_params(n_estimators=9).fit(X, NUMBERS, weight)
    full = AnyBoostRegressor(n_estimators=9, random_state=0, **settings).fit(X, NUMBERS, weight)

    assert_array_equal(longer.predict(X), full.predict(X))
    assert_array_equal(longer.train_losses_, full.train_losses_)
    assert_array_equal(longer.inner_products_, full.inner_products_)
    assert longer.n_estimators_ == full.n_estimators_


def test_a_warm_start_may_go_on_with_another_learner() -> None:
    model = AnyBoostRegressor(n_estimators=3, warm_start=True).fit(X, NUMBERS)
    model.set_params(n_estimators=5, estimator=Ridge(), learning_rate=1.0).fit(X, NUMBERS)

    kinds = [type(member).__name__ for member in model.estimators_[:, 0]]
    assert kinds == ["DecisionTreeRegressor"] * 3 + ["Ridge"] * 2


@pytest.mark.parametrize(
    ("change", "data", "message"),
    [
        ({"n_estimators": 2}, (X, NUMBERS), "n_estimators=2 is less than the 3 rounds"),
        ({"loss": "huber"}, (X, NUMBERS), "loss='huber' cannot continue"),
        ({"init": "zero"}, (X, NUMBERS), "init='zero' cannot continue"),
        ({}, (X, NUMBERS + 1), "differs in y"),
    ],
)
def test_a_warm_start_on_something_else_is_refused(change: Any, data: Any, message: str) -> None:
    model = AnyBoostRegressor(n_estimators=3, warm_start=True).fit(X, NUMBERS)
    before = model.predict(X)

    with pytest.raises(ValueError, match=message):
        model.set_params(**change).fit(*data)

    assert_array_equal(model.set_params(loss="squared_error").predict(X), before)


def test_staged_answers_end_with_the_last() -> None:
    model = AnyBoostClassifier(n_estimators=4).fit(X, TWO)

    for staged, last in [
        (model.staged_predict, model.predict),
        (model.staged_predict_proba, model.predict_proba),
        (model.staged_decision_function, model.decision_function),
    ]:
        stages = list(staged(X))
        assert len(stages) == 4
        assert_array_equal(stages[-1], last(X))
