"""Offsets: scores that rows bring along, in every loss, and what equals what."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize
from scipy.special import softmax

from coterie import GradientBoostingClassifier, GradientBoostingRegressor
from coterie._params import root_seed
from coterie.data.holdout import holdout_rows
from coterie.data.offset import read_offset
from coterie.errors import InvalidInput, InvalidType
from coterie.losses import (
    Absolute,
    CrossEntropy,
    CustomLoss,
    Expectile,
    Gamma,
    Huber,
    InitScore,
    Poisson,
    Quantile,
    RegressionLoss,
    Squared,
    Tweedie,
    loss_for_classes,
)

N = 60
RNG = np.random.default_rng(0)
OFFSET = RNG.normal(size=N)
WEIGHT = RNG.integers(0, 4, N).astype(float)
NUMBERS = RNG.normal(size=N)
COUNTS = RNG.poisson(2.0 * np.exp(OFFSET)).astype(float)
AMOUNTS = RNG.gamma(2.0, size=N)
CODES = (RNG.random(N) < 0.4).astype(np.int32)
MANY = RNG.integers(0, 4, N).astype(np.int32)
LOG_COSH = CustomLoss(
    lambda y, s: np.logaddexp(s - y, y - s), lambda y, s: np.tanh(s - y), lambda y, s: 1 / np.cosh(s - y) ** 2
)
NUMERIC: dict[str, tuple[RegressionLoss, Any]] = {
    "squared": (Squared(), NUMBERS),
    "absolute": (Absolute(), NUMBERS),
    "huber": (Huber(), NUMBERS),
    "quantile": (Quantile(0.8), NUMBERS),
    "expectile": (Expectile(0.2), NUMBERS),
    "poisson": (Poisson(), COUNTS),
    "gamma": (Gamma(), AMOUNTS),
    "tweedie": (Tweedie(1.3), AMOUNTS * (CODES == 1)),
    "cross entropy": (CrossEntropy(), RNG.random(N)),
    "custom": (LOG_COSH, NUMBERS),
}
CASES: dict[str, tuple[Any, Any]] = {
    **NUMERIC,
    "log loss": (loss_for_classes("log_loss", 2), CODES),
    "exponential": (loss_for_classes("exponential", 2), CODES),
}


def cost_of(loss: Any, y: Any, weight: Any, offset: Any) -> Any:
    return lambda constant: loss.mean_value(y, offset[:, None] + constant, weight)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("case", CASES)
def test_the_start_is_the_best_constant_on_top_of_the_offset(case: str, weight: Any) -> None:
    choice, y = CASES[case]
    loss = choice.bind(y, weight, 1, InitScore(OFFSET[:, None]))
    cost = cost_of(loss, y, weight, OFFSET)
    start = loss.baseline[0]
    best = optimize.minimize_scalar(cost, bracket=(start - 1, start + 1), tol=1e-10).fun
    slack = 2e-2 if case == "huber" else 1e-7  # the median, which is next to the best
    assert cost(start) <= best * (1 + np.sign(best) * slack) + 1e-9


def test_starts_of_many_classes_are_the_best_constants_on_top_of_their_offsets() -> None:
    offset = np.random.default_rng(1).normal(size=(N, 4), scale=3)
    for weight in (None, WEIGHT):
        loss = loss_for_classes("log_loss", 4).bind(MANY, weight, 1, InitScore(offset))
        best = optimize.minimize(
            lambda c, loss=loss, weight=weight: loss.mean_value(MANY, offset + c, weight),
            np.zeros(4),
            tol=1e-12,
        )
        assert loss.mean_value(MANY, offset + loss.baseline, weight) <= best.fun + 1e-9
        assert loss.baseline.sum() == pytest.approx(0, abs=1e-9)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 10.0, 100.0]), st.integers(3, 6))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_mean_probabilities_are_the_shares_of_the_classes(seed: int, spread: float, n_classes: int) -> None:
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 30)]).astype(np.int32)
    offset = rng.normal(size=(len(codes), n_classes), scale=spread)
    start = loss_for_classes("log_loss", n_classes).bind(codes, None, 1, InitScore(offset)).baseline
    mean = softmax(offset + start, axis=1).mean(axis=0)
    assert_allclose(mean, np.bincount(codes) / len(codes), atol=1e-7)


@pytest.mark.parametrize("origin", ["offset", "offset only", "zero"])
@pytest.mark.parametrize("case", CASES)
def test_gradients_are_those_of_the_value_at_the_offset(case: str, origin: str) -> None:
    choice, y = CASES[case]
    offset = np.zeros(N) if origin == "zero" else OFFSET
    given = InitScore(None if origin == "zero" else offset[:, None], add_constant=origin == "offset")
    loss = choice.bind(y, None, 1, given)
    first = loss.scores.copy()
    loss.scores[:] += np.random.default_rng(1).normal(size=(1, N), scale=0.3).astype(np.float32)
    if case != "huber":
        loss.begin_round()
    gradient, _ = loss.derivatives(0)
    scores = (loss.baseline[:, None] + loss.scale * (loss.scores - first).astype(float)).T + offset[:, None]
    step = 1e-5 * loss.scale
    factors = []
    for row in range(N):
        here, there = scores[[row]], y[[row]]
        slope = (loss.mean_value(there, here + step, None) - loss.mean_value(there, here - step, None)) / (
            2 * step
        )
        if abs(slope) > 1e-3:
            factors.append(gradient[row] / slope)
        else:
            assert abs(gradient[row]) < 2e-2
    assert len(factors) > N / 4
    assert_allclose(factors, np.median(factors), rtol=2e-2)
    if origin != "offset":
        assert_array_equal(loss.baseline, [0.0])


@pytest.mark.parametrize("case", CASES)
def test_the_same_offset_for_all_rows_changes_nothing(case: str) -> None:
    choice, y = CASES[case]
    plain = choice.bind(y, WEIGHT, 1)
    moved = choice.bind(y, WEIGHT, 1, InitScore(np.full((N, 1), 1.5)))
    assert_allclose(moved.baseline + 1.5, plain.baseline, rtol=1e-9, atol=1e-9)
    for ours, theirs in zip(moved.derivatives(0), plain.derivatives(0), strict=True):
        # Deviances differ by a factor, which no split and no answer depends on.
        unit, their_unit = np.abs(ours).max(initial=1e-9), np.abs(theirs).max(initial=1e-9)
        assert_allclose(ours / unit, theirs / their_unit, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("case", [name for name in CASES if name != "custom"])
@pytest.mark.parametrize("size", [30.0, 800.0, 1e5, 1e30])
def test_far_offsets_give_finite_starts_and_derivatives(case: str, size: float) -> None:
    choice, y = CASES[case]
    loss = choice.bind(y, WEIGHT, 1, InitScore(np.where(np.arange(N) % 2, size, -size)[:, None]))
    loss.begin_round()
    assert np.isfinite(loss.baseline).all()
    for derivative in loss.derivatives(0):
        assert np.isfinite(derivative).all()


@pytest.mark.parametrize("weight", [None, np.where(CODES == 1, 0.0, 1.0)], ids=["far", "one class"])
def test_starts_are_finite_where_no_constant_is_the_best(weight: Any) -> None:
    far = np.where(MANY[:, None] == np.arange(4), 50.0, -50.0)
    for choice, y, offset in (
        (loss_for_classes("log_loss", 2), CODES, OFFSET[:, None]),
        (loss_for_classes("exponential", 2), CODES, OFFSET[:, None]),
        (loss_for_classes("log_loss", 4), MANY, far),
        (CrossEntropy(), CODES / 1.0, OFFSET[:, None]),
    ):
        assert np.abs(choice.bind(y, weight, 1, InitScore(offset)).baseline).max() < 200


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([(Poisson(), 1.0), (Gamma(), 0.0), (Tweedie(1.5), 0.5)]),
    st.sampled_from([1.0, 0.5]),
    st.sampled_from([1, 3]),
    st.booleans(),
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_an_offset_is_a_rate_with_a_weight(
    seed: int, loss: Any, subsample: float, n_folds: int, weighted: bool
) -> None:
    """Poisson with the log of the exposure equals rates weighted by exposure; other powers weight by another power."""
    choice, power = loss
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, size=(200, 3)).astype(float)
    exposure = rng.uniform(0.1, 5.0, 200)
    y = exposure * rng.gamma(2.0, size=200) * np.exp(X[:, 0] / 4)
    weight = rng.integers(1, 4, 200) * 1.0 if weighted else np.ones(200)
    fixed = {
        "loss": choice,
        "n_estimators": 10,
        "subsample": subsample,
        "n_folds": n_folds,
        "sampling_method": "uniform",
        "random_state": 0,
    }
    model = GradientBoostingRegressor(**fixed).fit(
        X, y, weight if weighted else None, offset=np.log(exposure)
    )
    rates = GradientBoostingRegressor(**fixed).fit(X, y / exposure, weight * exposure**power)

    assert model.baseline_[0] == pytest.approx(rates.baseline_[0], rel=1e-12)
    assert_allclose(model.predict(X), rates.predict(X), rtol=1e-4)
    assert_allclose(model.predict(X, offset=np.log(exposure)), model.predict(X) * exposure)
    if n_folds > 1:
        assert_allclose(model.oof_prediction_, rates.oof_prediction_ * exposure, rtol=1e-4)


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "huber", Expectile(0.3), Quantile((0.2, 0.8))]
)
def test_an_offset_is_taken_off_the_target(loss: Any) -> None:
    rng = np.random.default_rng(2)
    X, offset = rng.normal(size=(400, 3)), rng.normal(size=400)
    y = X[:, 0] + offset + rng.normal(size=400) / 4
    model = GradientBoostingRegressor(loss=loss, n_estimators=20, random_state=0).fit(X, y, offset=offset)
    rest = GradientBoostingRegressor(loss=loss, n_estimators=20, random_state=0).fit(X, y - offset)
    assert_array_equal(model.predict(X), rest.predict(X))
    expected = rest.predict(X) + (offset if rest.predict(X).ndim == 1 else offset[:, None])
    assert_allclose(model.predict(X, offset=offset), expected, atol=1e-12)


def test_each_quantile_may_have_its_own_offset() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 2)), rng.normal(size=300)
    offset = np.column_stack([y - 1, y + 1])
    model = GradientBoostingRegressor(loss=Quantile((0.2, 0.8)), n_estimators=5).fit(X, y, offset=offset)
    assert_allclose(model.baseline_, [1.0, -1.0])
    assert_allclose(model.predict(X, offset=offset), np.column_stack([y, y]), atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_second_model_goes_on_where_the_first_ended(n_classes: int) -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(1500, 3))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=1500) / 2, [0.5, 1.5][: n_classes - 1])
    fixed = {"n_estimators": 10, "subsample": 1.0, "random_state": 0}
    first = GradientBoostingClassifier(**fixed).fit(X, y)
    before = first.decision_function(X)
    second = GradientBoostingClassifier(**fixed, init="zero").fit(X, y, offset=before)
    both = GradientBoostingClassifier(**fixed).set_params(n_estimators=20).fit(X, y)

    def surprise(probabilities: Any) -> float:
        return float(-np.log(probabilities[np.arange(len(y)), y]).mean())

    after = surprise(second.predict_proba(X, offset=before))
    assert after < 0.9 * surprise(first.predict_proba(X))
    assert after == pytest.approx(surprise(both.predict_proba(X)), rel=0.02)
    assert_allclose(
        np.exp(second.predict_log_proba(X, offset=before)), second.predict_proba(X, offset=before)
    )
    chosen = second.predict_proba(X, offset=before).argmax(axis=1)
    assert_array_equal(second.predict(X, offset=before), chosen)


@pytest.mark.parametrize("method", ["uniform", "gradient_based", "bayesian"])
def test_rows_set_aside_bring_their_offsets(method: str) -> None:
    rng = np.random.default_rng(5)
    X, offset = rng.normal(size=(600, 2)), rng.normal(size=600, scale=2)
    y = rng.poisson(np.exp(X[:, 0] / 2 + offset)).astype(float)
    weight = rng.integers(1, 3, 600).astype(float)
    model = GradientBoostingRegressor(
        loss="poisson", n_estimators=100, early_stopping=True, sampling_method=method, random_state=0
    ).fit(X, y, weight, offset=offset)
    _, aside = holdout_rows(600, 0.1, root_seed(0))
    mean = model.predict(X[aside], offset=offset[aside])
    deviance = np.average(mean - y[aside] * np.log(mean), weights=weight[aside])

    assert model.validation_losses_.min() == pytest.approx(deviance, rel=1e-5)
    assert model.n_estimators_ < 100


@pytest.mark.parametrize("case", CASES)
def test_scores_of_training_rows_include_their_offsets(case: str) -> None:
    choice, y = CASES[case]
    loss = choice.bind(y, WEIGHT, 1, InitScore(OFFSET[:, None]))
    rows = np.array([3, 1, 50])
    assert_allclose(loss.init_scores(rows), loss.baseline + OFFSET[rows, None])
    assert_allclose(loss.raw_predictions(rows), loss.baseline + OFFSET[rows, None], atol=1e-6)
    loss.scores[:] += 1
    assert_allclose(loss.raw_predictions(rows), loss.baseline + OFFSET[rows, None] + loss.scale, atol=1e-6)


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
def test_the_recipe_learns_on_top_of_offsets(loss: str) -> None:
    """Several boosters, each with rows left out: what they say of those rows knows the offsets too."""
    rng = np.random.default_rng(7)
    X, offset = rng.normal(size=(500, 2)), rng.normal(size=500, scale=2)
    y = rng.random(500) < 1 / (1 + np.exp(-offset - np.sin(3 * X[:, 0])))
    times = {"log_loss": 1.0, "exponential": 0.5}[loss]
    model = GradientBoostingClassifier(loss=loss, random_state=0).fit(X, y, offset=times * offset)

    def surprise(probabilities: Any) -> float:
        return float(-np.log(probabilities[np.arange(500), y.astype(int)]).mean())

    alone = surprise(np.column_stack([1 / (1 + np.exp(offset)), 1 / (1 + np.exp(-offset))]))
    assert model.n_folds_ > 1
    assert surprise(model.oof_proba_) < alone
    assert surprise(model.predict_proba(X, offset=times * offset)) < alone < surprise(model.predict_proba(X))


@pytest.mark.parametrize("loss", ["poisson", "absolute_error", LOG_COSH])
def test_threads_do_not_change_an_answer(loss: Any) -> None:
    rng = np.random.default_rng(6)
    X, offset = rng.normal(size=(40_000, 3)), rng.normal(size=40_000)
    y = rng.poisson(np.exp(X[:, 0] / 2 + offset / 2)).astype(float)
    first, *others = (
        GradientBoostingRegressor(loss=loss, n_estimators=3, n_jobs=n_jobs, random_state=0)
        .fit(X, y, offset=offset)
        .predict(X, offset=offset)
        for n_jobs in (1, 2, 3)
    )
    for other in others:
        assert_array_equal(other, first)


@pytest.mark.parametrize(
    ("offset", "message"),
    [
        (np.zeros(5), r"offset has the shape \(5,\); expected \(6,\)"),
        (np.zeros((6, 2)), r"offset has the shape \(6, 2\); expected \(6,\)"),
        (0.5, r"offset has the shape \(\); expected \(6,\)"),
        ([0, 0, np.nan, 0, 0, 0], "offset contains NaN: row 2 has the offset nan.*exposure"),
        ([0, 0, 0, 0, -np.inf, 0], "offset contains infinity: row 4 has the offset -inf"),
    ],
)
@pytest.mark.parametrize("estimator", [GradientBoostingClassifier, GradientBoostingRegressor])
def test_wrong_offsets_are_refused_by_fit_and_predict(estimator: Any, offset: Any, message: str) -> None:
    X, y = np.arange(6.0).reshape(-1, 1), [0, 1, 0, 1, 0, 1]
    with pytest.raises(InvalidInput, match=message):
        estimator().fit(X, y, offset=offset)
    with pytest.raises(InvalidInput, match=message):
        estimator().fit(X, y).predict(X, offset=offset)


@pytest.mark.parametrize("offset", [["a", "b"], [1j, 2], [[1], [1, 2]], "log", {"a": 1}])
def test_an_offset_that_is_no_numbers_is_refused(offset: Any) -> None:
    with pytest.raises(
        InvalidType, match=r"offset=.* cannot be read as numbers.*expected one number for each row"
    ):
        read_offset(offset, 2, 1)


def test_many_classes_need_an_offset_each() -> None:
    with pytest.raises(InvalidInput, match=r"shape \(6,\); expected \(6, 3\).*one for each class"):
        GradientBoostingClassifier().fit(np.arange(6.0).reshape(-1, 1), [0, 1, 2] * 2, offset=np.zeros(6))


def test_a_series_and_a_frame_are_offsets() -> None:
    assert_array_equal(read_offset(pd.Series([1, 2], index=[5, 6]), 2, 1), [[1.0], [2.0]])
    assert_array_equal(read_offset(pd.DataFrame({"a": [1, 2], "b": [3, 4]}), 2, 2), [[1.0, 3.0], [2.0, 4.0]])


def test_targets_too_far_from_their_offsets_are_refused() -> None:
    with pytest.raises(
        InvalidInput, match=r"too large for a float in row 1: y is 1e\+308 and the offset -1e\+308"
    ):
        GradientBoostingRegressor().fit([[0.0], [1.0]], [0.0, 1e308], offset=[0.0, -1e308])
