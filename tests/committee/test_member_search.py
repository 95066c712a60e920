"""The search for variations of members: what it draws, what it keeps, and when it ends. The clock is ours."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from coterie import CommitteeRegressor
from coterie.committee import _portfolio_run, member_search, portfolio
from coterie.committee._committee_base import BaseCommittee
from coterie.committee.candidates.entry import Entry
from coterie.committee.growing_mean import GrowingMean
from coterie.committee.member_search import CANDIDATES, MemberSearch, patience_of
from coterie.committee.metrics import RowTargets
from coterie.members.out_of_fold import Fold

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, size=(300, 3))
Y = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * RNG.normal(size=300)
FOLDS = [Fold(np.setdiff1d(np.arange(300), test), test) for test in np.split(np.arange(300), 5)]


@dataclass
class FakeRun:
    """Fits nothing: a variation predicts the truth with noise, more of it for families that are worse."""

    noise: dict[str, float]
    good: frozenset[str] = frozenset()
    left: int = 10_000
    members: list[Any] = field(default_factory=list)
    data: Any = None
    trials: list[str] = field(default_factory=list)
    completed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        shape = SimpleNamespace(n_outputs=1)
        self.data = SimpleNamespace(n_rows=300, folds=FOLDS, shape=shape)
        for name in self.noise:
            self.members.append(SimpleNamespace(name=name, entry=Entry(name, None, family=name)))

    @property
    def names(self) -> list[str]:
        return [member.name for member in self.members]

    @property
    def is_over(self) -> bool:
        return self.left <= 0

    def loss_of(self, member: Any) -> float:
        return self.noise[member.entry.family]

    def fits(self, entry: Entry, n_more: float = 0.0) -> bool:
        return self.left > 0

    def predictions(self, name: str) -> Any:
        return Y[:, None] if name in self.good else np.full((300, 1), 40.0)

    def first_fold_predictions(self, entry: Entry) -> Any:
        self.left -= 1
        self.trials.append(entry.name)
        return self.predictions(entry.name)[FOLDS[0].test]

    def add_if_it_gains(self, entry: Entry, mean: GrowingMean) -> bool:
        self.left -= 5
        self.completed.append(entry.name)
        gained = mean.growth(self.predictions(entry.name)).gain > 0
        if gained:
            mean.add(self.predictions(entry.name))
            self.members.append(SimpleNamespace(name=entry.name, entry=entry))
        return gained


def searched(run: FakeRun) -> str:
    mean = GrowingMean(RowTargets(Y, np.ones(300)), is_classification=False)
    mean.add(np.zeros((300, 1)))
    return MemberSearch(run, lambda name: Entry(name, None, family=name.split("~")[0])).search(mean)


def test_it_ends_after_some_rounds_in_a_row_without_a_member() -> None:
    run = FakeRun({"forest": 1.0, "linear": 2.0})

    assert searched(run) == "4 rounds in a row added nothing"
    assert len(run.trials) == patience_of(300) * CANDIDATES
    assert run.completed == []


def test_a_member_that_was_found_begins_the_count_anew_and_is_varied_in_turn() -> None:
    run = FakeRun({"forest": 1.0, "linear": 2.0}, good=frozenset({"forest~3"}))

    searched(run)

    assert run.completed == ["forest~3"]
    assert len(run.trials) == (1 + 1 + patience_of(300)) * CANDIDATES  # forest~3 is in the second round


def test_only_the_better_half_of_the_families_is_varied_and_nothing_twice() -> None:
    noise = {"forest": 1.0, "linear": 2.0, "kernel": 3.0, "neighbors": 4.0, "adaboost": 5.0}
    run = FakeRun(noise)

    searched(run)

    assert {name.split("~")[0] for name in run.trials} == {"forest", "linear", "kernel"}
    assert len(set(run.trials)) == len(run.trials)
    assert run.trials[:4] == ["forest~1", "linear~1", "kernel~1", "forest~2"]


def test_it_ends_with_the_time() -> None:
    run = FakeRun({"forest": 1.0, "linear": 2.0}, left=6)

    assert searched(run) == "the time was over"
    assert len(run.trials) == 6


def test_families_without_a_space_are_not_varied() -> None:
    assert searched(FakeRun({"discriminant": 1.0})) == "no variation is left that fits into the time"


@pytest.fixture
def short_portfolio(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four members, no time that passes, and one round more of patience than is needed."""
    monkeypatch.setattr(portfolio, "ordered", lambda *_: ["neighbors", "linear", "extra_trees", "additive"])
    monkeypatch.setattr(BaseCommittee, "_now", staticmethod(lambda: 0.0))


@pytest.mark.usefixtures("short_portfolio")
def test_a_committee_with_time_left_finds_variations_and_repeats_them() -> None:
    model = CommitteeRegressor(30, random_state=0, n_jobs=1).fit(X, Y)
    found = [name for name in model.members_ if "~" in name]

    assert model.members_[:4] == ["neighbors", "linear", "extra_trees", "additive"]
    assert found
    assert model.n_tried_ >= CANDIDATES * patience_of(300)
    again = model.repeat(X, Y)
    assert again.members_ == model.members_
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    twin = CommitteeRegressor(30, random_state=0, n_jobs=1).fit(X, Y)
    assert twin.members_ == model.members_
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))


@pytest.mark.usefixtures("short_portfolio")
def test_nothing_is_searched_without_a_limit_with_names_or_of_few_rows() -> None:
    assert CommitteeRegressor(None, random_state=0).fit(X, Y).n_tried_ == 0
    assert CommitteeRegressor(30, portfolio=["linear"], random_state=0).fit(X, Y).n_tried_ == 0
    assert CommitteeRegressor(30, random_state=0).fit(X[:90], Y[:90]).n_tried_ == 0
    assert CommitteeRegressor(30, random_state=0, max_members=4).fit(X, Y).n_tried_ == 0


@pytest.mark.usefixtures("short_portfolio")
def test_members_in_a_row_that_add_nothing_end_the_portfolio(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = RNG.normal(size=300)
    monkeypatch.setattr(_portfolio_run, "_LEAST_GAIN", 0.5)  # nearly nobody adds so much
    monkeypatch.setattr(portfolio, "_PATIENCE_OF_FEW_ROWS", 2)

    model = CommitteeRegressor(None, random_state=0).fit(X, noise)

    assert model.members_ == ["neighbors", "linear", "extra_trees"]
    assert model.skipped_ == {"additive": "2 members in a row added nothing"}
    assert model.repeat(X, noise).members_ == model.members_


@pytest.mark.usefixtures("short_portfolio")
def test_a_variation_that_fits_noise_does_not_become_a_member(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(member_search, "_PATIENCE_OF_FEW_ROWS", 2)
    noise = np.random.default_rng(5).normal(size=300)

    model = CommitteeRegressor(30, random_state=0, n_jobs=1).fit(X, noise)

    assert model.n_tried_ >= 2 * CANDIDATES
    assert model.oof_score_ > -1.15 * np.var(noise)
