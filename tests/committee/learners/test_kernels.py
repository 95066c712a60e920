"""Kernel regression, a Gaussian process and discriminants, against scikit-learn and against definitions."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.special import softmax
from sklearn.datasets import make_moons
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression

from coterie.committee.learners import discriminant
from coterie.committee.learners.discriminant import DiscriminantClassifier
from coterie.committee.learners.gaussian_process import SmallGaussianProcess, covariance, likelihood
from coterie.committee.learners.kernels import (
    KernelClassifier,
    KernelRegressor,
    coordinates_of,
    squared_distances,
)
from coterie.files import load, save

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * RNG.normal(size=60)
LABELS = np.where(Y > 0.5, "c", np.where(Y > -0.3, "b", "a"))


def test_distances_are_those_of_the_definition() -> None:
    slow = [[float(np.sum((a - b) ** 2)) for b in X[:7]] for a in X]
    np.testing.assert_allclose(squared_distances(X, X[:7]), slow, atol=1e-12)


def test_inner_products_of_coordinates_are_similarities() -> None:
    similar = np.exp(-0.2 * squared_distances(X, X))
    features = similar @ coordinates_of(X, 0.2)
    np.testing.assert_allclose(features @ features.T, similar, atol=1e-6)


def test_with_all_rows_as_landmarks_it_is_kernel_ridge() -> None:
    centred = Y - Y.mean()
    model = KernelRegressor(random_state=0).fit(X, centred)
    peer = KernelRidge(alpha=1 / model.strength_, kernel="rbf", gamma=model.gamma_).fit(X, centred)

    # Theirs has no intercept, which is ours apart from the penalty.
    assert np.corrcoef(model.predict(X), peer.predict(X))[0, 1] > 0.999
    np.testing.assert_allclose(model.predict(X), peer.predict(X), atol=0.1)


def test_probabilities_are_those_of_logistic_regression_on_the_coordinates() -> None:
    model = KernelClassifier(random_state=0).fit(X, LABELS)
    features = np.exp(-model.gamma_ * squared_distances(X, model.landmarks_)) @ model.coordinates_
    peer = LogisticRegression(C=model.strength_, max_iter=200, tol=1e-3).fit(features, LABELS)

    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(features), atol=1e-6)
    assert model.classes_.tolist() == ["a", "b", "c"]


def test_two_moons_are_told_apart_with_honest_probabilities() -> None:
    points, side = make_moons(800, noise=0.25, random_state=0)
    model = KernelClassifier(random_state=0).fit(points[:400], side[:400])
    proba = model.predict_proba(points[400:])

    assert (model.predict(points[400:]) == side[400:]).mean() > 0.91
    assert -np.log(proba[np.arange(400), side[400:]]).mean() < 0.22


@pytest.mark.parametrize("kind", [KernelClassifier, DiscriminantClassifier])
def test_a_class_of_one_row_and_a_single_class_are_no_error(kind: Any) -> None:
    rare = LABELS.copy()
    rare[:1] = "rare"
    for labels in (rare, np.full(60, "only")):
        proba = kind(random_state=0).fit(X, labels).predict_proba(X)
        assert proba.shape == (60, len(np.unique(labels)))
        np.testing.assert_allclose(proba.sum(axis=1), 1)


def test_the_likelihood_is_that_of_scikit_learn() -> None:
    logs = np.array([0.3, -0.5, -1.0, 0.2, -0.4, 0.1])
    height, trend, noise = np.exp(logs[:3])
    kernel = (
        ConstantKernel(height) * RBF(np.exp(-logs[3:]))
        + ConstantKernel(trend / 3) * DotProduct(1e-6)
        + WhiteKernel(noise)
    )
    peer = GaussianProcessRegressor(kernel, alpha=1e-8, optimizer=None).fit(X, Y)
    constant = 30 * np.log(2 * np.pi)

    ours = likelihood(logs, X, Y, np.ones(60)).value
    np.testing.assert_allclose(ours + constant, -peer.log_marginal_likelihood_value_, rtol=1e-7)


def test_the_gradient_of_the_likelihood_is_that_of_finite_differences() -> None:
    weight = RNG.uniform(0.5, 2.0, 60)
    logs = np.array([0.3, -0.5, -1.0, 0.2, -0.4, 0.1])

    error = check_grad(
        lambda at: likelihood(at, X, Y, weight).value, lambda at: likelihood(at, X, Y, weight).slopes, logs
    )
    assert error < 1e-4 * np.abs(likelihood(logs, X, Y, weight).slopes).max()


def test_the_process_predicts_as_that_of_scikit_learn_does_and_learns_which_columns_matter() -> None:
    model = SmallGaussianProcess().fit(X, Y)
    height, trend, noise = np.exp(model.logs_[:3])
    kernel = (
        ConstantKernel(height) * RBF(np.exp(-model.logs_[3:]))
        + ConstantKernel(trend / 3) * DotProduct(1e-6)
        + WhiteKernel(noise)
    )
    target = (Y - Y.mean()) / Y.std()
    peer = GaussianProcessRegressor(kernel, alpha=1e-8, optimizer=None).fit(X, target)
    new = np.random.default_rng(1).uniform(-1.5, 1.5, size=(50, 3))

    np.testing.assert_allclose(model.predict(new), Y.mean() + Y.std() * peer.predict(new), atol=1e-5)
    assert model.logs_[3] > model.logs_[5] + 1  # the last column is noise
    truth = np.sin(2 * new[:, 0]) + 0.5 * new[:, 1]
    assert np.mean((model.predict(new) - truth) ** 2) < 0.1 * np.var(truth)


def test_weights_of_rows_are_noise_of_rows() -> None:
    logs = np.array([0.0, -1.0, -1.0, 0.0, 0.0, 0.0])
    smooth, trend = covariance(logs, X, X)
    weight = np.where(np.arange(60) < 30, 4.0, 1.0)
    total = smooth + trend + np.diag(np.exp(-1.0) / weight + 1e-8)
    slow = 0.5 * Y @ np.linalg.solve(total, Y) + 0.5 * np.linalg.slogdet(total)[1]

    np.testing.assert_allclose(likelihood(logs, X, Y, weight).value, slow, rtol=1e-9)


def test_discriminants_are_those_of_scikit_learn_where_nothing_is_shrunk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(discriminant, "_ROUND_SHARES", (0.0,))
    monkeypatch.setattr(discriminant, "_TEMPERATURES", (1.0,))
    monkeypatch.setattr(discriminant, "_OWN_SHARES", (0.0,))
    rows = np.vstack([RNG.normal(size=(400, 2)), RNG.normal(size=(400, 2)) * [2, 0.5] + 1])
    side = np.repeat([0, 1], 400)

    pooled = DiscriminantClassifier().fit(rows, side).predict_proba(rows)
    linear = LinearDiscriminantAnalysis().fit(rows, side).predict_proba(rows)
    np.testing.assert_allclose(pooled, linear, atol=0.01)

    monkeypatch.setattr(discriminant, "_OWN_SHARES", (1.0,))
    own = DiscriminantClassifier().fit(rows, side).predict_proba(rows)
    quadratic = QuadraticDiscriminantAnalysis().fit(rows, side).predict_proba(rows)
    np.testing.assert_allclose(own, quadratic, atol=0.02)


def test_discriminants_choose_what_predicts_rows_held_out() -> None:
    rows = np.vstack([RNG.normal(size=(200, 2)), RNG.normal(size=(200, 2)) * 4])
    side = np.repeat([0, 1], 200)
    model = DiscriminantClassifier(random_state=0).fit(rows, side)

    assert (model.predict(rows) == side).mean() > 0.85  # means are the same: only spreads tell
    far = softmax(np.log(model.predict_proba([[20.0, 20.0]])), axis=1)
    assert far[0, 1] > 0.7


@pytest.mark.parametrize(
    "model",
    [
        KernelClassifier(0).fit(X, LABELS),
        KernelRegressor(0).fit(X, Y),
        SmallGaussianProcess().fit(X, Y),
        DiscriminantClassifier(0).fit(X, LABELS),
    ],
    ids=lambda model: type(model).__name__,
)
def test_files_hold_them_and_the_same_seed_gives_the_same_bits(model: Any, tmp_path: Any) -> None:
    asks = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    save(model, tmp_path / "model.coterie")
    again = type(model)(**model.get_params()).fit(X, LABELS if hasattr(model, "classes_") else Y)

    loaded = load(tmp_path / "model.coterie")
    # Not to the last bit: BLAS may add in another order where an array lies elsewhere in memory.
    np.testing.assert_allclose(getattr(loaded, asks)(X), getattr(model, asks)(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(getattr(again, asks)(X), getattr(model, asks)(X))
