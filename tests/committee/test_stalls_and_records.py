"""A machine that stalls ends no fit, and a fit under a time limit can be repeated to the bit. The clock is ours."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin

import coterie
from coterie import CommitteeClassifier, CommitteeRegressor
from coterie.combining.greedy import SquaredErrorOfMean
from coterie.committee._committee_base import BaseCommittee
from coterie.committee._committee_data import (
    Clock,
    CommitteeData,
    FitLimits,
    RepeatedDeadline,
    read_input,
)
from coterie.committee._portfolio_run import PortfolioRun
from coterie.committee.metrics import LogLossMetric, SquaredErrorMetric
from coterie.committee.portfolio import Entry
from coterie.data.prepare import read_table
from coterie.errors import InvalidInput, InvalidParameter
from coterie.fitting.monitor import FitEvent
from coterie.members.out_of_fold import Fold

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = X[:, 0] + 0.3 * RNG.normal(size=200)


class Clockwork:
    now = 0.0


class Waits(RegressorMixin, BaseEstimator):
    """A line through one column, after some seconds; the n-th fit of all may take longer."""

    n_fits = 0

    def __init__(self, seconds: float = 0.1, column: int = 0, longer: float = 0.0, at: int = 0) -> None:
        self.seconds, self.column, self.longer, self.at = seconds, column, longer, at

    def fit(self, X: Any, y: Any) -> "Waits":
        Waits.n_fits += 1
        Clockwork.now += self.seconds + (self.longer if Waits.n_fits == self.at else 0.0)
        self.slope_ = float(np.polyfit(X[:, self.column], y, 1)[0])
        return self

    def predict(self, X: Any) -> Any:
        return self.slope_ * X[:, self.column]


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    Clockwork.now, Waits.n_fits = 0.0, 0
    monkeypatch.setattr(BaseCommittee, "_now", staticmethod(lambda: Clockwork.now))


def scores_take(monkeypatch: pytest.MonkeyPatch, seconds: Callable[[int], float]) -> list[int]:
    """Let the n-th score take so many seconds, of a member or a mean; returns a list whose only entry counts them."""
    count = [0]

    def slowed(method: Any) -> Any:
        def timed(*given: Any) -> Any:
            count[0] += 1
            Clockwork.now += seconds(count[0])
            return method(*given)

        return timed

    monkeypatch.setattr(SquaredErrorMetric, "value", slowed(SquaredErrorMetric.value))
    monkeypatch.setattr(SquaredErrorOfMean, "scores", slowed(SquaredErrorOfMean.scores))
    return count


def five_members() -> list[tuple[str, Waits]]:
    return [(f"column {place % 3}, {place}", Waits(0.1, place % 3)) for place in range(5)]


@pytest.mark.parametrize("stalled", [{1}, {2}, {2, 3}, {1, 2, 3}], ids=str)
def test_a_stall_while_a_member_is_scored_ends_no_fit(
    monkeypatch: pytest.MonkeyPatch, stalled: set[int]
) -> None:
    scores_take(monkeypatch, lambda number: 0.3 if number in stalled else 1e-5)

    model = CommitteeRegressor(30, portfolio=five_members(), random_state=0).fit(X, Y)

    assert model.skipped_ == {}
    assert len(model.members_) == 5


def test_a_stall_of_all_timings_is_found_out_before_anybody_is_skipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The four scores after the first member: its value, and three timings.
    scores_take(monkeypatch, lambda number: 0.5 if number <= 4 else 1e-5)

    model = CommitteeRegressor(30, portfolio=five_members(), random_state=0).fit(X, Y)

    assert model.skipped_ == {}


def test_scores_that_are_slow_all_the_time_do_take_time_from_members(monkeypatch: pytest.MonkeyPatch) -> None:
    scores_take(monkeypatch, lambda _: 0.3)

    model = CommitteeRegressor(30, portfolio=five_members(), random_state=0).fit(X, Y)

    assert model.members_ == ["column 0, 0"]
    assert list(model.skipped_) == [name for name, _ in five_members()[1:]]
    assert "s were left" in model.skipped_["column 1, 1"]


def test_a_member_that_seemed_too_dear_is_fitted_when_it_is_known_not_to_be() -> None:
    # The first fold of the first member takes 20 s; folds seem to take 4 s each until others are known.
    portfolio = [
        ("stalled", Waits(0.01, 0, longer=20.0, at=1)),
        *((f"column {column}", Waits(0.01, column)) for column in (1, 2)),
    ]
    late = CommitteeRegressor(40.0, portfolio=portfolio, random_state=0).fit(X, Y)
    assert late.members_ == ["stalled"]  # 20 s a member is what was seen, and 20 s are left

    Clockwork.now, Waits.n_fits = 0.0, 0
    model = CommitteeRegressor(60.0, portfolio=portfolio, random_state=0).fit(X, Y)
    assert model.members_ == ["stalled", "column 1", "column 2"]
    assert model.skipped_ == {}


def test_those_skipped_are_tried_once_more_when_others_are_known() -> None:
    # A stall of 5 s in the first member makes everything seem eleven times as dear as it is.
    entries = [
        Entry("first", Waits(0.1, 0, longer=5.0, at=1), lambda _: 0.1),
        Entry("second", Waits(0.2, 1), lambda _: 0.2),
        Entry("third", Waits(0.1, 2), lambda _: 0.1),
    ]

    run = _run_of(entries, 13.0)

    assert run.names == ["first", "third", "second"]
    assert run.skipped == {}
    assert Clockwork.now == pytest.approx(5.0 + 5 * 0.4)

    Clockwork.now, Waits.n_fits = 0.0, 0
    run = _run_of(entries, 11.0)
    assert run.names == ["first", "third"]
    assert run.skipped == {"second": "it would take about 11 s, and 5.5 s were left"}


def _run_of(entries: list[Entry], limit: float) -> PortfolioRun:
    given = read_input(read_table(X), Y, None, None, "regression", "test")
    every = np.arange(200)
    folds = [Fold(every[every % 5 != k], every[every % 5 == k]) for k in range(5)]
    data = CommitteeData.of(X, given, folds, 3)
    clock = Clock(lambda: Clockwork.now, 0.0, limit)
    run = PortfolioRun(data, FitLimits("test", max_iter=1), clock, 0, SquaredErrorMetric())
    run.train(entries)
    return run


def _events(deadline: RepeatedDeadline, steps: list[str]) -> list[bool]:
    return [deadline(FitEvent("a fit", step, number + 1, 9)) for number, step in enumerate(steps)]


@pytest.mark.parametrize("stop", [1, 2, 3])
def test_a_repeated_fit_stops_at_the_event_at_which_the_first_one_was_stopped(stop: int) -> None:
    deadline = RepeatedDeadline(stop)

    late = _events(deadline, ["fold", "round", "tree", "round", "round"])

    assert late == [False] + [number >= stop for number in range(1, 5)]
    assert (deadline.stop, deadline.stopped) == (stop, True)


def test_a_repeated_fit_that_was_never_stopped_is_not_stopped() -> None:
    deadline = RepeatedDeadline(0)

    assert _events(deadline, ["round"] * 4) == [False] * 4
    assert (deadline.stop, deadline.stopped) == (0, False)


class SlowToPredict(Waits):
    """Takes a quarter of a second for each prediction."""

    def predict(self, X: Any) -> Any:
        Clockwork.now += 0.25
        return super().predict(X)


def test_times_of_a_member_are_those_of_its_fits_and_of_its_predictions() -> None:
    Clockwork.now = 100.0

    [member] = _run_of([Entry("slow", SlowToPredict(2.0), lambda _: 2.0)], 130.0).members

    assert member.fit_time == pytest.approx(5 * 2.0)
    # 40 rows took 0.25 s in each of the five folds, and a new row is predicted by all five models.
    assert member.predict_time == pytest.approx(1000 / 40 * 5 * 0.25)


def ticking(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    def now() -> float:
        Clockwork.now += seconds
        return Clockwork.now

    monkeypatch.setattr(BaseCommittee, "_now", staticmethod(now))


MEMBERS = ["quick_boosting", "linear", "forest", "boosting"]


@pytest.mark.parametrize("tick", [0.1, 0.3])
def test_a_fit_that_the_limit_ended_is_repeated_to_the_last_bit(
    monkeypatch: pytest.MonkeyPatch, tick: float, tmp_path: Any
) -> None:
    ticking(monkeypatch, tick)
    model = CommitteeRegressor(4.0, portfolio=MEMBERS, n_jobs=1).fit(X, Y)
    assert model.stopped_  # else the clock of this test is too slow to show anything

    coterie.save(model, tmp_path / "model.coterie")
    ticking(monkeypatch, 1000.0)
    again = coterie.load(tmp_path / "model.coterie").repeat(X, Y)

    assert again.members_ == model.members_
    assert again.skipped_ == model.skipped_
    assert_array_equal(again.weights_, model.weights_)
    assert_array_equal(again.predict(X), model.predict(X))
    assert_array_equal(again.oof_prediction_, model.oof_prediction_)
    assert [vars(own) | {"stops": own.stops.tolist()} for own in again.record_] == [
        vars(own) | {"stops": own.stops.tolist()} for own in model.record_
    ]


def test_classes_are_repeated_with_their_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    ticking(monkeypatch, 0.01)
    labels = np.where(Y > 1.0, "yes", "no")
    model = CommitteeClassifier(2.0, scoring="f1", portfolio=MEMBERS[:3], n_jobs=1).fit(X, labels)
    again = model.repeat(X, labels)

    assert again.threshold_ == model.threshold_
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert_array_equal(again.predict(X), model.predict(X))


def test_what_cannot_be_repeated_says_so() -> None:
    model = CommitteeRegressor(None, portfolio=[("a", Waits())], random_state=0).fit(X, Y)
    with pytest.raises(InvalidParameter, match=r"to repeat a fit with the members \['a'\]"):
        model.set_params(portfolio=[("b", Waits())]).repeat(X, Y)

    del model.record_
    with pytest.raises(InvalidInput, match="did not record how members were fitted"):
        model.repeat(X, Y)


def test_a_repeated_deadline_counts_events() -> None:
    deadline = RepeatedDeadline(2)
    events = [FitEvent("a", "member", 1), *(FitEvent("a", "round", done, 9) for done in (1, 2, 3))]

    assert [deadline(event) for event in events] == [False, False, True, True]
    assert (deadline.stop, deadline.stopped) == (2, True)
    assert not any(RepeatedDeadline(0)(event) for event in events)


def test_the_metrics_that_choose_weights_are_their_own() -> None:
    assert SquaredErrorMetric().chosen_by.name == "neg_mean_squared_error"
    assert LogLossMetric().chosen_by.name == "neg_log_loss"
