"""What members cost to predict: the leaderboard shows it, and a limit decides who has weight.

The clock is made for the test.
"""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin

from coterie import CommitteeRegressor, load, save
from coterie.combining.greedy import GreedyOptions, SquaredErrorOfMean, greedy_path
from coterie.committee._committee_base import BaseCommittee

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 2))
Y = X[:, 0] + X[:, 1]


class HandClock:
    now = 0.0


class Reader(RegressorMixin, BaseEstimator):
    """Adds up columns, with a share of each, and takes some seconds for each row that it predicts."""

    def __init__(self, shares: tuple[float, float] = (1.0, 0.0), seconds: float = 0.0) -> None:
        self.shares, self.seconds = shares, seconds

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Reader":
        self.fitted_ = True
        return self

    def predict(self, X: Any) -> Any:
        HandClock.now += self.seconds * len(X)
        return np.asarray(X) @ np.array(self.shares)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BaseCommittee, "_now", staticmethod(lambda: HandClock.now))


# A row is predicted by the models of five folds, so that 1,000 rows take 5,000 times as many seconds.
ONE, OTHER = ("one", Reader((1, 0), 0.001)), ("other", Reader((0, 1), 0.001))
ALL: list[Any] = [ONE, OTHER, ("both", Reader((1, 1), 0.004))]


def committee(limit: float | None, portfolio: Any = ALL) -> CommitteeRegressor:
    return CommitteeRegressor(None, portfolio=portfolio, max_predict_time=limit, random_state=0).fit(X, Y)


def weights_of(model: CommitteeRegressor) -> dict[str, float]:
    return dict(zip(model.members_, model.weights_.tolist(), strict=True))


def test_without_a_limit_the_best_has_the_weight() -> None:
    assert weights_of(committee(None)) == {"one": 0.0, "other": 0.0, "both": 1.0}


def test_members_with_weight_predict_within_the_limit_together() -> None:
    model = committee(11.0)
    assert weights_of(model)["both"] == 0.0
    assert min(weights_of(model)["one"], weights_of(model)["other"]) > 0.3
    first = model.leaderboard()[0]
    assert first["predict_time"] == pytest.approx(10.0)
    only = committee(9.0)
    assert sorted(only.weights_) == [0.0, 0.0, 1.0], "two would take ten seconds"
    assert len(only.estimators_) == 1


def test_a_dear_member_makes_room_for_several_that_are_better_together() -> None:
    dear = ("dear", Reader((0.4, 0.4), 0.0021))
    model = committee(11.0, [ONE, OTHER, dear])
    assert model.member_scores_["dear"] == max(model.member_scores_.values())
    assert weights_of(model)["dear"] == 0.0
    assert min(weights_of(model)["one"], weights_of(model)["other"]) > 0.3


def test_the_fastest_is_alone_if_none_is_fast_enough() -> None:
    with pytest.warns(UserWarning, match="no member predicts 1,000 rows within max_predict_time=0.1 s"):
        model = committee(0.1)
    assert weights_of(model) == {"one": 1.0, "other": 0.0, "both": 0.0}


def test_the_honest_score_keeps_the_limit_too() -> None:
    model = committee(9.0)
    spread = np.var(X[:, 0] - Y), np.var(X[:, 1] - Y)
    assert -model.oof_score_ >= 0.8 * min(spread), "no fold is predicted by the member that is too dear"


def test_times_are_recorded_and_a_repeat_uses_those() -> None:
    model = committee(11.0)
    # Now the two are a thousand times slower, and the dear one takes no time.
    other = [(name, Reader(own.shares, 0.0 if name == "both" else 1.0)) for name, own in ALL]
    model.set_params(portfolio=other)
    again = model.repeat(X, Y)
    assert_array_equal(again.predict(X), model.predict(X))
    assert_array_equal(again.repeat(X, Y).predict(X), model.predict(X))
    assert [own.predict_time for own in again.record_] == pytest.approx([5.0, 5.0, 20.0])


def test_sizes_are_bytes_and_none_where_models_cannot_be_copied(tmp_path: Any) -> None:
    model = committee(None, ["linear", "forest"])
    board = model.leaderboard()
    by_name = {row["name"]: row["size"] for row in board}
    kept = [own.name for own in model.estimators_]
    assert all(by_name[name] > 1000 for name in kept)
    assert by_name["committee"] == sum(by_name[name] for name in kept)
    assert [by_name[name] for name in model.members_ if name not in kept] == [None] * (2 - len(kept))
    save(model, tmp_path / "model.coterie")
    assert load(tmp_path / "model.coterie").leaderboard().column("size") == board.column("size")
    lost: list[Any] = [("lost", Unpicklable())]
    assert committee(None, lost).leaderboard()[0]["size"] is None


class Unpicklable(Reader):
    def __init__(self) -> None:
        super().__init__()

    def __getstate__(self) -> Any:
        raise TypeError("not this one")


def test_greedy_additions_are_paid_for_once() -> None:
    predicted = np.array([[[2.0]], [[-2.0]], [[1.0]]])
    loss = SquaredErrorOfMean(predicted, np.array([[0.0]]), np.ones(1))
    costs = np.array([0.3, 0.3, 0.8])
    assert greedy_path(predicted, loss, [0, 1], GreedyOptions(4, costs=costs)).members == [0, 1, 0, 1]
    assert greedy_path(predicted, loss, [0, 1, 2], GreedyOptions(3, costs=costs)).members == [2, 2, 2]
