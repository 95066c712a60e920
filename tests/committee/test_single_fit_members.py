"""Members that leave rows out by themselves: one fit in place of one for each fold, and predictions as good."""

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import KFold

from coterie import (
    CommitteeClassifier,
    CommitteeRegressor,
    GradientBoostingRegressor,
    NeuralNetworkRegressor,
)
from coterie.committee.candidates import foresight
from coterie.committee.metrics import RowTargets, SquaredErrorMetric
from coterie.committee.weights import OutOfFoldPredictions, weights_of
from coterie.members.out_of_fold import Fold

RNG = np.random.default_rng(0)
X = RNG.normal(size=(160, 4))
Y = X[:, 0] + np.abs(X[:, 1]) + 0.4 * RNG.normal(size=160)
NOISE = RNG.normal(size=160)


def fitted(**settings: Any) -> CommitteeRegressor:
    names = ["linear", "boosting", "forest"]
    return CommitteeRegressor(None, **{"portfolio": names, "cv": 4, "random_state": 0, **settings}).fit(X, Y)


def n_models(model: Any) -> dict[str, int]:
    return {member.name: len(member.models) for member in model.estimators_}


def test_boosting_and_the_forest_are_fitted_once() -> None:
    counts = n_models(fitted())

    assert counts.pop("linear", 4) == 4
    assert set(counts.values()) == {1}


def test_their_predictions_are_those_of_rows_left_out() -> None:
    model = fitted()
    boosting = model.named_estimators_["boosting"].models[0]

    assert isinstance(boosting, GradientBoostingRegressor)
    np.testing.assert_array_equal(model.oof_predictions_["boosting"], boosting.oof_prediction_)


def test_nothing_is_learned_of_noise() -> None:
    """A prediction of a model that saw the row would be far better than the mean."""
    model = CommitteeRegressor(None, portfolio=["boosting", "forest"], random_state=0).fit(X, NOISE)

    assert max(model.member_scores_.values()) < -0.97 * np.var(NOISE)
    assert model.oof_score_ < -0.97 * np.var(NOISE)


@pytest.mark.parametrize("cv", [KFold(3), list(KFold(3).split(X))])
def test_folds_of_the_users_own_are_kept(cv: Any) -> None:
    assert set(n_models(fitted(cv=cv)).values()) == {3}


def test_groups_are_left_to_boosting_and_kept_from_the_forest() -> None:
    groups = np.arange(160) // 4
    model = CommitteeRegressor(None, portfolio=["boosting", "forest"], cv=4, random_state=0)

    counts = n_models(model.fit(X, Y, groups=groups))

    assert counts["boosting"] == 1
    assert counts.get("forest", 4) == 4


def test_intervals_hold_the_targets_of_new_rows() -> None:
    model = fitted()
    rng = np.random.default_rng(1)
    new = rng.normal(size=(2000, 4))
    target = new[:, 0] + np.abs(new[:, 1]) + 0.4 * rng.normal(size=2000)

    low, high = model.predict_interval(new, alpha=0.1).T

    assert 0.86 < np.mean((low <= target) & (target <= high)) < 0.96


def test_weights_are_shrunk_to_the_prior_as_by_a_hundred_rows() -> None:
    n_rows = 300
    predictions = np.stack([NOISE[:100].repeat(3), np.zeros(n_rows)])[:, :, None]
    rows = RowTargets(NOISE[:100].repeat(3), np.ones(n_rows))
    every = np.ones(n_rows, dtype=bool)
    oof = OutOfFoldPredictions(predictions, rows, every, [Fold(np.arange(0), np.arange(n_rows))])

    assert weights_of(SquaredErrorMetric(), oof, every, 25).tolist() == [1.0, 0.0]
    np.testing.assert_allclose(weights_of(SquaredErrorMetric(), oof, every, 25, prior=1), [0.75, 0.25])


def test_few_rows_are_not_boosted() -> None:
    model = CommitteeClassifier(None, random_state=0).fit(X[:40], Y[:40] > 0.5)

    assert not any("boosting" in name for name in model.members_)


def test_networks_are_fitted_once_and_predict_rows_that_they_left_out() -> None:
    model = fitted(portfolio=["boosting", "network"])
    network = model.named_estimators_["network"].models[0]

    assert n_models(model) == {"boosting": 1, "network": 1}
    assert isinstance(network, NeuralNetworkRegressor)
    np.testing.assert_array_equal(model.oof_predictions_["network"], network.oof_prediction_)
    assert model.member_scores_["network"] > -0.6 * np.var(Y)


class Timeless(CommitteeRegressor):
    """A committee for which no time passes."""

    @staticmethod
    def _now() -> float:
        return 0.0


def test_a_large_table_and_a_short_limit_are_a_hold_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foresight, "LARGE", 50)
    names = ["linear", "boosting", "forest"]
    model = Timeless(0.2, portfolio=names, random_state=0).fit(X, Y)

    assert sorted(model.members_) == sorted(names)
    assert model.n_folds_ == 1
    assert set(n_models(model).values()) == {1}
    assert np.isfinite(model.oof_prediction_).sum() == 32
    assert model.oof_score_ > -0.6 * np.var(Y)
    low, high = model.predict_interval(X, alpha=0.2).T
    assert (low <= high).all()
    assert len(model.leaderboard()) >= 2
    np.testing.assert_array_equal(model.repeat(X, Y).predict(X), model.predict(X))


def test_with_time_enough_or_folds_of_ones_own_all_folds_are_held_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(foresight, "LARGE", 50)
    names = ["linear", "boosting", "forest"]

    assert Timeless(100, portfolio=names, random_state=0).fit(X, Y).n_folds_ == 5
    assert Timeless(0.2, portfolio=["linear"], cv=KFold(3), random_state=0).fit(X, Y).n_folds_ == 3
