"""Stacking: scikit-learn's answers where it has them, any splitter, any table, and no leak."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import ensemble
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, TimeSeriesSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from coterie import (
    DecisionTreeRegressor as OurTree,
)
from coterie import (
    GradientBoostingRegressor,
    RandomForestClassifier,
    StackingClassifier,
    StackingRegressor,
)
from coterie.errors import InvalidInput, InvalidParameter, InvalidType
from tests.helpers.learners import Memoriser, RowSpy

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
SCORE = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * RNG.normal(size=150)
LABELS = np.array(["blue", "green", "red"])[np.digitize(SCORE, [0.0, 0.8])]
TWO = np.where(SCORE > 0.4, "yes", "no")
CLASSIFIERS: list[Any] = [
    ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ("bayes", GaussianNB()),
]
REGRESSORS: list[Any] = [
    ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
    ("linear", LinearRegression()),
]


@pytest.mark.parametrize("y", [LABELS, TWO], ids=["three", "two"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"passthrough": True},
        {"stack_method": "predict"},
        {"stack_method": "predict_proba", "cv": KFold(3)},
        {"final_estimator": DecisionTreeClassifier(max_depth=2, random_state=0), "passthrough": True},
    ],
    ids=["plain", "passthrough", "predict", "folds", "tree"],
)
def test_classes_are_those_of_scikit_learn(settings: dict[str, Any], y: Any) -> None:
    ours = StackingClassifier(CLASSIFIERS, **settings).fit(X, y)
    theirs = ensemble.StackingClassifier(CLASSIFIERS, **settings).fit(X, y)

    assert_allclose(ours.transform(X), theirs.transform(X))
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-6)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    assert ours.stack_method_ == theirs.stack_method_
    assert hasattr(ours, "decision_function") == hasattr(theirs, "decision_function")


def test_decision_functions_of_members_are_used_where_there_are_no_probabilities() -> None:
    members = [("svm", LinearSVC()), ("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]
    ours, theirs = (
        each(members).fit(X, LABELS) for each in (StackingClassifier, ensemble.StackingClassifier)
    )

    assert ours.stack_method_ == ["decision_function", "predict_proba"]
    assert_allclose(ours.transform(X), theirs.transform(X))
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-6)


@pytest.mark.parametrize(
    "settings", [{}, {"passthrough": True}, {"cv": KFold(4)}, {"final_estimator": Ridge()}]
)
def test_numbers_are_those_of_scikit_learn(settings: dict[str, Any]) -> None:
    ours = StackingRegressor(REGRESSORS, **settings).fit(X, SCORE)
    theirs = ensemble.StackingRegressor(REGRESSORS, **settings).fit(X, SCORE)

    assert_allclose(ours.predict(X), theirs.predict(X))
    assert_allclose(ours.transform(X), theirs.transform(X))


def test_weights_drops_and_fitted_members_are_as_in_scikit_learn() -> None:
    weight = RNG.integers(0, 3, 150).astype(float)
    members = [*CLASSIFIERS, ("gone", "drop")]
    fitted = [(name, clone(learner).fit(X, LABELS)) for name, learner in CLASSIFIERS]
    for settings, y in (({"estimators": members}, LABELS), ({"estimators": fitted, "cv": "prefit"}, LABELS)):
        both = [
            each(**settings).fit(X, y, sample_weight=weight)
            for each in (StackingClassifier, ensemble.StackingClassifier)
        ]
        assert_allclose(both[0].predict_proba(X), both[1].predict_proba(X), rtol=1e-6)
        assert list(both[0].named_estimators_) == list(both[1].named_estimators_)


def test_several_labels_are_those_of_scikit_learn() -> None:
    y = np.column_stack([SCORE > 0, X[:, 2] > 0]).astype(int)
    members = [
        ("near", KNeighborsClassifier()),
        ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ]
    final = DecisionTreeClassifier(max_depth=3, random_state=0)
    ours, theirs = (
        each(members, final).fit(X, y) for each in (StackingClassifier, ensemble.StackingClassifier)
    )

    assert_allclose(ours.transform(X), theirs.transform(X))
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert 0.5 < ours.oof_score_ <= 1
    words = StackingClassifier(members, final).fit(X, np.column_stack([LABELS, TWO]))
    assert set(np.unique(words.predict(X))) <= {*LABELS, *TWO}


def test_several_targets_where_all_can() -> None:
    both = np.column_stack([SCORE, -SCORE])
    model = StackingRegressor(REGRESSORS).fit(X, both)

    assert model.predict(X).shape == (150, 2)
    assert_allclose(model.predict(X)[:, 0], -model.predict(X)[:, 1], atol=1e-6)


def test_regressors_may_advise_a_classifier() -> None:
    ours, theirs = (
        each(REGRESSORS).fit(X, LABELS) for each in (StackingClassifier, ensemble.StackingClassifier)
    )

    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-6)


def test_a_member_that_knows_its_rows_by_heart_is_not_believed() -> None:
    members = [("memory", Memoriser()), ("bayes", GaussianNB())]
    model = StackingClassifier(members).fit(X, TWO)
    believing = StackingClassifier([(name, clone(m).fit(X, TWO)) for name, m in members], cv="prefit").fit(
        X, TWO
    )

    assert model.named_estimators_["memory"].predict(X).tolist() == TWO.tolist()
    memory, bayes = np.abs(model.final_estimator_.coef_[0])
    assert memory < 0.2 * bayes
    assert believing.final_estimator_.coef_[0][0] > 3
    assert model.member_scores_["memory"] < 0.75


@pytest.mark.parametrize("members", ["refit", "folds"])
def test_a_time_series_is_stacked_by_what_came_before(members: str) -> None:
    rows = np.arange(150.0)[:, None]
    model = StackingRegressor(
        [("spy", RowSpy()), ("linear", LinearRegression())], cv=TimeSeriesSplit(4), members=members
    )

    model.fit(rows, SCORE)

    assert np.isnan(model.oof_predictions_["spy"][:30]).all()
    assert_array_equal(model.oof_predictions_["spy"][30:], 0.0)
    assert model.oof_coverage_.tolist() == [0] * 30 + [1] * 120
    assert np.isfinite(model.oof_score_)
    if members == "folds":
        assert [max(spy.rows_) for spy in model.estimators_[0].models] == [29, 59, 89, 119]


def test_groups_are_respected_by_all_layers() -> None:
    groups = np.arange(150) // 10
    rows = np.column_stack([np.arange(150.0), X])
    inner = StackingRegressor([("spy", RowSpy(), [-5])], cv=GroupKFold(3), passthrough=False, members="folds")
    model = StackingRegressor(
        [("spy", RowSpy()), ("linear", LinearRegression())],
        inner,
        cv=GroupKFold(5),
        members="folds",
        passthrough=True,
    )

    model.fit(rows, SCORE, groups=groups)

    for own, cv in ((model.estimators_[0], 5), (model.final_estimator_.estimators_[0], 3)):
        seen = [set(groups[sorted(spy.rows_)]) for spy in own.models]
        assert len(seen) == cv
        assert all(len(set(groups) - each) == 15 / cv for each in seen)
    assert_array_equal(model.oof_predictions_["spy"], 0.0)


def test_repeated_folds_are_averaged_and_each_fold_counts() -> None:
    cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    model = StackingRegressor(REGRESSORS, cv=cv).fit(X, SCORE)
    halves = [
        cross_val_predict(LinearRegression(), X, SCORE, cv=list(cv.split(X))[part])
        for part in (slice(0, 3), slice(3, 6))
    ]

    assert_allclose(model.oof_predictions_["linear"], np.mean(halves, axis=0))
    assert set(model.oof_coverage_) == {2}


def test_models_of_folds_answer_with_their_mean() -> None:
    model = StackingClassifier(CLASSIFIERS, members="folds", cv=3).fit(X, LABELS)
    tree = model.estimators_[0]

    expected = np.mean([each.predict_proba(X) for each in tree.models], axis=0)
    assert_allclose(tree.predict_proba(X), expected)
    assert_allclose(model.transform(X)[:, :3], expected)
    assert set(tree.predict(X)) <= set(LABELS)
    assert not hasattr(tree, "decision_function")
    numbers = StackingRegressor(REGRESSORS, members="folds", cv=3).fit(X, SCORE)
    assert_allclose(numbers.estimators_[1].predict(X), numbers.transform(X)[:, 1])


def test_scores_are_honest() -> None:
    model = StackingRegressor(REGRESSORS, cv=KFold(3)).fit(X, SCORE)
    meta = np.column_stack([cross_val_predict(each, X, SCORE, cv=KFold(3)) for _, each in REGRESSORS])
    said = cross_val_predict(model.final_estimator_, meta, SCORE, cv=KFold(3))

    assert model.oof_score_ == pytest.approx(sklearn.metrics.r2_score(SCORE, said))
    assert 0 < model.oof_score_error_ < 0.2
    assert model.member_scores_["linear"] == pytest.approx(sklearn.metrics.r2_score(SCORE, meta[:, 1]))
    noise = StackingClassifier(CLASSIFIERS).fit(X, RNG.integers(0, 2, 150))
    assert abs(noise.oof_score_ - 0.5) < 3 * noise.oof_score_error_
    assert not hasattr(StackingRegressor(REGRESSORS, oof_score=False).fit(X, SCORE), "oof_score_")


def test_another_final_estimator_needs_no_new_fit_of_members() -> None:
    model = StackingRegressor(REGRESSORS, passthrough=[0, 2]).fit(X, SCORE)
    again = model.recombined(Ridge(), X)
    anew = StackingRegressor(REGRESSORS, Ridge(), passthrough=[0, 2]).fit(X, SCORE)

    assert_array_equal(again.predict(X), anew.predict(X))
    assert again.oof_score_ == anew.oof_score_
    assert again.estimators_[0] is model.estimators_[0]
    with pytest.raises(InvalidInput, match="needs X"):
        model.recombined(Ridge())
    classes = StackingClassifier(CLASSIFIERS).fit(X, LABELS)
    forest = RandomForestClassifier(n_estimators=5, random_state=0)
    assert_array_equal(
        classes.recombined(forest).predict(X),
        StackingClassifier(CLASSIFIERS, forest).fit(X, LABELS).predict(X),
    )


TABLE = {
    "a": X[:, 0],
    "town": np.array(["Cork", "Oslo", "Rome"])[np.digitize(X[:, 1], [-0.5, 0.5])],
    "b": np.where(X[:, 2] > 1, np.nan, X[:, 2]),
}


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table, dict])
@pytest.mark.parametrize("passthrough", [True, ["town"]])
def test_text_and_missing_values_pass_through(kind: Any, passthrough: Any) -> None:
    table = kind(TABLE)
    members = [("tree", OurTree(max_depth=3), ["a", "b"]), ("town", OurTree(max_depth=2), ["town"])]
    final = GradientBoostingRegressor(n_estimators=20, random_state=0)

    model = StackingRegressor(members, final, passthrough=passthrough).fit(table, SCORE)

    passed = ["a", "town", "b"] if passthrough is True else ["town"]
    names = ["stackingregressor_tree", "stackingregressor_town", *passed]
    assert list(model.final_estimator_.feature_names_in_) == names == list(model.get_feature_names_out())
    assert_array_equal(
        model.predict(table),
        StackingRegressor(members, final, passthrough=passthrough).fit(TABLE, SCORE).predict(TABLE),
    )
    assert isinstance(model.transform(table), type(table))


def test_an_index_of_pandas_does_not_matter() -> None:
    frame = pd.DataFrame(TABLE, index=RNG.permutation(150) // 2)
    final = GradientBoostingRegressor(n_estimators=5, random_state=0)
    model = StackingRegressor([("tree", OurTree(max_depth=3))], final, passthrough=True)

    assert_array_equal(model.fit(frame, SCORE).predict(frame), model.fit(TABLE, SCORE).predict(TABLE))


def test_sparse_tables_stay_sparse() -> None:
    thin = sparse.coo_array(np.where(X > 0.5, X, 0))
    model = StackingRegressor([("ridge", Ridge())], Ridge(), passthrough=True).fit(thin, SCORE)

    assert sparse.issparse(model.transform(thin))
    assert model.transform(thin).shape == (150, 5)


def test_a_column_may_not_be_called_like_a_member() -> None:
    table = {"stackingregressor_tree": X[:, 0]}
    with pytest.raises(InvalidInput, match="Rename"):
        StackingRegressor([("tree", OurTree())], OurTree(), passthrough=True).fit(table, SCORE)


def test_a_trial_that_keeps_its_promise_is_silent() -> None:
    model = StackingRegressor(REGRESSORS, leak_guard=True).fit(X, SCORE)

    assert not model.leak_guard_.leaks
    trial = StackingRegressor(REGRESSORS, cv=KFold(4)).fit(X[:120], SCORE[:120])
    assert model.leak_guard_.promised == pytest.approx(trial.oof_score_)
    assert model.leak_guard_.kept == pytest.approx(trial.score(X[120:], SCORE[120:]))


def test_rows_that_lie_in_several_folds_are_found_by_the_guard() -> None:
    rng = np.random.default_rng(1)
    patients = np.repeat(rng.normal(size=(40, 6)), 8, axis=0)
    outcome = np.repeat(rng.integers(0, 2, 40), 8)
    later = np.argsort(np.arange(320) // 8 < 30, kind="stable")[::-1]  # ten patients come last
    members = [("near", KNeighborsClassifier(1)), ("bayes", GaussianNB())]
    shuffled = rng.permutation(240)
    cv = [(np.setdiff1d(np.arange(240), part), part) for part in np.array_split(shuffled, 4)]
    cv += [(np.arange(240), np.arange(240, 320))]

    with pytest.warns(UserWarning, match="promises a score of .* and reached"):
        model = StackingClassifier(members, cv=cv, leak_guard=True).fit(patients[later], outcome[later])

    assert model.leak_guard_.leaks
    assert model.leak_guard_.promised > 0.9
    groups = np.repeat(np.arange(40), 8)
    honest = StackingClassifier(members, cv=GroupKFold(4), leak_guard=True).fit(
        patients, outcome, groups=groups
    )
    assert not honest.leak_guard_.leaks


def test_metadata_is_routed_if_routing_is_on() -> None:
    weight = RNG.integers(1, 4, 150).astype(float)
    groups = np.arange(150) // 10
    with sklearn.config_context(enable_metadata_routing=True):
        members = [
            ("weighted", Ridge().set_fit_request(sample_weight=True)),
            ("plain", Ridge().set_fit_request(sample_weight=False)),
        ]
        final = GaussianProcessRegressor(optimizer=None).set_predict_request(return_std=True)
        model = StackingRegressor(members, cv=GroupKFold(3)).fit(
            X, SCORE, sample_weight=weight, groups=groups
        )
        spread = StackingRegressor([members[1]], final).fit(X, SCORE).predict(X, return_std=True)

    assert_array_equal(model.estimators_[0].coef_, Ridge().fit(X, SCORE, weight).coef_)
    assert_array_equal(model.estimators_[1].coef_, Ridge().fit(X, SCORE).coef_)
    expected = cross_val_predict(Ridge(), X, SCORE, cv=GroupKFold(3), groups=groups)
    assert_allclose(model.oof_predictions_["plain"], expected)
    meta = np.column_stack([model.oof_predictions_[name] for name in ("weighted", "plain")])
    final_alone = clone(model.final_estimator_).fit(meta, SCORE, sample_weight=weight)
    assert_allclose(model.final_estimator_.coef_, final_alone.coef_)
    assert len(spread) == 2


def test_parameters_of_predict_reach_the_final_estimator() -> None:
    model = StackingRegressor(REGRESSORS, GaussianProcessRegressor(optimizer=None)).fit(X, SCORE)
    said, spread = model.predict(X, return_std=True)

    assert said.shape == spread.shape == (150,)


def test_a_member_that_takes_no_weights_says_so() -> None:
    with pytest.raises(InvalidType, match="KNeighborsClassifier does not support sample weights"):
        StackingClassifier([("near", KNeighborsClassifier())]).fit(X, LABELS, sample_weight=np.ones(150))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"final_estimator": Ridge()}, "should be a classifier. Got Ridge"),
        ({"stack_method": "decision_function"}, "tree does not implement the method decision_function"),
        ({"cv": "prefit", "members": "folds"}, "members='folds'"),
        ({"cv": "prefit", "leak_guard": True}, "leak_guard"),
        ({"passthrough": ["z"]}, "passthrough: there is no column 'z'"),
    ],
)
def test_what_cannot_go_together_is_refused(settings: dict[str, Any], message: str) -> None:
    fitted = [(name, clone(learner).fit(X, LABELS)) for name, learner in CLASSIFIERS]

    with pytest.raises(InvalidParameter, match=message):
        StackingClassifier(fitted, **settings).fit(X, LABELS)


def test_it_is_drawn_with_its_final_estimator() -> None:
    assert "final_estimator" in StackingClassifier(CLASSIFIERS)._repr_html_()


def test_votes_are_not_known_for_rows_that_were_never_held_out() -> None:
    model = StackingClassifier(CLASSIFIERS, stack_method="predict", cv=TimeSeriesSplit(4)).fit(X, LABELS)

    assert np.isnan(model.oof_predictions_["bayes"][:30]).all()
    assert set(model.oof_predictions_["bayes"][30:]) <= {0.0, 1.0, 2.0}


def test_members_are_scored_on_rows_that_were_held_out() -> None:
    rows = np.arange(60)
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(60, 3)), rng.normal(size=60)
    y = 2 * X[:, 0] + noise
    stack = StackingRegressor([("line", LinearRegression())], cv=[(rows[:30], rows[30:])])
    with pytest.warns(UserWarning, match="30 of 60 rows are never held out"):
        stack.fit(X, y)

    expected = LinearRegression().fit(X[:30], y[:30]).score(X[30:], y[30:])
    assert stack.member_scores_.line == pytest.approx(expected)


def test_the_final_estimator_limits_the_tables_only_if_it_sees_them() -> None:
    stack = StackingClassifier([("tree", DecisionTreeClassifier())], LogisticRegression())
    assert stack.__sklearn_tags__().input_tags.allow_nan
    assert not stack.set_params(passthrough=True).__sklearn_tags__().input_tags.allow_nan


def test_the_default_final_estimator_takes_weights_by_routing_too() -> None:
    weight = np.where(X[:, 0] > 0, 5.0, 0.1)
    plain = StackingRegressor([("line", Ridge())]).fit(X, SCORE, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=True):
        members = [("line", Ridge().set_fit_request(sample_weight=True))]
        routed = StackingRegressor(members).fit(X, SCORE, sample_weight=weight)

    assert_allclose(routed.final_estimator_.intercept_, plain.final_estimator_.intercept_)
    assert_allclose(routed.predict(X), plain.predict(X))
