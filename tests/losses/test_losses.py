"""Losses: derivatives against differences and against formulas, best constants, and numbers out of the ordinary."""

from typing import Any

import numpy as np
import pytest
from scipy import special
from sklearn.metrics import log_loss, mean_squared_error

from coterie.losses.log_loss import LogLoss, MultinomialLogLoss
from coterie.losses.squared_error import Squared

N = 50
RNG = np.random.default_rng(0)
CODES = {2: RNG.integers(0, 2, N).astype(np.int32), 4: RNG.integers(0, 4, N).astype(np.int32)}
NUMBERS = RNG.normal(size=N)
WEIGHT = RNG.integers(1, 4, N).astype(float)

CASES: dict[str, tuple[Any, Any]] = {
    "squared error": (lambda w: Squared().bind(NUMBERS, w, 1), NUMBERS),
    "binary log loss": (lambda w: LogLoss().bind(CODES[2], w, 1), CODES[2]),
    "multinomial log loss": (lambda w: MultinomialLogLoss(4).bind(CODES[4], w, 1), CODES[4]),
}


def at_random_scores(loss: Any, spread: float = 2.0) -> Any:
    """User's scores, shape (n_rows, n_outputs), after moving the loss there."""
    rng = np.random.default_rng(1)
    loss.scores[:] += rng.normal(size=loss.scores.shape, scale=spread).astype(np.float32)
    loss.begin_round()
    return loss.raw_predictions(np.arange(N))


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("case", CASES)
def test_derivatives_are_those_of_the_value(case: str, weight: Any) -> None:
    build, y = CASES[case]
    loss = build(weight)
    scores = at_random_scores(loss)
    weights = np.ones(N) if weight is None else weight
    step = 1e-4

    for output in range(loss.n_outputs):
        gradient, hessian = (derivative.astype(float) for derivative in loss.derivatives(output))
        shift = np.zeros(loss.n_outputs)
        shift[output] = step
        for row in range(0, N, 7):
            here, there = scores[[row]], y[[row]]
            low, middle, high = (loss.mean_value(there, here + k * shift, None) for k in (-1, 0, 1))
            unit = loss.scale
            assert gradient[row] * unit == pytest.approx(weights[row] * (high - low) / (2 * step), abs=1e-4)
            curvature = hessian[row] if len(hessian) else 1.0
            assert curvature == pytest.approx(weights[row] * (high + low - 2 * middle) / step**2, abs=1e-4)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_the_start_is_the_best_constant(case: str, weight: Any) -> None:
    build, y = CASES[case]
    loss = build(weight)
    start = np.tile(loss.baseline, (N, 1))
    best = loss.mean_value(y, start, weight)

    for output in range(loss.n_outputs):
        for step in (-0.01, 0.01):
            shift = np.zeros(loss.n_outputs)
            shift[output] = step
            assert loss.mean_value(y, start + shift, weight) > best
        loss.begin_round()
        assert float(loss.derivatives(output)[0].sum()) == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_values_are_those_of_scikit_learn(weight: Any) -> None:
    rng = np.random.default_rng(2)
    one, four = rng.normal(size=(N, 1)), rng.normal(size=(N, 4))
    squared = Squared().bind(NUMBERS, weight, 1).mean_value(NUMBERS, one, weight)
    binary = LogLoss().bind(CODES[2], weight, 1).mean_value(CODES[2], one, weight)
    multinomial = MultinomialLogLoss(4).bind(CODES[4], weight, 1).mean_value(CODES[4], four, weight)

    assert squared == pytest.approx(mean_squared_error(NUMBERS, one[:, 0], sample_weight=weight) / 2)
    assert binary == pytest.approx(log_loss(CODES[2], special.expit(one[:, 0]), sample_weight=weight))
    assert multinomial == pytest.approx(
        log_loss(CODES[4], special.softmax(four, axis=1), sample_weight=weight)
    )


def test_binary_derivatives_are_exact_far_out() -> None:
    """Neither probability comes from a cancellation: relative precision holds where p is 1e-20."""
    loss = LogLoss().bind(CODES[2], None, 1)
    loss.scores[0] = np.linspace(-60, 60, N, dtype=np.float32)
    score, y = loss.scores[0].astype(float), CODES[2]

    gradient, hessian = loss.derivatives(0)

    expected = np.where(y == 1, -special.expit(-score), special.expit(score))
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)
    np.testing.assert_allclose(hessian, special.expit(score) * special.expit(-score), rtol=1e-6)


@pytest.mark.parametrize("score", [-1e4, -88.5, 0.0, 88.5, 1e4, 3e38])
def test_extreme_scores_give_finite_derivatives(score: float) -> None:
    binary = LogLoss().bind(CODES[2], None, 1)
    binary.scores[:] = score
    multinomial = MultinomialLogLoss(4).bind(CODES[4], None, 1)
    multinomial.scores[1] = score

    for loss in (binary, multinomial):
        loss.begin_round()
        for output in range(loss.n_outputs):
            gradient, hessian = loss.derivatives(output)
            assert np.isfinite(gradient).all()
            assert np.abs(gradient).max() <= 1 + 1e-6
            assert (hessian >= 0).all()
            assert np.isfinite(hessian).all()


def test_softmax_derivatives_are_those_of_scipy() -> None:
    loss = MultinomialLogLoss(4).bind(CODES[4], None, 1)
    p = special.softmax(at_random_scores(loss), axis=1)

    for output in range(4):
        gradient, hessian = loss.derivatives(output)
        np.testing.assert_allclose(gradient, p[:, output] - (CODES[4] == output), atol=1e-6)
        np.testing.assert_allclose(hessian, p[:, output] * (1 - p[:, output]), atol=1e-6)


@pytest.mark.parametrize("size", [1e-300, 1e-5, 1.0, 1e5, 1e300, 1.7e308])
def test_a_squared_error_of_any_size_works_near_one(size: float) -> None:
    """The loop sees (y - mean) / scale, which is below 2 and not tiny."""
    y = np.array([0.0, 0.25, 1.0, 1.0]) * size
    loss = Squared().bind(y, None, 1)

    gradient, _ = loss.derivatives(0)

    assert 0.25 <= np.abs(gradient).max() < 2
    np.testing.assert_allclose(loss.baseline[0] / size, 0.5625)
    np.testing.assert_allclose(
        (loss.baseline[0] / size) - gradient * (loss.scale / size), y / size, atol=1e-6
    )


def test_a_class_without_weight_has_a_finite_start() -> None:
    weight = np.where(CODES[4] == 2, 0.0, 1.0)
    assert np.isfinite(MultinomialLogLoss(4).bind(CODES[4], weight, 1).baseline).all()
    assert np.isfinite(LogLoss().bind(np.zeros(5, np.int32), None, 1).baseline).all()
