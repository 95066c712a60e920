"""Residuals are slopes; trees on them, step by step; and what keeps the sum from following noise."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.tree import DecisionTreeRegressor

from coterie import AnyBoostRegressor, GradientBoostingClassifier, GradientBoostingRegressor
from coterie.diagnostics import bias_variance


def wave(seed: int, n_rows: int = 100) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n_rows, 1))
    return X, np.sin(2 * X[:, 0]) + rng.normal(scale=0.3, size=n_rows)


def boosted(n_rounds: int, **settings: Any) -> Any:
    usual = {"max_leaf_nodes": 4, "learning_rate": 0.3, "min_samples_leaf": 1, "random_state": 0}
    return GradientBoostingRegressor(n_estimators=n_rounds, **{**usual, **settings}).fit(*wave(0))


@pytest.mark.parametrize(
    ("loss", "negative_slope"),
    [
        (lambda y, f: (y - f) ** 2 / 2, lambda y, f: y - f),
        (lambda y, f: np.abs(y - f), lambda y, f: np.sign(y - f)),
        (lambda y, f: np.logaddexp(0, f) - y * f, lambda y, f: y - 1 / (1 + np.exp(-f))),
    ],
)
def test_the_negative_gradient_is_the_residual_for_half_the_squared_error_and_like_it_for_others(
    loss: Any, negative_slope: Any
) -> None:
    y, scores = np.array([0.0, 1.0, 1.0, 0.0]), np.array([0.3, -0.4, 1.7, -2.0])
    tiny = 1e-6

    by_differences = -(loss(y, scores + tiny) - loss(y, scores - tiny)) / (2 * tiny)
    np.testing.assert_allclose(by_differences, negative_slope(y, scores), atol=1e-8)


def test_boosting_the_squared_error_is_fitting_trees_to_residuals_by_hand() -> None:
    X, y = wave(0)
    model = AnyBoostRegressor(DecisionTreeRegressor(max_depth=2), step=0.1, n_estimators=20).fit(X, y)
    scores = np.full(len(y), y.mean())
    for _ in range(20):
        scores += 0.1 * DecisionTreeRegressor(max_depth=2).fit(X, y - scores).predict(X)

    np.testing.assert_allclose(model.predict(X), scores, rtol=1e-9)


def test_a_start_of_1_and_a_target_of_one_and_a_half_leave_a_half_for_the_next_model() -> None:
    X, y = np.zeros((10, 1)), np.full(10, 1.5)
    second = DecisionTreeRegressor().fit(X, y - 1.0)

    assert 1.0 + second.predict([[0.0]])[0] == 1.5


def test_residuals_sum_to_zero_after_every_round() -> None:
    X, y = wave(0)

    assert max(abs((y - scores).mean()) for scores in boosted(50).staged_predict(X)) < 1e-6


def test_boosting_goes_on_until_residuals_have_no_pattern() -> None:
    """Residuals of neighbours are alike at first, and not alike when the wave is found."""
    X, y = wave(0)
    order = np.argsort(X[:, 0])
    likeness = []
    for scores in boosted(10).staged_predict(X):
        left = (y - scores)[order]
        likeness.append(np.corrcoef(left[:-1], left[1:])[0, 1])

    assert likeness[0] > 0.6
    assert abs(likeness[-1]) < 0.15


def test_too_many_rounds_overfit() -> None:
    X_new, y_new = wave(1, 2000)
    errors = [((scores - y_new) ** 2).mean() for scores in boosted(200).staged_predict(X_new)]
    best = int(np.argmin(errors)) + 1

    assert 10 < best < 50
    assert errors[-1] > 1.05 * min(errors)


def test_shorter_steps_take_more_rounds_and_end_lower() -> None:
    X, y = make_friedman1(1200, noise=1, random_state=0)

    def best(learning_rate: float) -> tuple[int, float]:
        model = GradientBoostingRegressor(
            n_estimators=200, learning_rate=learning_rate, max_leaf_nodes=8, random_state=0
        ).fit(X[:200], y[:200])
        errors = [((scores - y[200:]) ** 2).mean() for scores in model.staged_predict(X[200:])]
        return int(np.argmin(errors)) + 1, min(errors)

    (few, high), (more, middle), (most, low) = best(1.0), best(0.3), best(0.1)
    assert few < more < most
    assert high > 2 * middle > 2 * low


def test_boosting_lowers_the_bias_while_the_variance_rises() -> None:
    grid = np.linspace(-2.8, 2.8, 60)[:, None]
    truth = np.sin(2 * grid[:, 0])
    model = GradientBoostingRegressor(
        n_estimators=80, max_leaf_nodes=2, learning_rate=0.3, min_samples_leaf=3
    )
    found = bias_variance(
        model,
        grid,
        truth,
        draw=wave,
        truth=truth,
        noise=0.09,
        n_repeats=20,
        stages=[1, 10, 80],
        random_state=0,
    )

    assert (np.diff(found.bias) < 0).all()
    assert (np.diff(found.variance) > 0).all()
    assert (np.diff(found.error) < 0).all()


def test_a_leaf_takes_newtons_step_and_a_penalty_shortens_it() -> None:
    """Log loss at the share p: the slope of a row is p - y and its bend p (1 - p)."""
    X, y = np.repeat([0.0, 1.0], 40)[:, None], np.repeat([0, 1, 0, 1], [30, 10, 5, 35])
    share, bend = y.mean(), y.mean() * (1 - y.mean())
    start = np.log(share / (1 - share))
    for penalty in (0.0, 10.0):
        model = GradientBoostingClassifier(
            n_estimators=1,
            learning_rate=1.0,
            max_leaf_nodes=2,
            min_samples_leaf=1,
            l2_regularization=penalty,
            random_state=0,
        ).fit(X, y)
        step = (y[:40] - share).sum() / (40 * bend + penalty)
        assert model.decision_function([[0.0]])[0] == pytest.approx(start + step, rel=1e-3)


def test_64_bins_are_as_good_as_255() -> None:
    X, y = make_friedman1(3000, noise=1, random_state=0)
    scores = [
        GradientBoostingRegressor(n_estimators=50, max_bins=bins, random_state=0)
        .fit(X[:1000], y[:1000])
        .score(X[1000:], y[1000:])
        for bins in (8, 64, 255)
    ]

    assert scores[1] == pytest.approx(scores[2], abs=0.01)
    assert scores[0] < scores[2]


def test_the_mean_target_of_a_rows_own_category_gives_its_target_away() -> None:
    """Pure noise in a thousand categories: means with the row itself explain much, ordered means nothing."""
    rng = np.random.default_rng(0)
    category, y = rng.integers(0, 1000, 4000), rng.normal(size=4000)
    means = np.bincount(category[:2000], y[:2000], 1000) / np.maximum(
        1, np.bincount(category[:2000], minlength=1000)
    )
    explained = 1 - ((means[category[:2000]] - y[:2000]) ** 2).mean() / y[:2000].var()
    table = {"town": np.array([f"town {code}" for code in category])}
    model = GradientBoostingRegressor(n_estimators=50, target_statistics="columns", random_state=0)
    model.fit({"town": table["town"][:2000]}, y[:2000])

    assert explained > 0.4
    assert model.score({"town": table["town"][2000:]}, y[2000:]) > -0.05
