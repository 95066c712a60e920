"""Bagging: the members are those of a plain loop over bags, and what is said out of bag is said by the right ones."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import make_scorer, mean_absolute_error, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from coterie import BaggingClassifier, BaggingRegressor, DecisionTreeClassifier, DecisionTreeRegressor
from coterie.errors import InvalidInput, InvalidParameter
from tests.helpers.learners import RowSpy
from tests.naive.bagging import naive_answers, naive_members, naive_oob

RNG = np.random.default_rng(3)
X = RNG.normal(size=(120, 5))
NUMBERS = X[:, 0] + X[:, 1] * X[:, 2] + 0.2 * RNG.normal(size=120)
LABELS = np.array(["high", "low", "mid"])[np.digitize(NUMBERS, [-0.5, 0.5])]
BOTH = [(BaggingClassifier, LABELS), (BaggingRegressor, NUMBERS)]

LEARNERS = [
    (BaggingClassifier, DecisionTreeClassifier(max_leaf_nodes=8), LABELS),
    (BaggingClassifier, KNeighborsClassifier(3), LABELS),
    (BaggingClassifier, GaussianNB(), LABELS),
    (BaggingRegressor, DecisionTreeRegressor(max_leaf_nodes=8), NUMBERS),
    (BaggingRegressor, KNeighborsRegressor(3), NUMBERS),
    (BaggingRegressor, Ridge(), NUMBERS),
    (BaggingRegressor, make_pipeline(StandardScaler(), Ridge()), NUMBERS),
]


@pytest.mark.parametrize("settings", [{}, {"bootstrap": False, "max_samples": 0.5, "max_features": 3}])
@pytest.mark.parametrize(("bagging", "learner", "y"), LEARNERS)
def test_members_are_those_of_a_plain_loop_over_the_bags(
    bagging: Any, learner: Any, y: Any, settings: dict[str, Any]
) -> None:
    if isinstance(learner, type(make_pipeline(Ridge()))) and not settings:
        learner = make_pipeline(StandardScaler(with_mean=False, with_std=False), Ridge())  # knows no weights
    model = bagging(learner, 6, random_state=0, **settings).fit(X, y)
    classes = getattr(model, "classes_", None)

    members = naive_members(learner, X, y, model.estimators_samples_, model.estimators_features_)
    answers = naive_answers(members, X, model.estimators_features_, classes)

    own = np.stack(list(model._member_predictions(X)))
    np.testing.assert_allclose(own, answers, rtol=1e-7, atol=1e-9)
    said = model.predict_proba(X) if classes is not None else model.predict(X)[:, None]
    np.testing.assert_allclose(said, own.mean(axis=0), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("bagging", "y"), BOTH)
def test_what_is_said_out_of_bag_is_said_by_the_members_that_did_not_draw_the_row(
    bagging: Any, y: Any
) -> None:
    model = bagging(n_estimators=12, random_state=1).fit(X, y)
    classes = getattr(model, "classes_", None)
    answers = naive_answers(model.estimators_, X, model.estimators_features_, classes)

    means, coverage = naive_oob(answers, model.estimators_samples_)

    said = model.oob_decision_function_ if classes is not None else model.oob_prediction_[:, None]
    np.testing.assert_allclose(said, means, rtol=1e-12)
    np.testing.assert_array_equal(model.oob_coverage_, coverage)
    for k in range(1, 13):
        part, covered = naive_oob(answers[:k], model.estimators_samples_[:k])
        seen = covered > 0
        if classes is not None:
            error = np.mean(classes[part[seen].argmax(axis=1)] != y[seen])
        else:
            error = np.mean((part[seen, 0] - y[seen]) ** 2)
        assert model.oob_errors_[k - 1] == pytest.approx(error, rel=1e-12)


def test_rows_that_no_member_left_out_are_named_and_not_scored() -> None:
    with pytest.warns(UserWarning, match=r"of 120 rows were drawn by each of the 2 members"):
        model = BaggingRegressor(n_estimators=2, oob_score=True, random_state=0).fit(X, NUMBERS)
    never = model.oob_coverage_ == 0

    assert 0 < never.sum() < 120
    assert np.isnan(model.oob_prediction_[never]).all()
    said, truth = model.oob_prediction_[~never], NUMBERS[~never]
    expected = 1 - ((said - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum()
    assert model.oob_score_ == pytest.approx(expected)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (mean_absolute_error, lambda said: np.abs(said - NUMBERS).mean()),
        ("neg_mean_absolute_error", lambda said: -np.abs(said - NUMBERS).mean()),
        (make_scorer(mean_absolute_error), lambda said: np.abs(said - NUMBERS).mean()),
    ],
)
def test_any_metric_scores_what_is_out_of_bag(metric: Any, expected: Any) -> None:
    model = BaggingRegressor(n_estimators=40, oob_score=metric, random_state=0).fit(X, NUMBERS)

    assert model.oob_score_ == pytest.approx(expected(model.oob_prediction_))


def test_a_score_of_ranks_uses_probabilities_out_of_bag_even_if_members_have_scores() -> None:
    y = NUMBERS > 0
    model = BaggingClassifier(LinearDiscriminantAnalysis(), 40, oob_score="roc_auc", random_state=0).fit(X, y)

    assert model.oob_score_ == pytest.approx(roc_auc_score(y, model.oob_decision_function_[:, 1]))


def test_a_fit_ends_by_itself_when_the_out_of_bag_error_has_settled() -> None:
    model = BaggingRegressor(LinearRegression(), "auto", random_state=0).fit(X, NUMBERS)

    assert model.n_estimators_ in range(50, 1000, 25)
    assert len(model.oob_errors_) == len(model.estimators_) == model.n_estimators_
    same = BaggingRegressor(LinearRegression(), model.n_estimators_, random_state=0).fit(X, NUMBERS)
    np.testing.assert_array_equal(model.predict(X), same.predict(X))


@pytest.mark.parametrize(("bagging", "y"), BOTH)
def test_a_warm_start_is_one_longer_fit(bagging: Any, y: Any) -> None:
    weight = RNG.integers(0, 3, len(y))
    model = bagging(n_estimators=4, max_features=3, warm_start=True, random_state=0).fit(X, y, weight)
    first = list(model.estimators_)

    model.set_params(n_estimators=9).fit(X, y, weight)
    whole = bagging(n_estimators=9, max_features=3, random_state=0).fit(X, y, weight)

    assert all(one is other for one, other in zip(first, model.estimators_, strict=False))
    np.testing.assert_array_equal(
        np.stack(list(model._member_predictions(X))), np.stack(list(whole._member_predictions(X)))
    )
    np.testing.assert_array_equal(model.oob_errors_, whole.oob_errors_)
    assert model.oob_score_ == whole.oob_score_


def test_a_warm_start_refuses_what_it_cannot_continue_and_stays_as_it_was() -> None:
    model = BaggingRegressor(n_estimators=4, warm_start=True, random_state=0).fit(X, NUMBERS)
    before = model.predict(X)

    with pytest.raises(InvalidInput, match="differs in X, y"):
        model.set_params(n_estimators=5).fit(X, NUMBERS + 1)
    with pytest.raises(InvalidInput, match="max_features"):
        model.set_params(max_features=2).fit(X, NUMBERS)
    with pytest.raises(InvalidParameter, match="n_estimators=3 is less than the 4 members"):
        model.set_params(max_features=1.0, n_estimators=3).fit(X, NUMBERS)
    with pytest.warns(UserWarning, match="without increasing"):
        model.set_params(n_estimators=4).fit(X, NUMBERS)

    np.testing.assert_array_equal(model.predict(X), before)


def test_spread_is_the_standard_deviation_of_the_members() -> None:
    model = BaggingRegressor(n_estimators=7, random_state=0).fit(X, NUMBERS)
    mean, spread = model.predict(X, return_std=True)
    said = np.stack([member.predict(X) for member in model.estimators_])

    np.testing.assert_array_equal(mean, model.predict(X))
    np.testing.assert_allclose(spread, said.std(axis=0), rtol=1e-12)

    classifier = BaggingClassifier(n_estimators=7, random_state=0).fit(X, LABELS)
    proba, spreads = classifier.predict_proba(X, return_std=True)
    np.testing.assert_array_equal(proba, classifier.predict_proba(X))
    said = np.stack([member.predict_proba(X) for member in classifier.estimators_])
    np.testing.assert_allclose(spreads, said.std(axis=0), rtol=1e-12, atol=1e-15)


class Spy(BaseEstimator):
    """Writes down what it is fitted to; knows no weights unless told."""

    def fit(self, X: Any, y: Any) -> "Spy":
        self.X_, self.y_ = X, y
        return self

    def predict(self, X: Any) -> Any:
        self.asked_ = X
        return np.repeat(np.asarray(self.y_)[:1], len(X))


class NumberSpy(RegressorMixin, Spy):
    pass


class ClassSpy(ClassifierMixin, Spy):
    def fit(self, X: Any, y: Any) -> "ClassSpy":
        self.classes_ = np.unique(y)
        super().fit(X, y)
        return self


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_a_data_frame_stays_one_and_keeps_its_names(kind: Any) -> None:
    table = kind({"age": X[:, 0], "town": ["Oslo", "Rome", "Cork"] * 40, "mass": X[:, 1]})
    model = BaggingRegressor(NumberSpy(), 5, max_features=2, random_state=0).fit(table, NUMBERS)
    model.predict(table)

    for member, places in zip(model.estimators_, model.estimators_features_, strict=True):
        assert isinstance(member.X_, kind)
        assert list(member.X_.columns) == [table.columns[place] for place in places]
        assert list(member.asked_.columns) == list(member.X_.columns)
        assert len(member.X_) == 120
    assert len({tuple(member.X_.columns) for member in model.estimators_}) > 1
    assert model.feature_names_in_.tolist() == ["age", "town", "mass"]


def test_a_learner_without_weights_is_given_rows_as_often_as_they_were_drawn() -> None:
    rows = np.arange(120.0).reshape(-1, 1)
    model = BaggingRegressor(NumberSpy(), 3, random_state=0).fit(rows, NUMBERS)

    for member, drawn in zip(model.estimators_, model.estimators_samples_, strict=True):
        assert sorted(member.X_[:, 0]) == sorted(drawn)
        np.testing.assert_array_equal(member.y_, NUMBERS[member.X_[:, 0].astype(int)])


@pytest.mark.parametrize("bootstrap", [True, False])
def test_weights_are_given_only_where_a_row_was_drawn_more_than_once(bootstrap: bool) -> None:
    rows = np.arange(120.0).reshape(-1, 1)
    model = BaggingRegressor(RowSpy(), 3, max_samples=0.5, bootstrap=bootstrap, random_state=0).fit(
        rows, NUMBERS
    )

    assert [member.weight_ is not None for member in model.estimators_] == [bootstrap] * 3


@pytest.mark.parametrize("learner", [LinearRegression(), KNeighborsRegressor()], ids=["weights", "copies"])
def test_rows_without_weight_are_not_predicted_out_of_bag(learner: Any) -> None:
    weight = (np.arange(120) >= 20).astype(float)
    model = BaggingRegressor(learner, 30, oob_score=True, random_state=0).fit(X, NUMBERS, weight)

    assert np.isnan(model.oob_prediction_).tolist() == [True] * 20 + [False] * 100


def test_members_see_labels_as_they_are_and_vote() -> None:
    model = BaggingClassifier(ClassSpy(), 9, random_state=0).fit(X, LABELS)

    assert set(model.estimators_[0].y_) == set(LABELS)
    votes = np.stack([member.predict(X[:1]) for member in model.estimators_])[:, 0]
    shares = [np.mean(votes == label) for label in model.classes_]
    np.testing.assert_allclose(model.predict_proba(X[:1])[0], shares)
    assert model.predict(X[:1])[0] == model.classes_[np.argmax(shares)]


def test_votes_may_be_wanted_although_members_have_probabilities() -> None:
    model = BaggingClassifier(KNeighborsClassifier(7), 9, voting="hard", random_state=0).fit(X, LABELS)

    votes = np.stack([member.predict(X) for member in model.estimators_])
    shares = np.stack([(votes == label).mean(axis=0) for label in model.classes_], axis=1)
    np.testing.assert_allclose(model.predict_proba(X), shares)


def test_a_member_that_never_saw_a_class_says_it_is_improbable() -> None:
    y = np.where(np.arange(120) == 7, "rare", LABELS)
    model = BaggingClassifier(GaussianNB(), n_estimators=20, random_state=0).fit(X, y)
    seen = np.array(["rare" in member.classes_ for member in model.estimators_])

    assert 0 < seen.sum() < 20
    answers = np.stack(list(model._member_predictions(X)))
    rare = list(model.classes_).index("rare")
    assert (answers[~seen, :, rare] == 0).all()
    assert (answers[seen][:, 7, rare] > 0.9).all()


class Picky(GaussianNB):
    """Refuses bags that lack a class."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        if len(np.unique(y)) < 4:
            raise ValueError("a class is missing")
        return super().fit(X, y, sample_weight)


def test_members_that_fail_stop_the_fit_or_are_left_out_and_named() -> None:
    y = np.where(np.arange(120) == 7, "rare", LABELS)
    with pytest.raises(ValueError, match="a class is missing") as caught:
        BaggingClassifier(Picky(), 20, random_state=0).fit(X, y)
    assert "member" in caught.value.__notes__[0]

    with pytest.warns(UserWarning, match="without the members that failed: 'member"):
        model = BaggingClassifier(Picky(), 20, on_error="drop", random_state=0).fit(X, y)

    assert len(model.dropped_) + model.n_estimators_ == 20
    assert len(model.estimators_samples_) == len(model.estimators_) == len(model.oob_errors_)
    assert all(7 in rows for rows in model.estimators_samples_)
    with pytest.raises(InvalidInput, match="every member failed"):
        BaggingClassifier(Picky(), 3, on_error="drop").fit(X, LABELS)


@pytest.mark.parametrize(("bagging", "y"), BOTH)
@pytest.mark.parametrize("learner", ["tree", "neighbours"])
def test_threads_do_not_change_a_bit(bagging: Any, y: Any, learner: str) -> None:
    kind = "Classifier" if bagging is BaggingClassifier else "Regressor"
    known = {
        "treeClassifier": DecisionTreeClassifier(max_features=2),
        "treeRegressor": DecisionTreeRegressor(max_features=2),
        "neighboursClassifier": KNeighborsClassifier(),
        "neighboursRegressor": KNeighborsRegressor(),
    }
    said = []
    for n_jobs in (1, 2, 3):
        with parallel_config("threading"):
            model = bagging(known[learner + kind], 5, n_jobs=n_jobs, random_state=0).fit(X, y)
        said.append((np.stack(list(model._member_predictions(X))), model.oob_errors_))
    for answers, errors in said[1:]:
        np.testing.assert_array_equal(answers, said[0][0])
        np.testing.assert_array_equal(errors, said[0][1])


def test_with_the_bags_of_scikit_learn_the_answers_are_its_answers() -> None:
    from sklearn.ensemble import BaggingClassifier as Peer

    y, learner = NUMBERS > 0, SVC(gamma=0.2, tol=1e-9)
    peer = Peer(learner, 50, max_samples=0.7, random_state=0).fit(X, y)

    model = BaggingClassifier(learner, 50, bootstrap=list(peer.estimators_samples_)).fit(X, y)

    for own, drawn in zip(model.estimators_samples_, peer.estimators_samples_, strict=True):
        np.testing.assert_array_equal(np.sort(own), np.sort(drawn))
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X))


@pytest.mark.parametrize(
    ("bags", "message"),
    [
        ([[0, 1], [120]], "bag 1 has rows from 120 to 120"),
        ([[0, 1], []], "bag 1 is .*at least one row"),
        ([[0, 1], [0.5]], "bag 1 is .*at least one row"),
        ([[0, 1]], "1 members, and n_estimators=2"),
    ],
)
def test_bags_that_cannot_be_are_refused(bags: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        BaggingRegressor(n_estimators=2, bootstrap=bags).fit(X, NUMBERS)


def test_what_needs_rows_out_of_bag_says_so() -> None:
    for settings in ({"oob_score": True}, {"n_estimators": "auto"}, {"oob_score": "r2"}):
        with pytest.raises(InvalidParameter, match="Out of bag"):
            BaggingRegressor(bootstrap=False, **settings).fit(X, NUMBERS)
    model = BaggingRegressor(bootstrap=False).fit(X, NUMBERS)
    assert not hasattr(model, "oob_score_")
    with pytest.raises(AttributeError, match="bootstrap=True"):
        _ = model.oob_prediction_


def test_a_learner_of_the_other_kind_is_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"estimator=Ridge\(\).*expected a classifier"):
        BaggingClassifier(Ridge()).fit(X, LABELS)
    with pytest.raises(InvalidParameter, match="expected a regressor"):
        BaggingRegressor(KNeighborsClassifier()).fit(X, NUMBERS)


def test_a_learner_without_weights_refuses_fractions_only_where_it_must() -> None:
    weight = RNG.uniform(0.5, 2.0, 120)
    with pytest.raises(InvalidInput, match="takes no sample_weight"):
        BaggingRegressor(KNeighborsRegressor(), bootstrap=False).fit(X, NUMBERS, weight)

    heavy = np.where(np.arange(120) == 5, 40.5, 0.5)
    model = BaggingRegressor(KNeighborsRegressor(), 40, random_state=0).fit(X, NUMBERS, heavy)
    share = np.mean([np.mean(rows == 5) for rows in model.estimators_samples_])
    assert share == pytest.approx(40.5 / 100, abs=0.03)


def test_several_targets_are_learned_at_once_where_the_learner_can() -> None:
    Y = np.stack([NUMBERS, -2 * NUMBERS], axis=1)
    model = BaggingRegressor(n_estimators=5, random_state=0).fit(X, Y)

    assert model.predict(X).shape == model.oob_prediction_.shape == (120, 2)
    np.testing.assert_allclose(model.predict(X)[:, 1], -2 * model.predict(X)[:, 0], rtol=1e-9)


def test_rows_that_are_no_table_are_handed_on() -> None:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    texts = ["red apple", "green apple", "blue sky", "grey sky"] * 6
    y = ["fruit", "fruit", "air", "air"] * 6
    model = BaggingClassifier(make_pipeline(CountVectorizer(), MultinomialNB()), 5, random_state=0)

    assert model.fit(texts, y).predict(["apple", "sky"]).tolist() == ["fruit", "air"]


class Wants(GaussianNB):
    """Writes down the metadata that it asks for."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, shift: Any = None) -> Any:
        self.shift_ = shift
        return super().fit(X, y, sample_weight)


def test_metadata_that_the_learner_asks_for_is_handed_on_row_by_row() -> None:
    shift = np.arange(120.0)
    with pytest.raises(InvalidParameter, match=r"fit received \['shift'\], .*metadata routing"):
        BaggingClassifier(Wants(), 2).fit(X, LABELS, shift=shift)

    with config_context(enable_metadata_routing=True):
        model = BaggingClassifier(Wants().set_fit_request(shift=True), 3, random_state=0)
        model.fit(X, LABELS, shift=shift)

    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        assert set(member.shift_) == set(rows.astype(float))
