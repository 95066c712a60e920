"""Out of fold: every splitter, every row, by models that did not see it."""

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.tree import DecisionTreeClassifier

from coterie.errors import InvalidInput, InvalidParameter
from coterie.members.fit_members import Member
from coterie.members.out_of_fold import CrossFitPlan, Fold, cross_fit, folds_of, splitter_of
from coterie.members.response import ResponseMethod
from tests.helpers.errors import raised
from tests.helpers.learners import RowSpy
from tests.naive.out_of_fold import out_of_fold

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.3 * RNG.normal(size=60), [-0.4, 0.4])]
GROUPS = np.arange(60) // 6
SPLITTERS = {
    "k-fold": KFold(4, shuffle=True, random_state=1),
    "stratified": StratifiedKFold(3),
    "groups": GroupKFold(4),
    "each group": LeaveOneGroupOut(),
    "time series": TimeSeriesSplit(4),
    "repeated": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "predefined": PredefinedSplit(np.where(np.arange(60) < 10, -1, np.arange(60) % 3)),
    "at random": ShuffleSplit(5, test_size=0.3, random_state=0),
    "a list": [(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))],
    "a number": 3,
}


def plan(learner: Any, y: Any, response: ResponseMethod, **settings: Any) -> CrossFitPlan:
    return CrossFitPlan([Member("it", learner)], [response], [y], [{}], **settings)


def folds(cv: Any, y: Any = Y, groups: Any = None) -> Any:
    splitter = splitter_of(cv, y, classifier=True)
    return folds_of(splitter, X, y, len(y), "test", **({} if groups is None else {"groups": groups}))


@pytest.mark.filterwarnings("ignore:test. .* never held out")
@pytest.mark.parametrize("cv", SPLITTERS)
@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_any_splitter_gives_the_answers_of_a_naive_loop(cv: str, method: str) -> None:
    learner = LogisticRegression()
    groups = GROUPS if "group" in cv else None

    found = folds(SPLITTERS[cv], groups=groups)
    crossed = cross_fit(plan(learner, Y, ResponseMethod(method, (np.unique(Y),))), X, found, 60)

    expected, coverage = out_of_fold(learner, X, Y, [(fold.train, fold.test) for fold in found], method)
    np.testing.assert_allclose(crossed.answers[0], expected, rtol=1e-12)
    np.testing.assert_array_equal(crossed.coverage, coverage)


@pytest.mark.filterwarnings("ignore:test. .* never held out")
@pytest.mark.parametrize("cv", SPLITTERS)
def test_no_answer_comes_from_a_model_that_saw_the_row(cv: str) -> None:
    rows = np.arange(60.0)[:, None]
    found = folds(SPLITTERS[cv], groups=GROUPS if "group" in cv else None)

    crossed = cross_fit(
        plan(RowSpy(), np.zeros(60), ResponseMethod("predict"), keeps_folds=True), rows, found, 60
    )

    held_out = crossed.coverage > 0
    assert np.all(crossed.answers[0][held_out] == 0)
    assert np.isnan(crossed.answers[0][~held_out]).all()
    assert crossed.models[0].rows_ == set(range(60))
    for model, fold in zip(crossed.fold_models[0], found, strict=True):
        assert model.rows_ == set(fold.train.tolist())


def test_time_is_respected() -> None:
    rows = np.arange(60.0)[:, None]
    crossed = cross_fit(
        plan(RowSpy(), np.zeros(60), ResponseMethod("predict"), keeps_folds=True),
        rows,
        folds(TimeSeriesSplit(4)),
        60,
    )

    assert crossed.coverage.tolist() == [0] * 12 + [1] * 48
    for model, fold in zip(crossed.fold_models[0], crossed.folds, strict=True):
        assert max(model.rows_) < fold.test.min()


def test_groups_are_not_parted() -> None:
    rows = np.arange(60.0)[:, None]
    crossed = cross_fit(
        plan(RowSpy(), np.zeros(60), ResponseMethod("predict"), keeps_folds=True),
        rows,
        folds(GroupKFold(4), groups=GROUPS),
        60,
    )

    for model, fold in zip(crossed.fold_models[0], crossed.folds, strict=True):
        assert not set(GROUPS[list(model.rows_)]) & set(GROUPS[fold.test])


def test_votes_of_several_models_are_counted() -> None:
    response = ResponseMethod("predict", (np.unique(Y),), is_vote=True)
    learner = DecisionTreeClassifier(max_depth=2, random_state=0)
    found = folds(SPLITTERS["repeated"])

    crossed = cross_fit(plan(learner, Y, response), X, found, 60)

    models = [learner.fit(X[fold.train], Y[fold.train]).predict(X[fold.test]) for fold in found]
    votes = np.zeros((60, 3))
    for fold, said in zip(found, models, strict=True):
        votes[fold.test, np.searchsorted(np.unique(Y), said)] += 1
    np.testing.assert_array_equal(response.finalize(crossed.answers[0])[:, 0], votes.argmax(axis=1))


def test_a_class_that_a_fold_did_not_see_has_no_probability_and_the_lowest_score() -> None:
    y = np.array(["a", "b", "c"] * 20)
    train, test = np.flatnonzero(y != "b"), np.flatnonzero(y == "b")
    found = [Fold(train, test)]

    for method in ("predict_proba", "decision_function"):
        crossed = cross_fit(
            plan(LogisticRegression(), y, ResponseMethod(method, (np.unique(y),))), X, found, 60
        )
        answers = crossed.answers[0][test]
        assert answers.shape == (20, 3)
        assert np.all(answers[:, 1] == (0 if method == "predict_proba" else answers[:, [0, 2]].min(axis=1)))


def test_rows_that_are_never_held_out_are_counted_aloud() -> None:
    with pytest.warns(UserWarning, match="20 of 60 rows are never held out"):
        folds([(np.arange(20), np.arange(20, 60))])


@pytest.mark.parametrize(
    ("cv", "received", "message"),
    [
        ([(np.arange(30), np.arange(29, 60))], [29], "fold 0 holds out row 29 and learns from it"),
        ([(np.arange(30), np.arange(30, 61))], (30, 60), "reach from 30 to 60, and the table has 60 rows"),
        ([(np.arange(30), [])], np.array([]), "test rows of fold 0"),
        ([([0.5], [1])], np.array([0.5]), "train rows of fold 0"),
    ],
)
def test_folds_that_cannot_be_are_refused(cv: Any, received: Any, message: str) -> None:
    with raised(InvalidParameter, parameter="cv", received=received, about=message):
        folds(cv)


def test_more_folds_than_rows_are_refused() -> None:
    with raised(InvalidParameter, parameter="cv", allowed="can divide 60 rows", about="n_splits=61"):
        folds(61)


def test_groups_must_be_given_to_a_splitter_that_wants_them() -> None:
    splitter = GroupKFold(3)
    with raised(
        InvalidParameter, parameter="cv", received=splitter, about="'groups' parameter should not be None"
    ):
        folds(splitter)


def test_a_member_of_other_classes_is_refused() -> None:
    with raised(
        InvalidInput, parameter="it", received=["a", "x"], allowed="'b'", about="'it' knows the classes"
    ):
        ResponseMethod("predict_proba", (np.array(["a", "b"]),)).predict_with(
            "it", LogisticRegression().fit([[0.0], [1.0]], ["a", "x"]), [[0.0]]
        )
