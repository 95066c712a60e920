"""Voting: scikit-learn's answers where it has them, and what it has not."""

import pickle
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import ensemble
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from coterie import RandomForestClassifier, RandomForestRegressor, VotingClassifier, VotingRegressor
from coterie.errors import InvalidInput, InvalidParameter
from tests.naive.simplex import smallest_on_simplex

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
SCORE = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * RNG.normal(size=150)
LABELS = np.array(["blue", "green", "red"])[np.digitize(SCORE, [0.0, 0.8])]
CLASSIFIERS: list[Any] = [
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ("bayes", GaussianNB()),
    ("linear", LogisticRegression()),
]
REGRESSORS: list[Any] = [
    ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
    ("linear", LinearRegression()),
    ("near", KNeighborsRegressor()),
]


@pytest.mark.parametrize("weights", [None, [3, 1, 1], (0, 1, 2.5)])
@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_classes_are_those_of_scikit_learn(voting: str, weights: Any) -> None:
    ours = VotingClassifier(CLASSIFIERS, voting=voting, weights=weights).fit(X, LABELS)
    theirs = ensemble.VotingClassifier(CLASSIFIERS, voting=voting, weights=weights).fit(X, LABELS)

    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert_allclose(ours.transform(X), theirs.transform(X))
    assert_array_equal(ours.classes_, theirs.classes_)
    assert_array_equal(ours.le_.transform(LABELS), theirs.le_.transform(LABELS))
    assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    assert list(ours.named_estimators_) == list(theirs.named_estimators_)
    assert hasattr(ours, "predict_proba") == hasattr(theirs, "predict_proba")
    if voting == "soft":
        assert_allclose(ours.predict_proba(X), theirs.predict_proba(X))


@pytest.mark.parametrize("weights", [None, [3, 1, 1], [0, 0, 1]])
def test_numbers_are_those_of_scikit_learn(weights: Any) -> None:
    ours = VotingRegressor(REGRESSORS, weights=weights).fit(X, SCORE)
    theirs = ensemble.VotingRegressor(REGRESSORS, weights=weights).fit(X, SCORE)

    assert_allclose(ours.predict(X), theirs.predict(X))
    assert_allclose(ours.transform(X), theirs.transform(X))
    assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())


def test_dropped_members_and_sample_weights_are_as_in_scikit_learn() -> None:
    weight = RNG.integers(0, 3, 150).astype(float)
    both = [
        each(CLASSIFIERS, voting="soft", weights=[1, 2, 4])
        .set_params(bayes="drop")
        .fit(X, LABELS, sample_weight=weight)
        for each in (VotingClassifier, ensemble.VotingClassifier)
    ]

    assert_allclose(both[0].predict_proba(X), both[1].predict_proba(X))
    assert both[0].named_estimators_["bayes"] == "drop"
    assert len(both[0].estimators_) == 2
    assert_allclose(both[0].weights_, [0.2, 0.8])


def test_three_dimensions_are_kept_if_wished() -> None:
    model = VotingClassifier(CLASSIFIERS, voting="soft", flatten_transform=False).fit(X, LABELS)

    assert model.transform(X).shape == (3, 150, 3)
    with pytest.raises(ValueError, match="get_feature_names_out is not supported"):
        model.get_feature_names_out()


def test_members_see_the_labels_as_they_are() -> None:
    model = VotingClassifier(CLASSIFIERS).fit(X, LABELS)

    assert all(set(member.classes_) == {"blue", "green", "red"} for member in model.estimators_)


def test_members_that_were_fitted_before_are_taken_as_they_are() -> None:
    fitted = [(name, clone(learner).fit(X, LABELS)) for name, learner in CLASSIFIERS]
    frozen = [(name, FrozenEstimator(learner)) for name, learner in fitted]
    expected = VotingClassifier(CLASSIFIERS, voting="soft").fit(X, LABELS).predict_proba(X)

    prefit = VotingClassifier(fitted, voting="soft", cv="prefit").fit(X[:9], LABELS[:9])
    assert_array_equal(prefit.predict_proba(X), expected)
    assert all(mine is theirs for mine, (_, theirs) in zip(prefit.estimators_, fitted, strict=True))
    assert_array_equal(VotingClassifier(frozen, voting="soft").fit(X, LABELS).predict_proba(X), expected)
    learned = VotingClassifier(fitted, voting="soft", cv="prefit", weights="learned").fit(X, LABELS)
    assert learned.weights_.sum() == pytest.approx(1)
    with pytest.raises(NotFittedError, match="'tree' is not fitted"):
        VotingClassifier(CLASSIFIERS, cv="prefit").fit(X, LABELS)


def test_learned_weights_of_probabilities_have_the_least_log_loss_out_of_fold() -> None:
    model = VotingClassifier(CLASSIFIERS, voting="soft", weights="learned").fit(X, LABELS)
    codes = np.searchsorted(model.classes_, LABELS)
    said = np.stack([cross_val_predict(each, X, LABELS, method="predict_proba") for _, each in CLASSIFIERS])
    of_truth = said[:, np.arange(150), codes]

    def loss(weights: Any) -> float:
        return -float(np.log(weights @ of_truth).mean())

    assert loss(model.weights_) == pytest.approx(smallest_on_simplex(loss, 3), abs=1e-8)
    for own, (name, _) in zip(said, CLASSIFIERS, strict=True):
        assert_allclose(model.oof_predictions_[name], own)


def test_learned_weights_of_numbers_and_of_votes_have_the_least_squared_error() -> None:
    numbers = VotingRegressor(REGRESSORS, weights="learned").fit(X, SCORE)
    said = np.stack([cross_val_predict(each, X, SCORE) for _, each in REGRESSORS])
    votes = VotingClassifier(CLASSIFIERS, weights="learned").fit(X, LABELS)
    named = np.stack([cross_val_predict(each, X, LABELS) for _, each in CLASSIFIERS])
    truth = LABELS[:, None] == votes.classes_

    def of_numbers(weights: Any) -> float:
        return float(((weights @ said - SCORE) ** 2).mean())

    def of_votes(weights: Any) -> float:
        return float(((np.tensordot(weights, named[:, :, None] == votes.classes_, 1) - truth) ** 2).mean())

    assert of_numbers(numbers.weights_) == pytest.approx(smallest_on_simplex(of_numbers, 3), abs=1e-8)
    assert of_votes(votes.weights_) == pytest.approx(smallest_on_simplex(of_votes, 3), abs=1e-8)


def test_medians_and_ranks() -> None:
    numbers = VotingRegressor(REGRESSORS, voting="median").fit(X, SCORE)
    assert_allclose(numbers.predict(X), np.median(numbers.transform(X), axis=1))

    classes = VotingClassifier(CLASSIFIERS, voting="median").fit(X, LABELS)
    middle = np.median([each.predict_proba(X) for each in classes.estimators_], axis=0)
    assert_allclose(classes.predict_proba(X), middle / middle.sum(axis=1, keepdims=True))

    ranks = VotingRegressor([REGRESSORS[1]], voting="rank").fit(X, SCORE)
    alone = LinearRegression().fit(X, SCORE).predict(X)
    assert np.corrcoef(ranks.predict(X), alone)[0, 1] > 0.99
    one_by_one = [ranks.predict(X[i : i + 1])[0] for i in range(len(X))]
    assert_allclose(one_by_one, ranks.predict(X), rtol=1e-12)
    assert VotingClassifier(CLASSIFIERS, voting="rank").fit(X, LABELS).score(X, LABELS) > 0.7


def test_combining_again_equals_fitting_again() -> None:
    model = VotingClassifier(CLASSIFIERS, voting="soft", weights="learned").fit(X, LABELS)

    for voting, weights in [
        ("soft", None),
        ("soft", [1, 2, 3]),
        ("median", None),
        ("soft", "learned"),
        ("rank", None),
    ]:
        again = model.recombined(voting=voting, weights=weights)
        anew = VotingClassifier(CLASSIFIERS, voting=voting, weights=weights, cv=5).fit(X, LABELS)
        assert_array_equal(again.predict_proba(X), anew.predict_proba(X))
        assert again.oof_score_ == anew.oof_score_
        assert all(a is b for a, b in zip(again.estimators_, model.estimators_, strict=True))
    hard = model.recombined(voting="hard", weights=None)
    assert_array_equal(hard.predict(X), VotingClassifier(CLASSIFIERS).fit(X, LABELS).predict(X))
    assert model.voting == "soft"
    numbers = VotingRegressor(REGRESSORS).fit(X, SCORE).recombined(voting="median")
    assert_allclose(numbers.predict(X), np.median(numbers.transform(X), axis=1))


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"weights": "learned"}, "fitted without"),
        ({"voting": "rank"}, "fitted without"),
        ({"voting": "loud"}, "voting='loud'.*expected"),
        ({"cv": 3}, "expected voting or weights"),
        ({"weights": [1, 2]}, "2 weights, 3 estimators"),
    ],
)
def test_what_cannot_be_combined_again_is_said(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        VotingClassifier(CLASSIFIERS, voting="soft").fit(X, LABELS).recombined(**choices)


def test_scores_out_of_fold_are_those_of_predictions_out_of_fold() -> None:
    model = VotingClassifier(CLASSIFIERS, cv=3).fit(X, LABELS)

    for name, learner in CLASSIFIERS:
        assert model.member_scores_[name] == pytest.approx(
            (cross_val_predict(learner, X, LABELS, cv=3) == LABELS).mean()
        )
    whole = cross_val_predict(VotingClassifier(CLASSIFIERS), X, LABELS, cv=3) == LABELS
    assert model.oof_score_ == pytest.approx(whole.mean())
    assert model.oof_score_error_ == pytest.approx(whole.std(ddof=1) / np.sqrt(150))
    numbers = VotingRegressor(REGRESSORS, cv=3).fit(X, SCORE)
    whole = cross_val_predict(VotingRegressor(REGRESSORS), X, SCORE, cv=3)
    assert numbers.oof_score_ == pytest.approx(sklearn.metrics.r2_score(SCORE, whole))
    assert 0 < numbers.oof_score_error_ < 0.2
    assert not hasattr(VotingClassifier(CLASSIFIERS).fit(X, LABELS), "oof_score_")


def test_parallel_predictions_are_the_same() -> None:
    with joblib.parallel_config("threading"):
        one, two = (VotingRegressor(REGRESSORS, n_jobs=n).fit(X, SCORE).predict(X) for n in (None, 2))

    assert_array_equal(one, two)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, dict])
def test_members_see_their_columns_of_any_table(kind: Any) -> None:
    columns = {"a": X[:, 0], "town": np.array(["Oslo", "Rome"])[(X[:, 1] > 0).astype(int)], "b": X[:, 2]}
    table = kind(columns)
    forest = RandomForestRegressor(n_estimators=5, random_state=0)
    members = [
        ("numbers", forest, ["b", "a"]),
        ("town", forest, [1]),
        ("all", forest),
        ("last", forest, slice("town", "b")),
    ]

    model = VotingRegressor(members).fit(table, SCORE)

    names = [list(member.feature_names_in_) for member in model.estimators_]
    assert names == [["b", "a"], ["town"], ["a", "town", "b"], ["town", "b"]]
    assert list(model.feature_names_in_) == ["a", "town", "b"]
    assert_array_equal(model.predict(table), model.predict(kind(columns)))
    assert pickle.loads(pickle.dumps(model)).get_params()["town"].n_estimators == 5
    without = {name: values for name, values in columns.items() if name != "town"}
    with pytest.raises(ValueError, match="town"):
        model.predict(kind(without))


def test_columns_of_an_array_go_by_place() -> None:
    members = [("two", LinearRegression(), [True, False, True, False]), ("one", LinearRegression(), -1)]
    model = VotingRegressor(members).fit(X, SCORE)

    assert_array_equal(model.estimators_[0].coef_, LinearRegression().fit(X[:, [0, 2]], SCORE).coef_)
    assert model.estimators_[1].n_features_in_ == 1
    assert model.n_features_in_ == 4
    with pytest.raises(ValueError, match=r"shape \(150, 3\).*4 columns"):
        model.predict(X[:, :3])
    by_function = VotingRegressor([("two", LinearRegression(), lambda table: [table.shape[1] - 1])]).fit(
        X, SCORE
    )
    assert_array_equal(by_function.estimators_[0].coef_, model.estimators_[1].coef_)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["c9"], "no column 'c9'"),
        ([7], "7"),
        ([], "chooses no column"),
        ([True], "mask of 1"),
        ([[0]], "expected names"),
    ],
)
def test_columns_that_are_not_there_are_refused(columns: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=rf"member 'it'.*{message}"):
        VotingRegressor([("it", LinearRegression(), columns)]).fit(X, SCORE)


def test_texts_go_to_members_that_read_them() -> None:
    texts = ["good day", "bad day", "good night", "bad night"] * 5
    members = [("bayes", make_pipeline(CountVectorizer(), MultinomialNB()))]

    model = VotingClassifier(members, voting="soft", cv=2).fit(texts, ["+", "-"] * 10)

    assert model.predict(["good", "bad"]).tolist() == ["+", "-"]
    assert not hasattr(model, "n_features_in_")


def test_several_targets_where_members_can() -> None:
    both = np.column_stack([SCORE, -2 * SCORE])
    model = VotingRegressor(REGRESSORS, weights="learned").fit(X, both)

    assert model.predict(X).shape == (150, 2)
    assert model.transform(X).shape == (150, 6)
    assert len(model.get_feature_names_out()) == 6
    assert 0.5 < model.oof_score_ < 1
    with pytest.raises(InvalidInput, match="1d array"):
        VotingClassifier(CLASSIFIERS).fit(X, np.column_stack([LABELS, LABELS]))


def test_groups_reach_the_splitter() -> None:
    groups = np.arange(150) // 10
    model = VotingRegressor(REGRESSORS, weights="learned", cv=GroupKFold(3)).fit(X, SCORE, groups=groups)
    said = cross_val_predict(LinearRegression(), X, SCORE, cv=GroupKFold(3), groups=groups)

    assert_allclose(model.oof_predictions_["linear"], said)
    with pytest.raises(InvalidInput, match="makes no folds"):
        VotingRegressor(REGRESSORS).fit(X, SCORE, groups=groups)


def test_metadata_is_routed_if_routing_is_on() -> None:
    weight = RNG.integers(1, 4, 150).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        members = [
            ("weighted", Ridge().set_fit_request(sample_weight=True)),
            ("plain", Ridge().set_fit_request(sample_weight=False)),
        ]
        model = VotingRegressor(members, cv=GroupKFold(3)).fit(
            X, SCORE, sample_weight=weight, groups=np.arange(150) // 10
        )

    assert_array_equal(model.estimators_[0].coef_, Ridge().fit(X, SCORE, weight).coef_)
    assert_array_equal(model.estimators_[1].coef_, Ridge().fit(X, SCORE).coef_)
    with pytest.raises(InvalidParameter, match="metadata routing"):
        VotingRegressor(REGRESSORS).fit(X, SCORE, colour="red")


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([("a", LogisticRegression()), ("a", LogisticRegression())], "Names provided are not unique"),
        ([("weights", LogisticRegression())], "conflict with constructor arguments"),
        ([("a__b", LogisticRegression())], "must not contain __"),
        ([("a", "drop")], "All estimators are dropped"),
        ([("a", LinearRegression())], "LinearRegression should be a classifier"),
        ([], "expected a non-empty list"),
        ([("a", LogisticRegression)], "expected a non-empty list"),
    ],
)
def test_lists_of_members_that_cannot_be_are_refused(members: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        VotingClassifier(members).fit(X, LABELS)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weights": [1, 2]}, "got 2 weights, 3 estimators"),
        ({"weights": [1, -2, 3]}, ">= 0"),
        ({"weights": [0, 0, 0]}, "not all of them 0"),
        ({"weights": ["a", "b", "c"]}, "expected a number for each member"),
        ({"weights": "learned", "voting": "median"}, "those of a mean"),
    ],
)
def test_weights_that_cannot_be_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        VotingClassifier(CLASSIFIERS, **settings).fit(X, LABELS)


def test_soft_voting_needs_probabilities() -> None:
    from sklearn.svm import LinearSVC

    with pytest.raises(InvalidParameter, match="svm does not implement the method predict_proba"):
        VotingClassifier([("svm", LinearSVC())], voting="soft").fit(X, LABELS)


def test_members_are_searched_by_name_and_drawn() -> None:
    search = GridSearchCV(
        VotingClassifier(CLASSIFIERS), {"tree__max_depth": [1, 3], "bayes": ["drop"]}, cv=2
    ).fit(X, LABELS)

    assert search.best_params_["bayes"] == "drop"
    assert "LogisticRegression" in VotingClassifier(CLASSIFIERS)._repr_html_()
    assert VotingClassifier(CLASSIFIERS).named_estimators["tree"] is CLASSIFIERS[0][1]


def test_names_can_be_put_on_what_transform_says() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    members = [("forest", RandomForestClassifier(n_estimators=3, random_state=0))]
    model = VotingClassifier(members, voting="soft").set_output(transform="pandas").fit(frame, LABELS)

    assert list(model.transform(frame).columns) == [f"votingclassifier_forest{k}" for k in range(3)]
