"""Callbacks of scikit-learn that watch the members of an ensemble."""

from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from coterie import (
    BaggingClassifier,
    BlendingClassifier,
    GradientBoostingClassifier,
    OutputCodeClassifier,
    SelectionClassifier,
    StackingClassifier,
    VotingClassifier,
)

ProgressBar = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9").ProgressBar
RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = np.digitize(X[:, 0] + 0.3 * RNG.normal(size=120), [-0.5, 0.5])


class Diary:
    """Writes down whose tasks begin and end, also those of members that know callbacks."""

    max_propagation_depth = None

    def __init__(self) -> None:
        self.begun: list[tuple[str, ...]] = []
        self.ended: list[tuple[str, ...]] = []
        self.torn_down = 0

    def setup(self, estimator: Any, context: Any) -> None:
        self.owner = type(estimator).__name__

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.begun.append(way(context))

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        self.ended.append(way(context))

    def teardown(self, estimator: Any, context: Any) -> None:
        self.torn_down += 1


def way(context: Any) -> tuple[str, ...]:
    names: list[str] = []
    while context is not None:
        names.insert(0, context.source_task_name or context.task_name or str(context.task_id))
        context = context.parent
    return tuple(names)


MEMBERS = [("boost", GradientBoostingClassifier(n_estimators=3)), ("bayes", GaussianNB())]
ENSEMBLES = [
    VotingClassifier(MEMBERS, voting="soft"),
    StackingClassifier(MEMBERS, cv=3),
    BlendingClassifier(MEMBERS),
    SelectionClassifier(MEMBERS, cv=3),
    BaggingClassifier(GradientBoostingClassifier(n_estimators=3), 4),
    OutputCodeClassifier(GradientBoostingClassifier(n_estimators=3)),
]


@pytest.mark.parametrize("model", ENSEMBLES, ids=lambda model: type(model).__name__)
def test_members_and_their_rounds_are_watched(model: Any) -> None:
    diary = Diary()
    model.set_callbacks(diary).fit(X, Y)
    assert diary.owner == type(model).__name__
    assert diary.torn_down == 1
    assert sorted(diary.begun) == sorted(diary.ended)
    assert diary.begun[0] == diary.ended[-1] == ("fit",)
    members = [path for path in diary.begun if len(path) == 2]
    assert len(members) >= 2
    rounds = [path for path in diary.begun if len(path) == 3]
    assert len(rounds) >= 3
    model.set_callbacks().fit(X, Y)
    assert diary.torn_down == 1


def test_answers_are_the_same_with_and_without_and_in_processes() -> None:
    alone = StackingClassifier(MEMBERS, cv=3, random_state=0).fit(X, Y)
    with joblib.parallel_config("threading"):
        watched = StackingClassifier(MEMBERS, cv=3, random_state=0, n_jobs=2).set_callbacks(Diary()).fit(X, Y)
    np.testing.assert_array_equal(alone.predict_proba(X), watched.predict_proba(X))


def test_a_failed_fit_is_torn_down() -> None:
    diary = Diary()
    model = VotingClassifier([("bad", LogisticRegression(C=-1.0))]).set_callbacks(diary)
    with pytest.raises(ValueError, match="C"):
        model.fit(X, Y)
    assert diary.torn_down == 1


def test_inside_each_other_every_task_has_its_place() -> None:
    diary = Diary()
    inner = VotingClassifier(MEMBERS, voting="soft")
    VotingClassifier([("inner", inner), ("bayes", GaussianNB())], voting="soft").set_callbacks(diary).fit(
        X, Y
    )
    assert ("fit", "inner", "boost") in diary.begun
    assert max(map(len, diary.begun)) == 4


def test_a_progress_bar_of_scikit_learn_works() -> None:
    model = VotingClassifier(MEMBERS, voting="soft").set_callbacks(ProgressBar())
    assert model.fit(X, Y).predict(X).shape == (120,)
