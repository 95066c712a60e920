"""AdaBoostClassifier: worked examples, when a fit ends, histories, staged answers, warm start, and errors."""

import math
import pickle
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from coterie import AdaBoostClassifier
from coterie.adaboost._predictions import BaseAdaBoost
from coterie.errors import CoterieError, InvalidInput, InvalidParameter

X2, Y2 = load_breast_cancer(return_X_y=True)
X3, Y3 = load_iris(return_X_y=True)
ALGORITHMS = ["samme", "confidence", "real", "gentle"]
STAGES: list[dict[str, Any]] = [
    *({"algorithm": algorithm} for algorithm in ALGORITHMS),
    {"method": "resample"},
    {"corrective": "exponential"},
    {"corrective": "margin"},
    {"estimator": GaussianNB(), "algorithm": "confidence"},
]


def test_eighty_against_twenty() -> None:
    """The first member says the larger class: its vote is ln(4) / 2, and afterwards both classes weigh the same."""
    y = np.repeat([1, -1], [80, 20])
    model = AdaBoostClassifier(DummyClassifier(), n_estimators=5).fit(np.zeros((100, 1)), y)

    assert model.estimator_errors_[0] == pytest.approx(0.2, abs=1e-15)
    assert model.estimator_weights_[0] == pytest.approx(math.log(4) / 2, abs=1e-15)
    assert model.normalizers_[0] == pytest.approx(0.8, abs=1e-15)
    # Multipliers 1/2 and 2, then divided by their sum, 80.
    np.testing.assert_allclose(model.row_weights_, np.repeat([1 / 160, 1 / 40], [80, 20]), rtol=1e-14)
    assert model.row_weights_[y == 1].sum() == pytest.approx(0.5, abs=1e-14)
    assert model.n_estimators_ == 1
    assert model.stopped_because_ == "member 2 is no better than chance (weighted error 0.5)"


def test_eighty_against_twenty_by_stumps() -> None:
    y = np.repeat([1, -1], [80, 20])
    model = AdaBoostClassifier().fit(np.zeros((100, 1)), y)

    assert model.estimator_weights_ == pytest.approx([math.log(4) / 2], abs=1e-15)
    assert repr(model.estimators_) == "[Stump(always 1)]"
    np.testing.assert_allclose(model.row_weights_, np.repeat([1 / 160, 1 / 40], [80, 20]), rtol=1e-14)


class Says(ClassifierMixin, BaseEstimator):
    """A classifier that says one label."""

    def __init__(self, label: str) -> None:
        self.label = label

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Says":
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.label)


def test_six_members_vote() -> None:
    """A has 0.1 + 0.1 + 0.2, B 0.1 + 0.35, C 0.15: B wins with 0.45."""
    y = np.array(["A", "B", "C"])
    model = AdaBoostClassifier(Says("A"), n_estimators=1).fit(np.zeros((3, 1)), y)
    model.estimators_ = [Says(label).fit(None, y) for label in "AABBCA"]
    model.estimator_weights_ = np.array([0.1, 0.1, 0.1, 0.35, 0.15, 0.2])

    assert isinstance(model, BaseAdaBoost)
    np.testing.assert_allclose(list(model.staged_votes(np.zeros((1, 1))))[-1], [[0.4, 0.45, 0.15]])
    np.testing.assert_allclose(model.vote_shares(np.zeros((1, 1))), [[0.4, 0.45, 0.15]])
    assert model.predict(np.zeros((1, 1))).tolist() == ["B"]


def test_a_member_that_is_worse_than_chance_has_a_negative_vote() -> None:
    y = np.repeat(["no", "yes"], [30, 10])

    flipped = AdaBoostClassifier(Says("yes"), n_estimators=1).fit(np.zeros((40, 1)), y)
    stopped = AdaBoostClassifier(Says("yes"), on_weak="stop").fit(np.zeros((40, 1)), y)

    assert flipped.estimator_weights_ == pytest.approx([-math.log(3) / 2])
    assert flipped.predict([[0.0]]).tolist() == ["no"]
    np.testing.assert_allclose(next(flipped.staged_votes([[0.0]])), [[math.log(3) / 2, 0.0]])
    np.testing.assert_allclose(flipped.vote_shares([[0.0]]), [[1.0, 0.0]])
    assert stopped.estimator_weights_.tolist() == [0.0]
    assert stopped.stopped_because_.startswith("member 1 is worse than chance (weighted error 0.75)")


def test_with_three_classes_a_negative_vote_is_subtracted() -> None:
    y = np.repeat(["a", "b", "c"], [6, 3, 1])
    model = AdaBoostClassifier(Says("c"), n_estimators=1).fit(np.zeros((10, 1)), y)

    vote = 0.5 * (math.log(0.1 / 0.9) + math.log(2))
    np.testing.assert_allclose(next(model.staged_votes([[0.0]])), [[0.0, 0.0, vote]])
    assert model.predict([[0.0]]).tolist() == ["a"]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_perfect_member_is_the_last_and_its_vote_is_finite(algorithm: str) -> None:
    X, y = np.arange(10.0)[:, None], np.arange(10) > 4
    model = AdaBoostClassifier(algorithm=algorithm).fit(X, y)

    assert model.stopped_because_ == "member 1 is right on every row"
    assert np.isfinite(model.estimator_weights_).all()
    assert model.train_errors_.tolist() == [0.0]
    assert model.score(X, y) == 1
    if algorithm == "samme":
        assert model.predict_proba(X).max() > 1 - 1e-9


def test_a_member_that_is_always_wrong_is_as_good_as_a_perfect_one() -> None:
    class Contrary(Says):
        def predict(self, X: Any) -> Any:
            return np.where(np.asarray(X)[:, 0] > 4, "low", "high")

    X = np.arange(10.0)[:, None]
    y = np.where(X[:, 0] > 4, "high", "low")
    model = AdaBoostClassifier(Contrary("")).fit(X, y)

    assert model.stopped_because_ == "member 1 is wrong on every row"
    assert model.estimator_weights_[0] < -10
    assert model.score(X, y) == 1


def test_one_class_needs_no_member() -> None:
    model = AdaBoostClassifier().fit([[1.0], [2.0]], ["a", "a"])

    assert model.stopped_because_ == "y has one class only"
    assert model.predict_proba([[5.0]]).tolist() == [[1.0]]
    assert model.estimators_ == []


@pytest.mark.parametrize("settings", STAGES, ids=str)
@pytest.mark.parametrize(("X", "y"), [(X2[::4, :6], Y2[::4]), (X3[::2], Y3[::2])], ids=["two", "three"])
def test_the_last_stage_is_the_model(settings: dict[str, Any], X: Any, y: Any) -> None:
    model = AdaBoostClassifier(n_estimators=6, random_state=0, **settings).fit(X, y)

    stages = list(model.staged_decision_function(X))
    assert len(stages) == model.n_estimators_
    np.testing.assert_allclose(stages[-1], model.decision_function(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        list(model.staged_predict_proba(X))[-1], model.predict_proba(X), rtol=1e-11, atol=1e-14
    )
    assert np.array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    errors = [1 - score for score in model.staged_score(X, y)]
    np.testing.assert_allclose(errors, model.train_errors_, atol=1e-12)
    assert model.edges_ == pytest.approx(1 - 1 / len(set(y)) - model.estimator_errors_)


@pytest.mark.parametrize("settings", STAGES, ids=str)
def test_an_early_stage_is_a_shorter_fit(settings: dict[str, Any]) -> None:
    X, y = X2[::4, :6], Y2[::4]
    long = AdaBoostClassifier(n_estimators=5, random_state=0, **settings).fit(X, y)
    short = AdaBoostClassifier(n_estimators=3, random_state=0, **settings).fit(X, y)

    np.testing.assert_allclose(
        list(long.staged_decision_function(X))[2], short.decision_function(X), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("settings", STAGES, ids=str)
@pytest.mark.parametrize(("X", "y"), [(X2[::4, :6], Y2[::4]), (X3[::2], Y3[::2])], ids=["two", "three"])
def test_a_warm_start_is_one_longer_fit_to_the_bit(settings: dict[str, Any], X: Any, y: Any) -> None:
    held_out = (X[::3], y[::3])
    long = AdaBoostClassifier(n_estimators=7, random_state=0, **settings).fit(X, y, eval_set=held_out)
    model = AdaBoostClassifier(n_estimators=3, random_state=0, warm_start=True, **settings)
    model = pickle.loads(pickle.dumps(model.fit(X, y, eval_set=held_out)))
    model.set_params(n_estimators=7).fit(X, y, eval_set=held_out)

    for name in (
        "estimator_weights_",
        "estimator_errors_",
        "normalizers_",
        "train_errors_",
        "validation_errors_",
    ):
        assert np.array_equal(getattr(model, name), getattr(long, name)), name
    assert np.array_equal(model.decision_function(X), long.decision_function(X))
    assert np.array_equal(model.row_weights_, long.row_weights_)
    assert model.stopped_because_ == long.stopped_because_


def test_a_warm_start_refuses_what_it_cannot_continue() -> None:
    model = AdaBoostClassifier(n_estimators=3, warm_start=True).fit(X3, Y3)

    with pytest.raises(InvalidParameter, match="n_estimators=2 is less than the 3 members"):
        model.set_params(n_estimators=2).fit(X3, Y3)
    with pytest.raises(InvalidParameter, match=r"learning_rate=0\.5 cannot continue"):
        model.set_params(n_estimators=5, learning_rate=0.5).fit(X3, Y3)
    with pytest.raises(InvalidInput, match="differs in X"):
        model.set_params(learning_rate=1.0).fit(X3 + 1, Y3)
    assert model.n_estimators_ == 3
    assert model.score(X3, Y3) > 0.9


def test_what_a_finished_fit_found_is_kept_by_a_warm_start() -> None:
    X, y = np.arange(10.0)[:, None], np.arange(10) > 4
    model = AdaBoostClassifier(n_estimators=1, warm_start=True).fit(X, y)

    model.set_params(n_estimators=9).fit(X, y)

    assert model.n_estimators_ == 1
    assert model.stopped_because_ == "member 1 is right on every row"


def test_an_eval_set_is_measured_after_each_round() -> None:
    weight = np.arange(1.0, 1 + len(Y2[1::2]))
    model = AdaBoostClassifier(n_estimators=8).fit(X2[::2], Y2[::2], eval_set=(X2[1::2], Y2[1::2], weight))

    scores = list(model.staged_score(X2[1::2], Y2[1::2], sample_weight=weight))
    np.testing.assert_allclose(model.validation_errors_, 1 - np.array(scores), atol=1e-12)
    assert not hasattr(AdaBoostClassifier(n_estimators=2).fit(X3, Y3), "validation_errors_")


def test_an_eval_set_has_no_offset() -> None:
    with pytest.raises(InvalidInput, match="eval_set: an offset was given, and AdaBoostClassifier has none"):
        AdaBoostClassifier(n_estimators=2).fit(X3, Y3, eval_set=(X3, Y3, None, np.zeros(len(Y3))))


def test_the_table_of_votes_says_what_the_members_say() -> None:
    """Prediction looks up sums of votes; with text, missing values and infinities they are the sum over the stumps."""
    rng = np.random.default_rng(0)
    n = 300
    frame = pl.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "town": rng.choice(["Cork", "Oslo", "Rome", None], n),
            "count": rng.integers(0, 5, n),
        }
    )
    y = rng.integers(0, 3, n)
    new = {
        "size": [np.nan, np.inf, -np.inf, 0.0, 1e300],
        "town": ["Oslo", None, "Lima", "Rome", "Cork"],
        "count": [0, 9, -9, 2, 3],
    }
    for algorithm in ALGORITHMS:
        for labels in (y, y > 0):
            model = AdaBoostClassifier(algorithm=algorithm, n_estimators=40).fit(frame, labels)
            for table in (frame, new):
                said = list(model.staged_decision_function(table))[-1]
                np.testing.assert_allclose(model.decision_function(table), said, rtol=1e-12, atol=1e-12)


def test_a_stump_names_five_categories_and_leaves_out_the_others() -> None:
    towns = np.array([f"t{number}" for number in range(8)])
    model = AdaBoostClassifier(n_estimators=1).fit({"town": towns}, np.where(towns == "t7", "warm", "cold"))

    assert repr(model.estimators_[0]) == "Stump(town in {t0, t1, t2, t3, t4, ...}: cold, else warm)"


def test_stumps_explain_themselves() -> None:
    frame = {"town": ["Oslo", "Rome", "Cork", "Oslo"], "size": [1.0, 2.0, 3.0, 4.0]}
    model = AdaBoostClassifier(n_estimators=1).fit(frame, ["cold", "warm", "warm", "cold"])
    stump = model.estimators_[0]

    assert repr(stump) == "Stump(town in {Oslo}: cold, else warm)"
    assert stump.predict({"town": ["Cork", "Oslo"], "size": [0.0, 0.0]}).tolist() == ["warm", "cold"]
    assert model.feature_importances_.tolist() == [1.0, 0.0]


def test_class_weights_are_weights() -> None:
    model = AdaBoostClassifier(n_estimators=5, class_weight={0: 3.0, 1: 1.0}).fit(X2, Y2)
    weighted = AdaBoostClassifier(n_estimators=5).fit(X2, Y2, sample_weight=np.where(Y2 == 0, 3.0, 1.0))

    assert np.array_equal(model.decision_function(X2), weighted.decision_function(X2))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"nu": 0.2}, "nu=0.2 has no meaning with corrective=None"),
        ({"corrective": "margin", "learning_rate": 0.5}, "learning_rate=0.5 has no meaning"),
        ({"estimator": LogisticRegression(), "max_bins": 20}, "max_bins=20 is about the stumps"),
        ({"estimator": LogisticRegression(), "categorical_features": [0]}, "categorical_features="),
        ({"estimator": LogisticRegression(), "algorithm": "gentle"}, "expected a regressor"),
        ({"estimator": LinearRegression()}, "expected a classifier"),
        ({"estimator": SVC(), "algorithm": "real"}, "predict_proba"),
        ({"algorithm": "SAMME"}, "algorithm='SAMME'.*expected 'samme' or 'confidence'"),
    ],
)
def test_what_does_not_go_together_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(CoterieError, match=message):
        AdaBoostClassifier(**settings).fit(X3, Y3)


def test_shares_of_votes_need_votes_that_are_shares() -> None:
    with pytest.raises(InvalidParameter, match="vote_shares is for algorithm='samme' and 'confidence'"):
        AdaBoostClassifier(algorithm="real", n_estimators=2).fit(X3, Y3).vote_shares(X3)


def test_a_learning_rate_beyond_all_reason_gives_finite_answers() -> None:
    for settings in ({}, {"algorithm": "gentle"}, {"method": "resample"}):
        model = AdaBoostClassifier(n_estimators=20, learning_rate=1e5, random_state=0, **settings).fit(X2, Y2)
        assert np.isfinite(model.predict_proba(X2)).all()
        assert np.isfinite(model.row_weights_).all()


def test_a_warm_start_knows_stumps_of_missing_values_and_of_levels() -> None:
    rng = np.random.default_rng(4)
    noise, town = rng.normal(size=80), rng.choice(["Cork", "Oslo", "Rome"], 80)
    y = (rng.random(80) < 0.4 + 0.2 * (town == "Rome")).astype(int)
    known = np.where(rng.random(80) < 0.1 + 0.5 * y, np.nan, 1.0)
    table = {"known": known, "town": town, "noise": noise}
    long = AdaBoostClassifier(n_estimators=30).fit(table, y)
    model = AdaBoostClassifier(n_estimators=20, warm_start=True).fit(table, y)

    model.set_params(n_estimators=30).fit(table, y)

    assert any(stump.threshold == np.inf for stump in model.estimators_[:20])
    assert any(stump.right_codes is not None for stump in model.estimators_[:20])
    assert np.array_equal(model.estimator_weights_, long.estimator_weights_)
    assert np.array_equal(model.decision_function(table), long.decision_function(table))


def test_margins_that_cannot_be_widened_end_the_fit() -> None:
    model = AdaBoostClassifier(corrective="margin", nu=0.3, n_estimators=50).fit(X3, Y3)

    assert model.n_estimators_ < 50
    assert model.stopped_because_ == f"member {model.n_estimators_ + 1} could not widen the margin"


def test_probabilities_are_the_link_of_the_votes() -> None:
    two = AdaBoostClassifier(n_estimators=4).fit(X2, Y2)
    three = AdaBoostClassifier(n_estimators=4).fit(X3, Y3)

    logistic = 1 / (1 + np.exp(-2 * two.decision_function(X2)))
    np.testing.assert_allclose(two.predict_proba(X2)[:, 1], logistic, rtol=1e-12)
    votes = np.exp(2 * list(three.staged_votes(X3))[-1])
    np.testing.assert_allclose(three.predict_proba(X3), votes / votes.sum(axis=1, keepdims=True), rtol=1e-12)
