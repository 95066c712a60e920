"""What holds for AdaBoost on every table: weights, the error of the last member, the loss and its bound."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coterie import AdaBoostClassifier

SETTINGS = {
    "max_examples": 60,
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": list(HealthCheck),
}


@st.composite
def problems(draw: st.DrawFn, n_classes: int) -> tuple[Any, Any, Any]:
    """A small table with ties and missing values, classes that it partly explains, and weights or none."""
    n_rows = draw(st.integers(n_classes, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(0, draw(st.integers(2, 9)), size=(n_rows, draw(st.integers(1, 3)))).astype(float)
    y = (X[:, 0].astype(int) + rng.integers(0, 3, n_rows)) % n_classes
    y[:n_classes] = np.arange(n_classes)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    weight = draw(st.sampled_from([None, "whole", "real"]))
    if weight is None:
        return X, y, None
    return X, y, rng.integers(0, 4, n_rows) + 1.0 if weight == "whole" else rng.exponential(size=n_rows)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@settings(**SETTINGS)
@given(data=st.data(), n_rounds=st.integers(1, 12))
def test_the_laws_of_reweighting(n_classes: int, data: st.DataObject, n_rounds: int) -> None:
    X, y, weight = data.draw(problems(n_classes))
    model = AdaBoostClassifier(n_estimators=n_rounds).fit(X, y, sample_weight=weight)

    assert model.row_weights_.sum() == pytest.approx(1, abs=1e-12)
    assert model.row_weights_.min() >= 0
    np.testing.assert_allclose(np.cumprod(model.normalizers_), model.exponential_loss_, rtol=1e-9)
    assert (np.diff(model.exponential_loss_) <= 1e-12).all()
    if "is right on every row" not in model.stopped_because_ and model.estimator_weights_[-1] != 0:
        wrong = model.estimators_[-1].predict(X) != y
        assert model.row_weights_[wrong].sum() == pytest.approx(1 - 1 / n_classes, abs=1e-9)
    if n_classes == 2:
        assert (model.train_errors_ <= model.exponential_loss_ + 1e-12).all()
        np.testing.assert_allclose(
            model.normalizers_[:-1],
            2 * np.sqrt(model.estimator_errors_ * (1 - model.estimator_errors_))[:-1],
            rtol=1e-9,
        )


@pytest.mark.parametrize("algorithm", ["samme", "confidence", "real", "gentle"])
@settings(**{**SETTINGS, "max_examples": 25})
@given(data=st.data())
def test_the_loss_is_what_the_scores_say(algorithm: str, data: st.DataObject) -> None:
    X, y, weight = data.draw(problems(2))
    model = AdaBoostClassifier(algorithm=algorithm, n_estimators=6).fit(X, y, sample_weight=weight)

    given = np.ones(len(y)) if weight is None else weight
    sign = np.where(y == 1, 1.0, -1.0)
    for scores, loss in zip(model.staged_decision_function(X), model.exponential_loss_, strict=True):
        assert np.average(np.exp(-sign * scores), weights=given) == pytest.approx(loss, rel=1e-8)


@settings(**{**SETTINGS, "max_examples": 25})
@given(data=st.data(), kind=st.sampled_from(["exponential", "margin"]), n_classes=st.sampled_from([2, 3]))
def test_corrective_votes_are_not_negative_and_never_worse(
    data: st.DataObject, kind: str, n_classes: int
) -> None:
    X, y, weight = data.draw(problems(n_classes))
    model = AdaBoostClassifier(n_estimators=5, corrective=kind).fit(X, y, sample_weight=weight)

    assert model.estimator_weights_.min() >= 0
    assert model.row_weights_.sum() == pytest.approx(1, abs=1e-9)
    if kind == "exponential":
        assert (np.diff(model.exponential_loss_) <= 1e-9).all()
    elif model.n_estimators_ > 1:
        assert model.estimator_weights_.sum() == pytest.approx(1)
