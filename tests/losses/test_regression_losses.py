"""Losses for numbers: what they predict, what they refuse, and what they promise."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import mean_pinball_loss, mean_tweedie_deviance

from coterie import GradientBoostingRegressor
from coterie.errors import InvalidInput, InvalidParameter
from coterie.losses import (
    Absolute,
    CrossEntropy,
    Expectile,
    Gamma,
    Huber,
    InitScore,
    Poisson,
    Quantile,
    RegressionLoss,
    Squared,
    Tweedie,
    loss_for_numbers,
    loss_names,
)
from coterie.losses.quantile import weighted_quantile

RNG = np.random.default_rng(0)
N = 60
TARGETS: dict[str, Any] = {
    "squared_error": RNG.normal(size=N),
    "absolute_error": RNG.normal(size=N),
    "huber": RNG.standard_t(2, size=N),
    "quantile": RNG.normal(size=N),
    "expectile": RNG.normal(size=N),
    "poisson": RNG.poisson(2.0, N).astype(float),
    "gamma": RNG.gamma(2.0, size=N),
    "tweedie": RNG.gamma(2.0, size=N) * (RNG.random(N) < 0.6),
    "cross_entropy": RNG.random(N),
}
CHOICES: list[RegressionLoss] = [
    Squared(), Absolute(), Huber(), Huber(0.5), Quantile(), Quantile(0.9), Expectile(0.2), Poisson(), Gamma(),
    Tweedie(), Tweedie(1.2), CrossEntropy(),
]  # fmt: skip
WEIGHT = RNG.integers(1, 4, N).astype(float)


def by_name(choice: RegressionLoss) -> str:
    return repr(choice)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("choice", CHOICES, ids=by_name)
def test_the_start_is_the_best_constant(choice: RegressionLoss, weight: Any) -> None:
    y = TARGETS[choice.name]
    loss = choice.bind(y, weight, 1)

    def cost(constant: float) -> float:
        return loss.mean_value(y, np.full((N, 1), constant), weight)

    best = optimize.minimize_scalar(cost, bracket=(loss.baseline[0] - 1, loss.baseline[0] + 1), tol=1e-10).fun
    slack = 2e-2 if isinstance(choice, Huber) else 1e-7  # the median, which is next to the best
    assert cost(loss.baseline[0]) <= best * (1 + np.sign(best) * slack) + 1e-9


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("choice", CHOICES, ids=by_name)
def test_gradients_are_those_of_the_value(choice: RegressionLoss, weight: Any) -> None:
    y = TARGETS[choice.name]
    loss = choice.bind(y, weight, 1)
    first = loss.scores.copy()
    shift = np.random.default_rng(1).normal(size=loss.scores.shape, scale=0.3).astype(np.float32)
    loss.scores[:] += shift
    if not isinstance(choice, Huber):
        loss.begin_round()
    gradient, hessian = loss.derivatives(0)
    scores = (loss.baseline[:, None] + loss.scale * (loss.scores - first).astype(float)).T
    step = 1e-5 * loss.scale
    weights = np.ones(N) if weight is None else weight
    # Deviances are in units of the mean, and quantiles in units of the scale: a factor that changes no tree.
    factors = []
    for row in range(N):
        here, there = scores[[row]], y[[row]]
        slope = (loss.mean_value(there, here + step, None) - loss.mean_value(there, here - step, None)) / (
            2 * step
        )
        if abs(slope) > 1e-3:
            factors.append(gradient[row] / weights[row] / slope)
        else:
            assert abs(gradient[row]) < 2e-2
    assert_allclose(factors, np.median(factors), rtol=2e-2)
    assert (hessian > 0).all()


def test_every_name_has_its_loss() -> None:
    assert {choice.name for choice in CHOICES} == set(loss_names("regression"))
    for name in loss_names("regression"):
        assert loss_for_numbers(name).name == name


@pytest.mark.parametrize(
    ("loss", "metric"),
    [
        ("absolute_error", lambda y, p: np.abs(y - p).mean()),
        ("poisson", lambda y, p: mean_tweedie_deviance(y, p, power=1)),
        ("gamma", lambda y, p: mean_tweedie_deviance(y, p, power=2)),
    ],
)
def test_as_good_as_scikit_learn(loss: str, metric: Any) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(4000, 6))
    mean = np.exp(0.5 * X[:, 0] + np.abs(X[:, 1]) / 2)
    y = {
        "absolute_error": mean + rng.standard_t(2, 4000),
        "poisson": rng.poisson(mean).astype(float),
        "gamma": rng.gamma(3.0, mean / 3.0),
    }[loss]
    ours = GradientBoostingRegressor(loss=loss, random_state=0).fit(X[:3000], y[:3000]).predict(X[3000:])
    theirs = (
        HistGradientBoostingRegressor(loss=loss, early_stopping=False)
        .fit(X[:3000], y[:3000])
        .predict(X[3000:])
    )
    constant = np.full(1000, np.median(y[:3000]) if loss == "absolute_error" else y[:3000].mean())
    assert metric(y[3000:], ours) < metric(y[3000:], constant)
    assert metric(y[3000:], ours) < metric(y[3000:], theirs) * 1.02


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_a_quantile_has_its_share_of_the_rows_below(level: float) -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(6000, 2))
    y = X[:, 0] * (1 + rng.normal(size=6000))
    model = GradientBoostingRegressor(loss="quantile", quantile=level, n_estimators=60, random_state=0)
    below = (y[4000:] <= model.fit(X[:4000], y[:4000]).predict(X[4000:])).mean()
    assert below == pytest.approx(level, abs=0.05)


def test_several_quantiles_do_not_cross_and_each_is_learned() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(3000, 3))
    y = X[:, 0] + rng.normal(size=3000) * np.exp(X[:, 1] / 2)
    levels = (0.05, 0.1, 0.5, 0.9, 0.95)
    answers = GradientBoostingRegressor(loss="quantile", quantile=levels, random_state=0).fit(X, y).predict(X)
    assert answers.shape == (3000, 5)
    assert (np.diff(answers, axis=1) >= 0).all()
    for level, column in zip(levels, answers.T, strict=True):
        constant = np.full(3000, np.quantile(y, level))
        assert mean_pinball_loss(y, column, alpha=level) < 0.8 * mean_pinball_loss(y, constant, alpha=level)


@pytest.mark.parametrize("subsample", [1.0, 0.5])
@pytest.mark.parametrize("loss", ["absolute_error", Quantile(0.8), "poisson", "huber"])
def test_monotone_stays_monotone(loss: Any, subsample: float) -> None:
    rng = np.random.default_rng(5)
    X = rng.uniform(size=(2000, 3))
    y = np.abs(np.sin(6 * X[:, 0]) + X[:, 1] + rng.normal(size=2000) / 3)
    model = GradientBoostingRegressor(
        loss=loss, monotonic_cst=[1, 0, -1], n_estimators=40, subsample=subsample, random_state=0
    ).fit(X, y)
    grid = np.linspace(0, 1, 60)
    for row in X[:20]:
        for feature, direction in ((0, 1), (2, -1)):
            line = np.tile(row, (60, 1))
            line[:, feature] = grid
            assert (direction * np.diff(model.predict(line)) >= 0).all()


@pytest.mark.parametrize("loss", ["absolute_error", Quantile((0.2, 0.7)), "huber", "poisson"])
def test_threads_do_not_change_an_answer(loss: Any) -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60_000, 4))
    y = rng.poisson(np.exp(X[:, 0] / 2)).astype(float)
    first, *others = (
        GradientBoostingRegressor(loss=loss, n_estimators=3, n_jobs=n_jobs, random_state=0)
        .fit(X, y)
        .predict(X)
        for n_jobs in (1, 2, 3)
    )
    for other in others:
        assert_array_equal(other, first)


@pytest.mark.parametrize("loss", ["absolute_error", Quantile(0.3), "expectile", "gamma", "huber"])
def test_weights_mean_repetition(loss: Any) -> None:
    """Exact sums of the derivatives differ in their last bits only, so the same splits are found."""
    rng = np.random.default_rng(7)
    X = rng.integers(0, 6, size=(150, 2)).astype(float)
    y = rng.gamma(2.0, size=150) + X[:, 0]
    times = rng.integers(0, 4, size=150)
    settings_ = {
        "loss": loss,
        "n_estimators": 5,
        "min_samples_leaf": 1,
        "max_leaf_nodes": 4,
        "random_state": 0,
    }
    if loss == "huber":
        settings_["loss"] = Huber(0.999999)
    weighted = GradientBoostingRegressor(**settings_).fit(X, y, times).predict(X)
    repeated = (
        GradientBoostingRegressor(**settings_).fit(np.repeat(X, times, 0), np.repeat(y, times)).predict(X)
    )
    assert_allclose(weighted, repeated, rtol=2e-3, atol=2e-3)


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 4)), min_size=1, max_size=30),
    st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.9]),
)
@settings(deadline=None)
def test_a_weighted_quantile_is_that_of_repeated_values(pairs: list[tuple[int, int]], level: float) -> None:
    values = np.array([value for value, _ in pairs], dtype=float)
    weight = np.array([count for _, count in pairs], dtype=float)
    repeated = np.repeat(values, weight.astype(int))
    found = weighted_quantile(values, weight, level)
    assert found == weighted_quantile(repeated, None, level)
    assert (repeated <= found).mean() >= level - 1e-9
    assert (repeated >= found).mean() >= 1 - level - 1e-9


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        (
            "poisson",
            [1.0, -2.0, 3.0],
            r"loss='poisson' needs targets that are not negative; y is -2 in row 1",
        ),
        ("gamma", [1.0, 2.0, 0.0], r"loss='gamma' needs targets above zero; y is 0 in row 2"),
        ("tweedie", [0.0, 0.0, 0.0], r"loss='tweedie' needs at least one target above zero"),
        (
            "cross_entropy",
            [0.5, 1.5, 0.0],
            r"loss='cross_entropy' needs targets from 0 to 1; y is 1.5 in row 1",
        ),
    ],
)
def test_targets_that_a_loss_cannot_take_are_refused(loss: str, y: list[float], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        GradientBoostingRegressor(loss=loss).fit(np.arange(3.0).reshape(-1, 1), y)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Quantile(1.5),
        lambda: Quantile((0.9, 0.1)),
        lambda: Quantile(()),
        lambda: Quantile((0.5, 0.5)),
        lambda: Huber(0),
        lambda: Expectile(True),
        lambda: Tweedie(2.5),
        lambda: Tweedie("much"),  # type: ignore[arg-type]
    ],
)
def test_settings_of_a_loss_that_cannot_be_are_refused(make: Any) -> None:
    with pytest.raises(InvalidParameter, match="must"):
        make()


def test_a_quantile_has_no_meaning_for_another_loss() -> None:
    model = GradientBoostingRegressor(loss="poisson", quantile=0.5)
    with pytest.raises(InvalidParameter, match=r"quantile=0\.5 has no meaning with loss='poisson'"):
        model.fit([[0.0], [1.0]], [1.0, 2.0])


def test_losses_are_cloned_and_compared_as_values() -> None:
    model = clone(GradientBoostingRegressor(loss=Tweedie(1.3)))
    assert model.loss == Tweedie(1.3)
    assert model.loss != Tweedie(1.4)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_scores_stay_within_a_factor_of_e40_of_the_mean(sign: float) -> None:
    bound = Poisson().bind(np.array([1.0, 2.0]), None, 1, InitScore(add_constant=True))
    bound.scores[:] = sign * 100.0

    bound.begin_round()

    np.testing.assert_array_equal(bound.scores, np.full_like(bound.scores, sign * 40.0))
