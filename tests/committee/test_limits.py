"""Time, memory and Ctrl-C: a committee ends when it has to, and says who is missing. The clock is made for the test."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin

from coterie import CommitteeRegressor, GradientBoostingRegressor, RandomForestRegressor
from coterie.committee import _portfolio_run
from coterie.committee._committee_base import BaseCommittee
from coterie.committee._committee_data import Clock, CommitteeData, Deadline, FitLimits
from coterie.committee._portfolio_run import PortfolioRun
from coterie.committee.candidates.foresight import Forecast
from coterie.committee.metrics import RowTargets, SquaredErrorMetric
from coterie.committee.portfolio import Entry, Shape, portfolio_of
from coterie.errors import InvalidInput, InvalidParameter
from coterie.fitting.monitor import FitEvent, monitored
from coterie.members.out_of_fold import Fold

X = np.arange(40.0).reshape(-1, 1)
Y = X[:, 0]


class HandClock:
    """Goes on when it is told."""

    def __init__(self) -> None:
        self.now = 100.0


CLOCK = HandClock()


class Slow(RegressorMixin, BaseEstimator):
    """Says a constant, after some seconds; may be interrupted, or fail, when it is fitted for the n-th time."""

    n_fits = 0

    def __init__(self, seconds: float = 1.0, answer: float = 0.0, trouble: Any = None, at: int = 0) -> None:
        self.seconds, self.answer, self.trouble, self.at = seconds, answer, trouble, at

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Slow":
        CLOCK.now += self.seconds
        if self.trouble is not None:
            Slow.n_fits += 1
            if Slow.n_fits > self.at:
                raise self.trouble
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X: Any) -> Any:
        CLOCK.now += self.answer
        return np.full(len(X), self.mean_)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> HandClock:
    CLOCK.now, Slow.n_fits = 100.0, 0
    monkeypatch.setattr(BaseCommittee, "_now", staticmethod(lambda: CLOCK.now))
    return CLOCK


def ticks(seconds: float) -> Callable[[], float]:
    """A clock on which time goes by whenever somebody looks at it."""

    def now() -> float:
        CLOCK.now += seconds
        return CLOCK.now

    return now


def committee(portfolio: Any, limit: float | None, **settings: Any) -> Any:
    return CommitteeRegressor(limit, portfolio=portfolio, random_state=0, **settings).fit(X, Y)


def test_members_are_fitted_as_long_as_they_fit_in() -> None:
    model = committee([("a", Slow(1.0)), ("b", Slow(1.0)), ("c", Slow(1.0))], 11.0)

    assert model.members_ == ["a", "b"]
    assert model.skipped_ == {"c": "it would take about 5 s, and 1 s were left"}
    assert model.fit_time_ == pytest.approx(10.0)
    assert not model.interrupted_


def test_the_first_member_is_fitted_however_little_time_there_is() -> None:
    model = committee([("a", Slow(1.0)), ("b", Slow(0.1))], 0.001)

    assert model.members_ == ["a"]
    assert list(model.skipped_) == ["b"]
    assert model.predict(X).shape == (40,)
    assert committee(["boosting"], 1e-9).members_ == ["boosting"]


def test_times_are_told_apart() -> None:
    model = committee([("a", Slow(1.0, answer=0.25))], None)

    assert model.fit_times_ == {"a": 5.0}
    assert model.predict_times_["a"] == pytest.approx(0.25 * 5 * 5 / 40 * 1000)
    assert model.leaderboard()[0]["predict_time"] == model.predict_times_["a"]


def test_a_cheap_member_is_still_tried_after_a_dear_one_was_skipped() -> None:
    forecast_of = {"dear": 100.0, "cheap": 0.5}
    portfolio = [("a", Slow(1.0)), ("dear", Slow(100.0)), ("cheap", Slow(0.5))]
    entries = [Entry(name, own, lambda _, name=name: forecast_of.get(name, 1.0)) for name, own in portfolio]

    own = run(data(), Clock(lambda: CLOCK.now, CLOCK.now, 20.0))
    own.train(entries)

    assert own.names == ["a", "cheap"]
    assert own.skipped == {"dear": "it would take about 500 s, and 15 s were left"}


def test_a_member_that_turns_out_slow_is_given_up_after_a_fold() -> None:
    model = committee([("a", Slow(1.0)), ("b", Slow(4.0)), ("c", Slow(0.1))], 15.0)

    assert model.members_ == ["a"]
    assert model.skipped_["b"] == "after 1 of 5 folds, it would take about 16 s, and 6 s were left"
    assert model.fit_time_ == pytest.approx(9.0)


def test_without_a_limit_everybody_takes_part() -> None:
    model = committee([("a", Slow(1e6)), ("b", Slow(1e6))], None)

    assert model.members_ == ["a", "b"]
    assert model.skipped_ == {}


def test_max_members_counts_those_that_are_complete() -> None:
    portfolio = [("bad", Slow(trouble=ValueError("no"))), ("a", Slow()), ("b", Slow())]

    with pytest.warns(UserWarning, match=r"goes on without.*'bad' \(ValueError: no\)"):
        model = committee(portfolio, None, max_members=1)

    assert model.members_ == ["a"]
    assert model.skipped_ == {"b": "max_members=1 were fitted"}
    assert model.dropped_ == {"bad": "ValueError: no"}


def test_a_failure_can_end_the_fit() -> None:
    with pytest.raises(ValueError, match="no") as caught:
        committee([("bad", Slow(trouble=ValueError("no")))], None, on_error="raise")

    assert any("'bad'" in note for note in caught.value.__notes__)


def test_if_everybody_fails_nothing_was_learned() -> None:
    with pytest.raises(InvalidInput, match="every member failed"):
        committee([("bad", Slow(trouble=ValueError("no")))], None)


def test_an_interruption_returns_what_is_complete() -> None:
    portfolio = [("a", Slow()), ("b", Slow(trouble=KeyboardInterrupt(), at=2)), ("c", Slow())]

    with pytest.warns(UserWarning, match=r"interrupted.*complete: a\."):
        model = committee(portfolio, None)

    assert model.interrupted_
    assert model.members_ == ["a"]
    assert model.skipped_ == {"b": "interrupted", "c": "interrupted"}
    assert model.predict(X) == pytest.approx(np.full(40, Y.mean()))


def test_an_interruption_of_the_first_member_is_an_interruption() -> None:
    with pytest.raises(KeyboardInterrupt):
        committee([("a", Slow(trouble=KeyboardInterrupt(), at=3)), ("b", Slow())], None)


def test_an_interruption_while_weights_are_chosen_chooses_them_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chosen = BaseCommittee._conclude
    calls = []

    def interrupted_once(self: Any, *args: Any) -> None:
        calls.append(len(calls))
        if len(calls) == 1:
            raise KeyboardInterrupt
        chosen(self, *args)

    monkeypatch.setattr(BaseCommittee, "_conclude", interrupted_once)
    with pytest.warns(UserWarning, match="interrupted"):
        model = committee([("a", Slow())], None)

    assert model.interrupted_
    assert calls == [0, 1]


def test_members_that_need_too_much_memory_are_skipped() -> None:
    n_rows = 2000
    table = np.random.default_rng(0).normal(size=(n_rows, 3))

    model = CommitteeRegressor(None, portfolio=["linear", "forest"], memory_limit=2.0, random_state=0)
    model.fit(table, table[:, 0])

    assert model.members_ == ["linear"]
    assert "MB would be needed; memory_limit=2" in model.skipped_["forest"]


def test_a_limit_that_nobody_keeps_is_an_error_that_says_what_is_needed() -> None:
    with pytest.raises(InvalidParameter, match=r"no member can be fitted.*memory_limit=1e-09.*expected"):
        committee([("a", Slow())], None, memory_limit=1e-9)


def data(y: Any = Y, folds: Any = None, n_columns: int = 1, classes: Any = None) -> CommitteeData:
    if folds is None:
        folds = [Fold(np.setdiff1d(np.arange(40), test), test) for test in np.split(np.arange(40), 5)]
    return CommitteeData(X, y, RowTargets(y, np.ones(len(y))), None, classes, folds, n_columns)


def run(data: CommitteeData, clock: Clock, seed: int = 0) -> PortfolioRun:
    return PortfolioRun(data, FitLimits("test", max_iter=1), clock, seed, SquaredErrorMetric())


def test_the_forecast_learns_how_fast_the_machine_is() -> None:
    known = Entry("known", None, lambda shape: float(shape.n_train))
    unknown = Entry("unknown", None)
    forecast = Forecast()
    assert forecast.seconds(known, Shape(10, 1, 1)) == 10.0
    assert forecast.seconds(unknown, Shape(10, 1, 1)) == 0.0

    forecast.learn(known, Shape(10, 1, 1), 5.0)
    forecast.learn(known, Shape(30, 1, 1), 5.0)

    assert forecast.seconds(known, Shape(8, 1, 1)) == pytest.approx(2.0)
    assert forecast.seconds(unknown, Shape(8, 1, 1)) == 5.0


def test_the_first_member_of_a_large_table_sees_a_sample() -> None:
    rows = 100_000
    fold = Fold(np.arange(rows), np.arange(rows, rows + 10))
    given = data(np.zeros(rows + 10), [fold, fold], n_columns=20)
    [entry] = portfolio_of(["quick_boosting"], "regression", given.shape)

    def sample(limit: float | None) -> int:
        clock = Clock(lambda: 0.0, 0.0, limit)
        return int(run(given, clock)._shape_for(entry).n_train)

    assert sample(None) == rows
    assert sample(1000.0) == rows
    assert _portfolio_run._FEWEST_ROWS <= sample(0.5) < sample(1.5) < rows
    assert sample(1e-9) == _portfolio_run._FEWEST_ROWS


def test_a_sample_keeps_a_row_of_every_class() -> None:
    y = np.array(["rare"] + ["common"] * 999)
    rows = np.arange(1000)
    given = data(y, [], classes=np.array(["common", "rare"]))

    drawn = run(given, Clock(lambda: 0.0, 0.0, None), seed=1)._sample(rows, 10)

    assert 10 <= len(drawn) <= 12
    assert set(y[drawn]) == {"rare", "common"}
    assert len(np.unique(drawn)) == len(drawn)


def test_rounds_of_boosting_stop_when_their_time_is_over() -> None:
    table = np.random.default_rng(0).normal(size=(200, 2))
    clock = Clock(lambda: CLOCK.now, CLOCK.now, 10.0)

    def tick() -> float:
        CLOCK.now += 1.0
        return CLOCK.now

    deadline = Deadline(Clock(tick, CLOCK.now, 10.0), 4.0)
    with monitored(deadline):
        model = GradientBoostingRegressor(n_estimators=50).fit(table, table[:, 0])

    assert deadline.stopped
    assert model.n_estimators_ == 5
    assert clock.left < 10.0


def test_forests_grow_no_more_trees_when_their_time_is_over() -> None:
    events: list[FitEvent] = []

    def stop_at_the_third(event: FitEvent) -> bool:
        events.append(event)
        return len(events) == 3

    with monitored(stop_at_the_third):
        model = RandomForestRegressor(100, random_state=0).fit(X, Y)

    assert [(event.step, event.done, event.total) for event in events] == [
        ("tree", 8, 100),
        ("tree", 16, 100),
        ("tree", 24, 100),
    ]
    assert events[-1].measures == {"out-of-bag error": pytest.approx(model._oob.errors[-1])}
    assert model.n_estimators_ == 24
    assert_array_equal(model.predict(X), RandomForestRegressor(24, random_state=0).fit(X, Y).predict(X))


def test_a_forest_that_the_limit_ended_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(0).normal(size=(60, 2))
    monkeypatch.setattr(BaseCommittee, "_now", staticmethod(ticks(0.01)))
    model = CommitteeRegressor(3.0, portfolio=[("trees", RandomForestRegressor(400))], random_state=0).fit(
        table, table[:, 0]
    )

    assert model.stopped_ == ["trees"]
    sizes = [forest.n_estimators_ for forest in model.estimators_[0].models]
    assert 0 < min(sizes) < 400


def test_members_with_rounds_are_told_of_the_limit_and_forget_it() -> None:
    table = np.random.default_rng(0).normal(size=(60, 2))

    model = CommitteeRegressor(5.0, portfolio=["boosting"], random_state=0).fit(table, table[:, 0])

    assert model.stopped_ == []
    assert not any(getattr(own, "_skl_callbacks", None) for own in model.estimators_[0].models)
