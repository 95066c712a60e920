"""Events: rounds and trees are told as they are done, a monitor can end a fit, and none of it changes a bit."""

import re
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from coterie import (
    BaggingRegressor,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
    VotingRegressor,
)
from coterie.fitting.monitor import FitEvent, monitored

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = X[:, 0] + 0.3 * RNG.normal(size=120)

MODELS = {
    "boosting": lambda: GradientBoostingRegressor(
        n_estimators=12, n_folds=1, early_stopping=False, random_state=0
    ),
    "several boosters": lambda: GradientBoostingRegressor(n_estimators=12, n_folds=3, random_state=0),
    "forest": lambda: RandomForestRegressor(20, random_state=0),
    "a forest that ends by itself": lambda: ExtraTreesRegressor("auto", bootstrap=True, random_state=0),
}


class Recorder:
    """Keeps events, and asks to stop when so many are there."""

    def __init__(self, most: int | None = None) -> None:
        self.events: list[FitEvent] = []
        self.most = most

    def __call__(self, event: FitEvent) -> bool:
        self.events.append(event)
        return self.most is not None and len(self.events) >= self.most


@pytest.mark.parametrize("case", MODELS)
def test_monitors_do_not_change_a_model(case: str) -> None:
    alone = MODELS[case]().fit(X, Y)
    recorder = Recorder()
    with monitored(recorder):
        watched = MODELS[case]().fit(X, Y)

    assert recorder.events
    assert_array_equal(alone.predict(X), watched.predict(X))


def test_rounds_of_boosting_are_counted_and_can_be_ended() -> None:
    recorder = Recorder(5)
    with monitored(recorder):
        model = MODELS["boosting"]().fit(X, Y)

    assert [(own.owner, own.step, own.done, own.total) for own in recorder.events] == [
        ("GradientBoostingRegressor", "round", number, 12) for number in range(1, 6)
    ]
    assert model.n_estimators_ == 5
    assert_array_equal(model.predict(X), MODELS["boosting"]().set_params(n_estimators=5).fit(X, Y).predict(X))


def test_several_boosters_end_together() -> None:
    recorder = Recorder(4)
    settings = {"early_stopping": False, "n_folds": 3}
    with monitored(recorder):
        model = MODELS["several boosters"]().set_params(**settings).fit(X, Y)

    assert model.rounds_.tolist() == [4] * len(model.rounds_)


def test_a_printer_shows_its_own_fit_and_not_those_inside(capsys: pytest.CaptureFixture[str]) -> None:
    members = [("forest", RandomForestRegressor(4)), ("boosting", GradientBoostingRegressor(n_estimators=3))]
    VotingRegressor(members, verbose=True).fit(X, Y)

    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        "VotingRegressor: (1 of 2) forest",
        "VotingRegressor: (2 of 2) boosting",
    ]


@pytest.mark.parametrize("n_estimators", [3, "auto"])
def test_bagging_prints_a_line_for_each_member(n_estimators: Any, capsys: pytest.CaptureFixture[str]) -> None:
    learner = DecisionTreeRegressor(splitter="best", max_depth=1)
    model = BaggingRegressor(learner, n_estimators, max_features=2, verbose=1, random_state=0).fit(X, Y)

    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(model.estimators_)
    count = r"\(1 of 3\) " if n_estimators == 3 else ""
    assert re.match(rf"BaggingRegressor: {count}\S.*, \d+\.\d s$", lines[0])
