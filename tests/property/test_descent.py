"""Whatever the table, the loss and the learner: with a line search the training loss never rises."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier as SklearnTree

from coterie import AnyBoostClassifier, AnyBoostRegressor, DecisionTreeRegressor
from coterie.losses import loss_for_classes, loss_names

LEARNERS: list[Any] = [DecisionTreeRegressor(max_depth=2), Ridge(), SklearnTree(max_depth=2)]
QUICK = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


def table(seed: int, n_rows: int) -> Any:
    return np.random.default_rng(seed).normal(size=(n_rows, 2)).round(1)


@pytest.mark.parametrize("learner", LEARNERS)
@QUICK
@given(
    seed=st.integers(0, 999),
    n_rows=st.integers(3, 25),
    loss=st.sampled_from(loss_names("regression")),
    init=st.sampled_from(["zero", "constant"]),
    rate=st.sampled_from([0.1, 0.7, 1.0]),
)
def test_of_numbers(learner: Any, seed: int, n_rows: int, loss: str, init: str, rate: float) -> None:
    X, rng = table(seed, n_rows), np.random.default_rng(seed + 1)
    y = rng.uniform(0.01, 0.99, n_rows).round(2)
    weight = rng.integers(0, 4, n_rows).astype(float) + (np.arange(n_rows) == 0)

    model = AnyBoostRegressor(
        learner, loss=loss, init=init, learning_rate=rate, n_estimators=6, random_state=0
    )
    model.fit(X, y, weight)

    assert (np.diff(model.train_losses_) <= 0).all()
    assert (model.inner_products_[: len(model.steps_)] < 0).all()
    assert (model.steps_ > 0).all()
    assert len(model.train_losses_) == model.n_estimators_ <= 6


@pytest.mark.parametrize("learner", LEARNERS)
@QUICK
@given(
    seed=st.integers(0, 999),
    n_rows=st.integers(4, 25),
    loss=st.sampled_from(loss_names("binary")),
    rate=st.sampled_from([0.1, 1.0]),
)
def test_of_two_classes(learner: Any, seed: int, n_rows: int, loss: str, rate: float) -> None:
    X = table(seed, n_rows)
    y = (np.random.default_rng(seed + 1).random(n_rows) < 0.5) | (np.arange(n_rows) == 0)

    model = AnyBoostClassifier(
        learner, loss=loss, init="zero", learning_rate=rate, n_estimators=6, random_state=0
    )
    first = loss_for_classes(loss, 2).values(y, np.zeros((n_rows, 1))).mean()
    losses = np.append(first + 1e-12, model.fit(X, y).train_losses_)

    assert (np.diff(losses) <= 0).all()
    if loss == "exponential":  # which is never below the share of errors
        assert losses[-1] >= np.mean(model.predict(X) != y) - 1e-12


@QUICK
@given(seed=st.integers(0, 999), n_rows=st.integers(4, 25), n_classes=st.integers(3, 5))
def test_of_several_classes(seed: int, n_rows: int, n_classes: int) -> None:
    X, y = table(seed, n_rows), np.random.default_rng(seed + 1).integers(0, n_classes, n_rows)
    y[:3] = [0, 1, 2]

    model = AnyBoostClassifier(LEARNERS[0], learning_rate=1.0, n_estimators=5).fit(X, y)

    assert (np.diff(model.train_losses_) <= 0).all()
    assert model.n_estimators_ > 0 or len(np.unique(X, axis=0)) == 1
