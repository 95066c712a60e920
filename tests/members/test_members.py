"""Fitting many learners: one budget of threads, seeds of their own, and what happens when one fails."""

import os
import re
from itertools import product
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.ensemble import BaggingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags

from coterie import (
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from coterie.errors import InvalidInput, InvalidType
from coterie.fitting.monitor import FitEvent, monitored
from coterie.members.fit_members import Budget
from coterie.members.weight_parameter import weight_params
from tests.helpers.errors import raised
from tests.helpers.learners import Failing, Interrupted, Killed, ThreadCounter

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = X[:, 0] + RNG.normal(size=80) * 0.1
LABELS = np.where(Y > 0, "high", "low")


def counters(n: int, **settings: Any) -> list[tuple[str, Any]]:
    return [(f"m{i}", ThreadCounter(**settings)) for i in range(n)]


def test_the_budget_is_shared_out() -> None:
    assert Budget.of(6, 2) == Budget(2, 3)
    assert Budget.of(2, 9) == Budget(2, 1)
    assert Budget.of(1, 9) == Budget(1, 1)
    assert Budget.of(None, 9) == Budget(1, None)
    with joblib.parallel_config("threading", n_jobs=2):
        assert Budget.of(None, 9) == Budget(2, 1)


@pytest.mark.parametrize("asked", [None, -1, 7])
def test_a_member_is_held_to_its_share_and_gets_its_own_wish_back(asked: int | None) -> None:
    with joblib.parallel_config("threading"):
        model = VotingRegressor(counters(2, n_jobs=asked), n_jobs=4).fit(X, Y)

    assert [member.n_jobs_ for member in model.estimators_] == [2, 2]
    assert [member.n_jobs for member in model.estimators_] == [asked, asked]
    assert max(member.blas_ for member in model.estimators_) <= 2


def test_without_a_budget_members_do_as_they_like() -> None:
    model = VotingRegressor(counters(2, n_jobs=7)).fit(X, Y)

    assert [member.n_jobs_ for member in model.estimators_] == [7, 7]


def test_members_inside_members_are_held_too() -> None:
    inner = make_pipeline(
        StandardScaler(), BaggingRegressor(ThreadCounter(n_jobs=5), n_estimators=2, n_jobs=3)
    )
    model = VotingRegressor([("bag", inner)], n_jobs=1).fit(X, Y)

    assert [each.n_jobs_ for each in model.estimators_[0][-1].estimators_] == [1, 1]
    assert model.estimators_[0][-1].n_jobs == 3


@pytest.mark.parametrize("backend", ["loky", "threading", "sequential"])
def test_back_ends_and_numbers_of_jobs_change_no_answer(backend: str) -> None:
    members = [
        ("tree", DecisionTreeRegressor(max_features=1)),
        ("linear", LinearRegression()),
        ("forest", RandomForestRegressor(n_estimators=5)),
    ]
    alone = StackingRegressor(members, random_state=3).fit(X, Y)

    with joblib.parallel_config(backend):
        model = StackingRegressor(members, n_jobs=2, random_state=3).fit(X, Y)

    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    for name in ("tree", "linear", "forest"):
        np.testing.assert_array_equal(model.oof_predictions_[name], alone.oof_predictions_[name])


def test_each_member_and_fold_has_a_seed_of_its_own() -> None:
    members = [*counters(2), ("own", ThreadCounter(random_state=5))]
    model = StackingRegressor(members, members="folds", random_state=0).fit(X, Y)

    first, second, own = ([each.seed_ for each in member.models] for member in model.estimators_)
    assert len({*first, *second}) == 10
    assert own == [5] * 5
    again = StackingRegressor(members[:1], members="folds", random_state=0).fit(X, Y)
    assert [each.seed_ for each in again.estimators_[0].models] == first


def test_without_a_seed_members_keep_their_own() -> None:
    assert VotingRegressor(counters(1)).fit(X, Y).estimators_[0].seed_ is None


def test_an_error_says_whose_it_is() -> None:
    model = VotingClassifier([("good", DecisionTreeClassifier()), ("bad", Failing())])

    with pytest.raises(RuntimeError, match="80 rows are not enough") as caught:
        model.fit(X, LABELS)

    assert any("'bad'" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_failing_member_can_be_dropped(n_jobs: int | None) -> None:
    members = [
        ("bad", Failing()),
        ("tree", DecisionTreeClassifier(max_depth=2)),
        ("linear", LogisticRegression()),
    ]
    model = VotingClassifier(members, voting="soft", weights=[9, 1, 3], on_error="drop", n_jobs=n_jobs)

    with (
        joblib.parallel_config("threading"),
        pytest.warns(UserWarning, match="goes on without.*'bad'.*not enough"),
    ):
        model.fit(X, LABELS)

    assert model.dropped_ == {"bad": "RuntimeError: 80 rows are not enough"}
    assert model.named_estimators_["bad"] == "drop"
    assert model.weights_.tolist() == [0.25, 0.75]
    without = VotingClassifier(members[1:], voting="soft", weights=[1, 3]).fit(X, LABELS)
    np.testing.assert_array_equal(model.predict_proba(X), without.predict_proba(X))


def test_a_member_that_fails_in_a_fold_is_dropped_whole() -> None:
    members = [("bad", Failing(below=70)), ("linear", LogisticRegression())]
    with pytest.warns(UserWarning, match="'bad'"):
        model = StackingClassifier(members, on_error="drop").fit(X, LABELS)

    assert list(model.oof_predictions_) == ["linear"]
    assert len(model.estimators_) == 1
    assert model.transform(X).shape == (80, 1)


def test_if_all_fail_that_is_an_error() -> None:
    why = "RuntimeError: 80 rows are not enough"
    with raised(
        InvalidInput,
        received={"a": why, "b": why},
        about=f"every member failed, so nothing was learned. 'a': {why}",
    ):
        VotingClassifier([("a", Failing()), ("b", Failing())], on_error="drop").fit(X, LABELS)


@pytest.mark.parametrize("on_error", ["raise", "drop"])
def test_an_interruption_stops_the_fit_and_leaves_the_model_as_it_was(on_error: str) -> None:
    model = VotingRegressor([("linear", LinearRegression())], on_error=on_error).fit(X, Y)
    before = model.predict(X)
    model.set_params(estimators=[("linear", LinearRegression()), ("other", Interrupted())])

    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :2], Y)

    np.testing.assert_array_equal(model.predict(X), before)


def test_a_worker_that_dies_is_an_error_and_no_hang() -> None:
    model = VotingRegressor([("dies", Killed(os.getpid())), ("linear", LinearRegression())], n_jobs=2)

    with joblib.parallel_config("loky"), pytest.raises(RuntimeError) as caught:
        model.fit(X, Y)

    assert any("worker process that fitted members was terminated" in note for note in caught.value.__notes__)
    assert not hasattr(model, "estimators_")


@pytest.mark.slow
def test_a_member_whose_worker_dies_can_be_dropped() -> None:
    members = [("linear", LinearRegression()), ("dies", Killed(os.getpid()))]
    model = VotingRegressor(members, n_jobs=2, on_error="drop")
    with (
        joblib.parallel_config("loky"),
        pytest.warns(UserWarning, match="goes on without the members that failed: 'dies'"),
    ):
        model.fit(X, Y)
    assert list(model.dropped_) == ["dies"]
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, Y).predict(X))


def test_a_pipeline_hands_weights_to_its_last_step() -> None:
    weight = np.ones(3)

    assert weight_params(make_pipeline(StandardScaler(), LogisticRegression()), weight) == {
        "logisticregression__sample_weight": weight
    }
    assert weight_params(GridSearchCV(LogisticRegression(), {}), weight) == {"sample_weight": weight}
    assert weight_params(KNeighborsClassifier(), None) == {}
    neighbours = KNeighborsClassifier()
    with raised(
        InvalidType, parameter="sample_weight", received=neighbours, about="KNeighborsClassifier does not"
    ):
        weight_params(neighbours, weight)


def test_progress_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    VotingRegressor([("linear", LinearRegression()), ("tree", DecisionTreeRegressor())], verbose=True).fit(
        X, Y
    )

    lines = capsys.readouterr().out.splitlines()
    assert [re.sub(r"\d+\.\d s", "0.0 s", line) for line in lines] == [
        "VotingRegressor: (1 of 2) linear, 0.0 s, all rows",
        "VotingRegressor: (2 of 2) tree, 0.0 s, all rows",
    ]


@pytest.mark.parametrize(("n_jobs", "backend"), [(None, "loky"), (2, "loky"), (2, "threading")])
def test_each_fit_of_a_member_is_an_event_wherever_it_is_fitted(n_jobs: Any, backend: str) -> None:
    members = [("linear", LinearRegression()), ("tree", DecisionTreeRegressor())]
    events: list[FitEvent] = []
    with monitored(events.append), joblib.parallel_config(backend):
        StackingRegressor(members, cv=2, n_jobs=n_jobs).fit(X, Y)

    of_members = [event for event in events if event.step == "member"]
    assert [(event.done, event.total, event.name, event.note) for event in of_members] == [
        (place, 6, name, note)
        for place, (name, note) in enumerate(
            product(("linear", "tree"), ("all rows", "fold 1 of 2", "fold 2 of 2")), start=1
        )
    ]
    assert {event.owner for event in of_members} == {"StackingRegressor"}
    assert all(event.seconds is not None and event.seconds >= 0 for event in of_members)


def test_a_member_that_fails_is_an_event_too() -> None:
    members = [("linear", LinearRegression()), ("broken", LinearRegression(fit_intercept="no"))]
    events: list[FitEvent] = []
    with monitored(events.append), pytest.warns(UserWarning, match="broken"):
        VotingRegressor(members, on_error="drop").fit(X, Y)

    assert [(event.name, event.note) for event in events] == [("linear", "all rows"), ("broken", "failed")]


@pytest.mark.parametrize("name", ["allow_nan", "sparse", "categorical", "string"])
def test_an_ensemble_of_no_list_takes_nothing_special(name: str) -> None:
    assert getattr(get_tags(VotingClassifier(None)).input_tags, name) is False
