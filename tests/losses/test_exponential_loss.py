"""The exponential loss: AdaBoost's, as scikit-learn boosts it, and finite however far the scores are."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.ensemble import GradientBoostingClassifier as TheirBoosting

from coterie import GradientBoostingClassifier
from coterie.errors import InvalidParameter
from coterie.losses import CrossEntropy, Exponential

N = 80
RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 2, N).astype(np.int32)
WEIGHT = RNG.integers(1, 4, N).astype(float)


def ladder(n_rows: int = 400, n_steps: int = 5) -> tuple[Any, Any]:
    """One feature with few values: every tree puts each of them into a leaf of its own."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, n_steps, (n_rows, 1)).astype(float)
    return X, (rng.random(n_rows) < (X[:, 0] + 1) / (n_steps + 1)).astype(int)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_derivatives_are_those_of_the_value(weight: Any) -> None:
    loss = Exponential().bind(CODES, weight, 1)
    loss.scores[:] += np.random.default_rng(2).normal(size=(1, N)).astype(np.float32)
    gradient, hessian = loss.derivatives(0)
    score, step = loss.scores[0].astype(float), 1e-4
    for row in range(N):
        low, middle, high = (
            loss.mean_value(CODES[[row]], np.array([[score[row] + k * step]]), None) for k in (-1, 0, 1)
        )
        times = 1.0 if weight is None else weight[row]
        assert gradient[row] == pytest.approx(times * (high - low) / (2 * step), rel=1e-5)
        assert hessian[row] == pytest.approx(times * (high - 2 * middle + low) / step**2, rel=1e-4)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_the_start_is_the_best_constant(weight: Any) -> None:
    loss = Exponential().bind(CODES, weight, 1)
    costs = [
        loss.mean_value(CODES, np.full((N, 1), loss.baseline[0] + shift), weight)
        for shift in (-0.01, 0, 0.01)
    ]
    assert costs[1] < min(costs[0], costs[2])
    assert loss.baseline[0] == pytest.approx(np.log(1 / (1 / np.average(CODES, weights=weight) - 1)) / 2)


@pytest.mark.parametrize("weight", [None, 400], ids=["plain", "weighted"])
def test_steps_are_those_of_scikit_learn(weight: Any) -> None:
    X, y = ladder()
    weight = weight and np.random.default_rng(3).integers(1, 5, weight).astype(float)
    ours = GradientBoostingClassifier(
        loss="exponential", n_estimators=30, min_samples_leaf=1, min_child_weight=0.0, max_leaf_nodes=5
    ).fit(X, y, weight)
    theirs = TheirBoosting(loss="exponential", n_estimators=30, max_depth=None, max_leaf_nodes=5).fit(
        X, y, weight
    )

    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-5)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-5)
    assert_array_equal(ours.predict(X), theirs.predict(X))


def test_probabilities_are_the_link_of_the_scores() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(500, 3))
    y = np.where(X[:, 0] + rng.normal(size=500) > 0, "yes", "no")
    model = GradientBoostingClassifier(
        loss="exponential", n_estimators=100, early_stopping=True, random_state=0
    )
    model.fit(X, y)
    score = model.decision_function(X)

    assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-2 * score)))
    assert_array_equal(model.predict(X), np.where(score > 0, "yes", "no"))
    assert model.score(X, y) > 0.7
    assert model.n_estimators_ < 100


@pytest.mark.parametrize("score", [-3e38, -1e4, -88.5, 0.0, 88.5, 1e4, 3e38])
@pytest.mark.parametrize("heavy", [1.0, 1e19])
def test_extreme_scores_give_finite_derivatives(score: float, heavy: float) -> None:
    weight = np.full(N, heavy)
    for loss in (Exponential().bind(CODES, weight, 1), CrossEntropy().bind(CODES / 1.0, weight, 1)):
        loss.scores[:] = score
        with np.errstate(all="raise", under="ignore"):
            gradient, hessian = loss.derivatives(0)
        assert np.isfinite(gradient).all()
        assert np.isfinite(hessian).all()
        assert (hessian >= 0).all()


def test_the_derivatives_of_cross_entropy_are_exact_far_out() -> None:
    y = np.linspace(0, 1, N)
    loss = CrossEntropy().bind(y, None, 1)
    loss.scores[0] = np.linspace(-60, 60, N)
    score = loss.scores[0].astype(float)
    gradient, hessian = loss.derivatives(0)
    assert_allclose(gradient, expit(score) - y, atol=1e-6)
    assert_allclose(hessian, expit(score) * expit(-score), rtol=1e-5)


def test_more_than_two_classes_are_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"loss='exponential' is for two classes; y has 3.*'log_loss'"):
        GradientBoostingClassifier(loss="exponential").fit(np.arange(6.0).reshape(-1, 1), [0, 1, 2, 0, 1, 2])


def test_one_class_needs_no_loss() -> None:
    model = GradientBoostingClassifier(loss="exponential").fit([[0.0], [1.0]], ["only", "only"])
    assert_array_equal(model.predict([[0.5]]), ["only"])
    assert_array_equal(model.predict_proba([[0.5]]), [[1.0]])


def test_threads_do_not_change_an_answer() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40_000, 4))
    y = X[:, 0] + rng.normal(size=40_000) > 0
    first, *others = (
        GradientBoostingClassifier(loss="exponential", n_estimators=3, n_jobs=n_jobs, random_state=0)
        .fit(X, y)
        .decision_function(X)
        for n_jobs in (1, 2, 3)
    )
    for other in others:
        assert_array_equal(other, first)
