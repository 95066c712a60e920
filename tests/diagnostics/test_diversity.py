"""Diversity by its definitions, and its identities; the predictions of every ensemble's members as they are."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as some
from sklearn import ensemble as theirs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier as TheirTree

import coterie
from coterie.diagnostics import Ambiguity, Diversity, diversity
from coterie.diagnostics.diversity import diversity_of
from coterie.diagnostics.votes import member_predictions_of
from coterie.errors import InvalidInput, InvalidParameter, InvalidType
from coterie.members.member_predictions import MemberPredictions
from tests.naive.diversity import naive_kappa, naive_pair, naive_whole

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
WORDS = np.array(["a", "b", "c"])[(X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int) + (X[:, 2] > 1)]
NUMBERS = X[:, 0] * X[:, 1] + RNG.normal(scale=0.1, size=200)
VOTERS = [("line", LogisticRegression()), ("bayes", GaussianNB()), ("tree", TheirTree(max_depth=3))]
SPEAKERS = [
    ("line", LinearRegression()),
    ("tree", coterie.DecisionTreeRegressor(max_depth=3)),
    ("ridge", Ridge()),
]


def measured(codes: Any, truth: Any, n_classes: int) -> Diversity:
    values = np.eye(n_classes)[np.asarray(codes)]
    names = tuple(map(str, range(len(values))))
    n_rows = values.shape[1]
    members = MemberPredictions(values, np.ones(len(values)), names, (np.arange(n_classes),))
    return diversity_of(members, np.asarray(truth), np.ones(n_rows), 0.0)


def test_an_example_by_hand() -> None:
    """Three members, four rows of class 0: wrong are (3), (2), (none)."""
    found = measured([[0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0]], [0, 0, 0, 0], 2)

    assert found.member_errors.tolist() == [0.25, 0.25, 0]
    assert found.disagreement.tolist() == [[0, 0.5, 0.25], [0.5, 0, 0.25], [0.25, 0.25, 0]]
    assert found.double_fault[0, 1] == 0
    assert found.q_statistic[0, 1] == -1
    assert found.correlation[0, 1] == pytest.approx(-1 / 3)
    assert found.mean("disagreement") == pytest.approx(1 / 3)
    assert found.entropy == 0.5  # two of four rows have one wrong member of three
    assert found.kohavi_wolpert_variance == pytest.approx(1 / 9)
    assert found.generalized_diversity == 1  # no row is wrong twice
    assert found.vote_error == 0
    assert found.kappa[0, 1] == pytest.approx(-1 / 3)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    table=st.tuples(st.integers(2, 5), st.integers(1, 12)).flatmap(
        lambda shape: st.tuples(
            some.arrays(np.int64, shape, elements=st.integers(0, 2)),
            some.arrays(np.int64, shape[1], elements=st.integers(0, 2)),
        )
    )
)
def test_every_measure_is_that_of_its_definition(table: tuple[Any, Any]) -> None:
    codes, truth = table
    found = measured(codes, truth, 3)
    right = (codes == truth).tolist()

    for one, other in combinations(range(len(codes)), 2):
        for name, value in naive_pair(right[one], right[other]).items():
            np.testing.assert_allclose(getattr(found, name)[one, other], value, atol=1e-9)
        kappa = naive_kappa(codes[one].tolist(), codes[other].tolist())
        np.testing.assert_allclose(found.kappa[one, other], kappa, atol=1e-9)
    for name, value in naive_whole(right).items():
        np.testing.assert_allclose(getattr(found, name), value, atol=1e-9)


def test_a_row_of_weight_two_is_the_row_twice() -> None:
    model = coterie.VotingClassifier(VOTERS).fit(X[:100], WORDS[:100])
    twice = np.r_[100:150, 100:120]
    weight = np.r_[np.full(20, 2.0), np.ones(30)]
    one = diversity(model, X[100:150], WORDS[100:150], sample_weight=weight)
    other = diversity(model, X[twice], WORDS[twice])

    for name in ("kappa", "correlation", "q_statistic", "member_errors", "drop_one", "entropy", "vote_error"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-12)


CLASSIFIERS = [
    coterie.RandomForestClassifier(6, random_state=0),
    coterie.BaggingClassifier(n_estimators=5, random_state=0),
    coterie.BaggingClassifier(GaussianNB(), n_estimators=5, random_state=0),
    coterie.VotingClassifier(VOTERS, weights=[1, 2, 2]),
    coterie.VotingClassifier(VOTERS, voting="soft", weights=[1, 2, 3]),
    coterie.SelectionClassifier(VOTERS, random_state=0),
    coterie.AdaBoostClassifier(n_estimators=6),
    coterie.AdaBoostClassifier(TheirTree(max_depth=2), n_estimators=6, algorithm="real", random_state=0),
    theirs.ExtraTreesClassifier(6, random_state=0),
    theirs.BaggingClassifier(n_estimators=5, max_features=2, random_state=0),
    theirs.VotingClassifier(VOTERS),
    theirs.VotingClassifier(VOTERS, voting="soft", weights=[1, 2, 3]),
    theirs.AdaBoostClassifier(n_estimators=6, random_state=0),
]
REGRESSORS = [
    coterie.RandomForestRegressor(6, random_state=0),
    coterie.BaggingRegressor(n_estimators=5, random_state=0),
    coterie.VotingRegressor(SPEAKERS, weights=[1, 2, 3]),
    theirs.RandomForestRegressor(6, random_state=0),
    theirs.BaggingRegressor(n_estimators=5, random_state=0),
    theirs.VotingRegressor(SPEAKERS, weights=[1, 2, 3]),
]
OTHER_ANSWERS = [
    coterie.AdaBoostRegressor(n_estimators=5),
    coterie.StackingRegressor(SPEAKERS),
    theirs.AdaBoostRegressor(n_estimators=5, random_state=0),
    theirs.StackingRegressor(SPEAKERS),
]


@pytest.mark.parametrize(
    "model", CLASSIFIERS, ids=lambda model: type(model).__module__[:8] + type(model).__name__
)
def test_the_votes_of_members_are_the_ensemble(model: Any) -> None:
    model.fit(X[:120], WORDS[:120])
    members = member_predictions_of(model, X[120:])
    found = diversity(model, X[120:], WORDS[120:])
    total = np.tensordot(members.weights, members.values, axes=1)

    assert isinstance(found, Diversity)
    assert (model.classes_[total.argmax(axis=1)] == model.predict(X[120:])).all()
    assert found.vote_error == pytest.approx(found.ensemble_error)
    without = np.tensordot(members.weights[1:], members.values[1:], axes=1).argmax(axis=1)
    loss = (members.classes[0][without] != WORDS[120:]).mean() - found.vote_error
    assert found.drop_one[0] == pytest.approx(loss)
    n = len(found.names)
    assert found.kohavi_wolpert_variance == pytest.approx((n - 1) / (2 * n) * found.mean("disagreement"))
    spread = found.member_errors.mean() * (1 - found.member_errors.mean())
    kappa = 1 - n / ((n - 1) * spread) * found.kohavi_wolpert_variance
    assert found.interrater_agreement == pytest.approx(kappa)


@pytest.mark.parametrize(
    "model",
    [*REGRESSORS, *OTHER_ANSWERS],
    ids=lambda model: type(model).__module__[:8] + type(model).__name__,
)
def test_average_error_minus_ambiguity_is_the_error_of_the_mean(model: Any) -> None:
    model.fit(X[:120], NUMBERS[:120])
    found = diversity(model, X[120:], NUMBERS[120:])

    assert isinstance(found, Ambiguity)
    assert found.average_error - found.ambiguity == pytest.approx(found.mean_error, abs=1e-12)
    assert found.votes.sum() == pytest.approx(1)
    values = member_predictions_of(model, X[120:]).values[:, :, 0]
    assert found.distance[0, 1] == pytest.approx(((values[0] - values[1]) ** 2).mean())
    errors = values - NUMBERS[120:]
    assert found.correlation[0, 1] == pytest.approx(np.corrcoef(errors[0], errors[1])[0, 1])
    without = np.average(values[1:], axis=0, weights=found.votes[1:])
    assert found.drop_one[0] == pytest.approx(((without - NUMBERS[120:]) ** 2).mean() - found.mean_error)
    if model in REGRESSORS:
        assert found.mean_error == pytest.approx(found.ensemble_error)


@pytest.mark.parametrize(
    "kind", [coterie.StackingClassifier, coterie.BlendingClassifier, theirs.StackingClassifier]
)
def test_members_of_a_stack_are_compared_by_labels(kind: Any) -> None:
    model = kind(VOTERS).fit(X[:120], WORDS[:120])
    found = diversity(model, X[120:], WORDS[120:])
    own = [model.named_estimators_[name].predict(X[120:]) for name, _ in VOTERS]
    labels = [codes if codes.dtype.kind == "U" else model.classes_[codes] for codes in own]

    assert found.names == ("line", "bayes", "tree")
    np.testing.assert_allclose(found.member_errors, [(own != WORDS[120:]).mean() for own in labels])


def test_a_list_and_a_dict_of_models() -> None:
    models = [learner.fit(X[:120], WORDS[:120]) for _, learner in VOTERS]
    listed = diversity(models, X[120:], WORDS[120:])
    named = diversity(dict(zip("xyz", models, strict=True)), X[120:], WORDS[120:])

    assert listed.names[0] == "1 LogisticRegression"
    assert named.names == ("x", "y", "z")
    np.testing.assert_array_equal(listed.kappa, named.kappa)
    assert np.isnan(listed.ensemble_error)
    with pytest.raises(InvalidInput) as caught:
        diversity(models[:1], X, WORDS)
    assert (caught.value.parameter, caught.value.received) == ("model", 1)
    assert caught.value.allowed == "two members at least"
    with pytest.raises(InvalidInput) as caught:
        diversity([models[0], LinearRegression().fit(X, NUMBERS)], X, WORDS)
    assert caught.value.allowed == "classifiers only, or regressors only"


def test_the_listed_members_of_any_ensemble_are_compared() -> None:
    class Committee(ClassifierMixin, BaseEstimator):
        def __init__(self, members: Any) -> None:
            self.members = members

        def fit(self, X: Any, y: Any) -> Any:
            self.estimators_ = [member.fit(X, y) for member in self.members]
            self.classes_ = np.unique(y)
            return self

        def predict(self, X: Any) -> Any:
            return self.estimators_[0].predict(X)

    committee = Committee([LogisticRegression(), GaussianNB()]).fit(X[:120], WORDS[:120])
    found = diversity(committee, X[120:], WORDS[120:])

    assert found.names == ("member 1", "member 2")
    assert found.member_errors[0] == pytest.approx(found.ensemble_error)


def test_a_copy_is_redundant_and_is_not_missed() -> None:
    tree = coterie.DecisionTreeRegressor(max_depth=2).fit(X, NUMBERS)
    models = {"tree": tree, "copy": tree, "line": LinearRegression().fit(X, NUMBERS)}
    found = diversity(models, X, NUMBERS)

    assert found.twin.tolist()[:2] == [1, 0]
    assert found.redundancy[0] == pytest.approx(1)
    assert found.drop_one[0] == found.drop_one[1]
    assert repr(found).startswith("3 members\n  average error")


@pytest.mark.parametrize(
    "kind", [coterie.RandomForestClassifier, theirs.RandomForestClassifier, theirs.AdaBoostClassifier]
)
def test_frames_are_welcome(kind: Any) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = kind(n_estimators=4, random_state=0)
    found = diversity(model.fit(frame[:100], WORDS[:100]), frame[100:], pd.Series(WORDS[100:]))
    array = diversity(model.fit(X[:100], WORDS[:100]), X[100:], WORDS[100:])

    np.testing.assert_array_equal(found.kappa, array.kappa)
    assert len(found.cloud()[0]) == 6


def test_what_is_refused() -> None:
    with pytest.raises(InvalidType, match="Rounds of gradient boosting correct each other"):
        diversity(coterie.GradientBoostingClassifier(n_estimators=3).fit(X, WORDS), X, WORDS)
    codes = coterie.OutputCodeClassifier(LogisticRegression()).fit(X, np.arange(200) % 3)
    for model in (codes, OneVsRestClassifier(LogisticRegression()).fit(X, np.arange(200) % 3)):
        with pytest.raises(InvalidType) as unknown:
            diversity(model, X, np.arange(200) % 3)
        assert (unknown.value.parameter, unknown.value.received) == ("model", model)
    with pytest.raises(InvalidInput) as caught:
        diversity(coterie.RandomForestClassifier(1).fit(X, WORDS), X, WORDS)
    assert (caught.value.received, caught.value.allowed) == (1, "two members at least")
    both = np.stack([NUMBERS, NUMBERS], axis=1)
    with pytest.raises(InvalidInput) as caught:
        diversity(coterie.RandomForestRegressor(3).fit(X, both), X, NUMBERS)
    assert (caught.value.received, caught.value.allowed) == (2, "a model of one target")
    found = diversity(coterie.RandomForestClassifier(3, random_state=0).fit(X, WORDS), X, WORDS)
    with pytest.raises(InvalidParameter, match="measure='entropy': expected 'disagreement'"):
        found.mean("entropy")
