"""A committee that was killed goes on with the members that were complete, and ends with the same model."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coterie import (
    AdaBoostClassifier,
    Checkpoint,
    CommitteeClassifier,
    CommitteeRegressor,
    DecisionTreeClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from coterie.errors import InvalidInput
from tests.helpers.checkpoints import SIGNAL, WEIGHT, X, Y, killed_after, parts_in, timeless

LABELS = Y["two classes"]
PORTFOLIO = [
    ("tree", DecisionTreeClassifier(max_depth=3)),
    ("forest", RandomForestClassifier(4)),
    ("stumps", AdaBoostClassifier(n_estimators=3)),
    ("boosting", GradientBoostingClassifier(n_estimators=3)),
]


@pytest.fixture(autouse=True)
def _disks_do_not_keep_us_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


def committee(folder: Path | None = None, **more: Any) -> CommitteeClassifier:
    given = {"time_limit": None, "cv": 2, "portfolio": PORTFOLIO, "random_state": 0, "n_jobs": 1}
    return CommitteeClassifier(**{**given, "checkpoint": folder, **more})


@pytest.mark.parametrize("more", [{}, {"max_members": 3}, {"random_state": None}])
def test_wherever_it_is_killed_it_ends_with_the_same_model(more: dict[str, Any], tmp_path: Path) -> None:
    whole = None if "random_state" in more else timeless(committee(**more).fit(X, LABELS, WEIGHT))
    for n_members in (1, 2):
        folder = tmp_path / str(n_members)
        with killed_after(n_members):
            committee(folder, **more).fit(X, LABELS, WEIGHT)
        assert len(parts_in(folder)) == n_members
        resumed = committee(folder, **more).fit(X, LABELS, WEIGHT, resume=True)
        again = committee(folder, **more).fit(X, LABELS, WEIGHT, resume=True)

        assert timeless(resumed) == timeless(again)
        assert whole is None or timeless(resumed) == whole


def test_members_of_scikit_learn_on_a_matrix_go_on_too(tmp_path: Path) -> None:
    def numbers(**more: Any) -> Any:
        portfolio = ["linear", "neighbors", ("forest", RandomForestRegressor(3))]
        return CommitteeRegressor(None, cv=2, portfolio=portfolio, random_state=0, n_jobs=1, **more)

    with killed_after(2):
        numbers(checkpoint=tmp_path).fit(X, SIGNAL)
    resumed = numbers(checkpoint=tmp_path).fit(X, SIGNAL, resume=True)

    assert timeless(resumed) == timeless(numbers().fit(X, SIGNAL))


def test_members_that_are_known_are_not_fitted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = committee(tmp_path).fit(X, LABELS)
    for cls in (DecisionTreeClassifier, RandomForestClassifier, AdaBoostClassifier):
        monkeypatch.setattr(cls, "fit", None)
    monkeypatch.setattr(GradientBoostingClassifier, "fit", None)

    assert committee(tmp_path).fit(X, LABELS, resume=True).fit_times_ == first.fit_times_


class Seconds:
    """A clock that is one second later each time somebody looks."""

    now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def test_time_that_was_spent_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CommitteeClassifier, "_now", staticmethod(Seconds()))
    with killed_after(2):
        committee(tmp_path, time_limit=1000.0).fit(X, LABELS)
    monkeypatch.setattr(CommitteeClassifier, "_now", staticmethod(Seconds()))
    late = committee(tmp_path, time_limit=20.0).fit(X, LABELS, resume=True)
    monkeypatch.setattr(CommitteeClassifier, "_now", staticmethod(Seconds()))
    anew = committee(time_limit=20.0).fit(X, LABELS)

    assert late.members_ == ["tree", "forest"]
    assert all("s were left" in why for why in late.skipped_.values())
    assert late.fit_time_ > 20.0
    assert anew.fit_time_ < late.fit_time_


def test_more_time_may_be_given_and_no_limit_is_another_fit(tmp_path: Path) -> None:
    with killed_after(1):
        committee(tmp_path, time_limit=500.0).fit(X, LABELS)
    with pytest.raises(InvalidInput, match="time_limit was a number and is None"):
        committee(tmp_path).fit(X, LABELS, resume=True)
    assert committee(tmp_path, time_limit=1000.0).fit(X, LABELS, resume=True).members_[0] == "tree"


def test_after_an_interruption_the_rest_can_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(AdaBoostClassifier, "fit", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.warns(UserWarning, match="was interrupted"):
            some = committee(tmp_path).fit(X, LABELS)
    rest = committee(tmp_path).fit(X, LABELS, resume=True)

    assert some.members_ == ["tree", "forest"]
    assert timeless(rest) == timeless(committee().fit(X, LABELS))


def test_members_are_written_as_often_as_the_user_says(tmp_path: Path) -> None:
    committee(tmp_path, checkpoint=Checkpoint(tmp_path, every=3)).fit(X, LABELS)

    assert len(parts_in(tmp_path)) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"X": X * 2}, "X"),
        ({"y": LABELS[::-1]}, "y"),
        ({"sample_weight": WEIGHT}, "sample_weight"),
        ({"groups": np.arange(120) // 2}, "groups"),
        ({"cv": 3}, "cv was 2 and is 3"),
        ({"portfolio": PORTFOLIO[:3]}, "portfolio was"),
    ],
)
def test_another_fit_does_not_go_on_from_here(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    with killed_after(1):
        committee(tmp_path).fit(X, LABELS)
    params = {name: change[name] for name in change if name in ("cv", "portfolio")}
    given = {"X": X, "y": LABELS} | {name: value for name, value in change.items() if name not in params}

    with pytest.raises(InvalidInput, match=f"is the checkpoint of another fit: {said}"):
        committee(tmp_path, **params).fit(**given, resume=True)
