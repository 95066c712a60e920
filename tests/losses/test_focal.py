"""The focal loss: that of its paper, log loss where gamma is zero, and kind to a rare class."""

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.linear_model import LinearRegression

from coterie import AnyBoostClassifier, GradientBoostingClassifier
from coterie.errors import InvalidParameter
from coterie.losses.focal import Focal

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1500, 4))
Y = (X[:, 0] + X[:, 1] ** 2 + RNG.normal(size=1500) > 3.5).astype(
    int
)  # one row in ten is of the second class


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("alpha", [None, 0.25])
def test_the_value_is_the_formula_of_the_paper(gamma: float, alpha: Any) -> None:
    y, raw = Y[:50], RNG.normal(size=50, scale=3)
    p = np.where(y == 1, expit(raw), 1 - expit(raw))
    weight = 1.0 if alpha is None else np.where(y == 1, alpha, 1 - alpha)

    assert_allclose(Focal(gamma, alpha).value(y, raw), -weight * (1 - p) ** gamma * np.log(p), rtol=1e-9)


@pytest.mark.parametrize("raw", [-800.0, -40.0, 0.0, 40.0, 800.0])
@pytest.mark.parametrize("gamma", [0.0, 0.5, 2.0])
def test_formulas_are_finite_however_far_the_raw_predictions_are(gamma: float, raw: float) -> None:
    y, far = np.array([0, 1]), np.full(2, raw)
    for formula in (Focal(gamma).value, Focal(gamma).gradient, Focal(gamma).hessian):
        assert np.isfinite(formula(y, far)).all()


def test_without_gamma_it_is_log_loss() -> None:
    ours, theirs = (
        GradientBoostingClassifier(loss=loss, n_estimators=20, linear_leaves=False, random_state=0).fit(X, Y)
        for loss in (Focal(gamma=0.0), "log_loss")
    )
    assert_allclose(ours.baseline_, theirs.baseline_, atol=1e-9)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-3)

    ours, theirs = (
        AnyBoostClassifier(LinearRegression(), loss=loss, n_estimators=20).fit(X, Y)
        for loss in (Focal(gamma=0.0), "log_loss")
    )
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)


def test_negative_hessians_are_no_surprise() -> None:
    """A row that is wrong by far bends the loss downwards; trees step along anyway, and nobody is warned."""
    loss = Focal(gamma=2.0)
    bound = loss.bind(Y, None, 1)
    bound.scores[:] = -5 / bound.scale
    assert loss.hessian(Y, bound.raw_predictions(np.arange(len(Y)))[:, 0])[Y == 1].max() < 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (bound.derivatives(0)[1] > 0).all()
        model = GradientBoostingClassifier(loss=loss, n_estimators=30, early_stopping=False).fit(X, Y)
    values = [loss.value(Y, raw).mean() for raw in model.staged_decision_function(X)]
    assert (np.diff(values) < 0).all()


def test_easy_rows_of_the_larger_class_count_less_than_in_log_loss() -> None:
    easy = expit(X[:, 0] - 4)  # of rows that are of the first class, nearly all are known
    raw, hard = np.log(easy / (1 - easy)), Y == 1
    shares = []
    for gamma in (0.0, 2.0):
        sizes = np.abs(Focal(gamma).gradient(Y, raw))
        shares.append(sizes[~hard].sum() / sizes.sum())
    assert shares[1] < 0.02 * shares[0]


def test_probabilities_are_drawn_towards_a_half() -> None:
    plain, focal = (
        GradientBoostingClassifier(loss=loss, n_estimators=60, random_state=0)
        .fit(X, Y)
        .predict_proba(X)[:, 1]
        for loss in ("log_loss", "focal")
    )
    assert np.abs(focal - 0.5).mean() < np.abs(plain - 0.5).mean()


@pytest.mark.parametrize(
    ("parameter", "received"),
    [("gamma", -1.0), ("gamma", "two"), ("gamma", np.inf), ("gamma", True), ("alpha", 0.0), ("alpha", 1.5)],
)
def test_settings_that_cannot_be_are_refused(parameter: str, received: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Focal(**{parameter: received})
    assert (caught.value.parameter, caught.value.received) == (parameter, received)
