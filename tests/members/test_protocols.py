"""Who has which methods for other packages, and that these agree with what the ensemble predicts."""

from typing import Any

import numpy as np
import pytest
import sklearn.ensemble as theirs
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier as TheirTree

import coterie
from coterie.diagnostics.sklearn_adapters import with_protocols
from coterie.errors import InvalidParameter

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
NUMBERS = X[:, 0] + X[:, 1] * X[:, 2]
LABELS = np.where(NUMBERS + RNG.normal(size=120) > 0, "high", "low")
CLASSIFIERS = [("line", LogisticRegression()), ("bayes", GaussianNB())]
REGRESSORS = [("line", LinearRegression()), ("tree", coterie.DecisionTreeRegressor(max_depth=2))]

METHODS = (
    "member_predictions",
    "predict_after",
    "split_counts",
    "staged_votes",
    "tree_sum",
    "votes",
    "with_members",
    "with_rounds",
)
OURS: list[tuple[Any, set[str]]] = [
    (coterie.DecisionTreeClassifier(max_depth=2), {"split_counts", "tree_sum"}),
    (
        coterie.RandomForestClassifier(3, random_state=0),
        {"member_predictions", "predict_after", "split_counts", "tree_sum", "votes", "with_members"},
    ),
    (
        coterie.RandomForestRegressor(3, random_state=0),
        {"member_predictions", "predict_after", "split_counts", "tree_sum", "with_members"},
    ),
    (
        coterie.BaggingClassifier(n_estimators=3, random_state=0),
        {"member_predictions", "predict_after", "tree_sum", "with_members"},
    ),
    (
        coterie.GradientBoostingClassifier(n_estimators=3, random_state=0),
        {"split_counts", "tree_sum", "votes", "with_rounds"},
    ),
    (
        coterie.GradientBoostingRegressor(n_estimators=3, random_state=0),
        {"split_counts", "tree_sum", "with_rounds"},
    ),
    (
        coterie.AdaBoostClassifier(n_estimators=3, random_state=0),
        {"member_predictions", "staged_votes", "tree_sum"},
    ),
    (coterie.AdaBoostRegressor(n_estimators=3, random_state=0), {"member_predictions"}),
    (coterie.VotingClassifier(CLASSIFIERS), {"member_predictions", "with_members"}),
    (coterie.VotingRegressor(REGRESSORS, voting="median"), {"member_predictions"}),
    (coterie.SelectionRegressor(REGRESSORS, random_state=0), {"member_predictions", "with_members"}),
    (coterie.StackingRegressor(REGRESSORS), {"member_predictions"}),
    (coterie.OutputCodeClassifier(LogisticRegression()), set()),
    (coterie.AnyBoostRegressor(n_estimators=3), set()),
]
THEIRS: list[tuple[Any, set[str]]] = [
    (theirs.RandomForestClassifier(3, random_state=0), {"member_predictions", "predict_after", "votes"}),
    (theirs.BaggingRegressor(n_estimators=3, random_state=0), {"member_predictions", "predict_after"}),
    (theirs.VotingClassifier(CLASSIFIERS), {"member_predictions", "votes"}),
    (theirs.VotingRegressor(REGRESSORS), {"member_predictions"}),
    (theirs.StackingClassifier(CLASSIFIERS), {"member_predictions"}),
    (theirs.AdaBoostClassifier(n_estimators=3, random_state=0), {"member_predictions", "votes"}),
    (theirs.AdaBoostRegressor(n_estimators=3, random_state=0), {"member_predictions"}),
    (theirs.GradientBoostingRegressor(n_estimators=3), set()),
    (TheirTree(max_depth=2), {"split_counts"}),
]


def target_of(model: Any) -> Any:
    return LABELS if model.__sklearn_tags__().estimator_type == "classifier" else NUMBERS


@pytest.mark.parametrize(("model", "methods"), [*OURS, *THEIRS], ids=lambda each: type(each).__name__)
def test_a_model_has_the_methods_of_its_protocols(model: Any, methods: set[str]) -> None:
    fitted = with_protocols(model.fit(X, target_of(model)))
    assert {name for name in METHODS if hasattr(fitted, name)} == methods


MEANS = [each for each, methods in [*OURS, *THEIRS] if {"member_predictions", "predict_after"} <= methods] + [
    coterie.VotingClassifier(CLASSIFIERS, weights=[3, 1]),
    coterie.VotingRegressor(REGRESSORS),
    coterie.SelectionRegressor(REGRESSORS, random_state=0),
    theirs.VotingRegressor(REGRESSORS, weights=[3, 1]),
]


@pytest.mark.parametrize("model", MEANS, ids=lambda each: type(each).__module__[:8] + type(each).__name__)
def test_the_weighted_mean_of_the_members_is_the_prediction(model: Any) -> None:
    model.fit(X, target_of(model))
    members = with_protocols(model).member_predictions(X)

    mean = np.average(members.values, axis=0, weights=members.weights)
    if members.classes:
        np.testing.assert_array_equal(members.classes[0][mean.argmax(axis=1)], model.predict(X))
    else:
        np.testing.assert_allclose(mean[:, 0], model.predict(X), rtol=1e-10)
    assert len(members.names) == len(members.values) == len(members.weights)


@pytest.mark.parametrize(
    "model",
    [each for each, methods in [*OURS, *THEIRS] if "predict_after" in methods],
    ids=lambda each: type(each).__module__[:8] + type(each).__name__,
)
def test_after_all_members_the_prediction_is_that_of_the_model(model: Any) -> None:
    ensemble = with_protocols(model.fit(X, target_of(model)))
    first, last = ensemble.predict_after(X, np.array([1, ensemble.n_estimators_]))

    np.testing.assert_array_equal(last, model.predict(X))
    assert (first != last).any()


def test_the_predictions_of_a_committee_are_the_mean_of_its_members_by_weight() -> None:
    committee = coterie.CommitteeClassifier(max_members=3, random_state=0).fit(X, LABELS)
    members = committee.member_predictions(X)
    held_out = committee.held_out_predictions()

    mean = np.average(members.values, axis=0, weights=members.weights)
    np.testing.assert_array_equal(committee.classes_[mean.argmax(axis=1)], committee.predict(X))
    assert held_out.members.names == tuple(committee.members_)
    assert held_out.members.values.shape == (len(committee.members_), 120, 2)
    np.testing.assert_array_equal(committee.classes_[held_out.truth], LABELS)


def test_a_forest_of_some_trees_predicts_their_mean() -> None:
    forest = coterie.RandomForestRegressor(6, random_state=0).fit(X, NUMBERS)
    some = forest.with_members(np.array([1, 4]))

    np.testing.assert_allclose(
        some.predict(X), forest.member_predictions(X).values[[1, 4], :, 0].mean(axis=0)
    )
    assert len(forest.forest_) == 6


def test_boosting_with_its_first_rounds_predicts_as_it_did_then() -> None:
    model = coterie.GradientBoostingRegressor(n_estimators=9, random_state=0).fit(X, NUMBERS)
    stages = list(model.staged_predict(X))

    np.testing.assert_array_equal(model.with_rounds(4).predict(X), stages[3])
    assert model.n_estimators_ == 9
    with pytest.raises(InvalidParameter):
        model.with_rounds(10)


def test_split_counts_of_a_forest_are_those_of_its_trees() -> None:
    forest = coterie.RandomForestRegressor(4, random_state=0).fit(X, NUMBERS)
    counts = np.sum([tree.split_counts() for tree in forest.estimators_], axis=0)

    np.testing.assert_array_equal(forest.split_counts(), counts)
    assert counts.sum() == sum(tree.get_n_leaves() - 1 for tree in forest.estimators_)


def test_tree_features_are_the_columns_if_they_hold_numbers() -> None:
    for model in (coterie.RandomForestRegressor(2), coterie.GradientBoostingRegressor(n_estimators=2)):
        np.testing.assert_array_equal(model.fit(X, NUMBERS).tree_features(X), X)
