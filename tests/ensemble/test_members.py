"""Bags, AdaBoost, voting and stacking: members are given what they would be given alone."""

import warnings
from typing import Any

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn import ensemble as theirs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC, LinearSVR

import coterie
from coterie import ensemble
from coterie.errors import InvalidParameter
from tests.helpers.oracles import needs_scikit_learn

rng = np.random.default_rng(0)
X = np.where(rng.random((120, 8)) < 0.3, rng.normal(size=(120, 8)), 0.0)
Y = X @ np.arange(8.0)
CLASSES = (Y > 0).astype(int)


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps what it is given."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Recorder":
        self.X_, self.y_, self.weight_ = X, y, sample_weight
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.resize(self.classes_, X.shape[0])


class NeverDense(sparse.csr_array):  # type: ignore[misc]
    """A sparse matrix that refuses to be written out."""

    def toarray(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("the matrix was made dense")

    todense = toarray


def large_matrix() -> Any:
    wide = sparse.random(600, 9000, density=0.001, random_state=0, format="csr")
    return NeverDense(sparse.hstack([sparse.csr_array(np.resize(X, (600, 8))), wide], format="csr"))


@pytest.mark.parametrize("package", [coterie, ensemble])
@pytest.mark.parametrize(
    "name", ["BaggingClassifier", "AdaBoostClassifier", "VotingClassifier", "StackingClassifier"]
)
def test_a_large_sparse_matrix_is_never_made_dense(package: Any, name: str) -> None:
    large, y = large_matrix(), np.resize(CLASSES, 600)
    learner: Any = LinearSVC() if name == "BaggingClassifier" else LogisticRegression()
    cls = getattr(package, name)
    model = cls([("a", learner)]) if name.startswith(("Voting", "Stacking")) else cls(learner, n_estimators=3)
    assert model.fit(large, y).score(large, y) > 0.8


@pytest.mark.parametrize("package", [coterie, ensemble])
@pytest.mark.parametrize("name", ["BaggingRegressor", "AdaBoostRegressor"])
def test_a_large_sparse_matrix_is_never_made_dense_for_numbers(package: Any, name: str) -> None:
    large, y = large_matrix(), np.resize(Y, 600)
    model = getattr(package, name)(LinearSVR(max_iter=200, tol=0.1), n_estimators=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert len(model.fit(large, y).predict(large)) == 600


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.csc_array])
def test_members_see_the_sparse_matrix_in_its_own_type(kind: Any) -> None:
    for model in (
        ensemble.BaggingClassifier(Recorder(), n_estimators=2, random_state=0),
        ensemble.BaggingClassifier(Recorder(), n_estimators=2, max_features=3, random_state=0),
        ensemble.VotingClassifier([("a", Recorder())]),
    ):
        assert {type(member.X_) for member in model.fit(kind(X), CLASSES).estimators_} == {kind}


def test_a_learner_that_takes_weights_sees_all_rows_and_how_often_they_were_drawn() -> None:
    model = ensemble.BaggingClassifier(Recorder(), n_estimators=3, random_state=0).fit(X, CLASSES)
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        assert member.X_.shape == X.shape
        np.testing.assert_array_equal(member.weight_, np.bincount(rows, minlength=len(X)))


def test_weights_are_how_often_rows_are_drawn() -> None:
    weight = np.zeros(len(X))
    weight[[4, 5]] = 1.0, 3.0
    model = ensemble.BaggingClassifier(KNeighborsClassifier(1), 200, max_samples=10, random_state=0)
    drawn = np.concatenate(model.fit(X, CLASSES, weight).estimators_samples_)
    counts = np.bincount(drawn, minlength=len(X))
    assert counts[[4, 5]].sum() == 2000
    assert counts[5] / 2000 == pytest.approx(0.75, abs=0.04)


@needs_scikit_learn("1.9", "it does not warn of these")
@pytest.mark.parametrize(
    ("settings", "weight", "warning"),
    [
        ({"bootstrap": False}, np.ones(120), "recommended to use bootstrap=True"),
        ({"max_samples": 0.5}, np.full(120, 0.001), "results in a low number"),
    ],
)
def test_bags_that_scikit_learn_warns_of_are_warned_of(
    settings: dict[str, Any], weight: Any, warning: str
) -> None:
    for package in (theirs, ensemble):
        with pytest.warns(UserWarning, match=warning):
            package.BaggingClassifier(n_estimators=2, **settings).fit(X, CLASSES, weight)


def test_learners_that_do_not_declare_what_they_are_are_welcome() -> None:
    class Duck(BaseEstimator):
        def fit(self, X: Any, y: Any) -> None:
            self.mean_ = np.mean(y)

        def predict(self, X: Any) -> Any:
            return np.full(len(X), self.mean_)

    for package in (coterie, ensemble):
        assert np.isfinite(package.BaggingRegressor(Duck(), n_estimators=3).fit(X, Y).predict(X)).all()
        assert np.isfinite(package.AdaBoostRegressor(Duck(), n_estimators=3).fit(X, Y).predict(X)).all()


def test_adaboost_has_the_scores_of_scikit_learn() -> None:
    three = np.digitize(Y, [-1.0, 1.0])
    for y in (CLASSES, three):
        ours = ensemble.AdaBoostClassifier(n_estimators=1).fit(X, y)
        known = theirs.AdaBoostClassifier(n_estimators=1).fit(X, y)
        assert set(np.unique(ours.decision_function(X))) == set(np.unique(known.decision_function(X)))
        np.testing.assert_allclose(np.unique(ours.predict_proba(X)), np.unique(known.predict_proba(X)))


def test_exported_adaboost_has_the_same_probabilities() -> None:
    for y in (CLASSES, np.digitize(Y, [-1.0, 1.0])):
        model = ensemble.AdaBoostClassifier(n_estimators=5).fit(X, y)
        whole = model.tree_sum()
        factor = whole.unit / whole.divisor
        ours = coterie.AdaBoostClassifier(n_estimators=5, on_weak="stop").fit(X, y)
        scores = ours._scores(X) * (factor if scores_are_several(y) else factor * 2)
        odds = scores if scores_are_several(y) else np.column_stack([np.zeros(len(X)), scores[:, 0]])
        expected = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.predict_proba(X), expected)


def scores_are_several(y: Any) -> bool:
    return len(np.unique(y)) > 2


def test_voting_prints_what_scikit_learn_prints(capsys: pytest.CaptureFixture[str]) -> None:
    members = [("one", LinearRegression()), ("two", LinearRegression())]
    ensemble.VotingRegressor(members, verbose=True).fit(X, Y)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("[Voting] ...")
    assert "(2 of 2) Processing two, total=" in second


def test_a_stack_routes_what_members_request() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        member = Recorder().set_fit_request(sample_weight=True)
        stack = ensemble.StackingClassifier([("a", member)], LogisticRegression(), cv=2)
        stack.fit(X, CLASSES, sample_weight=np.arange(120.0))
    np.testing.assert_array_equal(stack.estimators_[0].weight_, np.arange(120.0))


def test_a_forest_grows_on_with_other_rows_in_a_warm_start() -> None:
    model = ensemble.RandomForestRegressor(5, warm_start=True, random_state=0).fit(X[:60], Y[:60])
    first = [tree.predict(X) for tree in model]
    model.set_params(n_estimators=8).fit(X[60:], Y[60:])
    assert len(model) == 8
    for before, tree in zip(first, model, strict=False):
        np.testing.assert_array_equal(tree.predict(X), before)


@pytest.mark.parametrize("name", ["RandomForestClassifier", "RandomForestRegressor"])
def test_out_of_bag_may_begin_in_a_warm_start(name: str) -> None:
    y = CLASSES if name.endswith("Classifier") else Y
    given: dict[str, Any] = {"random_state": 0, "n_estimators": 30}
    for package in (coterie, ensemble):
        cls = getattr(package, name)
        whole = cls(oob_score=True, **given).fit(X, y)
        model = cls(oob_score=False, **{**given, "n_estimators": 12}).fit(X, y)
        model.set_params(oob_score=True, n_estimators=30, warm_start=True).fit(X, y)
        assert model.oob_score_ == pytest.approx(whole.oob_score_)
        np.testing.assert_allclose(model.oob_errors_, whole.oob_errors_)
        with pytest.raises(AttributeError, match="unbiased_importances_ is not known"):
            _ = model.unbiased_importances_


def test_classes_of_several_outputs_are_balanced_in_every_bag() -> None:
    two = np.column_stack([CLASSES, CLASSES])
    balanced = coterie.RandomForestClassifier(20, class_weight="balanced_subsample", random_state=0)
    one = balanced.fit(X, CLASSES).predict_proba(X)
    both = balanced.fit(X, two).predict_proba(X)
    np.testing.assert_allclose(both[0], both[1])
    assert np.corrcoef(both[0][:, 1], one[:, 1])[0, 1] > 0.9


def test_soft_votes_without_probabilities_are_noticed_when_they_are_needed() -> None:
    members = [("recorder", Recorder())]
    model = ensemble.VotingClassifier(members, voting="soft").fit(X, CLASSES)
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict(X)
    with pytest.raises(InvalidParameter, match="predict_proba"):
        coterie.VotingClassifier(members, voting="soft").fit(X, CLASSES)
